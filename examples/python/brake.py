#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A block slides over the floor until friction holds it: implicit Euler, Newton's method with a line search.

usage: brake.py [URL]            URL of the service, default http://127.0.0.1:8080
Needs the package frictiond, NumPy and SciPy (Debian: python3-numpy python3-scipy).
"""
import sys

import numpy as np
from scipy.sparse import identity
from scipy.sparse.linalg import spsolve

import frictiond

MASS, GRAVITY, MU, EPS_V, STEP = 2.0, 9.81, 0.3, 1e-4, 1e-3  # kg, m/s^2, -, m/s, s
START = np.array([0.8, 0.0, 0.6])                            # m/s; the floor is y = 0


def friction(client, v, *outputs):
    """The results among potential, gradient and Hessian that are requested, at velocities v."""
    floor = {"vertices": [0], "plane_normal": [0, 1, 0], "normal_force": MASS * GRAVITY}
    return client.evaluate({
        "dim": 3, "velocities": v.reshape(-1, 3), "friction": {"eps_v": EPS_V, "mu": MU},
        "collisions": {"plane_vertex": floor}, "outputs": outputs, "hessian": {"format": "csr", "projection": "clamp"}})


def step(client, before):
    """The velocities that minimize M/(2 h) |v - before|^2 + D(v), and the number of Newton iterations."""
    def energy(v, potential):
        return MASS / (2 * STEP) * (v - before) @ (v - before) + potential

    v = np.zeros_like(before)  # no slip; a start at the last velocity may miss a solution that sticks
    for iteration in range(1, 51):
        answer = friction(client, v, "potential", "gradient", "hessian")
        residual = MASS / STEP * (v - before) + answer["gradient"]
        if np.linalg.norm(residual) < 1e-8 * MASS * GRAVITY:
            return v, iteration
        dv = spsolve((MASS / STEP * identity(v.size) + frictiond.hessian_matrix(answer)).tocsc(), -residual)
        # Without the line search, Newton's method jumps back and forth across the kink at eps_v.
        now, length = energy(v, answer["potential"]), 1.0
        while (energy(v + length * dv, friction(client, v + length * dv, "potential")["potential"])
               > now + 1e-4 * length * residual @ dv + 1e-14 * abs(now)):
            length /= 2
            if length < 1e-12:
                raise RuntimeError("the line search found no lower energy")
        v = v + length * dv
    raise RuntimeError(f"Newton's method does not converge: {np.linalg.norm(residual):.1e} N are out of balance")


def main():
    client = frictiond.Client(*sys.argv[1:2])
    x, v, steps, iterations = np.zeros(3), START, 0, 0
    while np.linalg.norm(v) > EPS_V and steps < 1000:
        v, n = step(client, v)
        x, steps, iterations = x + STEP * v, steps + 1, iterations + n
    speed = np.linalg.norm(START)
    print(f"distance: {np.linalg.norm(x):.5f} m")
    print(f"v0^2/(2 mu g): {speed**2 / (2 * MU * GRAVITY):.5f} m")
    print(f"speed at the end: {np.linalg.norm(v):.1e} m/s")
    print(f"time: {steps * STEP:.3f} s, v0/(mu g) = {speed / (MU * GRAVITY):.3f} s")
    print(f"Newton iterations: {iterations} in {steps} steps")


if __name__ == "__main__":
    try:
        main()
    except (frictiond.Error, RuntimeError, ValueError) as error:
        sys.exit(str(error))
