#!/usr/bin/python3
"""Writes derivatives_mp.txt: derivatives of the friction laws and barriers with respect to their parameters.

    law NAME mu_s mu_k z q s0 k0 e0 u0 s1 k1 e1 u1
        derivatives of G0/eps_v (0; e0: of G0) and of G1 (1) with respect to mu_s, mu_k, eps_v (e1: times eps_v) and the
        unit (times it) at a fixed speed; z is the speed divided by eps_v, q is eps_v divided by the unit (for `curve`,
        the unit of CURVE's speeds)
    barrier NAME physical dhat stiffness dmin distance force by_distance by_dhat by_stiffness by_dmin

Numbers are C hexadecimal floats (fscanf %la). Every piece of a definition is differentiated by central differences of its
own formula in 100 digits; a knot belongs to the piece to its right.

Usage: make_derivatives.py [FILE]     deterministic, a few seconds
"""
import os
import random
import sys

from mpmath import erf, exp, log, mp, mpf, pi, sqrt

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
from law import to_double  # noqa: E402
from make_laws import CURVE, hermite, derivatives  # noqa: E402

mp.dps = 100
STEP = mpf(10)**-32


def shown(x):
    return (to_double(x) if abs(x) > mpf(10)**-330 else 0.0).hex()


def derivative(f, x, k):
    """The derivative of f with respect to x[k], by a relative step."""
    h = STEP * (abs(x[k]) if x[k] else 1)
    up, down = (f(*[a + s * h if i == k else a for i, a in enumerate(x)]) for s in (1, -1))
    return (up - down) / (2 * h)


# ---- laws: (G0, G1) at (y, s, k, eps, unit); the last arguments, which are not varied, select the piece ----

def rising(y, s, eps):
    z = y / eps
    return s * eps * (mpf(1) / 3 + z**2 - z**3 / 3), s * (2 * z - z**2)


def transition(y, s, k, eps, mu, polynomial, pieces):
    """(G0, G1), with G1 = mu(z) f1(z) and G0 integrated from eps_v down, piece by piece; `mu` is the piece of z."""
    z = y / eps
    total, upper = k, mpf(1)
    for low, high, coefficients in reversed(pieces):
        c = coefficients(s, k)
        lower = max(z, low) if mu != (low, high) else z
        total -= sum(a * (upper**(i + 1) - lower**(i + 1)) / (i + 1) for i, a in enumerate(c))
        upper = lower
        if mu == (low, high):
            return eps * total, sum(a * z**i for i, a in enumerate(c))
    raise AssertionError


def times_f1(mu):
    """Coefficients of mu (2z - z^2)."""
    out = [mpf(0)] * (len(mu) + 2)
    for i, a in enumerate(mu):
        out[i + 1] += 2 * a
        out[i + 2] -= a
    return out


CUBIC = [(0, 1, lambda s, k: times_f1([s, 0, 3 * (k - s), -2 * (k - s)]))]
QUADRATIC = [(0, 0.5, lambda s, k: times_f1([s, 0, 2 * (k - s)])),
             (0.5, 1, lambda s, k: times_f1([k - 2 * (k - s), 4 * (k - s), -2 * (k - s)]))]


def smooth(pieces):
    def law(y, s, k, eps, unit, z0, q0, s0, k0):
        if z0 >= 1:
            return k * y, k
        piece = [(a, b) for a, b, _ in pieces if z0 >= a][-1]
        return transition(y, s, k, eps, piece, None, pieces)
    return law


def peak(y, s, k, eps, unit, z0, q0, s0, k0):
    z = y / eps
    if z0 >= 1:
        return k * y, k
    if s0 == 0 and k0 == 0:
        return s * eps * (z**2 - z**3 / 3) + eps * (k - 2 * s / 3), s * (2 * z - z**2)
    r = k / s if s0 >= k0 else s / k
    r0 = mpf(k0) / s0 if s0 >= k0 else mpf(s0) / k0
    p, p0 = (1 + r) / 2, (1 + r0) / 2
    w, m0, d = 1 - p, (p0 + 1) / 2, k - s
    rest = k - 2 * s * p / 3 - (s + k) * w / 2
    if z0 < p0:
        t = z / p
        return eps * (rest + s * p * (t**2 - t**3 / 3)), s * (2 * t - t**2)
    if z0 < m0:
        t = (z - p) / w
        return eps * (rest + 2 * s * p / 3 + w * (s * t + 2 * d * t**3 / 3)), s + 2 * d * t**2
    t = (1 - z) / w
    return eps * (k - w * (k * t - 2 * d * t**3 / 3)), k - 2 * d * t**2


def stribeck(y, s, k, eps, unit, z0, q0, s0, k0):
    x = (y - eps) / unit
    if z0 < 1:
        return rising(y, s, eps)
    reached = (erf(x), exp(-x * x)) if x < 30 else (1, 0)  # exact in 100 digits
    return s * eps + k * (y - eps) + (s - k) * unit * sqrt(pi) / 2 * reached[0], k + (s - k) * reached[1]


def exponential(y, s, k, eps, unit, z0, q0, s0, k0):
    x = (y - eps) / unit
    if z0 < 1:
        return rising(y, s, eps)
    return s * eps + k * (y - eps) + (s - k) * unit * (1 - exp(-x)), k + (s - k) * exp(-x)


def curve(y, s, k, eps, unit, z0, q0, s0, k0):
    """The speeds of CURVE do not change with `unit`."""
    if z0 < 1:
        return rising(y, s, eps)
    unit = eps_of(q0)
    speeds, factors = [mpf(v) * unit for v in CURVE[0]], [mpf(f) for f in CURVE[1]]
    m, x, x0, total = derivatives(speeds, factors), y - eps, (mpf(z0) - 1), mpf(0)
    for i in range(len(speeds) - 1):
        c = hermite(*speeds[i:i + 2], *factors[i:i + 2], *m[i:i + 2])
        inside = x0 < speeds[i + 1]
        u = (x if inside else speeds[i + 1]) - speeds[i]
        total += sum(a * u**(j + 1) / (j + 1) for j, a in enumerate(c))
        if inside:
            return s * (eps + total), s * sum(a * u**j for j, a in enumerate(c))
    return s * (eps + total + factors[-1] * (x - speeds[-1])), s * factors[-1]


def eps_of(q):
    """The unit, for eps_v = 1."""
    return 1 / mpf(q)


def adhesion(y, s, k, eps, unit, z0, q0, s0, k0):
    z = y / eps
    return (s * eps * (z**2 - z**3 / 3), s * (2 * z - z**2)) if z0 < 2 else (4 * s * eps / 3, mpf(0))


LAWS = {'cubic': smooth(CUBIC), 'quadratic': smooth(QUADRATIC), 'peak': peak, 'stribeck': stribeck,
        'exponential': exponential, 'curve': curve, 'adhesion': adhesion}


def law_line(name, s, k, z, q):
    law, x = LAWS[name], [mpf(z), mpf(s), mpf(k), mpf(1), eps_of(q)]
    out = []
    for part in (0, 1):
        def value(*args, part=part):
            return law(*args, z, q, s, k)[part]
        out += [derivative(value, x, 1), derivative(value, x, 2), derivative(value, x, 3), derivative(value, x, 4) * x[4]]
    return ' '.join(['law', name] + [float(a).hex() for a in (s, k, z, q)] + [shown(a) for a in out])


# ---- barriers ----

def barrier(name, physical):
    def force(d, dhat, stiffness, dmin, below):
        D, E = d**2 - dmin**2, (2 * dmin + dhat) * dhat
        if name == 'two_stage':
            b = D - E if below else -E**2 / (4 * D)
        else:
            L = log(D / E)
            b = {'clamped_log': (E - D) * (2 * L - E / D + 1), 'normalized_clamped_log': (E - D) * (2 * L - E / D + 1) / E**2,
                 'clamped_log_squared': 2 * (D - E) * L * (L + (D - E) / D), 'cubic': -2 / E * (D - E)**2}[name]
        units = 1 if name == 'normalized_clamped_log' else E**2
        return -stiffness * b * 2 * d * (dhat / units if physical else 1)
    return force


def barrier_line(name, physical, dhat, stiffness, dmin, d):
    x = [mpf(a) for a in (d, dhat, stiffness, dmin)]
    E, D = (2 * x[3] + x[1]) * x[1], x[0]**2 - x[3]**2
    force = barrier(name, physical)

    def value(*args):
        return force(*args, D >= E / 2) if D < E else mpf(0)
    out = [value(*x)] + [derivative(value, x, k) for k in (0, 1, 2, 3)]
    return ' '.join(['barrier', name, str(int(physical))] + [float(a).hex() for a in (dhat, stiffness, dmin, d)] +
                    [shown(a) for a in out])


def lines():
    rng = random.Random(15)
    pairs = [(1, 0.1), (0.3, 0.6), (0.5, 0.5), (0, 0.4), (0.7, 0), (0, 0), (1, 0.9), (1e-12, 1), (1, 1 - 2**-30)]
    zs = [0, 1e-300, 1e-9, 0.25, 0.375, 0.5, 0.55, 0.75, 0.775, 0.875, 1 - 2**-20, 1 - 2**-53, 1, 1 + 2**-52, 1 + 2**-20,
          1.001, 1.3, 1.5, 2 - 2**-52, 2, 3, 40, 1e10]
    for name in LAWS:
        for s, k in pairs:
            if name in ('curve', 'adhesion'):
                k = s
            for z in zs + [rng.uniform(0, 3) for _ in range(10)]:
                yield law_line(name, s, k, z, rng.choice((1, 0.25, 16, 2.0**-20)))
    for name in ('clamped_log', 'normalized_clamped_log', 'clamped_log_squared', 'cubic', 'two_stage'):
        for dhat, stiffness, dmin in ((1e-3, 1e4, 0), (1, 1, 0), (0.5, 3, 2), (1e-3, 1e4, 1e-3), (7, 1e-5, 1e-6),
                                      (1e-150, 1, 1e-150), (1e30, 1e-30, 0)):
            for t in (1e-9, 1e-3, 0.1, 0.3, 0.5, 0.7, 0.99, 1 - 1e-9, 1.1):
                for physical in (False, True):
                    yield barrier_line(name, physical, dhat, stiffness, dmin, dmin + t * dhat)


if __name__ == '__main__':
    with open(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'derivatives_mp.txt'), 'w') as out:
        out.writelines(line + '\n' for line in lines())
