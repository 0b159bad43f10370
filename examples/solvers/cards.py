#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A house of three cards: two lean against each other, the third is their roof. It stands if friction on the floor
exceeds 2/3 tan(20 degrees) = 0.24, and without anchors it slides apart slowly. The service finds all contacts."""
import argparse
import time

import numpy as np

import ipc
from ipc import frictiond

G, DENSITY, YOUNG, DAMPING = 9.81, 1000.0, 2e7, 0.01    # m/s^2, kg/m^3, Pa, s
SIZE, CELLS = (0.002, 0.06, 0.09), (1, 2, 3)            # of a card: thickness, width, height in m
LEAN = 20                                               # degrees from the vertical
DHAT, EPS_V, STEP = 5e-4, 1e-3, 0.01                    # m, m/s, s
GAP = 0.8 * DHAT                                        # between cards, and to the floor, at the start
COLOURS = ["#0072b2", "#d55e00", "#009e73"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("url", nargs="?", help="the service; by default one in this process")
    parser.add_argument("--mu", type=ipc.number_in(-1e-9, 2), nargs="+", default=[0.6, 0.1], metavar="MU",
                        help="friction coefficients; without anchors only the first is tried")
    parser.add_argument("--seconds", type=ipc.number_in(0.1, 10), default=0.5, help="simulated time, s")
    parser.add_argument("--plot", type=ipc.picture, metavar="FILE", help="draw the houses (.svg, .png, .pdf)")
    return parser.parse_args()


def card(lean):
    """A card on the floor that leans to the right by an angle in degrees: vertices [n, 3], tetrahedra [m, 4]."""
    rest, tetrahedra = ipc.block(SIZE, CELLS)
    cos, sin = np.cos(np.radians(lean)), np.sin(np.radians(lean))
    x = np.stack([rest[:, 0] * cos + rest[:, 2] * sin, rest[:, 1], rest[:, 2] * cos - rest[:, 0] * sin], axis=1)
    return x + [0, 0, GAP - x[:, 2].min()], tetrahedra


def house():
    """Vertices [n, 3], tetrahedra [m, 4], and the card of every vertex."""
    cards = [card(LEAN), card(-LEAN), card(90)]
    left, right, roof = (x for x, _ in cards)
    left[:, 0] -= left[:, 0].max() + GAP / 2
    right[:, 0] -= right[:, 0].min() - GAP / 2
    roof += [-roof[:, 0].mean(), 0, left[:, 2].max()]
    tetrahedra = [simplices + i * len(left) for i, (_, simplices) in enumerate(cards)]
    return np.concatenate([left, right, roof]), np.concatenate(tetrahedra), np.repeat(range(3), len(left))


class House:
    """A run: positions after every step, and the seconds it took, those in the service apart."""

    def __init__(self, client, mu, anchors, seconds):
        self.mu, self.anchors, begin = mu, anchors, time.perf_counter()
        x, tetrahedra, self.card = house()
        self.elastic, self.path = ipc.Elastic(x, tetrahedra, DENSITY, YOUNG, damping=DAMPING), [x]
        mesh = {"faces": ipc.surface(tetrahedra)[0], "body": self.card, "ignore": [[i, i] for i in range(3)],
                "planes": {"normal": [[0, 0, 1]], "origin": [[0, 0, 0]]}}
        weight = self.elastic.masses[:, None] * [0, 0, -G]
        barrier = {"dhat": DHAT, "stiffness": ipc.stiffness_for(abs(weight.sum()) / 12, DHAT)}
        with client.scene(x, mesh, {"mu": mu, "eps_v": EPS_V}, barrier, STEP, anchors=anchors) as scene:
            for _ in range(round(seconds / STEP)):
                self.elastic.begin_step(scene.positions, STEP)
                self.path.append(scene.step(self.elastic.masses[:, None], weight, self.energies).positions)
            self.seconds, self.service = time.perf_counter() - begin, scene.seconds

    def energies(self, x):
        energy = self.elastic.energy(x)
        return (energy, *(self.elastic.derivatives(x) if np.isfinite(energy) else (None, None)))

    def height(self, step):
        return self.path[step][:, 2].max()

    def span(self, step):
        """Distance of the outer edges of the two feet."""
        return np.ptp(self.path[step][self.card < 2, 0])

    def __str__(self):
        speed = (self.span(-1) - self.span(-11)) / (10 * STEP)
        stands = self.height(-1) > 0.9 * self.height(0)
        return (f"{self.mu:4.2f}  {'yes' if self.anchors else 'no':7}  {'stands' if stands else 'falls':6}  "
                f"{1e3 * self.height(-1):9.1f}  {speed:18.1e}")


def plot(runs, file):
    plt = ipc.pyplot()
    figure, axes = plt.subplots(1, len(runs), figsize=(3.2 * len(runs), 2.6), sharex=True, sharey=True, squeeze=False)
    for axis, run in zip(axes[0], runs):
        for x, alpha in ((run.path[0], 0.2), (run.path[-1], 1.0)):
            for i, colour in enumerate(COLOURS):
                outline = 1e3 * x[run.card == i][:, [0, 2]]
                centre = outline.mean(axis=0)
                corners = [outline[((outline - centre) @ way).argmax()] for way in diagonals(outline - centre)]
                axis.fill(*np.transpose(corners), color=colour, alpha=alpha, linewidth=0)
        axis.axhline(0, color="0.3", linewidth=1)
        axis.set(title=f"μ = {run.mu:g}{'' if run.anchors else ', without anchors'}", xlabel="x, mm", aspect="equal")
    axes[0, 0].set_ylabel("z, mm")
    figure.tight_layout()
    ipc.save(figure, file)


def diagonals(outline):
    """Directions from the centre of a card, seen from the side, to its corners."""
    _, _, (along, across) = np.linalg.svd(outline, full_matrices=False)
    wide = np.ptp(outline @ along) / np.ptp(outline @ across)
    return along + wide * across, along - wide * across, -along - wide * across, -along + wide * across


def main():
    options = arguments()
    client = frictiond.Client(options.url) if options.url else frictiond.local()
    print("mu    anchors  result  height, mm  feet part at, m/s")
    runs = []
    for mu, anchors in [(mu, True) for mu in options.mu] + [(options.mu[0], False)]:
        runs.append(House(client, mu, anchors, options.seconds))
        print(runs[-1], flush=True)
    total, service = sum(run.seconds for run in runs), sum(run.service for run in runs)
    steps = sum(len(run.path) - 1 for run in runs)
    print(f"{steps} steps in {total:.1f} s, {100 * service / total:.0f} % of it in the service")
    if options.plot:
        plot(runs, options.plot)


if __name__ == "__main__":
    main()
