"""The friction law in 40 digits, from the formulas of docs/physics.md; G0 of cubic and quadratic is integrated
numerically. The transition peak and the laws other than smooth come from tests/oracle."""
import pathlib
import sys

import mpmath
from mpmath import mpf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import laws  # noqa: E402
import peak  # noqa: E402

mpmath.mp.dps = 40
OF_PEAK = {"law_potential": "f0", "law_force": "f1", "law_force_derivative": "f2", "law_force_over_speed": "f1_over_x"}


def transition(z, cubic):
    if cubic:
        return 3 * z**2 - 2 * z**3
    return 2 * z**2 if z < mpf(1) / 2 else 1 - 2 * (1 - z)**2


def slope(z, cubic):
    if cubic:
        return 6 * z - 6 * z**2
    return 4 * z if z < mpf(1) / 2 else 4 * (1 - z)


def value(name, y, eps_v, mu_s=0, mu_k=0, cubic=True):
    """One of the functions that the page plots, at y >= 0."""
    y, eps, s, k = mpf(y), mpf(eps_v), mpf(mu_s), mpf(mu_k)
    if name in OF_PEAK:
        return peak.law(OF_PEAK[name], y, s, k, eps)
    z = y / eps
    inside = z < 1

    def f1(w):
        return 2 * w - w**2

    def mu(w):
        return s + (k - s) * transition(w, cubic)

    def mu_f0(w):
        # Below eps_v: the value at eps_v, k eps, minus the integral from y to eps_v.
        knots = [w, 1] if cubic or w >= mpf(1) / 2 else [w, mpf(1) / 2, 1]
        return eps * (k - mpmath.quad(lambda v: mu(v) * f1(v), knots))

    f1_over_x = (2 - z) / eps if inside else 1 / y
    f2 = (2 - 2 * z) / eps if inside else mpf(0)
    if name.startswith("smooth_friction"):
        return {"smooth_friction_f0": eps * (mpf(1) / 3 + z**2 - z**3 / 3) if inside else y,
                "smooth_friction_f1": f1(z) if inside else mpf(1), "smooth_friction_f2": f2,
                "smooth_friction_f1_over_x": f1_over_x}[name]
    here = mu(z) if inside else k
    derivative = (k - s) * slope(z, cubic) / eps if inside else mpf(0)
    if name == "smooth_mu_f0":
        return mu_f0(z) if inside else k * y
    return {"smooth_mu": here, "smooth_mu_derivative": derivative, "smooth_mu_f1": here * (f1(z) if inside else 1),
            "smooth_mu_f1_over_x": here * f1_over_x,
            "smooth_mu_f2": derivative * f1(z) + here * f2 if inside else mpf(0)}[name]


def of_friction(name, y, friction):
    """A law_ function for the friction of a request, at y >= 0, including the viscous drag."""
    y, eps, drag = mpf(y), mpf(friction["eps_v"]), mpf(friction.get("viscous", 0))
    mu = mpf(friction["mu_s"]), mpf(friction["mu_k"])
    potential, over_speed, slope = laws.of(friction)(y, mu, eps, mpf(friction.get("stribeck_speed", 1)))
    return {"law_potential": potential + drag * y**2 / 2, "law_force": (over_speed + drag) * y,
            "law_force_over_speed": over_speed + drag, "law_force_derivative": slope + drag}[name]
