#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A rope around a post: the ratio of the forces at its ends (Euler and Eytelwein).

usage: capstan.py [--quick] [--plot FILE]

Half a turn of rope is n vertices, each on a plane whose normal bisects the rope's angle there. With the pulls T1 and T2
on both sides, a vertex presses with (T1 + T2) sin(d/2), where d = pi/n, and T2 cos(d/2) is T1 cos(d/2) plus friction.
If all slide, T2/T1 is (1 + mu t) / (1 - mu t) with t = tan(d/2) at every vertex. For n -> infinity, the product becomes
exp(mu pi). Normal forces depend on friction and are lagged: they are computed again from the pulls until these no
longer change.
"""
import math

import numpy as np

from theory import BLUE, ORANGE, run

MU, ANGLE, SPEED = 0.3, math.pi, 1e-2  # -, of the contact, m/s


def pulls(client, n, eps_v=1e-3):
    """The pulls from the slack end to the other, n + 1 of them, the first 1 N."""
    turn = ANGLE / n
    at = turn * (np.arange(n) + 0.5)
    pull = np.ones(n + 1)
    along = np.column_stack([-np.sin(at), np.cos(at)])
    plane = {"vertices": np.arange(n), "plane_normal": np.column_stack([np.cos(at), np.sin(at)])}
    while True:
        plane["normal_force"] = (pull[1:] + pull[:-1]) * math.sin(turn / 2)
        answer = client.evaluate({"dim": 2, "velocities": SPEED * along, "friction": {"mu": MU, "eps_v": eps_v},
                                  "collisions": {"plane_vertex": plane}, "outputs": ["gradient"]})
        friction = (answer["gradient"].reshape(n, 2) * along).sum(axis=1)
        before, pull = pull, np.concatenate([[1.0], 1 + np.cumsum(friction) / math.cos(turn / 2)])
        if abs(pull - before).max() <= 1e-15 * pull.max():
            return pull


def discrete(n):
    t = math.tan(ANGLE / n / 2)
    return ((1 + MU * t) / (1 - MU * t))**n


def main(client, report):
    for n in 8, 32, 128:
        report.row(f"{n} vertices", discrete(n), pulls(client, n)[-1], 1e-12)
    limit = math.exp(MU * ANGLE)
    report.row("2048 vertices, and the rope", limit, pulls(client, 2048)[-1], 1e-6)
    meshes = [8, 16, 32, 64, 128]
    report.falls("vertices: ratio", meshes, lambda: [pulls(client, n)[-1] - limit for n in meshes], -2)
    # Slower than eps_v, the contacts stick, and friction is smaller.
    wide = SPEED / np.array([0.8, 0.9, 0.95, 0.975])
    report.falls("1 - speed / eps_v: ratio", 1 - SPEED / wide,
                 lambda: [discrete(32) - pulls(client, 32, eps_v)[-1] for eps_v in wide], 2)
    report.row("speed = eps_v", discrete(32), pulls(client, 32, SPEED)[-1], 1e-12)

    def draw(axes):
        for n, color, mark in (8, ORANGE, "o"), (32, BLUE, "."):
            axes.plot(np.arange(n + 1) / n * 180, pulls(client, n), mark, color=color, label=f"{n} vertices")
        at = np.linspace(0, 1, 61)
        axes.plot(180 * at, np.exp(MU * ANGLE * at), "k-", lw=0.8, label="exp(μ θ)")
        axes.set(title="Pull in the rope", xlabel="angle (degrees)", ylabel="pull / first pull")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
