#!/usr/bin/python3
"""Writes peak_mp.txt: the scalar functions of the transition `peak`, from multi-precision values of its definition.

A line is `function y mu_s mu_k eps_v value scale`, numbers as C hexadecimal floats (fscanf %la). G1 is the definition, G2
its derivative by hand, and G0 is integrated piece by piece in exact polynomials with G0(eps_v) = mu_k eps_v: nothing
here repeats the formulas of the library. `scale` is the magnitude of the largest term.

Usage: make_peak.py [FILE]     deterministic, a few seconds
"""
import math
import os
import random
import sys

from mpmath import mp, mpf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
from law import to_double  # noqa: E402
from make_scalars import EPS, LARGE, MU_PAIRS, TINY, beside, shortest  # noqa: E402

mp.dps = 400  # mu_s / mu_k may be 1e-400, and (y / eps)^3 1e-1400 in a sum with 1


def pieces(s, k):
    """[(from, to, coefficients of G1 in powers of (z - from))], in units of eps_v; pieces may be empty."""
    top, low = max(s, k), min(s, k)
    p = (1 + low / top) / 2 if top else mpf(1)
    w, m, change = 1 - p, (p + 1) / 2, k - s
    out = [(mpf(0), p, [mpf(0), 2 * s / p, -s / p**2])]
    if w:
        out.append((p, m, [s, mpf(0), 2 * change / w**2]))
        # because 1 - z = w/2 - (z - m)
        out.append((m, mpf(1), [k - change / 2, 2 * change / w, -2 * change / w**2]))
    return out


def polynomial(c, x):
    return sum(a * x**i for i, a in enumerate(c))


def integral(c, x):
    return sum(a * x**(i + 1) / (i + 1) for i, a in enumerate(c))


def derivative(c, x):
    return sum(i * a * x**(i - 1) for i, a in enumerate(c) if i)


def values(y, s, k, eps):
    """{function: (value, largest term)} at y >= 0."""
    z, top = y / eps, max(s, k)
    parts = pieces(s, k)
    if z >= 1:
        return {'law_potential': (k * y, k * y), 'law_force': (k, k), 'law_force_over_speed': (k / y, k / y),
                'law_force_derivative': (mpf(0), mpf(0))}
    at = next(i for i, (_, end, _) in enumerate(parts) if z <= end)
    start, end, c = parts[at]
    g0 = k - sum(integral(d, b - a) for a, b, d in parts[at + 1:]) - (integral(c, end - start) - integral(c, z - start))
    g1, g2 = polynomial(c, z - start), derivative(c, z - start)
    over = g1 / z if z else c[1]
    steepest = 2 * s / end**2 if at == 0 else 4 * top
    return {'law_potential': (eps * g0, eps * top), 'law_force': (g1, g1 if at == 0 else top),
            'law_force_over_speed': (over / eps, over / eps if at == 0 else top / y),
            'law_force_derivative': (g2 / eps, steepest / eps)}


def speeds(rng, s, k, eps):
    ys = rng.sample(TINY, 2) + rng.sample(LARGE, 2) + beside(eps, 2)
    for start, _, _ in pieces(mpf(s), mpf(k))[1:]:
        y = to_double(start * mpf(eps))
        ys += beside(y, 2) + [y * (1 + sign * 2.0**-n) for sign in (-1, 1) for n in (45, 30, 12)]
    ys += [eps * rng.uniform(0, 1) for _ in range(4)] + [eps * 10**rng.uniform(-12, 3) for _ in range(2)]
    return sorted({y for y in ys if 0 <= y <= 1e150})


def pairs(rng):
    near = [(x, math.nextafter(x, up)) for x in (0.3, 1.0, 1.7, 2.0) for up in (0.0, 3.0)]
    close = [(x, x * (1 - 2.0**-n)) for x in (0.7, 1.9) for n in (12, 30, 45)]
    anywhere = [(rng.uniform(0, 2), rng.uniform(0, 2)) for _ in range(12)]
    return MU_PAIRS + near + close + [(k, s) for s, k in close] + anywhere + [(x, x) for x in (0.1, 2.0)]


def lines():
    rng = random.Random(2)
    for s, k in pairs(rng):
        for eps in rng.sample(EPS, 1):
            for y in speeds(rng, s, k, eps):
                for name, (value, scale) in values(mpf(y), mpf(s), mpf(k), mpf(eps)).items():
                    numbers = [y, s, k, eps, to_double(value), min(to_double(max(abs(value), abs(scale))), 1e308)]
                    if all(map(math.isfinite, numbers)):
                        yield ' '.join([name] + [shortest(x) for x in numbers])


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'peak_mp.txt')
    with open(path, 'w') as out:
        out.write('\n'.join(sorted(set(lines()))) + '\n')


if __name__ == '__main__':
    main()
