#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A gripper: two pads hold a weight by friction.

usage: pinch.py [--quick] [--plot FILE]

Each pad presses with P, and friction of both balances the weight W if W <= mu N, N = 2P. Smooth friction needs a slip
to be a force: 2z - z^2 of its limit at z eps_v. Without anchors the weight therefore sinks at the speed eps_v (1 -
sqrt(1 - W / (mu N))). With anchors it stops, at the depth eps_v h (1 - sqrt(1 - W / (mu N))), where h is the step at
which the anchors build up. A weight larger than mu N falls with g - mu N / m.
"""
import numpy as np

from theory import BLUE, G, GREEN, ORANGE, run

MASS, WIDTH, MU, EPS_V, STEP = 0.5, 0.06, 0.6, 1e-3, 1e-2  # kg, m, -, m/s, s
SHARES = [0.25, 0.5, 0.75, 0.95]                           # W / (mu N)


def held(client, share, anchors, eps_v=EPS_V, steps=60):
    """A block, a rigid body between two pads. Depths below the beginning, and the speed at the end."""
    press = MASS * G / (MU * share) / 2
    pads = {"bodies": [0, 0], "point": [[-WIDTH / 2, 0], [WIDTH / 2, 0]], "normal": [[1, 0], [-1, 0]],
            "normal_force": [press, press]}
    batch = {"dim": 2, "body_positions": [[0, 0]], "friction": {"mu": MU, "eps_v": eps_v},
             "collisions": {"body_world": pads}}
    inertia, twist, depth = [[MASS, MASS, MASS * WIDTH**2 / 6]], np.zeros((1, 3)), [0.0]
    with client.set(batch) as contacts:
        for _ in range(steps):
            twist = contacts.step(twist, inertia, STEP, [[0, -MASS * G, 0]], carry=anchors).velocities
            depth.append(depth[-1] - STEP * twist[0, 1])
    return np.array(depth), -twist[0, 1]


def main(client, report):
    for share in SHARES:
        report.row(f"W / mu N = {share}: creep / eps_v", 1 - np.sqrt(1 - share),
                   held(client, share, False)[1] / EPS_V, 1e-9)
    for share in SHARES:
        depth, speed = held(client, share, True)
        report.row(f"W / mu N = {share}, anchors: creep / eps_v", 0, speed / EPS_V, 1e-12)
        if share < 0.7:  # the others slip a little at first: the load is sudden
            report.row("  depth / (eps_v h)", 1 - np.sqrt(1 - share), depth[-1] / (EPS_V * STEP), 1e-9)
    report.row("W / mu N = 1.25: acceleration / g", 0.2, held(client, 1.25, True)[1] / (60 * STEP * G), 1e-3)
    speeds = [1e-2, 1e-3, 1e-4]
    report.falls("eps_v (m/s): creep without anchors", speeds,
                 lambda: [held(client, 0.5, False, eps_v)[1] for eps_v in speeds], 1, 1e-6)

    def draw(axes):
        t = STEP * np.arange(61)
        for share, color in zip(SHARES[1:], (BLUE, ORANGE, GREEN)):
            axes.plot(t, 1e6 * held(client, share, False)[0], "--", color=color, lw=1)
            axes.plot(t, 1e6 * held(client, share, True)[0], color=color, label=f"W / μN = {share}")
        axes.set(title="Pinch: with anchors; without (dashed)", xlabel="time (s)", ylabel="depth (µm)")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
