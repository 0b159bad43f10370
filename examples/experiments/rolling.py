#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rigid bodies that slide, spin and roll: a ball and a disc on a floor.

usage: rolling.py [URL] [--plot FILE]

A ball that is thrown without spin slides until it rolls, with 5/7 of its speed. Rolling resistance (a length,
"roll_radius") stops it. One contact with "spin_radius" 2R/3 stops a disc that spins on the spot in the time that
Coulomb's law gives for uniform pressure. If a disc slides and spins, force and torque are smaller than for either
motion alone. 400 contacts spread over the disc agree with the integral over it; the single contact with "spin_radius"
divides its budget in a similar way, and the program prints how far it is off.
"""
import math

import numpy as np
from scipy.integrate import quad
from scipy.special import ellipe, ellipk

from motion import BLUE, G, GREY, ORANGE, evaluate, figure, frictiond, gradient, options, run, save, step, tell

MASS, RADIUS, MU, EPS_V, STEP = 2.0, 0.1, 0.2, 1e-5, 5e-3  # kg, m, -, m/s, s
ROLL = 0.01                                                # m, for a rolling resistance coefficient of MU * ROLL
BALL = MASS * np.array([[1, 1, 1, *[0.4 * RADIUS**2] * 3]])
DISC = MASS * np.array([[1, 1, 1, RADIUS**2 / 4, RADIUS**2 / 4, RADIUS**2 / 2]])
CELLS = 20                                                 # there are 20 rings of 20 contacts


def on_floor(point, normal_force, **more):
    """A request with one body at the origin, which touches a floor at points with fixed positions."""
    contacts = {"bodies": np.zeros(len(point), int), "point": point, "normal": [0, 0, 1], "normal_force": normal_force}
    return {"dim": 3, "body_positions": [[0, 0, 0]], "friction": {"mu": MU, "eps_v": EPS_V},
            "collisions": {"body_world": {**contacts, **more}}}


def move(client, request, inertia, v, seconds=math.inf):
    """Twists [steps + 1, 6] of a body, for some time or until its contact sticks."""
    v, twists = np.array([v]), [np.array(v)]
    while len(twists) <= seconds / STEP and (seconds < math.inf or abs(v[0, :2]).max() > EPS_V
                                             or abs(v[0, 5]) * RADIUS > EPS_V):
        v, _ = step(client, request, inertia, v, 0 * v, STEP)
        twists.append(v[0])
    return np.array(twists)


def way(twists):
    """The distance along x, exact if the speed changes at a constant rate."""
    return STEP * (twists[:-1, 0] + twists[1:, 0]).sum() / 2


# -- a ball -----------------------------------------------------------------------------------------------------------

def thrown(client, speed):
    """A ball without spin, on a floor without rolling resistance."""
    request = on_floor([[0, 0, -RADIUS]], MASS * G)
    return move(client, request, BALL, [speed, 0, 0, 0, 0, 0], seconds=1.5 * speed / (MU * G) * 2 / 7)


def slip_to_roll(radius=RADIUS, roll=ROLL):
    """For a ball with rolling resistance, the ratio of its slip to roll_radius times its spin; both share one budget.
    This is the root of r t^2 + (7/5 - r^2) t - r with r = roll_radius / radius, about 5 r / 7."""
    r = roll / radius
    return (math.sqrt((1.4 - r * r) ** 2 + 4 * r * r) - (1.4 - r * r)) / (2 * r)


def rolled(client, speed):
    """A ball that rolls against its resistance, starting with the spin at which it continues to roll."""
    request = on_floor([[0, 0, -RADIUS]], MASS * G, roll_radius=ROLL)
    return move(client, request, BALL, [speed, 0, 0, 0, speed / (RADIUS + ROLL * slip_to_roll()), 0])


def distance(speed):
    """The distance until that ball rests."""
    return speed**2 / (2 * MU * G * math.sin(math.atan(slip_to_roll())))


# -- a disc -----------------------------------------------------------------------------------------------------------

def patches():
    """Points and shares of the load of 400 contacts on a disc under uniform pressure, by Gauss's rule in r^2 with rings
    turned by the golden ratio; and the radius of the patch that each contact represents."""
    nodes, weights = np.polynomial.legendre.leggauss(CELLS)
    r, angles = np.sqrt((nodes + 1) / 2), 2 * np.pi * (np.arange(CELLS) / CELLS)
    turned = angles + 2 * np.pi / CELLS * 0.618 * np.arange(CELLS)[:, None]
    points = RADIUS * r[:, None, None] * np.stack([np.cos(turned), np.sin(turned), 0 * turned], axis=2)
    share = np.repeat(weights / (2 * CELLS), CELLS)
    return points.reshape(-1, 3), share, RADIUS * np.sqrt(share)


def many(spin):
    """A disc on 400 contacts. In a patch near the point about which the disc turns, the direction of slip varies; eps_v
    is chosen so that a contact there sticks."""
    points, share, size = patches()
    return on_floor(points, MASS * G * share, eps_v=np.maximum(1.6 * abs(spin) * size, EPS_V))


def one():
    """A disc on one contact."""
    return on_floor([[0, 0, 0]], MASS * G, spin_radius=2 * RADIUS / 3)


def resisted(client, request, speed, spin):
    """Force and torque, divided by their values for sliding alone (mu N) and for spinning alone (2/3 mu N R)."""
    force = gradient(evaluate(client, request, np.array([[speed, 0, 0, 0, 0, spin]]), outputs=["gradient"]))
    return force[0] / (MU * MASS * G), force[5] / (MU * MASS * G * 2 * RADIUS / 3)


def ring(speed, rim):
    """Means of the slip's direction over a ring, along the speed and along the ring, by complete elliptic integrals."""
    total = speed + rim
    m = 4 * speed * rim / total**2
    inverse, length = 2 * ellipk(m) / (math.pi * total), 2 * total * ellipe(m) / math.pi
    difference = (speed - rim) * total
    return (length + difference * inverse) / (2 * speed), (length - difference * inverse) / (2 * rim)


def coulomb(ratio):
    """The result of `resisted` by Coulomb's law under uniform pressure; ratio is speed / (radius * spin) > 0."""
    def over(kind, power, factor):
        parts = sorted({0.0, min(ratio, 1.0), 1.0})
        return sum(quad(lambda r: factor * r**power * ring(ratio, r)[kind], *ends, epsabs=1e-11, limit=200)[0]
                   for ends in zip(parts, parts[1:]))
    return over(0, 1, 2), over(1, 2, 3)


def slides(client, request_at, speed, spin, seconds):
    """A disc thrown with spin. request_at(spin) returns the contacts, which are lagged at every step."""
    v, twists = np.array([[speed, 0, 0, 0, 0, spin]]), [np.array([speed, 0, 0, 0, 0, spin])]
    for _ in range(round(seconds / STEP)):
        v, _ = step(client, request_at(v[0, 5]), DISC, v, 0 * v, STEP)
        twists.append(v[0])
    return np.array(twists)


def by_integral(speed, spin, seconds):
    """The result of `slides` by the integral: speed and spin at every step, by the midpoint rule."""
    def change(v, w):
        force, torque = coulomb(v / (RADIUS * w))
        return np.array([-MU * G * force, -MU * MASS * G * 2 * RADIUS / 3 * torque / DISC[0, 5]])
    state, states = np.array([speed, spin]), [(speed, spin)]
    for _ in range(round(seconds / STEP)):
        half = state + STEP / 2 * change(*state)
        state = state + STEP * change(*half)
        states.append(state)
    return np.array(states)


def main():
    chosen = options(__doc__)
    client = frictiond.Client(chosen.url)
    print("a ball                                         measured       analytic")
    ball = thrown(client, 4.0)
    tell("rolls, share of its first speed", ball[-1, 0] / 4, 5 / 7)
    slip = abs(ball[:, 0] - RADIUS * ball[:, 4])
    tell("until it rolls", STEP * np.argmax(slip < EPS_V), 2 * 4.0 / (7 * MU * G), "s")
    slowed = rolled(client, 1.0)
    tell("with roll_radius, distance", way(slowed), distance(1.0), "m")
    tell("textbook: 7 v^2 R / (10 g mu roll)", way(slowed), 7 * RADIUS / (10 * G * MU * ROLL), "m")
    print("a disc")
    spinning = move(client, one(), DISC, [0, 0, 0, 0, 0, 60.0])
    tell("spins on the spot until it rests", STEP * (len(spinning) - 1), 3 * RADIUS * 60 / (4 * MU * G), "s")
    ratios = np.array([0.1, 0.3, 0.5, 0.653, 0.8, 1, 1.5, 3])
    expected = np.array([coulomb(ratio) for ratio in ratios])
    found = {name: np.array([resisted(client, request, ratio * RADIUS * 10, 10) for ratio in ratios])
             for name, request in (("400 contacts", many(10)), ("one contact", one()))}
    print("friction / mu N, torque / (2/3 mu N R), at speed / (R spin)")
    for at, ratio in enumerate(ratios):
        print(f"  {ratio:5}  integral {expected[at, 0]:.4f} {expected[at, 1]:.4f}", *(
            f" {name} {value[at, 0]:.4f} {value[at, 1]:.4f}" for name, value in found.items()))
    for name, value in found.items():
        print(f"  {name}: largest difference {abs(value - expected).max():.1e}")
    if chosen.plot:
        draw(chosen.plot, client)


def draw(path, client):
    drawn, axes = figure(3)
    ball, t = thrown(client, 4.0), STEP * np.arange(10**4)
    axes[0].plot(t[:len(ball)], ball[:, 0], color=BLUE, label="speed")
    axes[0].plot(t[:len(ball)], RADIUS * ball[:, 4], color=ORANGE, label="radius · spin")
    axes[0].axhline(20 / 7, color=GREY, ls="--", lw=0.8)
    axes[0].annotate("5/7", (0, 20 / 7), (2, 3), textcoords="offset points", color=GREY)
    axes[0].set(title="A ball thrown at 4 m/s", xlabel="time (s)", ylabel="m/s")
    axes[0].legend(loc="lower right")
    fine = np.geomspace(0.03, 10, 40)
    expected = np.array([coulomb(ratio) for ratio in fine])
    for request, color, name in ((many(10), BLUE, "400 contacts"), (one(), ORANGE, "one contact")):
        found = np.array([resisted(client, request, ratio * RADIUS * 10, 10) for ratio in fine])
        axes[1].semilogx(fine, found[:, 0], "o", ms=2.5, color=color, label=f"{name}: force / μN")
        axes[1].semilogx(fine, found[:, 1], "s", ms=2.5, mfc="none", color=color, label="torque / (2/3 μNR)")
    axes[1].semilogx(fine, expected, "k", lw=0.8)
    axes[1].plot([], [], "k", lw=0.8, label="integral")
    axes[1].set(title="A disc that slides and spins", xlabel="speed / (radius · spin)")
    axes[1].set_ylim(0, 1.9)
    axes[1].legend(fontsize=7, loc="upper left")
    seconds = 0.7
    for name, request_at, color in (("400 contacts", many, BLUE), ("one contact", lambda _: one(), ORANGE)):
        twists = slides(client, request_at, 1.0, 15.0, seconds)
        axes[2].plot(t[:len(twists)], twists[:, 0], color=color, label=name)
        axes[2].plot(t[:len(twists)], RADIUS * twists[:, 5], "--", color=color)
    states = by_integral(1.0, 15.0, seconds)
    axes[2].plot(t[:len(states)], states * [1, RADIUS], "k", lw=0.8)
    axes[2].set(title="A disc thrown with spin", xlabel="time (s)", ylabel="speed, radius · spin (dashed) (m/s)")
    axes[2].legend()
    save(drawn, path)


if __name__ == "__main__":
    run(main)
