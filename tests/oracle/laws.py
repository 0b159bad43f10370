"""The friction laws of a request: G0, G1/y and G2 of the slip's length, in multi-precision, from their definitions.

G0 defines a law; everything else could be computed from it by differences, as test_laws_oracle.py does. A law receives
mu_s, mu_k, eps_v and stribeck_speed of one contact at a time; `curve` and `adhesion` have one coefficient, mu_s.
"""
import os
import sys
from bisect import bisect_right

from mpmath import erf, exp, mpc, mpf, pi, sqrt

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import law as smooth_law  # noqa: E402
from algebra import real  # noqa: E402

DECAYS = ('stribeck', 'exponential')
ONE_COEFFICIENT = ('curve', 'adhesion')
LAWS = ('smooth', *DECAYS, *ONE_COEFFICIENT)
VANISHED = mpf(10)**5  # e^-VANISHED underflows a double


def of(friction):
    """The law that a request's `friction` selects: a function (y, mu, eps, speed) -> (G0, G1/y, G2), y >= 0."""
    name = friction.get('law', 'smooth')
    if name == 'smooth':
        return Smooth(friction.get('mu_transition', 'cubic')).at
    if name == 'curve':
        return Measured(friction['curve']['speeds'], friction['curve']['factors']).at
    return {'stribeck': stribeck, 'exponential': exponential, 'adhesion': adhesion}[name]


def knots(friction):
    """Points where G2 jumps, in units of eps_v."""
    return [2] if friction.get('law') == 'adhesion' else []


class Smooth:
    def __init__(self, transition):
        self.transition = transition

    def at(self, y, mu, eps, _speed=None):
        return tuple(smooth_law.law(name, y, mu[0], mu[1], eps, self.transition) for name in ('f0', 'f1_over_x', 'f2'))


def stiction(y, eps):
    """f0, f1/y, f2 for y < eps: f0' = f1 = 2z - z^2 and f0(eps) = eps."""
    z = y / eps
    return eps * (mpf(1) / 3 + z**2 - z**3 / 3), (2 - z) / eps, 2 * (1 - z) / eps


def error_function(x):
    """Exact to first order in the imaginary part. mpmath's series are in fixed point, where a tiny imaginary part would
    be lost."""
    return mpc(erf(x.real), x.imag * 2 / sqrt(pi) * exp(-x.real**2)) if isinstance(x, mpc) else erf(x)


def stribeck(y, mu, eps, speed):
    """mu_k + (mu_s - mu_k) e^-x^2 from eps on; the integral of e^-x^2 is an error function."""
    if y < eps:
        return tuple(mu[0] * f for f in stiction(y, eps))
    x, fall = (y - eps) / speed, mu[0] - mu[1]
    left = exp(-x * x) if x * x < VANISHED else mpf(0)
    integral = speed * sqrt(pi) / 2 * (error_function(x) if x * x < VANISHED else 1)
    return mu[0] * eps + mu[1] * (y - eps) + fall * integral, (mu[1] + fall * left) / y, -2 * x * fall * left / speed


def exponential(y, mu, eps, speed):
    if y < eps:
        return tuple(mu[0] * f for f in stiction(y, eps))
    x, fall = (y - eps) / speed, mu[0] - mu[1]
    left = exp(-x) if x < VANISHED else mpf(0)
    return mu[0] * eps + mu[1] * (y - eps) + fall * speed * (1 - left), (mu[1] + fall * left) / y, -fall * left / speed


def adhesion(y, mu, eps, _speed=None):
    """The parabola of the plain law's force continues to its second root, where the bond breaks."""
    if y >= 2 * eps:
        return mpf(4) / 3 * mu[0] * eps, mpf(0), mpf(0)
    z = y / eps
    return mu[0] * eps * (z**2 - z**3 / 3), mu[0] * (2 - z) / eps, 2 * mu[0] * (1 - z) / eps


class Measured:
    """Measured factors over speeds beyond eps_v: a cubic per interval, in the form of Hermite, with slopes that keep it
    monotone (Fritsch and Butland)."""

    def __init__(self, speeds, factors):
        self.speeds, self.factors = ([real(x) for x in values] for values in (speeds, factors))
        self.widths = [b - a for a, b in zip(self.speeds, self.speeds[1:])]
        self.secants = [(b - a) / h for a, b, h in zip(self.factors, self.factors[1:], self.widths)]
        self.slopes = [mpf(0), *(self.slope(i) for i in range(1, len(self.speeds) - 1)), mpf(0)]
        self.integrals = [mpf(0)]
        for i in range(len(self.widths)):
            self.integrals.append(self.integrals[i] + self.integral(i, mpf(1)))

    def slope(self, i):
        """The slope at an inner point: the harmonic mean of the secants, in which the nearer interval has more
        weight."""
        (h0, h1), (d0, d1) = self.widths[i - 1:i + 1], self.secants[i - 1:i + 1]
        if d0.real * d1.real <= 0:  # the complex step must not choose a branch
            return mpf(0)
        w0, w1 = 2 * h1 + h0, h1 + 2 * h0
        return (w0 + w1) / (w0 / d0 + w1 / d1)

    def powers(self, i):
        """The cubic of interval i in t from 0 to 1: coefficients of 1, t, t^2, t^3."""
        h, left, right = self.widths[i], self.factors[i], self.factors[i + 1]
        a, b = h * self.slopes[i], h * self.slopes[i + 1]
        return [left, a, 3 * (right - left) - 2 * a - b, a + b - 2 * (right - left)]

    def integral(self, i, t):
        return self.widths[i] * sum(c * t**(k + 1) / (k + 1) for k, c in enumerate(self.powers(i)))

    def beyond(self, x):
        """(integral, value, slope) of the curve at x >= 0."""
        if x >= self.speeds[-1]:
            return self.integrals[-1] + self.factors[-1] * (x - self.speeds[-1]), self.factors[-1], mpf(0)
        i = bisect_right(self.speeds, x) - 1
        t, c = (x - self.speeds[i]) / self.widths[i], self.powers(i)
        return (self.integrals[i] + self.integral(i, t), c[0] + t * (c[1] + t * (c[2] + t * c[3])),
                (c[1] + t * (2 * c[2] + 3 * t * c[3])) / self.widths[i])

    def at(self, y, mu, eps, _speed=None):
        if y < eps:
            return tuple(mu[0] * f for f in stiction(y, eps))
        integral, value, slope = self.beyond(y - eps)
        return mu[0] * (eps + integral), mu[0] * value / y, mu[0] * slope


def kept(friction, y, eps):
    """The part of its deflection that a contact's anchor keeps: all of it while it sticks, eps_v while it slides. A
    bond keeps all of it until it breaks."""
    if friction.get('law') == 'adhesion':
        return mpf(1) if y < 2 * eps else mpf(0)
    return eps / y if y > eps else mpf(1)
