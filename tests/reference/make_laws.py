#!/usr/bin/python3
"""Writes laws_mp.txt: the scalar functions of the laws stribeck, exponential, curve and adhesion, from their definitions.

A line is `law function y mu_s mu_k eps_v speed value scale allowed`, numbers as C hexadecimal floats (fscanf %la). `speed`
is stribeck_speed, or the factor of CURVE's speeds. An evaluation is right within 8 ulp of `scale`, the
magnitude of the largest term, and `allowed`, what rounding x costs e^(-x^2): 4 x^2 ulp of its term.

Usage: make_laws.py [FILE]     deterministic, a few seconds
"""
import math
import os
import random
import sys

from mpmath import erf, exp, mp, mpf, pi, sqrt

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
from law import to_double  # noqa: E402
from make_scalars import EPS, beside, shortest  # noqa: E402

mp.dps = 60
CURVE = ([0, 0.25, 0.375, 1.5, 1.75], [1, 0.5, 1.25, 0, 0.125])
RATIOS = [1e-20, 1e-9, 0.01, 0.3, 1, 2.5, 40, 1e6, 1e20]


def derivatives(speeds, factors):
    """Fritsch and Butland's slopes, at every point."""
    h = [b - a for a, b in zip(speeds, speeds[1:])]
    d = [(b - a) / w for a, b, w in zip(factors, factors[1:], h)]
    inside = [((2 * b + a) + (b + 2 * a)) / ((2 * b + a) / p + (b + 2 * a) / q) if p * q > 0 else mpf(0)
              for a, b, p, q in zip(h, h[1:], d, d[1:])]
    return [mpf(0)] + inside + [mpf(0)]


def hermite(x0, x1, f0, f1, m0, m1):
    """Coefficients in powers of x - x0."""
    h = x1 - x0
    d = (f1 - f0) / h
    return [f0, m0, (3 * d - 2 * m0 - m1) / h, (m0 + m1 - 2 * d) / h**2]


def curve(x, unit):
    """Value, derivative, integral and the largest derivative of a piece at x >= 0."""
    speeds, factors = [mpf(s * float(unit)) for s in CURVE[0]], [mpf(f) for f in CURVE[1]]
    m, total, steepest = derivatives(speeds, factors), mpf(0), mpf(0)
    for k in range(len(speeds) - 1):
        c = hermite(*speeds[k:k + 2], *factors[k:k + 2], *m[k:k + 2])
        u = min(x, speeds[k + 1]) - speeds[k]
        total += sum(a * u**(i + 1) / (i + 1) for i, a in enumerate(c))
        if x < speeds[k + 1]:
            steepest = max(abs(factors[k + 1] - factors[k]) / (speeds[k + 1] - speeds[k]) * 6, steepest)
            return sum(a * u**i for i, a in enumerate(c)), sum(i * a * u**(i - 1) for i, a in enumerate(c) if i), total, \
                steepest
    return factors[-1], mpf(0), total + factors[-1] * (x - speeds[-1]), mpf(0)


def below(law, y, s, eps):
    """{function: (value, scale, allowed)} of plain stiction, and of adhesion up to 2 eps."""
    z = y / eps
    rest = 0 if law == 'adhesion' else mpf(1) / 3
    return {'law_potential': (s * eps * (z**2 - z**3 / 3 + rest), s * eps * max(z**2, rest)),
            'law_force': (s * (2 * z - z**2), 2 * s * z), 'law_force_over_speed': (s * (2 - z) / eps, 2 * s / eps),
            'law_force_derivative': (2 * s * (1 - z) / eps, 2 * s * max(1, z) / eps if z > mpf('0.1') else 2 * s / eps)}


def beyond(law, y, s, k, eps, speed):
    far = y - eps
    if law == 'curve':
        c, derivative, area, steepest = curve(far, speed)
        top = mpf(max(CURVE[1]))
        return {'law_potential': (s * (eps + area), s * max(eps, area)), 'law_force': (s * c, s * top),
                'law_force_over_speed': (s * c / y, s * top / y), 'law_force_derivative': (s * derivative, s * steepest)}
    x, change = far / speed, s - k
    power = min(x**2 if law == 'stribeck' else x, mpf(10)**4)  # e^-10000 is negligible
    left = exp(-power)
    area = sqrt(pi) / 2 * erf(x) if law == 'stribeck' else -mp.expm1(-power)
    fall = -(2 * x if law == 'stribeck' else 1) * change * left / speed
    size = abs(change) * left * 4 * (x**2 if law == 'stribeck' else x)
    force, terms = k + change * left, max(k, abs(change) * left, s if x < mpf('1e-3') else 0)
    return {'law_potential': (s * eps + k * far + change * speed * area,
                              max(s * eps, k * far, abs(change) * speed * area)),
            'law_force': (force, terms, size), 'law_force_over_speed': (force / y, terms / y, size / y),
            'law_force_derivative': (fall, abs(fall), 4 * abs(fall) * (x**2 if law == 'stribeck' else x))}


def values(law, y, s, k, eps, speed):
    if law == 'adhesion':
        if y < 2 * eps:
            return below(law, y, s, eps)
        zero = (mpf(0), mpf(0))
        return {'law_potential': (4 * s * eps / 3, 4 * s * eps / 3), 'law_force': zero, 'law_force_over_speed': zero,
                'law_force_derivative': zero}
    return below(law, y, s, eps) if y < eps else beyond(law, y, s, k, eps, speed)


def speeds_of(rng, law, eps, speed):
    ys = [0.0, eps * rng.uniform(0, 1), eps * 10**rng.uniform(-12, 0)] + beside(eps, 2) + beside(2 * eps, 1)
    ys += [eps + speed * x for x in (1e-9, 0.01, 0.5, 1, 2.2, 6, 15, 27, 300)]
    ys += [eps + speed * 10**rng.uniform(-6, 1.5) for _ in range(3)]
    if law == 'curve':
        ys += [eps + speed * s for s in CURVE[0]] + [eps + speed * rng.uniform(0, 2) for _ in range(6)]
    return sorted({y for y in ys if y < 1e300})


def pairs(rng, law):
    some = [(1.0, 0.1), (0.3, 0.6), (0.0, 0.4), (0.7, 0.0), (0.6, math.nextafter(0.6, 1)),
            (rng.uniform(0, 2), rng.uniform(0, 2))]
    return some if law in ('stribeck', 'exponential') else [(s, s) for s, _ in some]


def lines():
    rng = random.Random(3)
    for law in ('stribeck', 'exponential', 'curve', 'adhesion'):
        for eps in EPS:
            for ratio in rng.sample(RATIOS, 2):
                s, k = rng.choice(pairs(rng, law))
                speed = eps * ratio
                for y in speeds_of(rng, law, eps, speed):
                    found = values(law, *map(mpf, (y, s, k, eps, speed)))
                    for name, (value, scale, *allowed) in found.items():
                        numbers = [y, s, k, eps, speed, to_double(value), to_double(max(abs(value), scale)),
                                   to_double(allowed[0]) if allowed else 0.0]
                        if all(map(math.isfinite, numbers)):
                            yield ' '.join([law, name] + [shortest(x) for x in numbers])


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'laws_mp.txt')
    with open(path, 'w') as out:
        out.write('\n'.join(sorted(set(lines()))) + '\n')


if __name__ == '__main__':
    main()
