#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A grid of ramps, as in a test of the simulator Newton: blocks rest if tan(angle) < mu, else slide with Coulomb's
acceleration; and the distances in which sliding blocks stop.

usage: ramps.py [--quick] [--plot FILE]

The acceleration is g (sin(angle) - mu cos(angle)), the distance v^2 / (2 mu g). One request has all blocks.
"""
import numpy as np

from theory import BLUE, G, GREEN, GREY, ORANGE, run

MUS, ANGLES = np.array([0.1, 0.3, 0.5, 0.7, 1.0]), np.arange(3, 41)  # -, degrees
START, STOPS = 2.0, np.array([0.2, 0.4, 0.7])                        # m/s, -


def slide(client, mu, normal_force, load, v, h, steps, slip=1e-9):
    """n blocks of 1 kg on planes: speeds after each step [steps + 1, n]. slip: eps_v h."""
    n = len(mu)
    batch = {"dim": 2, "n_vertices": n, "friction": {"eps_v": slip / h}, "collisions": {"plane_vertex": {
        "vertices": np.arange(n), "plane_normal": [0, 1], "normal_force": normal_force, "mu": mu}}}
    load, speeds = np.column_stack([load, 0 * mu]), [np.column_stack([v, 0 * mu])]
    with client.set(batch) as contacts:
        for _ in range(steps):
            speeds.append(contacts.step(speeds[-1], 1.0, h, load).velocities)
    return np.array(speeds)[:, :, 0]


def grid(client, h=0.01, steps=100):
    """Coefficients, angles (radians), speeds at the end, accelerations in the last half."""
    mu, angle = (a.ravel() for a in np.meshgrid(MUS, np.radians(ANGLES)))
    speeds = slide(client, mu, G * np.cos(angle), G * np.sin(angle), 0 * mu, h, steps)
    return mu, angle, speeds[-1], (speeds[-1] - speeds[steps // 2]) / (h * (steps - steps // 2))


def stop(client, h):
    """The distances in which blocks stop: sums of the mean speeds of steps, and of the speeds at their ends."""
    speeds = slide(client, STOPS, np.full(3, G), 0 * STOPS, np.full(3, START), h, round(1.05 / h))
    return h * (speeds[1:] + speeds[:-1]).sum(axis=0) / 2, h * speeds[1:].sum(axis=0)


def main(client, report):
    mu, angle, speed, gain = grid(client)
    rests, expected = np.tan(angle) < mu, G * (np.sin(angle) - mu * np.cos(angle))
    report.row(f"blocks that rest, of {len(mu)}", rests.sum(), (speed < 1e-12).sum(), 0)
    report.row("  largest speed of those that should", 0, speed[rests].max(), 1e-12, "m/s")
    worst = np.flatnonzero(~rests)[abs(gain - expected)[~rests].argmax()]
    report.row(f"worst acceleration: mu {mu[worst]}, {np.degrees(angle[worst]):.0f} degrees", expected[worst],
               gain[worst], 1e-7, "m/s^2")
    h = 2e-3
    for one, distance in zip(STOPS, stop(client, h)[0]):
        report.row(f"stops with mu {one} after", START**2 / (2 * one * G), distance, 2e-5, "m")
    steps = np.array([8e-3, 4e-3, 2e-3])
    exact = START**2 / (2 * STOPS[2] * G)
    report.falls("step (s): distance by speeds at ends of steps", steps,
                 lambda: [abs(stop(client, h)[1][2] - exact) for h in steps], 1)

    def draw(axes):
        for one, color, kind in zip(MUS, (BLUE, ORANGE, GREEN, GREY, "k"), "os^Dv"):
            at, fine = mu == one, np.radians(np.linspace(3, 40, 200))
            axes.plot(np.degrees(fine), np.maximum(0, G * (np.sin(fine) - one * np.cos(fine))), "k-", lw=0.8)
            axes.plot(np.degrees(angle[at]), gain[at], kind, color=color, ms=3, label=f"μ = {one}")
        axes.set(title="Acceleration of blocks on ramps", xlabel="angle (degrees)", ylabel="m/s²")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
