#!/usr/bin/python3
"""Writes barrier_mp.txt: normal forces of the clamped log barrier, correctly rounded from multi-precision values.

A line is `distance dhat stiffness dmin force`, numbers as C hexadecimal floats (fscanf %la); force is 0 from dmin + dhat
on. Distances come close to both ends, down to the last double inside and beyond the reach.

Usage: make_barrier.py [FILE]     deterministic, a few seconds
"""
import math
import os
import random
import sys

from mpmath import log, mp, mpf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
from law import to_double  # noqa: E402
from make_scalars import beside, shortest  # noqa: E402

mp.dps = 2000  # enough for squares of 1e308 and 5e-324 in one sum
SIZES = [5e-324, 1e-310, 1e-200, 1e-150, 1e-100, 2.0 ** -30, 1e-5, 1e-3, 0.1, 1 / 3, 0.7, 1.0, 2.0, 1e3, 1e20, 1e100, 1e150]
STIFFNESSES = [1e-3, 1.0, 1e10]


def force(distance, dhat, stiffness, dmin):
    """-kappa b'(sigma) 2d, b = -(sigma - top)^2 ln(sigma/top), as in docs/physics.md."""
    d = mpf(distance)
    sigma, top = d ** 2 - mpf(dmin) ** 2, (2 * mpf(dmin) + dhat) * dhat
    if sigma >= top:
        return 0.0
    derivative = -2 * (sigma - top) * log(sigma / top) - (sigma - top) ** 2 / sigma
    return to_double(-stiffness * derivative * 2 * d)


def distances(rng, dhat, dmin):
    """Distances between dmin and dmin + dhat, and just beyond."""
    end = dmin + dhat
    fractions = [10.0 ** -k for k in range(1, 17)] + [rng.random() for _ in range(4)]
    found = [dmin + dhat * f for f in fractions] + [end - dhat * f for f in fractions] + beside(end, 3)
    found += [math.nextafter(dmin, math.inf), dmin * (1 + 2.0 ** -45)]
    return sorted({d for d in found if d > dmin and d < math.inf})


def lines():
    rng = random.Random(1)
    pairs = [(dhat, dmin) for dhat in SIZES for dmin in [0.0] + SIZES if dmin == 0 or 1e-20 < dhat / dmin < 1e20]
    for dhat, dmin in pairs + [(rng.uniform(0.1, 1), rng.uniform(0.1, 1)) for _ in range(20)]:
        stiffness = rng.choice(STIFFNESSES)
        several = distances(rng, dhat, dmin)
        for d in rng.sample(several, min(len(several), 16)):
            numbers = d, dhat, stiffness, dmin, force(d, dhat, stiffness, dmin)
            yield ' '.join(shortest(x) for x in numbers)


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'barrier_mp.txt')
    text = sorted(set(lines()))
    with open(path, 'w') as out:
        out.write('\n'.join(text) + '\n')


if __name__ == '__main__':
    main()
