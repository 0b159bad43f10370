#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slab with a box on top, 3D, on a floor: pulled by a spring until it breaks loose, and pushed across an anisotropic
floor."""
import argparse
import math
import sys

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_matrix

import ipc
from ipc import frictiond

G = 9.81                                        # m/s^2
SLAB, SLAB_CELLS = (0.4, 0.3, 0.1), (4, 3, 1)   # m
BOX, BOX_CELLS = (0.2, 0.2, 0.1), (2, 2, 1)     # m
TURN = 30.0                                     # degrees, of the box on the slab
DENSITY, YOUNG = 1000.0, 5e7                    # kg/m^3, Pa
DHAT = 1e-3                                     # m; the gap at rest is about half of that
MU_BOX = 0.8                                    # between box and slab
STIFFNESS, DAMPING = 1e4, 400.0                 # N/m, N s/m; of the spring
SETTLING = 20                                   # steps


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    coefficient = ipc.number_in(0, 5)
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8080", help="the service")
    parser.add_argument("--mu-s", type=coefficient, default=0.8, help="static friction coefficient of the floor")
    parser.add_argument("--mu-k", type=coefficient, default=0.3, help="kinetic friction coefficient of the floor")
    parser.add_argument("--eps-v", type=ipc.number_in(-1e9, 1e9), default=1e-3,
                        help="speed below which a contact sticks, m/s")
    parser.add_argument("--pull", type=ipc.number_in(0, 1), default=0.01, help="speed of the spring's far end, m/s")
    parser.add_argument("--push", type=ipc.number_in(0, 5), default=0.6, help="force of the push, in weights")
    parser.add_argument("--angle", type=ipc.number_in(-180, 180), default=50, help="between push and x, degrees")
    parser.add_argument("--aniso", type=two_factors, default="1,0.5",
                        help="of the anisotropic floor: its friction along x and along y, times the coefficients")
    parser.add_argument("--step", type=ipc.number_in(0, 0.1), default=0.005, help="time step, s")
    parser.add_argument("--seconds", type=ipc.number_in(0, 100), default=1.0, help="simulated time of the pull, s")
    parser.add_argument("--push-seconds", type=ipc.number_in(0, 100), default=0.25, help="and that of each push, s")
    parser.add_argument("--lags", type=ipc.number_in(0, 100, int), default=1,
                        help="how often in a step contact forces and geometry are renewed")
    parser.add_argument("--plot", type=ipc.picture, metavar="FILE",
                        help="draw the runs and the analytic answers (.svg, .png, .pdf)")
    options = parser.parse_args()
    if min(options.seconds, options.push_seconds) < 8 * options.step:
        parser.error("argument --seconds, --push-seconds: less than eight steps")
    return options


def two_factors(text):
    factors = np.array([ipc.number_in(0, 10)(factor) for factor in text.split(",")])
    if len(factors) != 2:
        raise argparse.ArgumentTypeError(f"{text}: two numbers, separated by a comma")
    return factors


class Bodies:
    """Slab and box: vertices and tetrahedra of both, the surfaces that face each other, the pairs that may touch."""

    def __init__(self):
        slab, slab_tets = ipc.block(SLAB, SLAB_CELLS)
        box, box_tets = ipc.block(BOX, BOX_CELLS)
        c, s = np.cos(np.radians(TURN)), np.sin(np.radians(TURN))
        box = (box - [BOX[0] / 2, BOX[1] / 2, 0]) @ [[c, s, 0], [-s, c, 0], [0, 0, 1]]
        box += [SLAB[0] / 2 + 0.013, SLAB[1] / 2 + 0.007, SLAB[2] + DHAT / 2]  # no vertex just above an edge
        self.n_slab = len(slab)
        self.rest = np.concatenate([slab, box]) + [0, 0, DHAT / 2]
        self.tets = np.concatenate([slab_tets, box_tets + len(slab)])
        self.elastic = ipc.Elastic(self.rest, self.tets, DENSITY, YOUNG)
        self.mass = self.elastic.masses.sum()
        self.weight = self.mass * G
        self.floor = np.flatnonzero(slab[:, 2] == 0)
        self.front = np.flatnonzero(slab[:, 0] == SLAB[0])
        faces, edges = ipc.surface(self.tets)
        top = np.zeros(len(self.rest), dtype=bool)
        top[:len(slab)] = slab[:, 2] == SLAB[2]
        bottom = np.zeros(len(self.rest), dtype=bool)
        bottom[len(slab):] = box[:, 2] == box[:, 2].min()
        self.top, self.bottom = ((np.flatnonzero(mine), faces[mine[faces].all(axis=1)], edges[mine[edges].all(axis=1)])
                                 for mine in (top, bottom))

    def centre(self, values):
        """The centre of mass of both bodies, seen from above."""
        return (self.elastic.masses @ values / self.mass)[:2]

    def pairs(self, x):
        """Faces and vertices that lie above each other, and edges that cross as seen from above. Nearly parallel edges
        are left out: the direction of such a contact is not well defined, and there are other contacts near."""
        return ipc.Contacts({
            "edge_edge": crossing(x, self.bottom[2], self.top[2]),
            "face_vertex": [*above(x, self.bottom[0], self.top[1]), *above(x, self.top[0], self.bottom[1])],
            "plane_vertex": self.floor,
        })


def cross2(a, b):
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def above(x, vertices, faces):
    """[v, t0, t1, t2] for every vertex and the face that it is above or below."""
    corners = x[faces][None, :, :, :2] - x[vertices][:, None, None, :2]
    areas = np.stack([cross2(corners[:, :, i], corners[:, :, i - 1]) for i in range(3)])
    inside = (areas >= 0).all(axis=0) | (areas <= 0).all(axis=0)
    found = np.flatnonzero(inside.any(axis=1))
    return np.column_stack([vertices[found], faces[inside[found].argmax(axis=1)]])


def crossing(x, upper, lower):
    """[a0, a1, b0, b1] of the upper and lower edges that cross."""
    a, b = (pairs.reshape(-1, 2) for pairs in (np.repeat(upper, len(lower), axis=0), np.tile(lower, (len(upper), 1))))
    p, q = x[a[:, 0], :2], x[b[:, 0], :2]
    u, w = x[a[:, 1], :2] - p, x[b[:, 1], :2] - q
    sine = cross2(u, w)
    with np.errstate(divide="ignore", invalid="ignore"):
        s, t = cross2(q - p, w) / sine, cross2(q - p, u) / sine
    keep = (abs(sine) > 0.1 * np.linalg.norm(u, axis=1) * np.linalg.norm(w, axis=1)) & \
        (s > 0) & (s < 1) & (t > 0) & (t < 1)
    return np.concatenate([a[keep], b[keep]], axis=1)


class Spring:
    """Pulls the front of the slab along x: stiffness and damper, shared by the vertices; the far end moves steadily."""

    def __init__(self, vertices, stiffness, damping, speed):
        self.vertices, self.speed, self.end = vertices, speed, None
        self.k, self.c = stiffness / len(vertices), damping / len(vertices)

    def begin_step(self, x, h):
        at = x[self.vertices, 0]
        self.end = at.copy() if self.end is None else self.end + h * self.speed
        self.h, self.old = h, at.copy()

    def stretch(self, x):
        return self.end - x[self.vertices, 0], self.speed - (x[self.vertices, 0] - self.old) / self.h

    def force(self, x):
        length, rate = self.stretch(x)
        return (self.k * length + self.c * rate).sum()

    def energy(self, x):
        length, rate = self.stretch(x)
        return (self.k * length**2 + self.c * self.h * rate**2).sum() / 2

    def derivatives(self, x):
        length, rate = self.stretch(x)
        gradient = np.zeros_like(x)
        gradient[self.vertices, 0] = -self.k * length - self.c * rate
        dofs, stiffness = self.vertices * 3, np.full(len(self.vertices), self.k + self.c / self.h)
        return gradient, coo_matrix((stiffness, (dofs, dofs)), shape=(x.size, x.size)).tocsr()


class Push:
    """A force on both bodies, distributed in proportion to mass."""

    def __init__(self, masses, force):
        self.forces = masses[:, None] / masses.sum() * np.asarray(force)

    def energy(self, x):
        return -(self.forces * x).sum()

    def derivatives(self, x):
        return -self.forces, coo_matrix((x.size, x.size)).tocsr()


# -- the runs ---------------------------------------------------------------------------------------------------------

def simulate(client, bodies, options, clock, seconds, of_floor=(), spring=None, push=None):
    """Times [n], accelerations of the centre of mass [n, 2], its path [n + 1, 2], and the solver."""
    material = np.zeros(len(bodies.rest), dtype=np.int32)
    material[bodies.n_slab:] = 1
    law = {"materials": {"vertex_material": material, "plane_material": 2, "mu_s": table(options.mu_s),
                         "mu_k": table(options.mu_k)}}
    barrier = ipc.Barrier(DHAT, ipc.stiffness_for(bodies.weight / len(bodies.floor), DHAT))
    floor = {"plane_normal": [0, 0, 1], "plane_origin": [0, 0, 0], **dict(of_floor)}
    friction = ipc.Friction(client, law, options.eps_v, barrier, plane_vertex=floor)
    solver = ipc.Solver(bodies.rest, bodies.elastic, friction, bodies.pairs, options.step, [0, 0, -G],
                        lags=options.lags)
    clock.solvers.append(solver)
    for _ in range(SETTLING):
        solver.step()
    solver.terms += [term for term in (spring, push) if term]
    path, speeds, forces = [bodies.centre(solver.x)], [bodies.centre(solver.v)], []
    for _ in range(round(seconds / options.step)):
        solver.step()
        path.append(bodies.centre(solver.x))
        speeds.append(bodies.centre(solver.v))
        forces.append(spring.force(solver.x) if spring else 0.0)
    friction.close()
    times = options.step * np.arange(1, len(path))
    return times, np.diff(speeds, axis=0) / options.step, np.array(path), np.array(forces), solver


def table(mu):
    """The coefficients between slab, box and floor."""
    return [[mu, MU_BOX, mu], [MU_BOX, MU_BOX, mu], [mu, mu, mu]]


def static_peak(client, options):
    """The largest friction force as a fraction of the normal force: the peak of mu(y) f1(y). It is less than mu_s,
    because the coefficient falls while f1 rises."""
    y = np.linspace(0, 1, 10001) * options.eps_v
    return client.function("smooth_mu_f1", y=y, mu_s=options.mu_s, mu_k=options.mu_k, eps_v=options.eps_v).max()


def pull(client, bodies, options, clock):
    spring = Spring(bodies.front, STIFFNESS, DAMPING, options.pull)
    t, a, path, force, solver = simulate(client, bodies, options, clock, options.seconds, spring=spring)
    friction = force - bodies.mass * a[:, 0]
    peak, last = static_peak(client, options), slice(len(t) * 3 // 4, None)
    print("pulled by a spring         analytic  simulated")
    tell("static peak / weight", peak, friction.max() / bodies.weight)
    tell("kinetic friction / weight", options.mu_k, friction[last].mean() / bodies.weight)
    return {"t": t, "force": force, "friction": friction, "peak": peak, "solver": solver}


def tell(name, analytic, measured, relative=True):
    difference = f"{100 * (measured / analytic - 1):+9.4f} %" if relative else f"{measured - analytic:+9.4f} degrees"
    print(f"  {name:25}{analytic:9.4f}  {measured:9.4f} {difference}")


def pulled(t, peak, bodies, options):
    """The force of the spring on a rigid body. The body sticks until the peak. Then, as long as it slides, the stretch
    e follows m e'' + c e' + k e = kinetic friction, starting with e' = speed of the pull."""
    m, c, k, speed = bodies.mass, DAMPING, STIFFNESS, options.pull
    kinetic, start = options.mu_k * bodies.weight, (peak * bodies.weight - c * speed) / k
    rate, decay = math.sqrt(k / m - (c / (2 * m))**2), c / (2 * m)
    A, tau = start - kinetic / k, np.maximum(t - start / speed, 0)
    B = (speed + decay * A) / rate
    fall, cos, sin = np.exp(-decay * tau), np.cos(rate * tau), np.sin(rate * tau)
    e = kinetic / k + fall * (A * cos + B * sin)
    change = fall * ((B * rate - decay * A) * cos - (A * rate + decay * B) * sin)
    return np.where(t * speed < start, k * speed * t + c * speed, k * e + c * change)


def resistance(model, direction, options):
    """Kinetic friction on a body that slides in a direction, as a fraction of the normal force. Scaled velocities (the
    field mu_aniso): not opposite to the velocity. Ellipses (mu_s_aniso, mu_k_aniso): opposite, of varying size."""
    scaled = options.aniso * direction
    if model == "scaled":
        return options.mu_k * options.aniso * scaled / np.linalg.norm(scaled)
    return options.mu_k * np.linalg.norm(scaled) * direction


def turned(angle):
    return np.array([math.cos(angle), math.sin(angle)])


def expected(model, options):
    """Direction (radians) and acceleration (m/s^2) of a body pushed from rest: it moves in the direction across which
    push and friction balance."""
    towards = math.radians(options.angle)

    def across(angle):
        rest = options.push * turned(towards) - resistance(model, turned(angle), options)
        return rest[1] * math.cos(angle) - rest[0] * math.sin(angle)

    angle = brentq(across, towards - 1.5, towards + 1.5, xtol=1e-14) if model == "scaled" else towards
    return angle, G * np.linalg.norm(options.push * turned(towards) - resistance(model, turned(angle), options))


FLOORS = {"scaled": "velocity scaling (mu_aniso)", "ellipses": "ellipses (mu_s_aniso, mu_k_aniso)"}


def shove(client, bodies, options, clock, model):
    fields = {"scaled": {"mu_aniso": [list(options.aniso)]},
              "ellipses": {"mu_s_aniso": [list(options.mu_s * options.aniso)],
                           "mu_k_aniso": [list(options.mu_k * options.aniso)]}}[model]
    force = options.push * bodies.weight * turned(math.radians(options.angle))
    t, a, path, _, solver = simulate(client, bodies, options, clock, options.push_seconds, of_floor=fields,
                                     push=Push(bodies.elastic.masses, [*force, 0]))
    a = a[len(t) // 2:].mean(axis=0)
    angle, acceleration = expected(model, options)
    print(f"pushed at {options.angle:g} degrees, {FLOORS[model]}")
    tell("direction, degrees", math.degrees(angle), math.degrees(math.atan2(a[1], a[0])), relative=False)
    tell("acceleration, m/s^2", acceleration, np.linalg.norm(a))
    return {"path": path - path[0], "angle": angle, "friction": force / bodies.weight - a / G, "solver": solver}


# -- the picture ------------------------------------------------------------------------------------------------------

COLOURS = {"scaled": "#d55e00", "ellipses": "#0072b2"}


def draw(bodies, run, pushes, options):
    figure, axes = ipc.pyplot().subplots(2, 2, figsize=(9.2, 7.4), constrained_layout=True)
    draw_scene(axes[0, 0], bodies, run["solver"].x)
    draw_pull(axes[0, 1], bodies, run, options)
    draw_paths(axes[1, 0], pushes, options)
    draw_friction(axes[1, 1], pushes, options)
    ipc.save(figure, options.plot)


def draw_scene(axes, bodies, x):
    for (_, faces, _), colour in ((bodies.top, "#56b4e9"), (bodies.bottom, "#e69f00")):
        axes.triplot(*x[:, :2].T, faces, color=colour, lw=1)
    contacts = bodies.pairs(x).groups
    marks = [("plane_vertex", x[contacts["plane_vertex"]], "s", "#56b4e9"),
             ("face_vertex", x[contacts["face_vertex"][:, 0]], "o", "#0072b2"),
             ("edge_edge", crossings(x, contacts["edge_edge"]), "o", "#d55e00")]
    for name, at, mark, colour in marks:
        axes.plot(*at[:, :2].T, mark, ms=4, color=colour, label=f"{len(at)} {name}")
    axes.set(title="Slab on the floor, box on the slab, from above", aspect="equal")
    axes.axis("off")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, -0.12), ncol=3, handletextpad=0, columnspacing=1)


def crossings(x, contacts):
    a, b = x[contacts[:, 0]], x[contacts[:, 2]]
    u, w = x[contacts[:, 1]] - a, x[contacts[:, 3]] - b
    return a + (cross2(b - a, w) / cross2(u, w))[:, None] * u


def draw_pull(axes, bodies, run, options):
    t, weight = run["t"], bodies.weight
    fine, some = np.linspace(0, t[-1], 200), slice(None, None, max(len(t) // 90, 1))
    axes.plot(t[some], run["force"][some] / weight, "o", ms=2.5, color="#e69f00", label="spring")
    axes.plot(t[some], run["friction"][some] / weight, "o", ms=2.5, color="#0072b2", label="friction")
    axes.plot(fine, pulled(fine, run["peak"], bodies, options) / weight, "k", lw=0.8, label="spring, rigid body")
    levels = [(r"$\mu_s$", options.mu_s, 3), (r"max $\mu(y)\,f_1(y)$", run["peak"], 3), (r"$\mu_k$", options.mu_k, -12)]
    for name, level, below in levels:
        axes.axhline(level, color="0.4", ls="--", lw=0.8)
        axes.annotate(name, (t[-1], level), (0, below), textcoords="offset points", color="0.3", ha="right")
    axes.set(title=f"Pulled by a spring at {options.pull:g} m/s", xlabel="time (s)", ylabel="force / weight")
    axes.set_ylim(0, options.mu_s * 1.08)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 0))


def draw_paths(axes, pushes, options):
    reach = max(np.linalg.norm(push["path"][-1]) for push in pushes.values())
    for model, push in pushes.items():
        axes.plot(*(reach * 1.1 * np.outer(turned(push["angle"]), [0, 1])), "k", lw=0.8)
        axes.plot(*push["path"][::3].T, "o", ms=3.5, color=COLOURS[model], label=FLOORS[model])
    tip = 0.45 * reach * turned(math.radians(options.angle))
    arrow = {"arrowstyle": "-|>,head_width=0.6,head_length=0.9", "color": "0.75", "lw": 7}
    axes.annotate("", tip, (0, 0), arrowprops=arrow, zorder=0)
    axes.annotate("push", tip, (14, -12), textcoords="offset points", color="0.25")
    axes.plot([], [], "k", lw=0.8, label="analytic")
    axes.set(title="Pushed across an anisotropic floor, from above", xlabel="x (m)", ylabel="y (m)")
    axes.axis("equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15))


def draw_friction(axes, pushes, options):
    circle = np.linspace(0, 2 * np.pi, 181)
    for model, push in pushes.items():
        force, back = -push["friction"], -options.mu_k * turned(push["angle"])
        limit = -np.array([resistance(model, turned(angle), options) for angle in circle])
        axes.plot(*limit.T, color=COLOURS[model], lw=1)
        axes.plot([0, back[0]], [0, back[1]], color=COLOURS[model], lw=1, ls=":")
        axes.plot([0, force[0]], [0, force[1]], color=COLOURS[model], lw=2)
        axes.plot(*force, "o", ms=6, color=COLOURS[model])
    axes.plot([], [], "-o", color="0.3", lw=2, label="simulated force")
    axes.plot([], [], color="0.3", lw=1, label="all forces of the model")
    axes.plot([], [], color="0.3", lw=1, ls=":", label="against the motion")
    axes.set(title="Friction on the slab / weight", xlabel="along x", ylabel="along y")
    axes.axis("equal")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncol=2)


def main():
    options = arguments()
    client, clock, bodies = frictiond.Client(options.url), ipc.Clock(), Bodies()
    print(f"{bodies.mass:g} kg, mu_s {options.mu_s:g}, mu_k {options.mu_k:g}, eps_v {options.eps_v:g} m/s, "
          f"step {options.step:g} s")
    run = pull(client, bodies, options, clock)
    borne = run["peak"] * max(options.aniso)
    if options.push <= borne:
        sys.exit(f"--push {options.push:g} may not move the slab: friction can hold {borne:.3f} of its weight")
    pushes = {model: shove(client, bodies, options, clock, model) for model in FLOORS}
    print(clock)
    if options.plot:
        draw(bodies, run, pushes, options)


if __name__ == "__main__":
    try:
        main()
    except (frictiond.Error, ipc.NotConverged) as error:
        sys.exit(str(error))
