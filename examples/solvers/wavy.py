#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A spring drags an elastic block over a floor of waves. Over a whole wave its mean force is the friction coefficient
times the weight, whatever the height of the waves. The service finds all contacts."""
import argparse
import time

import numpy as np
from scipy.sparse import csr_matrix

import ipc
from ipc import frictiond

G, DENSITY, YOUNG, DAMPING = 9.81, 1000.0, 1e6, 0.05      # m/s^2, kg/m^3, Pa, s
SIZE, CELLS = (0.1, 0.06, 0.05), (4, 2, 2)                # m
LENGTH, TRIANGLES = 0.4, 0.02                             # of a wave and of the floor's triangles, m
SPRING, SPEED = 1000.0, 0.2                               # N/m, m/s
DHAT, EPS_V, STEP = 1e-3, 1e-3, 0.02                      # m, m/s, s


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("url", nargs="?", help="the service; by default one in this process")
    parser.add_argument("--mu", type=ipc.number_in(-1e-9, 2), default=0.4, help="friction coefficient")
    parser.add_argument("--height", type=ipc.number_in(0, 0.04), default=0.01, help="of the waves, m")
    parser.add_argument("--waves", type=ipc.number_in(0, 9, int), default=1, help="over which the force is averaged")
    parser.add_argument("--plot", type=ipc.picture, metavar="FILE", help="draw force and path (.svg, .png, .pdf)")
    return parser.parse_args()


def waves(x, height):
    return height / 2 * (1 - np.cos(2 * np.pi * x / LENGTH))


def floor(height, n_waves):
    """A sheet [n, 3] of triangles, waves along x."""
    along, across = np.arange(-0.2, LENGTH * (n_waves + 1) + 0.2, TRIANGLES), [-0.05, 0.0, 0.05, 0.11]
    x, y = np.meshgrid(along, across, indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (n.ravel() for n in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]))
    vertices = np.stack([x, y, waves(x, height)], axis=-1).reshape(-1, 3)
    return vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])


class Drag:
    """Elasticity and the spring on the block's centre of mass: further energies of a step."""

    def __init__(self, rest, tetrahedra, n):
        self.elastic, self.n, self.end = ipc.Elastic(rest, tetrahedra, DENSITY, YOUNG, damping=DAMPING), n, 0.0
        self.masses = np.concatenate([self.elastic.masses, np.ones(n - len(rest))])  # those of the floor do not matter
        self.weights = np.zeros((n, 3))
        self.weights[:len(rest), 0] = self.elastic.masses / self.elastic.masses.sum()
        self.start = (self.weights[:len(rest)] * rest).sum()
        w = csr_matrix(self.weights.reshape(1, -1))
        self.stiffness = SPRING * (w.T @ w)

    def stretch(self, x):
        return self.end - ((self.weights * x).sum() - self.start)

    def __call__(self, x):
        m = len(self.elastic.masses)
        energy = self.elastic.energy(x[:m]) + SPRING / 2 * self.stretch(x)**2
        if not np.isfinite(energy):
            return energy, None, None
        gradient, hessian = self.elastic.derivatives(x[:m])
        hessian.resize(self.stiffness.shape)
        whole = np.concatenate([gradient, np.zeros((self.n - m, 3))])
        return energy, whole - SPRING * self.stretch(x) * self.weights, hessian + self.stiffness


class Run:
    """Rows of (time, path of the centre of mass, its height, the spring's force), and the seconds that the run took."""

    def __init__(self, client, options):
        block, tetrahedra = ipc.block(SIZE, CELLS)
        ground, triangles = floor(options.height, options.waves)
        start = [-SIZE[0] / 2, 0, DHAT + waves(0.6 * SIZE[0], options.height)]
        m, x, begin = len(block), np.concatenate([block + start, ground]), time.perf_counter()
        drag, is_floor = Drag(x[:m], tetrahedra, len(x)), np.arange(len(x)) >= m
        mesh = {"faces": np.concatenate([ipc.surface(tetrahedra)[0], triangles + m]), "fixed": np.flatnonzero(is_floor),
                "body": is_floor.astype(np.int32), "ignore": [[0, 0]]}
        load = np.where(is_floor, 0, drag.masses)[:, None] * [0, 0, -G]
        self.weight, rows = -load.sum(), []
        barrier = {"dhat": DHAT, "stiffness": ipc.stiffness_for(self.weight / 12, DHAT)}
        with client.scene(x, mesh, {"mu": options.mu, "eps_v": EPS_V}, barrier, STEP) as scene:
            for step in range(1, round((options.waves + 0.5) * LENGTH / SPEED / STEP) + 1):
                drag.end = SPEED * STEP * step
                drag.elastic.begin_step(scene.positions[:m], STEP)
                scene.step(drag.masses[:, None], load, drag)
                centre = drag.elastic.masses @ scene.positions[:m] / drag.elastic.masses.sum()
                rows.append((STEP * step, centre[0] - drag.start, centre[2], SPRING * drag.stretch(scene.positions)))
            self.seconds, self.service = time.perf_counter() - begin, scene.seconds
        self.time, self.path, self.height, self.force = np.array(rows).T

    def mean_force(self, n_waves):
        """Over whole waves up to the end, as a fraction of the weight: over the path, not over time."""
        path = np.linspace(self.path[-1] - n_waves * LENGTH, self.path[-1], 1001)
        return np.interp(path, self.path, self.force).mean() / self.weight


def plot(run, options):
    plt = ipc.pyplot()
    figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 4), sharex=True, height_ratios=[3, 2])
    above.plot(run.path, run.force / run.weight, color="#0072b2", label="the spring")
    above.axhline(options.mu, color="#d55e00", linestyle="--", label="μ")
    above.set(ylabel="force / weight")
    above.legend(loc="lower right")
    below.fill_between(run.path, 1e3 * waves(run.path, options.height), color="0.85")
    below.plot(run.path, 1e3 * (run.height - SIZE[2] / 2), color="#0072b2")
    below.set(xlabel="path of the block, m", ylabel="height, mm")
    figure.tight_layout()
    ipc.save(figure, options.plot)


def main():
    options = arguments()
    run = Run(frictiond.Client(options.url) if options.url else frictiond.local(), options)
    over = run.path > run.path[-1] - options.waves * LENGTH
    print(f"mean force over {options.waves} wave{'s'[:options.waves != 1]}: {run.mean_force(options.waves):.4f} of the weight, "
          f"by Coulomb's law {options.mu:.4f}\n"
          f"from {run.force[over].min() / run.weight:.3f} to {run.force[over].max() / run.weight:.3f}")
    print(f"{len(run.time)} steps in {run.seconds:.1f} s, {100 * run.service / run.seconds:.0f} % of it in the service")
    if options.plot:
        plot(run, options)


if __name__ == "__main__":
    main()
