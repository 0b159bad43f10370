#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A mass on a spring and a rough floor, released from rest: code_aster's test SDND100.

usage: oscillator.py [--quick] [--plot FILE]

Between two turning points friction has one sign, and the mass swings about the point at which friction balances the
spring, at x = mu N / k or -mu N / k. So it turns every pi sqrt(m/k) seconds, each time 2 mu N / k closer to 0. It rests
where it turns between these points. The spring is explicit and friction is implicit, so that the oscillator keeps its
energy. The steps do not divide the period.
"""
import math

import numpy as np

from theory import BLUE, ORANGE, Mover, run

MASS, SPRING, NORMAL, MU, START = 1.0, 1e4, 10.0, 0.1, 0.85e-3  # kg, N/m, N, -, m
HALF = math.pi * math.sqrt(MASS / SPRING)                       # s
ALONG = np.array([1, 1, 0]) / math.sqrt(2)
TURNS = np.array([-0.65, 0.45, -0.25, 0.05])                    # mm


def swing(client, steps, slips, until=3.2):
    """One oscillator for each of the elastic slips, with so many steps in half a period. Times, places [mm] along the
    direction of motion, and for every oscillator the turning points: (time, place)."""
    n = len(slips)
    request = {"dim": 3, "friction": {"mu": MU}, "collisions": {"plane_vertex": {
        "vertices": np.arange(n), "plane_normal": [0, 0, 1], "normal_force": NORMAL}}}
    mover = Mover(client, request, MASS, lambda t, x: -SPRING * x, np.tile(START * ALONG, (n, 1)), np.array(slips))
    t, x = mover.run(HALF / steps, until * HALF)
    turns = [[(when, 1e3 * where[i] @ ALONG) for when, where, before, after in mover.events
              if before[i].any() and (before[i] != after[i]).any()] for i in range(n)]
    return t, 1e3 * x @ ALONG, turns


def error(turns):
    """The largest error of the first three turning points."""
    return max(abs(where - analytic) for (_, where), analytic in zip(turns, TURNS[:3]))


def late(run):
    """The error of the third turning point's time, in half periods."""
    [turns] = run[2]
    return abs(turns[2][0] / HALF - 3)


def main(client, report):
    t, x, [turns] = swing(client, 80.37, [1e-10], 5)
    for i, ((when, where), analytic) in enumerate(zip(turns, TURNS[:3]), 1):
        report.row(f"turning point {i}", analytic, where, 1e-5, "mm")
        report.row("  its time / (pi/100 s)", i, when / HALF, 1e-3)
    report.row("rests at", TURNS[3], x[-1, 0], 2e-5, "mm")
    report.row("  moves in the last quarter", 0, np.ptp(x[t > 4.5 * HALF]), 1e-12, "mm")
    steps = np.array([10.37, 20.37, 40.37])
    report.falls("step (s): time of turning point 3", HALF / steps,
                 lambda: [late(swing(client, n, [1e-13])) for n in steps], 2, 0.2)
    slips = [1e-4, 5e-5, 2.5e-5]
    report.falls("elastic slip (m): turning points", slips,
                 lambda: [error(one) for one in swing(client, 80.37, slips)[2]], 1)

    def draw(axes):
        fine = np.linspace(0, 5, 501)
        i = np.minimum(fine.astype(int), 4)
        swings = np.concatenate([[0.85], TURNS, TURNS[-1:]])
        middle = (swings[i] + swings[i + 1]) / 2
        axes.plot(fine, middle + (swings[i] - middle) * np.cos(math.pi * (fine - i)), "k-", lw=0.8, label="analytic")
        axes.plot(t[::4] / HALF, x[::4, 0], ".", color=BLUE, ms=4, label="computed")
        axes.axhspan(-0.1, 0.1, color=ORANGE, alpha=0.15, lw=0, label="friction holds")
        axes.set(title="Oscillator with friction", xlabel="time / half a period", ylabel="x (mm)")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
