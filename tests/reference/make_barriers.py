#!/usr/bin/python3
"""Writes barriers_mp.txt: normal forces of all barriers, correctly rounded from multi-precision values.

A line is `type distance dhat stiffness dmin force physical`, numbers as C hexadecimal floats (fscanf %la): the force, and
the force with physical scaling; inf if a double cannot hold it. Half of the distances are close to one of the ends, to
between 2^-53 and 2^-10 of dhat. Forces are central differences of the barriers as they were published, so nothing here
repeats the derivatives that docs/physics.md gives.

Usage: make_barriers.py [FILE]     deterministic, a few seconds
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

mp.dps = 1300  # squares of 5e-324 and 1e100, and then differences, cost a thousand digits
STEP = mpf(10) ** -200  # its square is the relative error of a difference
STIFFNESSES = [1e-3, 1.0, 7.0, 1e4, 1e10]
PER_TYPE = 400


def two_stage(x, top):
    if x >= top / 2:
        return (top - x) ** 2 / 2
    return -top ** 2 / 4 * (log(2 * x / top) - mpf(1) / 2)


BARRIERS = {  # b(x; top) for 0 < x < top
    'clamped_log': lambda x, top: -(x - top) ** 2 * log(x / top),
    'normalized_clamped_log': lambda x, top: -(x / top - 1) ** 2 * log(x / top),
    'clamped_log_squared': lambda x, top: (x - top) ** 2 * log(x / top) ** 2,
    'cubic': lambda x, top: -2 / (3 * top) * (x - top) ** 3,
    'two_stage': two_stage,
}


def force(kind, distance, dhat, stiffness, dmin):
    """-kappa db/dx 2d, and the same with physical scaling."""
    d, reach, thickness = mpf(distance), mpf(dhat), mpf(dmin)
    x, top = d ** 2 - thickness ** 2, (2 * thickness + reach) * reach
    if x >= top:
        return 0.0, 0.0
    b, h = BARRIERS[kind], STEP * min(x, top - x)
    plain = -stiffness * (b(x + h, top) - b(x - h, top)) / (2 * h) * 2 * d
    units = 1 if kind == 'normalized_clamped_log' else top ** 2
    return to_double(plain), to_double(plain * reach / units)


def between(rng, low, high):
    """A number from 2^low to 2^(high + 1), without functions whose last digit depends on the machine."""
    return math.ldexp(rng.uniform(1, 2), rng.randint(low, high))


def sizes(rng):
    """dhat and dmin: half of them of ordinary size, half from 1e-100 to 1e100."""
    if rng.random() < 0.5:
        dhat = between(rng, -20, 6)
        return dhat, rng.choice([0.0, dhat * rng.random(), dhat * between(rng, -20, 20)])
    dhat = between(rng, -332, 331)
    return dhat, rng.choice([0.0, dhat * between(rng, -100, 40), dhat * between(rng, -332, -1)])


def distances(rng, dhat, dmin):
    """Two distances close to the ends and two others, one of them where two_stage changes its formula."""
    close = between(rng, -53, -10)
    yield rng.choice([dmin + dhat * close, math.nextafter(dmin, math.inf)])
    yield rng.choice([dmin + dhat - dhat * close] + beside(dmin + dhat, 1))
    yield dmin + dhat * rng.random()
    seam = to_double(mp.sqrt(mpf(dmin) ** 2 + (2 * mpf(dmin) + dhat) * dhat / 2))
    yield rng.choice(beside(seam, 2) + [seam * (1 + rng.uniform(-1e-6, 1e-6))])


def lines():
    for kind in BARRIERS:
        rng = random.Random(kind)
        made = 0
        while made < PER_TYPE:
            dhat, dmin = sizes(rng)
            stiffness = rng.choice(STIFFNESSES)
            for d in distances(rng, dhat, dmin):
                if d > dmin:
                    numbers = d, dhat, stiffness, dmin, *force(kind, d, dhat, stiffness, dmin)
                    yield ' '.join([kind, *map(shortest, numbers)])
                    made += 1


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'barriers_mp.txt')
    with open(path, 'w') as out:
        out.write('\n'.join(lines()) + '\n')


if __name__ == '__main__':
    main()
