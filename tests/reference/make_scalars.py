#!/usr/bin/python3
"""Writes scalars_mp.txt: the scalar functions of the friction law, correctly rounded from multi-precision values.

A line is `function transition y mu_s mu_k eps_v value scale`, numbers as C hexadecimal floats (fscanf %la). The
transition is `-` for the functions without coefficients (mu_s = mu_k = 1 there). `value` is inf or -inf if a double
cannot hold the value (at the pole: with the sign of the limit), and then `scale` is inf. `scale` is the magnitude of
the largest term (law.largest_term): an evaluation is right within 4 ulp of `value` or of `scale`, whichever is larger.

Usage: make_scalars.py [FILE]     deterministic, a few seconds
"""
import math
import os
import random
import sys

from mpmath import findroot, mp, mpf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
from law import beside, largest_term, law, to_double  # noqa: E402

mp.dps = 120  # 60 digits are needed, and (1 - z)^3 may cancel 48
PLAIN = {'smooth_friction_f0': 'f0', 'smooth_friction_f1': 'f1', 'smooth_friction_f2': 'f2',
         'smooth_friction_f1_over_x': 'f1_over_x', 'smooth_friction_f2_x_minus_f1_over_x3': 'third'}
SMOOTH_MU = {'smooth_mu': 'mu', 'smooth_mu_derivative': 'mu_derivative', 'smooth_mu_f0': 'f0', 'smooth_mu_f1': 'f1',
             'smooth_mu_f2': 'f2',
             'smooth_mu_f1_over_x': 'f1_over_x', 'smooth_mu_f2_x_minus_mu_f1_over_x3': 'third'}
MU_PAIRS = [(1.0, 0.1), (0.3, 0.6), (0.5, 0.5), (0.0, 0.4), (0.7, 0.0), (0.0, 0.0), (1.0, 1e-9), (1e-12, 0.8),
            (1e-200, 1e200),
            (0.6, math.nextafter(0.6, 1)), (1e5, 0.3), (1 / 3, 2 / 3), (17 / 7, 1.0)]
EPS = [1e-150, 1e-100, 2.5e-77, 1e-30, 1e-8, 1e-3, 0.5, 1.0, 3.0, 1e4, 1e30, 6e99, 1e100, 1e150]
TINY = [0.0, 5e-324, 1e-310, 2.2250738585072014e-308, 1e-290, 1e-200, 1e-170, 1e-150, 1e-99]
LARGE = [1e-20, 1.0, 1e20, 1e99, 1e150]


def roots(name, mu_s, mu_k, transition):
    """z in (0, 1) at which the function changes its sign."""
    def f(z):
        return law(name, z, mpf(mu_s), mpf(mu_k), mpf(1), transition)
    grid = [mpf(i) / 97 for i in range(1, 97)]
    return [findroot(f, (a, b), solver='anderson', tol=mpf('1e-100')) for a,
            b in zip(grid, grid[1:]) if f(a) * f(b) < 0]


def points(rng, name, mu_s, mu_k, eps, transition, n_random):
    ys = beside(eps / 2, 1) + beside(eps, 2) + [eps * (1 - 2.0 ** -k)
                                                for k in (10, 30, 46)] + [eps * (0.5 + 2.0 ** -30)]
    ys += rng.sample(TINY, 2) + rng.sample(LARGE, 2)
    if name in ('f0', 'f2', 'third'):
        for z in roots(name, mu_s, mu_k, transition):
            y = to_double(z * mpf(eps))
            ys += beside(y, 1) + [y * (1 + s * 2.0 ** -k) for s in (-1, 1) for k in (40, 12)]
    ys += [eps * rng.uniform(0, 1) for _ in range(n_random)]
    ys += [eps * 10 ** rng.uniform(-12, 3) for _ in range(n_random)]
    return sorted({y * rng.choice([1, 1, -1]) if y < 1e308 else y for y in ys}, key=lambda y: (abs(y), y))


def row(function, name, transition, y, mu_s, mu_k, eps):
    """The line, or None if there is no value: the residue at the pole is zero too (mu_s = 0)."""
    args = (name, mpf(y), mpf(mu_s), mpf(mu_k), mpf(eps), 'cubic' if transition == '-' else transition)
    if name == 'third' and y == 0 and mu_s == 0:
        return None
    value = law(*args)
    if value is None:
        return line(function, transition, y, mu_s, mu_k, eps, -math.inf, math.inf)
    scale = min(to_double(abs(value) if transition == '-' else largest_term(*args)), sys.float_info.max)
    value = to_double(value)
    return line(function, transition, y, mu_s, mu_k, eps, value, math.inf if math.isinf(value) else scale)


def line(function, transition, *numbers):
    return ' '.join([function, transition] + [shortest(x) for x in numbers])


def shortest(x):
    if x == 0 or math.isinf(x):
        return '0' if x == 0 else str(x)
    mantissa, exponent = x.hex().split('p')
    if '.' in mantissa:
        mantissa = mantissa.rstrip('0').rstrip('.')
    return f'{mantissa}p{int(exponent)}'


def lines():
    rng = random.Random(1)
    for function, name in PLAIN.items():
        for eps in EPS:
            for y in points(rng, name, 1.0, 1.0, eps, 'cubic', 4):
                yield row(function, name, '-', y, 1.0, 1.0, eps)
    for function, name in SMOOTH_MU.items():
        for transition in ('cubic', 'quadratic'):
            for i, (mu_s, mu_k) in enumerate(MU_PAIRS):
                for eps in rng.sample(EPS, 2) + [rng.choice([1.0, 1e-3, 0.5])]:
                    for y in points(rng, name, mu_s, mu_k, eps, transition, 1):
                        yield row(function, name, transition, y, mu_s, mu_k, eps)


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'scalars_mp.txt')
    text = sorted({x for x in lines() if x is not None})
    with open(path, 'w') as out:
        out.write('\n'.join(text) + '\n')


if __name__ == '__main__':
    main()
