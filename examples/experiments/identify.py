#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Coefficients from a trajectory: estimates the friction of a puck on a shaking table by least squares.

usage: identify.py [URL] [--steps N] [--noise N] [--seed N] [--plot FILE]

The table shakes more and more, and the puck begins to slide on it. Its velocity is measured, with noise. mu_s, mu_k,
eps_v and stribeck_speed are found by bringing a simulated puck as close as possible to the measured one. The
derivatives of the sum of squares with respect to all four cost one request: /v1/vjp, with the adjoint of the trajectory
as cotangent.
"""
import dataclasses
import time

import numpy as np
from scipy.linalg import solve_banded
from scipy.optimize import minimize

from motion import BLUE, G, GREEN, GREY, ORANGE, figure, frictiond, options, run, save

MASS, STEP = 0.2, 1e-3  # kg, s
NAMES = ("mu_s", "mu_k", "eps_v", "stribeck_speed")
UNITS = ("", "", "m/s", "m/s")
FIELDS = ["/friction/" + name for name in NAMES]
TRUE = np.array([0.45, 0.25, 0.02, 0.15])
START = np.array([0.8, 0.15, 0.005, 0.5])
SMALL = 1e-13  # residual of the equations of motion, relative to the largest force


def table(steps):
    """Velocities of the table at the ends of the time steps: 3 Hz, increasing to 0.8 m/s."""
    t = STEP * np.arange(1, steps + 1)
    return 0.8 * t / t[-1] * np.sin(2 * np.pi * 3 * t)


class Puck:
    """The puck's motion by implicit Euler, MASS (v[n] - v[n-1]) / STEP + g(v[n]) = 0, as one system of equations.

    Each time step has a vertex and a contact of its own, whose surface moves as the table does at that time. So one
    request evaluates friction at all times, and a step of Newton's method for all of them is a bidiagonal system. The
    contacts are stored in the service as a set, of which only the law changes.

    simulations, requests   numbers so far
    """

    def __init__(self, client, steps):
        self.steps, self.requests, self.simulations = steps, 0, 0
        self.surface = self.v = table(steps)  # v starts as if the puck stuck; later it is the last trajectory
        self.contacts = client.set({
            "dim": 2, "n_vertices": steps, "friction": law(START),
            "collisions": {"plane_vertex": {"vertices": np.arange(steps), "plane_normal": [0, 1],
                                            "normal_force": MASS * G,
                                            "surface_velocity": in_2d(self.surface)}}})
        self.pattern = self.contacts.pattern()

    def close(self):
        self.contacts.close()

    def friction(self, v):
        """g and its derivative with respect to v, at each moment."""
        self.requests += 1
        answer = self.contacts.evaluate(in_2d(v), outputs=["gradient", "hessian"],
                                        hessian={"format": "csr", "pattern": False})
        slope = frictiond.hessian_matrix(answer, pattern=self.pattern).diagonal()
        return answer["gradient"][::2], slope[::2]

    def simulate(self, theta):
        """Velocities at the ends of the steps, by Newton's method from the last trajectory. There is one solution
        wherever it starts, because MASS / STEP exceeds the rate at which friction falls with slip. A Newton step that
        would pass the table's velocity stops there, where friction is steepest."""
        self.requests += 1
        self.contacts.patch(friction=law(theta))
        self.simulations += 1
        for _ in range(200):
            force, slope = self.friction(self.v)
            off = MASS / STEP * np.diff(self.v, prepend=0) + force
            self.bands = np.array([MASS / STEP + slope, np.full(self.steps, -MASS / STEP)])  # diagonal, lower band
            if abs(off).max() <= SMALL * MASS / STEP * abs(self.surface).max():
                return self.v
            rising = np.maximum(self.bands, [[MASS / STEP / 2], [-MASS / STEP]])
            slip, step = self.v - self.surface, solve_banded((1, 0), rising, off)
            self.v = np.where(slip * (slip - step) < 0, self.surface, self.v - step)
        raise RuntimeError("Newton's method does not converge: take a smaller time step")

    def pull_back(self, cotangent):
        """Derivatives of the sum of velocities times cotangents with respect to the four numbers, at the last
        trajectory. The adjoint solves the transposed system; then one request is enough."""
        transposed = np.array([np.roll(self.bands[1], 1), self.bands[0]])  # upper band, diagonal
        adjoint = -solve_banded((0, 1), transposed, cotangent)
        self.requests += 1
        answer = self.contacts.vjp(in_2d(self.v), {"gradient": in_2d(adjoint).ravel()}, FIELDS)
        return np.array([answer["cotangents"][field] for field in FIELDS])

    def push_forward(self, k):
        """Derivatives of the velocities with respect to one of the four numbers: one request and one linear system."""
        self.requests += 1
        answer = self.contacts.jvp(in_2d(self.v), {FIELDS[k]: 1.0})
        return -solve_banded((1, 0), self.bands, answer["tangents"]["gradient"][::2])


def law(theta):
    return {"law": "stribeck", **dict(zip(NAMES, map(float, theta)))}


def in_2d(v):
    return np.column_stack([v, np.zeros(len(v))])


def measured(client, steps, noise, seed):
    """Velocities with and without noise."""
    puck = Puck(client, steps)
    exact = puck.simulate(TRUE)
    puck.close()
    return exact + noise * np.random.default_rng(seed).normal(size=steps), exact


@dataclasses.dataclass
class Fit:
    theta: np.ndarray     # the four numbers
    sums: np.ndarray      # half the sum of squares, one per simulation
    requests: int
    seconds: float


def squares(puck, theta, data, noise):
    """Half the sum of squares, and its derivatives with respect to the velocities."""
    off = (puck.simulate(theta) - data) / noise
    return off @ off / 2, off / noise


def fit(client, data, noise, by_vjp=True, start=START):
    """Minimizes the sum of squares by L-BFGS in the logarithms of the four numbers, with derivatives from the service
    or from forward differences."""
    puck, sums, began = Puck(client, len(data)), [], time.perf_counter()

    def total(x):
        half, by_velocities = squares(puck, np.exp(x), data, noise)
        sums.append(half)
        return (half, puck.pull_back(by_velocities) * np.exp(x)) if by_vjp else half

    found = minimize(total, np.log(start), jac=by_vjp, method="L-BFGS-B", bounds=np.log(np.outer(start, [0.1, 10])),
                     options={"ftol": 1e-14, "gtol": 1e-6, "maxfun": 10000})
    puck.close()
    return Fit(np.exp(found.x), np.array(sums), puck.requests, time.perf_counter() - began)


def deviations(puck, theta, noise):
    """Standard deviations of the four numbers due to noise, from the derivatives of the velocities with respect to
    them."""
    puck.simulate(theta)
    jacobian = np.column_stack([puck.push_forward(k) for k in range(4)]) / noise
    return np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))


def derivatives(puck, theta, data, noise):
    """Derivatives of half the sum of squares with respect to the logarithms, by vjp and by forward differences with the
    optimiser's step."""
    half, by_velocities = squares(puck, theta, data, noise)
    by_vjp = puck.pull_back(by_velocities) * theta
    ahead = [squares(puck, theta * np.exp(1.5e-8 * one), data, noise)[0] for one in np.eye(4)]
    return by_vjp, (np.array(ahead) - half) / 1.5e-8


def main():
    chosen = options(__doc__, steps=1000, noise=0.005, seed=1)
    client = frictiond.Client(chosen.url)
    data, exact = measured(client, chosen.steps, chosen.noise, chosen.seed)
    fits = [fit(client, data, chosen.noise, by_vjp) for by_vjp in (True, False)]
    puck, found = Puck(client, chosen.steps), fits[0].theta
    print(f"{chosen.steps} velocities, noise {chosen.noise} m/s   true     start     found  standard deviation")
    for name, unit, *numbers in zip(NAMES, UNITS, TRUE, START, found, deviations(puck, found, chosen.noise)):
        print(f"  {name:28}" + "".join(f"{number:10.5f}" for number in numbers) + f" {unit}".rstrip())
    print("half the sum of squares                  by vjp  by differences")
    for what, form, numbers in (("at the start", ".1f", [one.sums[0] for one in fits]),
                                ("least", ".6f", [one.sums.min() for one in fits]),
                                ("simulations", "d", [len(one.sums) for one in fits]),
                                ("requests", "d", [one.requests for one in fits]),
                                ("seconds", ".2f", [one.seconds for one in fits])):
        print(f"  {what:28}" + "".join(f"{number:{16}{form}}" for number in numbers))
    print("largest error of a difference, as a share of the largest derivative")
    for what, theta in (("at the start", START), ("0.01 % from the end", found * 1.0001)):
        by_vjp, differences = derivatives(puck, theta, data, chosen.noise)
        print(f"  {what:28}{abs(by_vjp - differences).max() / abs(by_vjp).max():16.0e}")
    puck.close()
    if chosen.plot:
        draw(chosen.plot, data, exact, fits)


def draw(path, data, exact, fits):
    drawn, (left, right) = figure(2)
    t = STEP * np.arange(1, len(data) + 1)
    left.plot(t[::3], data[::3], ".", color=GREY, ms=2.5, label="puck, measured")
    left.plot(t, exact, color=BLUE, lw=1, label="puck, without noise")
    left.plot(t[::3], table(len(data))[::3], color=GREEN, lw=0.8, label="table")
    left.set(title="A puck on a shaking table", xlabel="time (s)", ylabel="velocity (m/s)")
    left.legend(markerscale=3)
    least = min(one.sums.min() for one in fits)
    for one, color, label in zip(fits, (BLUE, ORANGE), ("derivatives by vjp", "by differences")):
        right.semilogy(np.arange(1, len(one.sums) + 1), np.minimum.accumulate(one.sums) - least + 1e-9, color=color,
                       label=label)
    right.set(title="Half the sum of squares above the least", xlabel="simulations")
    right.legend()
    save(drawn, path)


if __name__ == "__main__":
    run(main)
