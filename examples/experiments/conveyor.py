#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Belts: a block that is dropped on a conveyor, and a disc between two belts.

usage: conveyor.py [URL] [--plot FILE]

The belt is a plane whose surface moves ("surface_velocity"). It accelerates the block with mu g until the block moves
with the belt, after v / (mu g). The disc is a rigid body in 2D between two belts, above and below it. In the end it
rolls on both: its centre moves with the mean of their speeds, and it spins with half their difference divided by its
radius.
"""
import numpy as np

from motion import BLUE, G, GREEN, GREY, ORANGE, figure, frictiond, options, run, save, step, tell

MASS, MU, EPS_V, STEP = 2.0, 0.4, 1e-5, 1e-3  # kg, -, m/s, s
BELT = 1.2                                    # m/s
RADIUS, PRESS, BELTS = 0.1, 15.0, (1.0, -0.4) # m; N; m/s, below and above


def dropped(client, steps):
    """Speeds [steps + 1] of a block that is put down at rest."""
    plane = {"vertices": [0], "plane_normal": [0, 1], "normal_force": MASS * G, "surface_velocity": [BELT, 0]}
    request = {"dim": 2, "friction": {"mu": MU, "eps_v": EPS_V}, "collisions": {"plane_vertex": plane}}
    v, speeds = np.zeros((1, 2)), [0.0]
    for _ in range(steps):
        v, answer = step(client, request, np.full((1, 2), MASS), v, 0 * v, STEP)
        plane["anchor"] = answer["collisions"]["plane_vertex"]["anchor"]
        speeds.append(v[0, 0])
    return np.array(speeds)


def pressed(client, steps):
    """Twists (v_x, v_y, omega) [steps + 1, 3] of a disc between two belts, which starts at rest. Its centre is the
    origin."""
    belts = {"bodies": [0, 0], "point": [[0, -RADIUS], [0, RADIUS]], "normal": [[0, 1], [0, -1]],
             "normal_force": PRESS, "surface_velocity": [[BELTS[0], 0], [BELTS[1], 0]]}
    request = {"dim": 2, "body_positions": [[0, 0]], "friction": {"mu": MU, "eps_v": EPS_V},
               "collisions": {"body_world": belts}}
    inertia = np.array([[MASS, MASS, MASS * RADIUS**2 / 2]])
    v, twists = np.zeros((1, 3)), [np.zeros(3)]
    for _ in range(steps):
        v, answer = step(client, request, inertia, v, 0 * v, STEP, start=v)  # the only solution
        twists.append(v[0])
    return np.array(twists)


def rolling(t):
    """The same by Coulomb's law, for belts in opposite directions, of which the lower one is faster. First the disc
    slips on both, and only its spin changes. Then it rolls on the upper belt, and the friction there is a third of that
    below."""
    f, (below, above) = MU * PRESS, BELTS
    first = -above * MASS / (4 * f)  # until the upper rim of the disc is as fast as the belt
    last = first + (below + above) * 3 * MASS / (8 * f)
    spin = 4 * f / MASS * np.minimum(t, first)
    slow = 4 * f / (3 * MASS) * (np.clip(t, first, last) - first)
    return np.column_stack([slow, 0 * t, (spin + slow) / RADIUS]), last


def main():
    chosen = options(__doc__)
    client = frictiond.Client(chosen.url)
    takes = BELT / (MU * G)
    speeds = dropped(client, round(1.2 * takes / STEP))
    print(f"on a belt of {BELT} m/s, mu {MU}            measured       analytic")
    tell("until it moves with the belt", STEP * np.argmax(speeds > BELT - EPS_V), takes, "s")
    tell("speed after that", speeds[-1], BELT, "m/s")
    t = STEP * np.arange(round(1.3 * rolling(np.zeros(1))[1] / STEP))
    twists = pressed(client, len(t) - 1)
    print(f"a disc between belts of {BELTS[0]} and {BELTS[1]} m/s")
    rolls = rolling(t)
    tell("until it rolls on both", STEP * np.argmax(twists[:, 0] > sum(BELTS) / 2 - EPS_V), rolls[1], "s")
    tell("speed of its centre", twists[-1, 0], sum(BELTS) / 2, "m/s")
    tell("spin", twists[-1, 2], (BELTS[0] - BELTS[1]) / (2 * RADIUS), "rad/s")
    if chosen.plot:
        draw(chosen.plot, speeds, t, twists, rolls[0])


def draw(path, speeds, t, twists, rolls):
    drawn, (left, right) = figure(2)
    times = STEP * np.arange(len(speeds))
    left.axhline(BELT, color=GREY, ls="--", lw=0.8)
    left.plot(times[::10], speeds[::10], "o", ms=3, color=BLUE, label="block")
    left.plot(times, np.minimum(MU * G * times, BELT), "k", lw=0.8, label="analytic")
    left.set(title="Dropped on a conveyor", xlabel="time (s)", ylabel="speed (m/s)")
    some = slice(None, None, 4)
    right.plot(t[some], twists[some, 0], "o", ms=3, color=ORANGE, label="speed of the centre (m/s)")
    right.plot(t[some], RADIUS * twists[some, 2], "o", ms=3, color=GREEN, label="radius · spin (m/s)")
    right.plot(t, rolls[:, 0], "k", lw=0.8)
    right.plot(t, RADIUS * rolls[:, 2], "k", lw=0.8, label="analytic")
    right.set(title="A disc between two belts", xlabel="time (s)")
    for axes in (left, right):
        axes.legend()
    save(drawn, path)


if __name__ == "__main__":
    run(main)
