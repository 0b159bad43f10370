#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stick-slip: a mass on a spring over a moving belt, with a coefficient that falls with speed ("law": "stribeck").

usage: stick_slip.py [URL] [--plot FILE]

If the coefficient falls at speeds far below the belt's, this is Coulomb's law with two coefficients, and the
oscillation has a closed form: the mass rides on the belt until the spring pulls with mu_s N, and then swings freely
about mu_k N / k until it is as fast as the belt again. If the coefficient falls gradually, it acts as a negative
damper: a small oscillation grows until the mass sticks from time to time. If a viscous drag outweighs this, the
oscillation decays.
"""
import math

import numpy as np
from scipy.integrate import solve_ivp

from motion import BLUE, ORANGE, figure, frictiond, options, run, save, step, tell

MASS, SPRING, NORMAL = 1.0, 100.0, 10.0  # kg, N/m, N
COULOMB = {"belt": 0.1, "stribeck_speed": 1e-4, "eps_v": 1e-5, "viscous": 0.0}  # m/s, s/m
GROWING = {"belt": 1.0, "stribeck_speed": 1.0, "eps_v": 1e-3, "viscous": 0.0}
DECAYING = {**GROWING, "viscous": 0.25}
MU = {"mu_s": 0.5, "mu_k": 0.3}


def ride(client, belt, x, v, h, seconds, **law):
    """Times, positions and speeds of the mass. The spring is explicit and friction implicit (symplectic Euler), so that
    the oscillator keeps its energy; v is half a step behind."""
    plane = {"vertices": [0], "plane_normal": [0, 1], "normal_force": NORMAL, "surface_velocity": [belt, 0]}
    request = {"dim": 2, "friction": {"law": "stribeck", **MU, **law}, "collisions": {"plane_vertex": plane}}
    inertia, v, path = np.full((1, 2), MASS), np.array([[v, 0.0]]), [(x, v)]
    for _ in range(round(seconds / h)):
        v, _ = step(client, request, inertia, v, np.array([[-SPRING * x, 0]]), h, small=1e-9)
        x = x + h * v[0, 0]
        path.append((x, v[0, 0]))
    return h * np.arange(len(path)), np.array(path)


def coulomb(belt):
    """By Coulomb's law, half the distance between the ends of the oscillation, and its period."""
    rate, held = math.sqrt(SPRING / MASS), (MU["mu_s"] - MU["mu_k"]) * NORMAL / SPRING
    slips = 2 / rate * (math.pi - math.atan(rate * held / belt))
    return math.hypot(held, belt / rate), 2 * held / belt + slips


def coefficient(slip, stribeck_speed, eps_v, viscous):
    """The law in docs/physics.md, for the reference."""
    z, x = slip / eps_v, (slip - eps_v) / stribeck_speed
    falls = MU["mu_k"] + (MU["mu_s"] - MU["mu_k"]) * math.exp(-x * x)
    return (MU["mu_s"] * z * (2 - z) if z < 1 else falls) + viscous * slip


def reference(belt, x, v, t, **law):
    """Positions at times t from an integrator of ordinary differential equations."""
    def change(_, state):
        slip = belt - state[1]
        force = math.copysign(NORMAL * coefficient(abs(slip), **law), slip) - SPRING * state[0]
        return state[1], force / MASS
    return solve_ivp(change, (0, t[-1]), (x, v), "LSODA", t, rtol=1e-9, atol=1e-12).y[0]


def balance(belt, **law):
    """The position at which the mass could rest while the belt moves, and the growth rate of small oscillations
    there."""
    near = 1e-6 * belt
    slope = (coefficient(belt + near, **law) - coefficient(belt - near, **law)) / (2 * near)
    return coefficient(belt, **law) * NORMAL / SPRING, -NORMAL * slope / (2 * MASS)


def turns(t, x):
    """Times and values of the maxima of x."""
    at = np.flatnonzero((x[1:-1] > x[:-2]) & (x[1:-1] >= x[2:])) + 1
    return t[at], x[at]


def main():
    chosen = options(__doc__)
    client = frictiond.Client(chosen.url)
    print("coefficients that fall at once                 measured       analytic")
    t, path = ride(client, x=0.0, v=0.1, h=1e-3, seconds=2.8, **COULOMB)
    amplitude, period = coulomb(COULOMB["belt"])
    x = path[t > 1.0, 0]
    tell("amplitude", (x.max() - x.min()) / 2, amplitude, "m")
    tell("period", np.diff(turns(t[t > 1], x)[0]).mean(), period, "s")
    runs = {}
    for name, law in (("growing", GROWING), ("decaying", DECAYING)):
        print(f"{name}: viscous {law['viscous']}                         measured       reference")
        middle, rate = balance(**law)
        u, way = ride(client, x=middle + 0.01, v=0.0, h=2e-3, seconds=4, **law)
        right = reference(x=middle + 0.01, v=0.0, t=u, **law)
        runs[name] = u, way[:, 0] - middle, right - middle
        (times, tops), (_, expected) = turns(u, runs[name][1]), turns(u, runs[name][2])
        tell("first maximum", tops[0], expected[0], "m")
        tell("last maximum", tops[-1], expected[-1], "m")
        tell("rate of the first maxima", math.log(tops[1] / tops[0]) / (times[1] - times[0]), rate, "1/s")
    if chosen.plot:
        draw(chosen.plot, t, path, runs)


def draw(path, t, ridden, runs):
    drawn, (left, right) = figure(2)
    left.plot(t, 1e3 * ridden[:, 0], color=BLUE, label="position (mm)")
    left.plot(t, 1e3 * ridden[:, 1] / math.sqrt(SPRING / MASS), color=ORANGE, lw=1, label="speed / ω (mm)")
    left.set(title="The mass sticks and slips", xlabel="time (s)", ylim=(-28, 78))
    for name, color in (("growing", ORANGE), ("decaying", BLUE)):
        u, way, expected = runs[name]
        right.plot(u[::12], 1e3 * way[::12], "o", ms=2.5, color=color, label=name)
        right.plot(u[::3], 1e3 * expected[::3], "k", lw=0.8)
    right.plot([], [], "k", lw=0.8, label="reference")
    right.set(title="A coefficient that falls gently", xlabel="time (s)", ylabel="position (mm)", ylim=(-115, 170))
    for axes in (left, right):
        axes.legend(loc="upper left")
    save(drawn, path)


if __name__ == "__main__":
    run(main)
