#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Brake squeal by mode coupling: the coefficient from which a mass pressed on a moving belt flutters.

usage: squeal.py [--quick] [--plot FILE]

A mass of 1 rests on springs, and on a moving belt by a contact of stiffness k3 across it. If the mass moves across by y,
the normal force changes by k3 y, and friction by mu k3 y: the stiffness is [[a, b - mu k3], [b, c]], which is not
symmetric. Its eigenvalues, squares of frequencies, meet and become complex at mu = b / k3 + (a - c)^2 / (4 b k3). Here
friction's part is the output position_jacobian of one contact with a barrier of that stiffness.
"""
import numpy as np
from scipy.optimize import brentq
from scipy.sparse import csr_matrix

import frictiond

from theory import BLUE, ORANGE, run

DHAT, GAP, BELT = 1e-2, 5e-3, -1.0                   # m, m, m/s
CASES = {"a 2, b 1, c 1, k3 2": (2.0, 1.0, 1.0, 2.0), "a 2, b 1, c 2, k3 4/3": (2.0, 1.0, 2.0, 4 / 3)}


def contact(client, mu, k3, eps_v=1e-3):
    """Friction's part of the stiffness, from a contact whose normal force has the slope -k3 by the gap."""
    batch = {"dim": 2, "positions": [[0, GAP]], "velocities": [[0, 0]], "friction": {"mu": mu, "eps_v": eps_v},
             "barrier": {"dhat": DHAT, "stiffness": 1.0},
             "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0, 1], "plane_origin": [0, 0],
                                             "surface_velocity": [BELT, 0]}},
             "terms": ["barrier"], "current_positions": [[0, GAP]], "outputs": ["hessian"]}
    # The barrier's own Hessian is the contact's stiffness across the belt.
    slope = frictiond.hessian_matrix(client.evaluate(batch)).toarray()[1, 1]
    batch["barrier"]["stiffness"] = k3 / slope
    batch.update(terms=["friction"], outputs=["position_jacobian"])
    jacobian = client.evaluate(batch)["position_jacobian"]
    return csr_matrix((jacobian["data"], jacobian["indices"], jacobian["indptr"])).toarray()


def stiffness(client, mu, a, b, c, k3, eps_v=1e-3):
    """Springs, with the contact's own stiffness in c, and friction."""
    return np.array([[a, b], [b, c]]) + contact(client, mu, k3, eps_v)


def coalescence(client, a, b, c, k3, eps_v=1e-3):
    """The coefficient at which both eigenvalues are equal."""
    def apart(mu):
        K = stiffness(client, mu, a, b, c, k3, eps_v)
        return np.trace(K)**2 - 4 * np.linalg.det(K)
    return brentq(apart, 0.01, 2, xtol=1e-13)


def main(client, report):
    friction = contact(client, 0.5, 2.0)
    report.row("friction's stiffness, along by across", -0.5 * 2, friction[0, 1], 1e-12)
    report.row("  and its other entries", 0, abs(friction[[0, 1, 1], [0, 0, 1]]).max(), 1e-12)
    for name, (a, b, c, k3) in CASES.items():
        report.row(name, b / k3 + (a - c)**2 / (4 * b * k3), coalescence(client, a, b, c, k3), 1e-12)

    # Slower than eps_v, the belt drags with less friction.
    a, b, c, k3 = springs = list(CASES.values())[0]
    wide = abs(BELT) / np.array([0.8, 0.9, 0.95])
    report.falls("1 - speed / eps_v: onset", 1 - abs(BELT) / wide, lambda: [
        coalescence(client, *springs, eps_v) - b / k3 - (a - c)**2 / (4 * b * k3) for eps_v in wide], 2)

    def draw(axes):
        mu = np.linspace(0, 1.2, 121)
        squares = np.array([np.linalg.eigvals(stiffness(client, one, *springs)).astype(complex) for one in mu])
        roots = np.sqrt(-squares)
        axes.plot(mu, abs(roots.imag).max(axis=1), ".", mu, abs(roots.imag).min(axis=1), ".", color=BLUE, ms=3)
        axes.plot([], [], ".", color=BLUE, label="frequencies")
        axes.plot(mu, abs(roots.real).max(axis=1), ".", color=ORANGE, ms=3, label="rate of growth")
        axes.axvline(b / k3 + (a - c)**2 / (4 * b * k3), color="k", lw=0.8, label="analytic onset")
        axes.set(title="Mode coupling", xlabel="μ", ylabel="1/s")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
