#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An elastic block on an incline, 2D: sticks below the friction angle, slides above it with Coulomb's acceleration."""
import argparse
import math
import sys

import numpy as np

import ipc
from ipc import frictiond

G = 9.81                            # m/s^2
SIZE, CELLS = (0.4, 0.2), (12, 6)   # m
DENSITY, YOUNG = 1000.0, 1e6        # kg/m^3, Pa
DAMPING = 0.005                     # s
DHAT = 1e-3                         # m; the gap at rest is about half of that
HELD = 0.4                          # s
COLOURS = ["#0072b2", "#56b4e9", "#e69f00", "#d55e00", "#cc79a7", "#009e73"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8080", help="the service")
    parser.add_argument("--angles", type=angles, default="15,25,30,40",
                        help="of the incline, degrees, separated by commas")
    coefficient = ipc.number_in(-1e-9, 1.5)  # the block would tip over
    parser.add_argument("--mu", type=coefficient, default=0.5,
                        help="friction coefficient (the static one, if --mu-k is given)")
    parser.add_argument("--mu-k", type=coefficient, help="kinetic coefficient (default: the same)")
    parser.add_argument("--eps-v", type=ipc.number_in(-1e9, 1e9), default=1e-3,
                        help="speed below which the block sticks, m/s")
    parser.add_argument("--step", type=ipc.number_in(0, 0.1), default=0.01, help="time step, s")
    parser.add_argument("--seconds", type=ipc.number_in(0, 100), default=0.8, help="simulated time, s")
    parser.add_argument("--lags", type=ipc.number_in(0, 100, int), default=1,
                        help="how often in a step contact forces and geometry are renewed")
    parser.add_argument("--plot", type=ipc.picture, metavar="FILE",
                        help="draw the runs and the analytic answers (.svg, .png, .pdf)")
    options = parser.parse_args()
    options.mu_k = options.mu if options.mu_k is None else options.mu_k
    if options.seconds < 4 * options.step:
        parser.error("argument --seconds: less than four steps")
    return options


def angles(text):
    return [ipc.number_in(-90, 90)(angle) for angle in text.split(",")]


class Incline:
    """The scene with an inclined slope: gravity points down. Two further vertices are the ends of the slope."""

    def __init__(self, client, angle, options):
        theta = np.radians(angle)
        self.down, self.normal = np.array([np.cos(theta), -np.sin(theta)]), np.array([np.sin(theta), np.cos(theta)])
        rest, triangles = ipc.block(SIZE, CELLS)
        self.n, self.triangles = len(rest), triangles
        reach = 1 + G * (options.seconds + HELD)**2
        ends = [[-reach, 0], [reach, 0]]
        local = np.concatenate([rest + [0, DHAT / 2], ends])
        x = local[:, :1] * self.down + local[:, 1:] * self.normal
        elastic = ipc.Elastic(x[:self.n], triangles, DENSITY, YOUNG, damping=DAMPING)
        bottom = np.flatnonzero(rest[:, 1] == 0)
        contacts = ipc.Contacts({"edge_vertex": [[v, self.n, self.n + 1] for v in bottom]})
        load = elastic.masses.sum() * G * np.cos(theta) / len(bottom)
        self.friction = ipc.Friction(client, {"mu_s": options.mu, "mu_k": options.mu_k}, options.eps_v,
                                     ipc.Barrier(DHAT, ipc.stiffness_for(load, DHAT)))
        self.solver = ipc.Solver(x, elastic, self.friction, lambda _: contacts, options.step, [0, -G],
                                 fixed=[self.n, self.n + 1], lags=options.lags)
        self.weights = elastic.masses / elastic.masses.sum()

    def centre(self, values):
        """The component along the slope, for the centre of mass."""
        return self.weights @ values[:self.n] @ self.down

    def run(self, options, slides):
        """A force distributed over the block holds it at first. The force is reduced slowly, to zero or until the block
        would slide, and then removed: loaded suddenly, the block would bounce and slip in places. Returns times,
        displacements and speeds down the slope."""
        gravity, steps = self.solver.gravity, round(HELD / options.step)
        along, across = gravity @ self.down, abs(gravity @ self.normal)
        load = math.copysign(0.98 * options.mu_k * across, along) if slides else along
        for i in range(steps):
            self.solver.gravity = gravity - (along - min(2 * i / steps, 1) * load) * self.down
            self.solver.step()
        self.solver.gravity = gravity
        start, rows = self.centre(self.solver.x), [(0, 0, self.centre(self.solver.v))]
        for i in range(round(options.seconds / options.step)):
            self.solver.step()
            rows.append(((i + 1) * options.step, self.centre(self.solver.x) - start, self.centre(self.solver.v)))
        return np.array(rows).T


def resistance(client, options):
    """Speeds up to eps_v, and the friction force at them as a fraction of the normal force, mu(y) f1(y)."""
    y = np.linspace(0, 1, 10001) * options.eps_v
    return y, client.function("smooth_mu_f1", y=y, mu_s=options.mu, mu_k=options.mu_k, eps_v=options.eps_v)


def analytic(client, angle, options):
    """For a block that starts from rest: (creep speed in m/s, 0), or (None, acceleration in m/s^2) if it slides. It
    creeps at the lowest speed y at which mu(y) f1(y) = tan(angle), if there is one."""
    theta = np.radians(abs(angle))
    y, borne = resistance(client, options)
    enough = np.flatnonzero(borne >= np.tan(theta))
    if enough.size:
        i = enough[0]
        creep = np.interp(np.tan(theta), borne[i - 1:i + 1], y[i - 1:i + 1]) if i else 0.0
        return math.copysign(creep, angle), 0.0
    return None, math.copysign(G * (np.sin(theta) - options.mu_k * np.cos(theta)), angle)


def simulate(client, angle, options, clock):
    scene = Incline(client, angle, options)
    clock.solvers.append(scene.solver)
    first = scene.solver.x
    creep, acceleration = analytic(client, angle, options)
    t, x, v = scene.run(options, slides=creep is None)
    scene.friction.close()
    half, end = slice(len(t) // 2, None), slice(len(t) * 3 // 4, None)
    run = {"angle": angle, "t": t, "x": x, "v": v, "creep": creep, "acceleration": acceleration, "scene": scene,
           "first": first, "fastest": abs(v[end]).max(), "measured": np.polyfit(t[half], v[half], 1)[0]}
    does = "sticks" if run["fastest"] < options.eps_v else "slides"
    if creep is not None:
        fastest = run["fastest"] / options.eps_v
        print(f"{angle:7.2f}  {does} {creep:12.4e} {v[-1]:12.4e}  m/s    at most {fastest:.4f} eps_v")
    else:
        difference = 100 * (run["measured"] / acceleration - 1)
        print(f"{angle:7.2f}  {does} {acceleration:12.6f} {run['measured']:12.6f}  m/s^2  {difference:+.5f} %")
    return run


def draw(runs, slips, options):
    plt = ipc.pyplot()
    figure, ((scene, path), (speed, summary)) = plt.subplots(2, 2, figsize=(9.2, 7), constrained_layout=True)
    colours = {run["angle"]: COLOURS[i % len(COLOURS)] for i, run in enumerate(runs)}
    draw_scene(scene, runs[-1], colours[runs[-1]["angle"]])
    for run in runs:
        t, colour, name = run["t"], colours[run["angle"]], f"{run['angle']:g}°"
        some, few = (slice(None, None, max(len(t) // n, 1)) for n in (20, 40))
        exact = abs(run["creep"]) + 0 * t if run["creep"] is not None else abs(run["acceleration"]) * t
        path.plot(t[some], abs(run["x"][some]), "o", ms=3, color=colour, label=name)
        path.plot(t[few], (exact * t / (1 if run["creep"] is not None else 2))[few], "k", lw=0.8)
        speed.plot(t[some][1:], abs(run["v"][some][1:]), "o", ms=3, color=colour)
        speed.plot(t[1:][few], exact[1:][few], "k", lw=0.8)
        speed.annotate(name, (t[-1], exact[-1]), (5, -3), textcoords="offset points", color=colour)
        summary.plot(abs(run["angle"]), abs(run["measured"]), "o", ms=6, color=colour, zorder=3)
    path.set(title="Displacement of the centre of mass", xlabel="time (s)", ylabel="down the slope (m)")
    path.plot([], [], "k", lw=0.8, label="analytic")
    path.legend(title="points: simulated")
    speed.axhline(options.eps_v, color="0.4", ls="--", lw=1)
    speed.annotate(r"$\epsilon_v$", (runs[0]["t"][1], options.eps_v), (2, 3), textcoords="offset points", color="0.3")
    speed.set(title="Speed", xlabel="time (s)", ylabel="down the slope (m/s)", yscale="log")
    theta = np.linspace(0, max(45, *(abs(run["angle"]) + 5 for run in runs)), 200)
    radians = np.radians(theta)
    summary.plot(theta, np.where(theta < slips, 0, G * (np.sin(radians) - options.mu_k * np.cos(radians))), "k", lw=0.8)
    summary.axvline(slips, color="0.4", ls="--", lw=1)
    summary.annotate(f"slides from {slips:.1f}° on", (slips, 0), (-4, 60), textcoords="offset points", color="0.3",
                     ha="right")
    mu = r"\mu_k" if options.mu_k != options.mu else r"\mu"
    summary.set(title=rf"Acceleration: $g\,(\sin\theta - {mu}\cos\theta)$ and simulated",
                xlabel=r"angle $\theta$ (degrees)", ylabel="down the slope (m/s²)")
    ipc.save(figure, options.plot)


def draw_scene(axes, run, colour):
    scene, last = run["scene"], run["scene"].solver.x
    reach = np.array([[min(run["x"][-1], 0) - 0.15], [max(run["x"][-1], 0) + SIZE[0] + 0.15]])
    slope = reach * scene.down
    high, low = np.argmax(slope[:, 1]), min(slope[:, 1])
    axes.fill([*slope[:, 0], slope[high, 0]], [*slope[:, 1], low], color="0.9", lw=0)
    axes.plot(*slope.T, "k", lw=1)
    for x, line in ((run["first"], "0.6"), (last, colour)):
        axes.triplot(*x[:scene.n].T, scene.triangles, color=line, lw=0.6)
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(f"The block at {run['angle']:g}° before and after {run['t'][-1]:g} s")


def main():
    options = arguments()
    client, clock = frictiond.Client(options.url), ipc.Clock()
    kinetic = f", kinetic {options.mu_k:g}" if options.mu_k != options.mu else ""
    print(f"mu {options.mu:g}{kinetic} (atan mu = {np.degrees(np.arctan(options.mu)):.2f} degrees), "
          f"eps_v {options.eps_v:g} m/s, step {options.step:g} s")
    print("degrees  block      analytic    simulated")
    runs = [simulate(client, angle, options, clock) for angle in options.angles]
    print(clock)
    if options.plot:
        draw(runs, np.degrees(np.arctan(resistance(client, options)[1].max())), options)


if __name__ == "__main__":
    try:
        main()
    except (frictiond.Error, ipc.NotConverged) as error:
        sys.exit(str(error))
