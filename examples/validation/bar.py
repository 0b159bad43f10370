#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An elastic bar on a rough floor, pulled at its end by less than friction can hold: microslip, and its hysteresis.

usage: bar.py [--quick] [--plot FILE]

From the pulled end, the bar slips as far as friction needs to balance the force F, over the length F/q, where q is mu
times the pressure per length. Along it the force in the bar falls linearly, so the end moves by F^2 / (2 EA q). When the
load turns, the end slips back with friction 2q: the path is the same parabola, twice as large (Masing's rule). One
cycle between F and -F encloses 2 F^3 / (3 EA q).
"""
import numpy as np
from scipy.integrate import simpson
from scipy.sparse import diags, kron

from theory import BLUE, GREY, run

LENGTH, EA, MU, Q, PULL = 1.0, 1000.0, 0.5, 10.0, 5.0  # m, N, -, N/m, N


class Bar:
    """A bar of n elements. Displacements take the place of velocities, so that eps_v is the elastic slip."""

    def __init__(self, client, n, slip):
        self.client, self.n, size = client, n, LENGTH / n
        share = np.full(n + 1, size)
        share[[0, -1]] /= 2
        self.plane = {"vertices": np.arange(n + 1), "plane_normal": [0, 1], "normal_force": Q / MU * share,
                      "anchor": np.zeros((n + 1, 2))}
        self.friction = {"mu": MU, "eps_v": slip}
        line = EA / size * diags([np.full(n + 1, 2.0), np.full(n, -1.0), np.full(n, -1.0)], [0, 1, -1]).toarray()
        line[0, 0] = line[n, n] = EA / size
        self.stiff, self.hessian = line, kron(line, [[1, 0], [0, 0]])
        self.x = np.zeros((n + 1, 2))

    def pull(self, force):
        """Moves to balance at this force. Returns the displacement of the end."""
        def elastic(move):
            along = self.x[:, 0] + move[:, 0]
            inner = self.stiff @ along
            return along @ inner / 2, np.column_stack([inner, 0 * inner]), self.hessian

        load = np.zeros_like(self.x)
        load[-1, 0] = force
        request = {"dim": 2, "friction": self.friction, "collisions": {"plane_vertex": self.plane}}
        after = self.client.step(request, 0 * self.x, [[0, 1]], 1.0, load, others=elastic, collision_outputs=["status"])
        self.x = self.x + after.velocities
        self.plane["anchor"] = after.anchors["plane_vertex"]
        self.slips = after.answer["collisions"]["plane_vertex"]["status"] == 1
        return self.x[-1, 0]


def pulled(client, n, slip=1e-12):
    return Bar(client, n, slip).pull(PULL)


def main(client, report):
    n, limit = 80, PULL**2 / (2 * EA * Q)
    bar, forces = Bar(client, n, 1e-9), np.linspace(PULL, -PULL, 21)
    first = [bar.pull(force) for force in np.linspace(0, PULL, 11)]
    report.row("slip length", PULL / Q, bar.slips.sum() / n, LENGTH / n, "m")
    report.row("displacement of the end", 1e3 * limit, 1e3 * first[-1], 1e-6, "mm")
    back = [bar.pull(force) for force in forces]
    again = [bar.pull(force) for force in -forces]
    report.row("displacement at -F", -1e3 * limit, 1e3 * back[-1], 1e-6, "mm")
    # The branches are parabolas, so Simpson's rule is exact.
    loss = simpson(again, dx=PULL / 10) - simpson(back[::-1], dx=PULL / 10)
    report.row("loss in one cycle", 2e3 * PULL**3 / (3 * EA * Q), abs(1e3 * loss), 2e-5, "mJ")
    meshes = np.array([11, 21, 41, 81])  # the slip ends within an element
    report.falls("elements: displacement", meshes, lambda: [1e3 * abs(pulled(client, n) - limit) for n in meshes], -2)
    slips = [1e-5, 1e-6, 1e-7]
    report.falls("elastic slip (m): displacement", slips,
                 lambda: [1e3 * abs(pulled(client, 20, slip) - limit) for slip in slips], 1)

    def draw(axes):
        force = np.linspace(0, PULL, 51)
        path = force**2 / (2 * EA * Q)
        down = limit - 2 * (force / PULL)**2 * limit
        axes.plot(1e3 * path, force, "k-", lw=0.8, label="analytic")
        axes.plot(1e3 * down, PULL - 2 * force, "k-", -1e3 * down, 2 * force - PULL, "k-", lw=0.8)
        axes.plot(1e3 * np.array(first), np.linspace(0, PULL, 11), "s", color=GREY, ms=3.5, label="first loading")
        axes.plot(1e3 * np.array(back + again), np.concatenate([forces, -forces]), "o", color=BLUE, ms=3.5,
                  label="one cycle")
        axes.set(title="Microslip of a bar", xlabel="displacement of the end (mm)", ylabel="force (N)")
        axes.legend()
    return draw


if __name__ == "__main__":
    run(main)
