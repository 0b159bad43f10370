#!/usr/bin/python3
"""Writes special_mp.txt: e^-t, 1 - e^-t and the integral of e^-s^2 up to t, from multi-precision values.

A line is `t left lost integral`, numbers as C hexadecimal floats (fscanf %la).

Usage: make_special.py [FILE]       deterministic, a second
       make_special.py --minimax    the polynomials of core/law/special.h, from the power 0 on, and their errors
"""
import os
import random
import sys

from mpmath import cos, erf, erfc, exp, expm1, lu_solve, matrix, mp, mpf, log, nstr, pi, sqrt

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'oracle'))
from law import beside, to_double  # noqa: E402
from make_scalars import shortest  # noqa: E402

mp.dps = 60


def arguments():
    rng = random.Random(4)
    ts = [0.0, 5e-324, 1e-310, 1e-200, 1e-20, 1e-8] + beside(1.0, 2) + beside(745.1332191019411, 2)
    ts += [708.39, 708.4, 720.0, 744.9, 746.0, 750.0, 800.0, 1e5, 1e300]
    ts += [x * to_double(log(2)) for x in (0.5, 1.0, 1.5, 2.5, 1021.5, 1022.0, 1023.0)]
    for low, high, n in ((0, 0.4, 200), (0, 2, 400), (0, 7, 400), (0, 40, 200), (0, 746, 300)):
        ts += [rng.uniform(low, high) for _ in range(n)]
    return sorted(set(ts + [10**rng.uniform(-20, 0) for _ in range(100)]))


def lines():
    for t in arguments():
        x = mpf(min(t, 2000))
        values = [t, to_double(exp(-x)), to_double(-expm1(-x)), to_double(sqrt(pi) / 2 * erf(mpf(t)))]
        yield ' '.join(shortest(v) for v in values)


def minimax(f, weight, low, high, degree, rounds=10, grid=1001):
    """Remez' exchange algorithm: the coefficients of the polynomial p that minimizes the maximum of weight |f - p|, and
    that maximum."""
    n, middle, half = degree + 2, (low + high) / 2, (high - low) / 2
    xs = [middle - half * cos(pi * mpf(i) / grid) for i in range(grid + 1)]
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    at = [round(grid * (i + 0.5) / n) for i in range(n)]
    for _ in range(rounds):
        equations, right = matrix(n, n), matrix(n, 1)
        for row, i in enumerate(at):
            for j in range(degree + 1):
                equations[row, j] = xs[i]**j
            equations[row, degree + 1], right[row] = (-1)**row / ws[i], fs[i]
        c = list(lu_solve(equations, right))[:degree + 1]
        errors = [w * (y - sum(a * x**j for j, a in enumerate(c))) for x, y, w in zip(xs, fs, ws)]
        runs = [[0]]
        for i in range(1, grid + 1):
            if (errors[i] >= 0) == (errors[runs[-1][0]] >= 0):
                runs[-1].append(i)
            else:
                runs.append([i])
        peaks = [max(run, key=lambda i: abs(errors[i])) for run in runs]
        while len(peaks) > n:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < n:
            break
        at = peaks
    return c, max(map(abs, errors))


def show():
    end, middle = log(2) / 2 * mpf('1.0001'), mpf(13 / 72)

    def rest(r):
        return (exp(r) - 1 - r) / r**2 if r else mpf(1) / 2

    def near(u):
        return sqrt(pi) / 2 * erf(sqrt(u)) / sqrt(u) if u else mpf(1)

    def far(s):
        x = 1 / (s + middle) - 3
        return sqrt(pi) / 2 * exp(x * x) * erfc(x)

    def small(s):
        return exp(-(1 / (s + middle) - 3)**2)

    for name, found in (('exp_rest', minimax(rest, lambda r: r * r + mpf('1e-30'), -end, end, 9)),
                        ('gauss_near', minimax(near, lambda u: mpf(1), mpf(0), mpf(1), 11)),
                        ('gauss_far', minimax(far, small, 1 / mpf(9) - middle, 1 / mpf(4) - middle, 11))):
        print(name, ', '.join(float(c).hex() for c in found[0]), 'within 2^' + nstr(log(found[1], 2), 4))


def main():
    if sys.argv[1:] == ['--minimax']:
        show()
        return
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, 'special_mp.txt')
    with open(path, 'w') as out:
        out.write('\n'.join(lines()) + '\n')


if __name__ == '__main__':
    main()
