#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A body that follows a path: optimises the posts between which a puck is drawn across a table.

usage: follow.py [URL] [--steps N] [--iterations N] [--plot FILE]

A spring draws a puck across a table, between round posts that it rubs against. The posts are moved until its path is
as close to a wave as possible. The derivatives of the distance with respect to all posts cost two requests: the
matrices of the adjoint equations for all time steps, and one vjp. Time steps are implicit in the positions, too. They
are solved by Newton's method with position_jacobian or by lagging, and the two are compared.
"""
import dataclasses
import time

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from motion import BLUE, G, GREEN, GREY, figure, frictiond, options, run, save

MASS, SPRING, SPEED = 0.2, 60.0, 0.5                            # kg, N/m, m/s of the hand that holds the spring
LENGTH, WAVE, HEIGHT = 1.0, 0.8, 0.03                           # m: the hand's path; the wave's period and amplitude
RADII, REACH, STIFFNESS = 0.03, 0.02, 2e4                       # m, m, N/m^3: sum of both radii, reach, stiffness
DRAG = 1.0                                                      # s/m, of the grease: force / weight / speed
FRICTION = {"mu_s": 0.4, "mu_k": 0.3, "eps_v": 0.01}
BARRIER = {"dhat": REACH, "dmin": RADII, "stiffness": STIFFNESS}
SMALL = 1e-10                                                   # allowed residual, relative to the spring's force
UNIT = 3e-3                                                     # m, the optimiser's unit for moving a post
FREE = slice(0, 2)                                              # the puck stays on the table


def path(x):
    """Height and slope of the wave."""
    return HEIGHT * np.sin(2 * np.pi * x / WAVE), HEIGHT * 2 * np.pi / WAVE * np.cos(2 * np.pi * x / WAVE)


def first_posts():
    """Two rows of posts, on the side from which they push the puck outwards: three for each half of the wave. [n, 2]"""
    x = WAVE / 8 * np.array([1, 2, 3, 5, 6, 7, 9])
    return np.column_stack([x, -0.8 * RADII * np.sign(path(x)[0])])


# --- contact with posts -----------------------------------------------------------------------------------------------

def presses(puck, posts):
    """For all pairs of a puck and a post, the first and second derivatives of their contact's energy with respect to
    the puck's position: [.., n, 2] and [.., n, 2, 2]. The length of the first is the normal force that the service
    uses."""
    r = puck[..., None, :] - posts
    d = np.sqrt((r * r).sum(-1))
    n, reach = r / d[..., None], (2 * RADII + REACH) * REACH
    square = np.minimum(d * d - RADII**2, reach)  # zero beyond the reach
    bracket = 2 * np.log(square / reach) - reach / square + 1
    by_square = -bracket + (reach - square) * (2 / square + reach / square**2)
    force = -STIFFNESS * (reach - square) * bracket * 2 * d
    slope = np.where(square < reach, force / d - STIFFNESS * by_square * 4 * d * d, 0)
    along = n[..., :, None] * n[..., None, :]
    return -force[..., None] * n, -slope[..., None, None] * along - (force / d)[..., None, None] * (np.eye(2) - along)


# --- friction ---------------------------------------------------------------------------------------------------------

def batch(pucks, posts):
    """The pucks, then the posts, as vertices. Each puck may touch all posts and touches the table."""
    n, m = len(pucks), len(posts)
    flat = np.vstack([pucks, posts])
    return {"dim": 3, "positions": np.column_stack([flat, np.zeros(n + m)]), "friction": FRICTION, "barrier": BARRIER,
            "collisions": {
                "vertex_vertex": {"vertices": np.stack([np.repeat(np.arange(n), m), np.tile(np.arange(n, n + m), n)], 1)},
                "plane_vertex": {"vertices": np.arange(n), "plane_normal": [0, 0, 1], "normal_force": MASS * G, "viscous": DRAG}}}


def velocities(v, posts):
    return np.vstack([np.column_stack([v, np.zeros(len(v))]), np.zeros((len(posts), 3))])


def jacobian(answer):
    """The position Jacobian of an answer, as a SciPy matrix."""
    of = answer["position_jacobian"]
    return csr_matrix((of["data"], of["indices"], of["indptr"]), of["shape"])


MATRICES = {"outputs": ["gradient", "hessian", "position_jacobian"], "hessian": {"format": "csr"},
            "position_jacobian": {"format": "csr"}}


def blocks(matrix, n):
    """The diagonal blocks of the first n vertices: [n, 2, 2]."""
    return np.stack([matrix[3 * k:3 * k + 2, 3 * k:3 * k + 2].toarray() for k in range(n)])


class Table:
    """The motion among posts, by implicit Euler: MASS (v - before) / h + SPRING (x - hand) + presses + rubs = 0, with
    all terms at the new positions x.

    requests   number of requests so far
    """

    def __init__(self, client, steps):
        self.client, self.steps, self.h, self.requests = client, steps, LENGTH / SPEED / steps, 0
        self.hands = np.column_stack([LENGTH * np.arange(1, steps + 1) / steps, np.zeros(steps)])

    def rubs(self, pucks, v, posts):
        """Friction's gradient, and its derivatives with respect to the pucks' velocities and positions."""
        self.requests += 1
        answer = self.client.evaluate({**batch(pucks, posts), **MATRICES, "velocities": velocities(v, posts)})
        n = len(pucks)
        return (answer["gradient"].reshape(-1, 3)[:n, FREE], blocks(frictiond.hessian_matrix(answer), n),
                blocks(jacobian(answer), n))

    # --- one step ------------------------------------------------------------------------------------------------------

    def residual(self, x, before, hand, posts, v, lagged):
        """The residual of a step that ends with velocity v, with friction at the positions `lagged`; its derivative
        with respect to velocities; and the derivative of friction with respect to positions."""
        force, by_velocity, by_position = self.rubs(lagged[None], v[None], posts)
        new, h = x + self.h * v, self.h
        press, stiff = presses(new, posts)
        off = MASS / h * (v - before) + SPRING * (new - hand) + press.sum(0) + force[0]
        rest = (MASS / h + h * SPRING) * np.eye(2) + h * stiff.sum(0) + by_velocity[0]
        return off, rest, h * by_position[0]

    def solve(self, x, before, hand, posts, v, lagged=None):
        """Newton's method for one step, with friction at its own positions or at given ones. Steps are shortened if
        they would jump across a post or increase the residual."""
        small, length = SMALL * SPRING * SPEED * 0.1, 1.0
        there = (lambda u: x + self.h * u) if lagged is None else (lambda u: lagged)
        off, matrix, turn = self.residual(x, before, hand, posts, v, there(v))
        for _ in range(60):
            if abs(off).max() <= small:
                return v
            change = -np.linalg.solve(matrix + (turn if lagged is None else 0), off)
            length = 1.0
            for _ in range(40):
                if self.may_go(x + self.h * v, self.h * length * change, posts):
                    new = self.residual(x, before, hand, posts, v + length * change, there(v + length * change))
                    if abs(new[0]).max() < abs(off).max() or abs(new[0]).max() <= small:
                        break
                length /= 2
            v, (off, matrix, turn) = v + length * change, new
        raise RuntimeError("Newton's method does not converge: take a smaller time step")

    @staticmethod
    def may_go(x, step, posts):
        """Whether the puck stays clear of posts, and on its side of them."""
        gap = np.sqrt(((x - posts)**2).sum(1)) - RADII
        return np.sqrt((step * step).sum()) < 0.8 * gap.min() or (
            np.sqrt(((x + step - posts)**2).sum(1)) > RADII + 0.2 * gap).all() and np.sqrt((step * step).sum()) < RADII

    def newton(self, x, before, hand, posts):
        """Starts at rest, where nothing slips: from the last velocity it may find a solution that continues to
        slide."""
        return self.solve(x, before, hand, posts, 0 * before)

    def lag(self, x, before, hand, posts):
        """Repeats the step with friction at the last solution, until the solution no longer moves."""
        v, at = 0 * before, x
        for _ in range(200):
            v = self.solve(x, before, hand, posts, v, at)
            if abs(x + self.h * v - at).max() <= 1e-12:
                return v
            at = x + self.h * v
        raise RuntimeError("lagging does not converge")

    # --- all steps -----------------------------------------------------------------------------------------------------

    def simulate(self, posts, step=None):
        """Positions and velocities at the ends of the steps, [steps, 2] each, and the number of requests for each
        step."""
        x, v, out, asked = np.zeros(2), np.zeros(2), [], []
        for hand in self.hands:
            requests = self.requests
            v = (step or self.newton)(x, v, hand, posts)
            x = x + self.h * v
            out.append((x, v))
            asked.append(self.requests - requests)
        return *np.array(out).swapaxes(0, 1), np.array(asked)

    def pull_back(self, x, v, posts, by_x):
        """Given the derivative of a function with respect to the puck's positions, its derivative with respect to the
        posts: solves the adjoint equations, from the last step to the first."""
        force, by_velocity, by_position = self.rubs(x, v, posts)
        press, stiff = presses(x, posts)
        by_position += SPRING * np.eye(2) + stiff.sum(1)
        matrices = MASS / self.h * np.eye(2) + by_velocity + self.h * by_position
        adjoint, of_x, of_v = np.empty_like(x), np.zeros(2), np.zeros(2)
        for k in reversed(range(self.steps)):
            of_x = of_x + by_x[k]
            adjoint[k] = -np.linalg.solve(matrices[k].T, of_v + self.h * of_x)
            of_x = of_x + by_position[k].T @ adjoint[k]
            of_v = -MASS / self.h * adjoint[k]
        self.requests += 1
        answer = self.client.vjp({**batch(x, posts), "velocities": velocities(v, posts)},
                                 {"gradient": velocities(adjoint, posts).ravel()}, ["/positions"])
        rubbed = answer["cotangents"]["/positions"].reshape(-1, 3)[len(x):, FREE]
        return rubbed - np.einsum("kpij,ki->pj", stiff, adjoint)


# --- the best posts ----------------------------------------------------------------------------------------------------

def distance(x):
    """Half the mean square of the puck's distance from the wave, in mm^2, and its derivative with respect to
    positions."""
    wave, slope = path(x[:, 0])
    off = 1e3 * (x[:, 1] - wave)
    return (off * off).mean() / 2, 1e3 * off[:, None] / len(x) * np.column_stack([-slope, np.ones(len(x))])


@dataclasses.dataclass
class Found:
    posts: np.ndarray
    distances: np.ndarray    # one per simulation
    requests: int
    seconds: float


def improve(client, steps, iterations):
    """Uses L-BFGS, and moves posts by at most 30 mm along the path and 15 mm across it."""
    table, distances, began, first = Table(client, steps), [], time.perf_counter(), first_posts()

    def total(moved):
        posts = first + UNIT * moved.reshape(-1, 2)
        x, v, _ = table.simulate(posts)
        half, by_x = distance(x)
        distances.append(half)
        return half, UNIT * table.pull_back(x, v, posts, by_x).ravel()

    found = minimize(total, np.zeros(first.size), jac=True, method="L-BFGS-B", bounds=[(-10, 10), (-5, 5)] * len(first),
                     options={"maxiter": iterations})
    return Found(first + UNIT * found.x.reshape(-1, 2), np.array(distances), table.requests, time.perf_counter() - began)


def by_differences(table, posts, h=1e-6):
    """Central differences of the distance with respect to every coordinate of the posts: two simulations each."""
    out = np.empty_like(posts)
    for k in np.ndindex(*posts.shape):
        shift = np.zeros_like(posts)
        shift[k] = h
        ahead, behind = (distance(table.simulate(posts + s)[0])[0] for s in (shift, -shift))
        out[k] = (ahead - behind) / (2 * h)
    return out


def compared(client, posts, steps):
    """Requests for each step by Newton's method and by lagging, and the largest distance between their paths (m)."""
    newton, lagging = Table(client, steps), Table(client, steps)
    x, _, asked = newton.simulate(posts)
    other, _, asked_lagging = lagging.simulate(posts, lagging.lag)
    return asked, asked_lagging, abs(x - other).max()


def main():
    chosen = options(__doc__, steps=100, iterations=25)
    client = frictiond.Client(chosen.url)
    found, table = improve(client, chosen.steps, chosen.iterations), Table(client, chosen.steps)
    rms, first = np.sqrt(2 * found.distances), first_posts()
    print(f"{chosen.steps} time steps, {len(first)} posts")
    print(f"  {'off the wave, at first':28}{rms[0]:10.3f} mm (root mean square)")
    print(f"  {'off the wave, at last':28}{rms.min():10.3f} mm")
    print(f"  {'simulations':28}{len(rms):10d}")
    print(f"  {'requests':28}{found.requests:10d}")
    print(f"  {'seconds':28}{found.seconds:10.1f}")
    print(f"{2 * len(first)} derivatives, at first       by vjp  by differences")
    (adjoint, seconds, requests), (differences, slow, many) = (
        timed(table, what, first) for what in (by_adjoint, by_differences))
    print(f"  {'requests':28}{requests:10d}{many:16d}")
    print(f"  {'seconds':28}{seconds:10.2f}{slow:16.2f}")
    print(f"  {'apart, of the largest':28}{abs(adjoint - differences).max() / abs(adjoint).max():10.0e}")
    print("requests for a time step         Newton         lagging")
    for part in (1, 2):
        steps = chosen.steps // part
        asked, lagging, _ = compared(client, found.posts, steps)
        print(f"  of {1e3 * LENGTH / SPEED / steps:3.0f} ms{'':20}{asked.mean():10.1f}{lagging.mean():16.1f}")
        print(f"    at most{'':19}{asked.max():10d}{lagging.max():16d}")
    if chosen.plot:
        draw(chosen.plot, table, found)


def by_adjoint(table, posts):
    x, v, _ = table.simulate(posts)
    return table.pull_back(x, v, posts, distance(x)[1])


def timed(table, derivatives, posts):
    """Derivatives of the distance with respect to the posts, and the seconds and requests that they took, including
    simulations."""
    began, requests = time.perf_counter(), table.requests
    out = derivatives(table, posts)
    return out, time.perf_counter() - began, table.requests - requests


def draw(file, table, found):
    from matplotlib.patches import Circle
    drawn, axes = figure(1, 2)
    drawn.set_size_inches(9.2, 4)
    x = np.linspace(0, LENGTH, 200)
    for axis, posts, what in zip(axes, (first_posts(), found.posts), ("at first", "at last")):
        axis.plot(x, path(x)[0], color=GREEN, lw=1, label="wanted")
        axis.plot(*table.simulate(posts)[0].T, ".-", color=BLUE, ms=3, lw=0.8, label="the puck's centre")
        for post in posts:  # drawn with RADII, the closest distance of the puck's centre
            axis.add_patch(Circle(post, RADII, facecolor="0.9", edgecolor=GREY))
        axis.set(title=f"Posts {what}", ylabel="y (m)", aspect="equal", ylim=(-0.075, 0.075))
    axes[0].legend(ncols=2, loc="lower center")
    axes[1].set(xlabel="x (m)")
    save(drawn, file)


if __name__ == "__main__":
    run(main)
