#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A measured curve: friction over speed from a table, through the service.

usage: curve.py [URL] [--table FILE] [--plot FILE]

The law "curve" goes through the points of a table and is monotone between them. The first point's speed becomes eps_v,
below which the contact sticks, and its coefficient becomes mu; all others are relative to these. One block slides at
each speed of the table, and many in between. Friction divided by normal force is compared with the table.
"""
import pathlib

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from motion import BLUE, GREY, ORANGE, evaluate, figure, frictiond, options, run, save

TABLE = str(pathlib.Path(__file__).with_name("pad.csv"))
NORMAL = 150.0  # N


def law(table):
    """The request's "friction" for a table [n, 2] of speeds and coefficients."""
    speeds, mu = table.T
    return {"law": "curve", "mu": mu[0], "eps_v": speeds[0],
            "curve": {"speeds": speeds - speeds[0], "factors": mu / mu[0]}}


def slid(client, friction, speeds):
    """Friction divided by normal force, at each speed."""
    v = np.column_stack([speeds, 0 * speeds])
    plane = {"vertices": np.arange(len(v)), "plane_normal": [0, 1], "normal_force": NORMAL}
    answer = evaluate(client, {"dim": 2, "friction": friction, "collisions": {"plane_vertex": plane}}, v,
                      outputs=["collisions"], collision_outputs=["friction_force"])
    return -answer["collisions"]["plane_vertex"]["friction_force"][:, 0] / NORMAL


def between(table, speeds):
    """The same, computed from the points alone: SciPy's cubic with the slopes of Fritsch and Butland, and slope 0 at
    both ends."""
    x, y = table.T
    h, slope = np.diff(x), np.diff(y) / np.diff(x)
    left, right = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    inner = np.zeros(len(x))
    same = slope[:-1] * slope[1:] > 0
    inner[1:-1][same] = ((left + right)[same] / (left[same] / slope[:-1][same] + right[same] / slope[1:][same]))
    return CubicHermiteSpline(x, y, inner)(np.minimum(speeds, x[-1]))


def main():
    chosen = options(__doc__, table=TABLE)
    table = np.loadtxt(chosen.table, delimiter=",")
    client = frictiond.Client(chosen.url)
    found = slid(client, law(table), table[:, 0])
    print(" speed (m/s)      table    service")
    for (speed, mu), value in zip(table, found):
        print(f"{speed:12g} {mu:10.4f} {value:10.4f}")
    print(f"largest difference at the points {abs(found - table[:, 1]).max():.1e}")
    fine = np.linspace(table[0, 0], 1.2 * table[-1, 0], 2001)
    print(f"between them, from the cubic     {abs(slid(client, law(table), fine) - between(table, fine)).max():.1e}")
    if chosen.plot:
        draw(chosen.plot, client, table)


def draw(path, client, table):
    drawn, (left, right) = figure(2)
    for axes, last in ((left, 1.2 * table[-1, 0]), (right, 20 * table[0, 0])):
        fine = np.linspace(0, last, 241)
        axes.plot(fine, slid(client, law(table), fine), color=BLUE, label="service")
        shown = table[table[:, 0] <= last]
        axes.plot(*shown.T, "o", ms=4, color=ORANGE, label="table")
        axes.set(xlabel="speed (m/s)", ylabel="friction / normal force")
        axes.set_ylim(0, 1.1 * table[:, 1].max())
    right.axvline(table[0, 0], color=GREY, ls=":", lw=0.8)
    left.set_title("A measured curve")
    right.set_title("The same near rest; eps_v is dotted")
    left.legend(loc="lower right")
    save(drawn, path)


if __name__ == "__main__":
    run(main)
