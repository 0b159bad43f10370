#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Blocks on a plane that vibrates along itself: the setting of code_aster's test SDND104.

usage: vibrating_plane.py [--quick] [--plot FILE]

The plane's acceleration is a0 sin(wt). A block moves with it if a0 <= mu g. If a0 / (mu g) is larger than sqrt(1 +
pi^2/4), it never moves with the plane: friction has one sign for half a period, the block's velocity is a triangle,
and its peak is pi mu g / (2w). Between these, the block begins to slip where the plane's acceleration is mu g, and sticks
again when their velocities meet, at the root of an equation. One request has all blocks.
"""
import math

import numpy as np
from scipy.optimize import brentq

from theory import BLUE, GREY, ORANGE, run

MU, G, RATE = 0.1, 10.0, 2 * math.pi  # -, m/s^2, 1/s
NEVER = math.sqrt(1 + math.pi**2 / 4)


def shaken(client, ratios, steps, periods=3, eps_v=1e-6):
    """Blocks on planes with a0 = ratio mu g, in so many steps per period. In the last period: times, speeds and whether
    each block sticks [steps, n]; and whether it ever slipped."""
    n, h = len(ratios), 2 * math.pi / RATE / steps
    peak = np.array(ratios) * MU * G / RATE
    plane = {"vertices": np.arange(n), "plane_normal": [0, 1], "normal_force": G, "anchor": np.zeros((n, 2))}
    batch = {"dim": 2, "friction": {"mu": MU, "eps_v": eps_v}, "collisions": {"plane_vertex": plane}}
    v, speeds, sticks = np.column_stack([-peak, 0 * peak]), [], []
    for step in range(1, periods * steps + 1):
        plane["surface_velocity"] = np.column_stack([-peak * math.cos(RATE * h * step), 0 * peak])
        after = client.step(batch, v, 1.0, h, collision_outputs=["status"])
        v, plane["anchor"] = after.velocities, after.anchors["plane_vertex"]
        speeds.append(v[:, 0])
        sticks.append(after.answer["collisions"]["plane_vertex"]["status"] == 0)
    t, sticks = h * np.arange(1, steps + 1), np.array(sticks)
    return t, np.array(speeds[-steps:]), sticks[-steps:], ~sticks.all(axis=0)


def share(ratio):
    """The share of time in which a block sticks."""
    if ratio <= 1 or ratio >= NEVER:
        return float(ratio <= 1)
    begin = math.asin(1 / ratio)
    end = brentq(lambda at: math.cos(begin) - math.cos(at) - (at - begin) / ratio, begin + 1e-3, begin + math.pi)
    return 1 - (end - begin) / math.pi


def held(sticks):
    """The share of steps in which blocks stick, as in the step before. A block that turns sticks for one step."""
    return (sticks & np.roll(sticks, 1, axis=0)).mean(axis=0)


def peak(speeds):
    """Of triangles, from their mean."""
    return 2 * abs(speeds).mean(axis=0)


def error(client, steps):
    """The mean error of the share of sticking."""
    ratios = np.linspace(1.03, 1.8, 20)
    return abs(held(shaken(client, ratios, steps, eps_v=1e-4)[2]) - [share(ratio) for ratio in ratios]).mean()


def main(client, report):
    ratios = np.array([0.9995, 1.0005, 1.05, 1.2, 1.5, 1.9, 2.2, 2.5, *np.arange(1.83, 1.89, 0.01)])
    t, speeds, sticks, slipped = shaken(client, ratios, 400)
    report.row("smallest a0 / mu g with slip", 1, ratios[slipped].min(), 1e-3)
    for ratio, found in list(zip(ratios, held(sticks)))[2:6]:
        report.row(f"a0 / mu g = {ratio}: share of sticking", share(ratio), found, 1e-2)
    report.row("smallest a0 / mu g that never sticks", NEVER, ratios[held(sticks) == 0].min(), 2e-2)
    for ratio, found in list(zip(ratios, peak(speeds)))[5:8]:
        report.row(f"a0 / mu g = {ratio}: peak / (pi mu g / 2w)", 1, found * 2 * RATE / (math.pi * MU * G), 5e-3)
    steps = np.array([50, 100, 200, 400])
    report.falls("steps per period: share of sticking", steps, lambda: [error(client, one) for one in steps], -1, 0.3)

    def draw(axes):
        for i, color in (3, ORANGE), (6, BLUE):
            axes.plot(t * RATE / 2 / math.pi, -ratios[i] * MU * G / RATE * np.cos(RATE * t), "--", color=GREY, lw=0.8)
            axes.plot(t[::8] * RATE / 2 / math.pi, speeds[::8, i], ".", color=color, ms=3.5,
                      label=f"$a_0$ / μg = {ratios[i]}")
        top = math.pi * MU * G / 2 / RATE
        axes.axhline(top, color="k", lw=0.8)
        axes.axhline(-top, color="k", lw=0.8, label="πμg / 2ω")
        axes.set(title="Blocks on a vibrating plane (dashed)", xlabel="time (periods)", ylabel="velocity (m/s)",
                 ylim=(-0.38, 0.52))
        axes.legend(loc="upper left", ncol=3)
    return draw


if __name__ == "__main__":
    run(main)
