# SPDX-License-Identifier: MIT
"""Shared by the cases: tables that compare with theory, orders of convergence, pictures, the command line.

Needs the package frictiond, NumPy and SciPy; Matplotlib for --plot (Debian: python3-numpy python3-scipy
python3-matplotlib).
"""
import argparse
import pathlib
import sys

import numpy as np

import frictiond

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "experiments"))
from motion import BLUE, G, GREEN, GREY, ORANGE, figure, save  # noqa: E402, F401

CASES = {"capstan": "capstan", "oscillator": "oscillator (SDND100)", "two_masses": "two masses (SDND106)",
         "vibrating_plane": "vibrating plane (SDND104)", "bar": "microslip of a bar",
         "spheres": "spheres (Cattaneo, Mindlin)", "ramps": "ramps", "pinch": "pinch", "squeal": "brake squeal"}


class Report:
    """The rows of one case.

    rows     (name, analytic value, computed value, allowed error), all in the unit of the case
    curves   (what is refined, its values, errors, expected order)
    """

    def __init__(self, name, quick=False):
        self.name, self.quick, self.rows, self.curves, self.lines = name, quick, [], [], []

    def row(self, name, analytic, computed, allowed, unit=""):
        self.rows.append((name, analytic, computed, allowed))
        line = f"  {name:46}{analytic:#13.7g}{computed + 0:#13.7g}{abs(computed - analytic):10.1e}{allowed:9.0e} {unit}"
        self.lines.append(line.rstrip() + ("" if within(analytic, computed, allowed) else "  NOT WITHIN"))

    def falls(self, what, values, compute, order, allowed=0.1):
        """The errors that compute() returns for these values, and a row with the exponent p of their fit c values^p.
        Not in a quick run."""
        if self.quick:
            return
        values, errors = np.array(values, float), np.array(compute())
        self.curves.append((what, values, errors, order))
        self.lines.append(f"  error by {what}")
        self.lines += [f"    {value:<12.4g}{error:.1e}" for value, error in zip(values, errors)]
        exponent = np.polyfit(np.log(values), np.log(errors), 1)[0]
        self.row(f"exponent by {what.partition(':')[0]}", order, exponent, allowed)

    def failed(self):
        """The rows whose error is not within what is allowed."""
        return [row for row in self.rows if not within(*row[1:])]

    def __str__(self):
        head = f"{self.name:48}{'analytic':>13}{'computed':>13}{'error':>10}{'allowed':>9}"
        return "\n".join([head, *self.lines])

    def draw_errors(self, axes):
        """Errors by what is refined, with a line of the expected order through the last one."""
        for (what, values, errors, order), color in zip(self.curves, (BLUE, ORANGE, GREEN)):
            scale = values / values[-1]
            axes.loglog(scale, errors, "o", color=color, ms=4, label=what)
            axes.loglog(scale, errors[-1] * scale**order, "-", color=color, lw=0.8, label=f"order {abs(order):g}")
        axes.set(title="Error", xlabel="value / last value of the table")
        axes.legend()


def within(analytic, computed, allowed):
    return abs(computed - analytic) <= allowed  # not if it is NaN


class Mover:
    """Vertices on planes that move step by step, with anchors in lengths. The force on them is explicit and friction is
    implicit (leapfrog): x is at the ends of steps, v in their middle. A step in which a contact starts or
    stops slipping, or turns, is halved until that happens at its end.

    request  for /v1/evaluate, without velocities and eps_v
    mass     kg, in the shape of x
    force    force(t, x) on the vertices
    slip     the deflection at which a contact gives way, m, one number or one per contact: eps_v times the length of a
             step
    """

    def __init__(self, client, request, mass, force, x, slip, finest=1e-3):
        self.client, self.request, self.mass, self.force = client, request, mass, force
        self.slip, self.finest = slip, finest
        [(self.name, self.group)] = request["collisions"].items()
        self.n = len(self.group["vertices"])
        self.t, self.x, self.v = 0.0, np.array(x, float), np.zeros(np.shape(x))
        self.before, self.deflection = 0.0, np.zeros((self.n, np.shape(x)[1]))
        self.events = []  # (time, positions, slips before and after: -1, 0 or 1 by contact and component)

    def state(self):
        return self.t, self.x, self.v, self.before, self.deflection

    def stepped(self, h, state):
        """The state after a step, and which contacts slip in it, and where."""
        t, x, v, before, deflection = state
        group = {**self.group, "anchor": deflection / h, "eps_v": np.broadcast_to(self.slip / h, self.n)}
        after = self.client.step({**self.request, "collisions": {self.name: group}}, v, self.mass, (before + h) / 2,
                                 self.force(t, x), collision_outputs=["status", "friction_force"])
        found = after.answer["collisions"][self.name]
        slips = np.sign(found["friction_force"].round(9)) * (found["status"] == 1)[:, None]
        return (t + h, x + h * after.velocities, after.velocities, h, h * after.anchors[self.name]), slips

    def move(self, h, slipped):
        """A step of this length; slipped and result: which contacts slip before and after it."""
        state, slips = self.stepped(h, self.state())
        _, after = self.stepped(self.shortest, state)
        if h > self.shortest and not ((slips == slipped).all() and (after == slipped).all()):
            return self.move(h / 2, self.move(h / 2, slipped))
        self.t, self.x, self.v, self.before, self.deflection = state
        if (after != slipped).any():
            self.events.append((self.t, self.x, slipped, after))
        return after

    def run(self, h, until):
        """Steps of this length. Returns times and positions at their ends, and those at the beginning."""
        self.shortest, path = self.finest * h, [(self.t, self.x)]
        _, slips = self.stepped(self.shortest, self.state())
        for _ in range(round((until - self.t) / h)):
            slips = self.move(h, slips)
            path.append((self.t, self.x))
        times, positions = zip(*path)
        return np.array(times), np.array(positions)


def run(main):
    """The command line of a case. main(client, report) fills the report, and returns a function that draws axes."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__.splitlines()[0])
    parser.add_argument("--plot", metavar="FILE", help="draw the results: .svg, .png, .pdf")
    parser.add_argument("--quick", action="store_true", help="leave out how errors fall")
    chosen = parser.parse_args()
    report = Report(CASES[pathlib.Path(sys.argv[0]).stem], chosen.quick)
    draw = main(frictiond.local(), report)
    print(report)
    if chosen.plot:
        plot(chosen.plot, report, draw)
    sys.exit(1 if report.failed() else 0)


def plot(path, report, draw):
    """The case, and if the run was not quick, its errors."""
    drawn, axes = figure(2 if report.curves else 1)
    draw(axes[0] if report.curves else axes)
    if report.curves:
        report.draw_errors(axes[1])
    save(drawn, path)
