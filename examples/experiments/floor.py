#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A block that slides over a triangulated floor, sticks, and stays where it is while the floor is meshed anew under it.

usage: floor.py [URL] [--steps N] [--plot FILE]

The floor leans by half of the friction angle. Its triangulation alternates between two, every ten steps, as if a solver
refined it, so contacts come and go. The service finds them (POST /v1/contacts) and hands the anchors of the old contacts
over to the new ones ("previous"). Without that, every change of contacts loses the deflection that holds the block,
which then slips by as much again.
"""
import numpy as np

from motion import BLUE, G, GREEN, GREY, ORANGE, ROUNDING, figure, frictiond, options, run, save

MASS, MU, EPS_V, STEP = 2.0, 0.5, 1e-3, 1e-3     # kg, -, m/s, s
SHARE, SPEED, PERIOD = 0.5, 1.0, 10              # tan(slope) / mu; m/s at the start; steps between two meshes
CELLS, SIZE, SIDE, GAP = 12, 0.1, 0.23, 5e-4     # of the floor; m; the block's side, m; distance from the floor, m
DEFLECTION = (1 - np.sqrt(1 - SHARE)) * EPS_V * STEP  # m, whose force balances the load
ALONG = np.array([np.cos(0.2), np.sin(0.2), 0])  # down the slope


def floors():
    """Vertices of the floor, and two triangulations: with one or the other diagonal of each cell."""
    at = np.arange(CELLS + 1)
    x = np.array([[SIZE * i, SIZE * j, 0.0] for i in at for j in at])
    corners = [(a, a + CELLS + 1, a + CELLS + 2, a + 1) for a in (i * (CELLS + 1) + j for i in at[:-1] for j in at[:-1])]
    return (x, [face for a, b, c, d in corners for face in ((a, b, c), (a, c, d))],
            [face for a, b, c, d in corners for face in ((a, b, d), (b, c, d))])


class Scene:
    """Positions, contacts and their anchors. The block moves in the plane of the floor, without turning."""

    def __init__(self, client, carries):
        self.client, self.carries = client, carries
        floor, *meshes = floors()
        turn = np.array([[np.cos(0.3), np.sin(0.3), 0], [-np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
        block = SIDE * np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) @ turn + [0.31, 0.36, GAP]
        n = len(floor)
        self.positions, self.block = np.vstack([floor, block]), slice(n, n + 4)
        self.meshes = [{"faces": np.array(faces + [(n, n + 1, n + 2), (n, n + 2, n + 3)], "i4"),
                        "body": np.repeat([0, 1], [n, 4]), "ignore": [[0, 0], [1, 1]]} for faces in meshes]
        self.axes = np.zeros((2, n + 4, 3))
        self.axes[0, self.block, 0] = self.axes[1, self.block, 1] = 1
        self.previous = None

    def find(self, step):
        """The contacts of a step. Those that stay keep their anchors; if none changes, all of them do anyway."""
        mesh, more = self.meshes[step // PERIOD % 2], {}
        if self.carries and self.previous:
            more = {"previous": self.previous}
        found = self.client.contacts(self.positions, 2 * GAP, mesh, **more)
        groups = found["collisions"]
        if not self.carries and self.previous and same(groups, self.previous["collisions"]):
            groups = self.previous["collisions"]
        weight = sum(np.sum(group["weight"]) for group in groups.values())
        return {name: {**group, "normal_force": MASS * G / np.sqrt(1 + (SHARE * MU)**2) / weight}
                for name, group in groups.items() if len(group["weight"])}

    def step(self, step, before):
        """Implicit Euler: the velocity of the block that minimises its energy, by Newton's method."""
        groups = self.find(step)
        batch = {"dim": 3, "positions": self.positions, "friction": {"mu": MU, "eps_v": EPS_V}, "collisions": groups}
        slope = np.arctan(SHARE * MU)
        load = MASS * G * np.sin(slope) * ALONG[:2]
        v, inertia = np.zeros(2), MASS / STEP * np.eye(2)

        def at(v):
            answer = self.client.evaluate({
                **batch, "velocities": np.tensordot(v, self.axes, 1), "vectors": self.axes.reshape(2, -1),
                "outputs": ["potential", "gradient", "hessian_products", "collisions"], "collision_outputs": ["anchor", "status"]})
            force = self.axes.reshape(2, -1) @ answer["gradient"] + inertia @ (v - before) - load
            energy = answer["potential"] + (v - before) @ inertia @ (v - before) / 2 - load @ v
            return answer, force, energy, answer["hessian_products"] @ self.axes.reshape(2, -1).T + inertia

        answer, force, energy, hessian = at(v)
        for _ in range(100):
            if np.linalg.norm(force) <= ROUNDING * MASS * max(G, np.linalg.norm(before) / STEP):
                break
            way, factor = np.linalg.solve(hessian, force), 1.0
            while True:
                new = at(v - factor * way)
                if new[2] <= energy + 1e-14 * abs(energy) or factor < 1e-6:
                    break
                factor /= 2
            v, (answer, force, energy, hessian) = v - factor * way, new
        for name, group in groups.items():
            group["anchor"] = answer["collisions"][name]["anchor"]
        self.previous = {"positions": self.positions, "collisions": groups}
        self.positions = self.positions + STEP * np.tensordot(v, self.axes, 1)
        slides = any(answer["collisions"][name]["status"].any() for name in groups)
        return v, slides, sum(len(group["weight"]) for group in groups.values())


def same(groups, others):
    return all(np.array_equal(group["vertices"], others.get(name, {"vertices": group["vertices"][:0]})["vertices"])
               for name, group in groups.items())


def slide(client, steps, carries):
    """Way along the slope after every step [steps + 1], whether it slid [steps], and the numbers of contacts [steps]."""
    scene, v, way, slid, contacts = Scene(client, carries), SPEED * ALONG[:2], [0.0], [], []
    for step in range(steps):
        v, slides, n = scene.step(step, v)
        way.append(STEP * v @ ALONG[:2])  # of this step, for the sum of many tiny ones to be exact
        slid.append(slides)
        contacts.append(n)
    return np.array(way), np.array(slid), np.array(contacts)


def main():
    chosen = options(__doc__, steps=10000)
    client, half, runs = frictiond.Client(chosen.url), chosen.steps // 2, {}
    print(f"on a floor that leans by half of the friction angle, {chosen.steps} steps of {STEP} s")
    print("  anchors  slides (m)  contacts  meshes  moved in the last half (m)  analytic")
    for carries in (True, False):
        way, slid, contacts = runs[carries] = slide(client, chosen.steps, carries)
        meshes = (chosen.steps - 1) // PERIOD - (half - 1) // PERIOD
        expected = 0 if carries else meshes * DEFLECTION
        print(f"  {'carried' if carries else 'lost   '}{way[:half].sum():12.6g}  {min(contacts):3} to {max(contacts)}"
              f"{meshes:8}  {way[half + 1:].sum():26.6g}  {expected:.6g}")
    if chosen.plot:
        draw(chosen.plot, runs)


def draw(path, runs):
    drawn, (left, right) = figure(2)
    way, slid, contacts = runs[True]
    shown = slice(0, 600)
    times = STEP * np.arange(len(way))
    left.plot(times[shown], np.cumsum(way)[shown], color=BLUE, label="way along the slope (m)")
    left.plot(times[shown], contacts[shown] / 200, color=GREY, lw=0.8, label="contacts / 200")
    left.set(title="It slides, then sticks", xlabel="time (s)")
    half = len(contacts) // 2
    for carries, color, label in ((True, GREEN, "anchors carried"), (False, ORANGE, "anchors lost")):
        crept = np.cumsum(runs[carries][0][half:])
        right.plot(times[half::50], 1e3 * crept[::50], "o", ms=2, color=color, label=label)
    right.plot(times[half:], 1e3 * DEFLECTION / (PERIOD * STEP) * (times[half:] - times[half]), "k", lw=0.8, label="analytic")
    right.set(title="Creep while the floor is meshed anew", xlabel="time (s)", ylabel="mm")
    for axes in (left, right):
        axes.legend()
    save(drawn, path)


if __name__ == "__main__":
    run(main)
