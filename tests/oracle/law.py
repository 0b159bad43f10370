"""The friction law in multi-precision, built from its definition: f1 = 2z - z^2, mu = mu_s + (mu_k - mu_s) m(z).

Everything else follows by exact rational polynomial arithmetic: G1 = mu f1, G2 = G1', G0 = integral of G1 with
G0(1) = mu_k, so nothing here repeats the expanded formulas of the service (test_oracle.py compares the two).
A polynomial is a dict power -> Fraction; every quantity is a pair (part of mu_s, part of mu_k), linear in the two.
The transition `peak` is none of these: its knots depend on the coefficients (peak.py).
"""
import math
import os
import sys
from fractions import Fraction as Q

from mpmath import mp, mpf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import peak  # noqa: E402

mp.dps = 60


def beside(x, steps):
    """x and the doubles up to `steps` away on both sides."""
    out, low, high = [x], x, x
    for _ in range(steps):
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        out += [low, high]
    return out


def _add(p, q):
    return {k: p.get(k, 0) + q.get(k, 0) for k in {*p, *q}}


def _times(p, q):
    out = {}
    for i, a in p.items():
        for j, b in q.items():
            out[i + j] = out.get(i + j, 0) + a * b
    return out


def _scaled(p, factor, shift=0):
    return {k + shift: a * factor for k, a in p.items()}


def _derivative(p):
    return {k - 1: a * k for k, a in p.items() if k}


def _integral(p):
    return {k + 1: a / (k + 1) for k, a in p.items()}


def _at(p, x):
    return sum(a * x**k for k, a in p.items())


F1 = {1: Q(2), 2: Q(-1)}
F2 = _derivative(F1)
BLENDS = {  # m(z) on successive intervals: (upper end, polynomial)
    'cubic': [(Q(1), {2: Q(3), 3: Q(-2)})],
    'quadratic': [(Q(1, 2), {2: Q(2)}), (Q(1), {0: Q(-1), 1: Q(4), 2: Q(-2)})],
}


def _pieces(transition):
    """[(upper end, {name: (mu_s part, mu_k part)})], all in units of eps_v."""
    pieces, right = [], (Q(0), Q(1))  # G0 at the upper end of the interval
    for end, m in reversed(BLENDS[transition]):
        parts = {'mu': (_add({0: Q(1)}, _scaled(m, -1)), m),
                 'mu_derivative': (_scaled(_derivative(m), -1), _derivative(m))}
        g1 = [_times(p, F1) for p in parts['mu']]
        g0 = [_integral(p) for p in g1]
        g0 = [_add(p, {0: value - _at(p, end)}) for p, value in zip(g0, right)]
        start = Q(1, 2) if pieces == [] and transition == 'quadratic' else Q(0)
        right = tuple(_at(p, start) for p in g0)
        g2 = [_derivative(p) for p in g1]
        third = [_add(_scaled(b, 1, -2), _scaled(a, -1, -3)) for a, b in zip(g1, g2)]
        parts.update(f0=tuple(g0), f1=tuple(g1), f2=tuple(g2), f1_over_x=tuple(_scaled(p, 1, -1) for p in g1),
                     third=tuple({k: a for k, a in p.items() if a} for p in third))
        pieces.insert(0, (end, parts))
    return pieces


PIECES = {name: _pieces(name) for name in BLENDS}


def _evaluate(p, z):
    total = mpf(0)
    for k in range(max(p, default=0), min([0, *p]) - 1, -1):  # Horner; negative powers at the end
        total = total * z + mpf(p.get(k, 0).numerator) / p.get(k, Q(1)).denominator
    return total / z**-min([0, *p])


def parts(name, y, eps, transition):
    """(a, b) with function = a mu_s + b mu_k at y >= 0; None in place of a at the pole."""
    z = y / eps
    if y >= eps:
        return mpf(0), {'mu': mpf(1), 'mu_derivative': mpf(0), 'f0': y, 'f1': mpf(1), 'f2': mpf(0),
                        'f1_over_x': 1 / y if y else 0,
                        'third': -1 / y**3 if y else 0}[name]
    piece = PIECES[transition][0][1] if 2 * y < eps else PIECES[transition][-1][1]
    unit = eps ** {'mu': 0, 'mu_derivative': -1, 'f0': 1, 'f1': 0, 'f2': -1, 'f1_over_x': -1, 'third': -3}[name]
    p, q = piece[name]
    if z == 0 and any(k < 0 for k in p):
        return None, _evaluate(q, z) * unit
    return _evaluate(p, z) * unit, _evaluate(q, z) * unit


def law(name, y, mu_s, mu_k, eps, transition):
    """The function at y, of either sign; None at the pole, where the limit is infinite."""
    size = -y if y < 0 else y  # not abs(), which is not analytic
    if transition == 'peak':
        value = peak.law(name, size, mu_s, mu_k, eps)
    else:
        a, b = parts(name, size, eps, transition)
        if a is None and mu_s == 0:
            a = mpf(0)
        if a is None:
            return None
        value = mu_s * a + mu_k * b
    return -value if y < 0 and name in ('f1', 'mu_derivative') else value


def largest_term(name, y, mu_s, mu_k, eps, transition):
    """The largest of the terms that may cancel, in the form in which the sign of each is definite:

    f0 = mu_s part + mu_k part;  f2 = mu f1' + mu' f1;  (f2 y - f1)/y^3 = mu (f1' y - f1)/y^3 + mu' f1/y^2.
    """
    y = abs(y)
    if transition == 'peak':
        return peak.largest_term(name, y, mu_s, mu_k, eps)
    value = law(name, y, mu_s, mu_k, eps, transition)
    if value is None or name not in ('f0', 'f2', 'third'):
        return None if value is None else abs(value)
    if name == 'f0':
        terms = [mu * part for mu, part in zip((mu_s, mu_k), parts('f0', y, eps, transition))]
    else:
        mu = law('mu', y, mu_s, mu_k, eps, transition)
        mu_derivative = law('mu_derivative', y, mu_s, mu_k, eps, transition)
        one = mpf(1)
        plain = {k: law(k, y, one, one, eps, 'cubic') for k in ('f1', 'f2')}
        if name == 'f2':
            terms = [mu * plain['f2'], mu_derivative * plain['f1']]
        elif y == 0:
            terms = []
        else:
            terms = [mu * (plain['f2'] * y - plain['f1']) / y**3, mu_derivative * plain['f1'] / y**2]
    return max([abs(value)] + [abs(t) for t in terms])


def to_double(x):
    """Correctly rounded, including subnormals; inf if a double cannot hold it."""
    x = mp.mpf(x)
    sign, man, exp, _ = x._mpf_
    man = -int(man) if sign else int(man)
    try:
        return float(Q(man) * (Q(2) ** int(exp)))
    except OverflowError:
        return float('inf') if man > 0 else float('-inf')
