#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two masses and a spring, the first on a rough floor with a larger static coefficient: code_aster's test SDND106.

usage: two_masses.py [--quick] [--plot FILE]

A force pulls the second mass for 0.2 s. At first friction holds the first mass, and the second swings until the spring
pulls with mu_s N. Then both move, against mu_k N, until the first one stops and is held again. In each phase the
forces are constant, and the centre of the masses and their distance have closed forms; the time of the stop is the root
of an equation.
"""
import math

import numpy as np
from scipy.optimize import brentq

from theory import BLUE, ORANGE, Mover, run

MASS, SPRING, NORMAL, MU_S, MU_K, PULL, PULLS = 5.0, 1e4, 1e4, 0.3, 0.2, 3000.0, 0.2  # kg, N/m, N, -, -, N, s


def phase(x, v, first, second):
    """Positions and velocities after t seconds in which these constant forces act on the masses."""
    rate = math.sqrt(2 * SPRING / MASS)
    middle, speed, gain = sum(x) / 2, sum(v) / 2, (first + second) / (2 * MASS)
    level = (second - first) / (2 * SPRING)
    stretch, widens = x[1] - x[0] - level, v[1] - v[0]

    def at(t):
        c, s = np.cos(rate * t), np.sin(rate * t)
        apart, opens = level + stretch * c + widens * s / rate, widens * c - stretch * rate * s
        centre, moves = middle + speed * t + gain * t * t / 2, speed + gain * t
        return (centre - apart / 2, centre + apart / 2), (moves - opens / 2, moves + opens / 2)
    return at


def theory():
    """The times of leaving and of the stop, and positions and velocities as a function of a time between them."""
    rate = math.sqrt(SPRING / MASS)
    leaves = math.acos(1 - MU_S * NORMAL / PULL) / rate
    pulled = phase((0, MU_S * NORMAL / SPRING), (0, PULL / SPRING * rate * math.sin(rate * leaves)), -MU_K * NORMAL, PULL)
    free = phase(*pulled(PULLS - leaves), -MU_K * NORMAL, 0)
    # The first mass stops when its velocity, which oscillates on a falling line, crosses zero for the first time.
    fine = np.linspace(0, 0.3, 3001)
    i = np.argmax(free(fine)[1][0] < 0)
    stops = PULLS + brentq(lambda t: free(t)[1][0], fine[i - 1], fine[i], xtol=1e-14)
    return leaves, stops, lambda t: pulled(t - leaves) if t < PULLS else free(t - PULLS)


def simulated(client, h, slips):
    """One pair of masses for each of the elastic slips. Times, positions of the first masses and of the second ones,
    and the times at which each first mass leaves and stops."""
    n = len(slips)
    request = {"dim": 2, "friction": {"mu_s": MU_S, "mu_k": MU_K, "mu_transition": "peak"}, "collisions": {
        "plane_vertex": {"vertices": np.arange(n), "plane_normal": [0, 1], "normal_force": NORMAL}}}

    def force(t, x):
        spring = SPRING * (x[n:] - x[:n])
        pull = PULL if t < PULLS - 1e-9 else PULL / 2 if t < PULLS + 1e-9 else 0  # in the kick around the end, half
        return np.concatenate([spring, [pull, 0] - spring])

    mover = Mover(client, request, MASS, force, np.zeros((2 * n, 2)), np.array(slips))
    t, x = mover.run(h, 0.36)
    leaves = [next(at for at, _, _, after in mover.events if after[i].any()) for i in range(n)]
    stops = [next(at for at, _, before, _ in mover.events if before[i].any() and at > PULLS) for i in range(n)]
    return t, x[:, :n, 0], x[:, n:, 0], leaves, stops


def main(client, report):
    leaves, stops, at = theory()
    (x1, x2), (stopped, _) = at(PULLS)[0], at(stops)[0]

    def place(run):
        t, first = run[:2]
        return first[np.argmin(abs(t - PULLS)), 0]

    t, first, second, [left], [stop] = main_run = simulated(client, 5e-4, [1e-13])
    report.row("leaves", 1e3 * leaves, 1e3 * left, 1e-2, "ms")
    report.row("x1 at 0.2 s", x1, place(main_run), 1e-4, "m")
    report.row("x2 at 0.2 s", x2, second[np.argmin(abs(t - PULLS)), 0], 1e-4, "m")
    report.row("stops", stops, stop, 2e-5, "s")
    report.row("x1 from then on", stopped, first[-1, 0], 2e-4, "m")
    report.row("  moves in the last 0.03 s", 0, np.ptp(first[t > 0.33]), 1e-12, "m")
    steps = [4e-3, 2e-3, 1e-3]
    report.falls("step (s): x1 at 0.2 s", steps,
                 lambda: [abs(place(simulated(client, h, [1e-13])) - x1) for h in steps], 2, 0.2)
    # While the first mass passes the elastic slip, the spring's excess grows in proportion to time, and so the slip as
    # its cube.
    slips = [1e-3, 1e-4, 1e-5]
    report.falls("elastic slip (m): time of leaving", slips,
                 lambda: np.array(simulated(client, 5e-4, slips)[3]) - leaves, 1 / 3, 0.1)

    def draw(axes):
        fine = np.linspace(leaves, stops, 300)
        theory = np.array([at(one)[0] for one in fine])
        axes.plot(fine, theory[:, 1], "-", color=ORANGE, lw=0.8, label="second mass, analytic")
        axes.plot(fine, theory[:, 0], "-", color=BLUE, lw=0.8, label="first mass, analytic")
        axes.plot(t[::20], second[::20], ".", color=ORANGE, ms=4, label="second mass")
        axes.plot(t[::20], first[::20], ".", color=BLUE, ms=4, label="first mass")
        axes.set(title="Two masses and a spring", xlabel="time (s)", ylabel="x (m)")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
