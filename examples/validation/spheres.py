#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A sphere pressed on a plane and pushed sideways by less than friction can hold (Cattaneo and Mindlin).

usage: spheres.py [--quick] [--plot FILE]

Under a Hertz pressure on a circle of radius a, an outer ring slips, and the inner circle of radius c sticks: c/a is
(1 - Q / mu P)^(1/3). The sphere shifts by 1 - (1 - Q / mu P)^(2/3) of its shift at full slip, 3 mu P (2 - nu) / (16 a
G). Square patches have the pressure's forces. Cerruti's solution, integrated over a square, gives the
displacement of one patch by the traction on another one. Slip across the push is neglected, as in the theory. A quarter
of the circle is enough, by symmetry.
"""
import math

import numpy as np

from theory import BLUE, ORANGE, run

RADIUS, SHEAR, NU, MU, FORCE = 1e-3, 80e9, 0.3, 0.5, 1000.0  # m, Pa, -, -, N
SHARES = np.array([0.25, 0.5, 0.75, 0.9])                    # Q / mu P
SLIDE = 3 * MU * FORCE * (2 - NU) / (16 * RADIUS * SHEAR)    # m


def patches(n):
    """Centres [m, 2] and shares of the force of the squares in a quarter, n of which lie along the radius."""
    side, fine = RADIUS / n, 16
    points = side / fine * (np.arange(n * fine) + 0.5)
    pressure = np.sqrt(np.maximum(0, RADIUS**2 - points[:, None]**2 - points**2))
    share = pressure.reshape(n, fine, n, fine).sum(axis=(1, 3))
    i = np.argwhere(share > 0)
    return side * (i + 0.5), share[share > 0] / share.sum() / 4


def compliance(at, side):
    """Displacements [m, m] of centres by unit forces on the squares, and on their mirror images."""
    total = 0
    for mirror in (1, 1), (1, -1), (-1, 1), (-1, -1):
        x, y = (at[:, None] - at * mirror).transpose(2, 0, 1)
        for sx, sy in (1, 1), (1, -1), (-1, 1), (-1, -1):
            u, v = x + sx * side / 2, y + sy * side / 2
            r = np.hypot(u, v)
            # Integrals over the square of 1/r and x^2/r^3
            whole, along = u * np.log(v + r) + v * np.log(u + r), v * np.log(u + r)
            total = total + sx * sy * ((1 - NU) * whole + NU * along)
    return total / (2 * math.pi * SHEAR * side**2)


def push(client, n, shares, slip=1e-12):
    """For each share: the sphere's displacement, which patches stick, and their forces over the largest friction."""
    at, share = patches(n)
    m, stiff = len(at), np.linalg.inv(compliance(at, RADIUS / n))
    # Unknown: slip of every patch, and the sphere's displacement. A patch moves with the sphere, less its slip.
    part = np.column_stack([-np.eye(m), np.ones(m)])
    hessian = np.zeros((2 * m + 2, 2 * m + 2))
    hessian[::2, ::2] = part.T @ stiff @ part
    plane = {"vertices": np.arange(m), "plane_normal": [0, 1], "normal_force": FORCE * share,
             "anchor": np.zeros((m, 2))}
    x, found = np.zeros((m + 1, 2)), []

    def elastic(move):
        force = hessian @ (x + move).ravel()
        return (x + move).ravel() @ force / 2, force, hessian

    for one in shares:
        load = np.zeros_like(x)
        load[m, 0] = one * MU * FORCE / 4
        after = client.step({"dim": 2, "friction": {"mu": MU, "eps_v": slip}, "collisions": {"plane_vertex": plane}},
                            0 * x, [[0, 1]], 1.0, load, others=elastic, tolerance=1e-9,
                            collision_outputs=["status", "friction_force"])
        x, plane["anchor"] = x + after.velocities, after.anchors["plane_vertex"]
        contacts = after.answer["collisions"]["plane_vertex"]
        found.append((x[m, 0], contacts["status"] == 0, -contacts["friction_force"][:, 0] / (MU * FORCE * share)))
    return at, found


def radius(sticks, n):
    """Of a circle with the area of the patches that stick, over a."""
    return math.sqrt(4 * sticks.sum() / math.pi) / n


def main(client, report):
    n = 24
    at, found = push(client, n, SHARES)
    for share, (_, sticks, _) in zip(SHARES, found):
        report.row(f"Q / mu P = {share}: c / a", (1 - share)**(1 / 3), radius(sticks, n), 1e-2)
    for share, (moved, _, _) in zip(SHARES, found):
        report.row(f"Q / mu P = {share}: shift / shift at full slip", 1 - (1 - share)**(2 / 3), moved / SLIDE, 3e-4)
    meshes, one = np.array([6, 9, 13, 19]), SHARES[:1]

    def shift(n, slip=1e-12):
        return push(client, n, one, slip)[1][0][0] / SLIDE
    report.falls("patches along the radius: shift", meshes,
                 lambda: [1 - (1 - one[0])**(2 / 3) - shift(n) for n in meshes], -2, 0.2)
    slips = [4e-9, 2e-9, 1e-9]
    report.falls("elastic slip (m): shift", slips, lambda: [shift(6, slip) - shift(6) for slip in slips], 1, 0.2)

    def draw(axes):
        r, fine = np.hypot(*at.T) / RADIUS, np.linspace(0, 1, 300)
        for share, (_, _, traction), color in zip(SHARES[::2], found[::2], (BLUE, ORANGE)):
            c = (1 - share)**(1 / 3)
            shape = np.sqrt(1 - fine**2)
            axes.plot(fine, shape - c * np.sqrt(np.maximum(0, 1 - (fine / c)**2)), "k-", lw=0.8)
            axes.plot(r[::3], (traction * np.sqrt(np.maximum(0, 1 - r**2)))[::3], ".", color=color, ms=3,
                      label=f"Q / μP = {share}")
        axes.set(title="Traction under a sphere", xlabel="r / a", ylabel="traction / μ p(0)")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
