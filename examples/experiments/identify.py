#!/usr/bin/env python3
"""Coefficients from a trajectory: what friction a puck has on a shaking table, found by least squares.

usage: identify.py [URL] [--steps N] [--noise N] [--seed N] [--plot FILE]

The table shakes more and more, and the puck begins to slide on it. Its positions are measured, with noise. mu_s, mu_k,
eps_v and stribeck_speed are found again as those with which a simulated puck comes closest to the measured one. The
derivatives of the sum of squares by all four are one request: /v1/vjp, with the adjoint of the trajectory for a cotangent.
"""
import time

import numpy as np
from scipy.linalg import solve_banded
from scipy.optimize import minimize

from motion import BLUE, G, GREEN, GREY, ORANGE, figure, frictiond, options, run, save

MASS, STEP = 0.2, 1e-3  # kg, s
NAMES = ("mu_s", "mu_k", "eps_v", "stribeck_speed")
FIELDS = ["/friction/" + name for name in NAMES]
TRUE = np.array([0.45, 0.25, 0.02, 0.15])   # -, -, m/s, m/s
START = np.array([0.8, 0.15, 0.005, 0.5])
SMALL = 1e-12  # residual of the equations of motion, as a share of the largest force


def table(steps):
    """Velocities of the table at the ends of the time steps: 3 Hz, up to 0.8 m/s."""
    t = STEP * np.arange(1, steps + 1)
    return 0.8 * t / t[-1] * np.sin(2 * np.pi * 3 * t)


class Puck:
    """The puck's motion by implicit Euler, MASS (v[n] - v[n-1]) / STEP + g(v[n]) = 0, as one system of equations.

    Each moment is a vertex of its own, with a contact of its own, whose surface has the table's velocity then. So one
    request evaluates friction at all moments, and a step of Newton's method for all moments is a bidiagonal system. The
    contacts stay with the service as a set; its law is patched.

    simulations, requests   how many there have been
    """

    def __init__(self, client, steps):
        self.steps, self.requests, self.simulations = steps, 0, 0
        self.surface = table(steps)
        self.v = self.surface  # as if it stuck; later, the last trajectory
        self.contacts = client.set({
            "dim": 2, "n_vertices": steps, "friction": self.law(START),
            "collisions": {"plane_vertex": {"vertices": np.arange(steps), "plane_normal": [0, 1],
                                            "normal_force": MASS * G, "surface_velocity": self.velocities(self.surface)}}})
        self.pattern = self.contacts.pattern()

    def law(self, theta):
        return {"law": "stribeck", **dict(zip(NAMES, map(float, theta)))}

    def put(self, theta):
        self.requests += 1
        self.contacts.patch(friction=self.law(theta))

    def velocities(self, v):
        return np.column_stack([v, np.zeros(self.steps)])

    def friction(self, v):
        """g and its derivative by v, at each moment."""
        self.requests += 1
        answer = self.contacts.evaluate(self.velocities(v), outputs=["gradient", "hessian"],
                                        hessian={"format": "csr", "pattern": False})
        matrix = frictiond.hessian_matrix(answer, pattern=self.pattern)
        return answer["gradient"][::2], matrix.diagonal()[::2]

    def simulate(self, theta):
        """Positions at the ends of the steps. Newton's method, from the last trajectory."""
        self.put(theta)
        self.simulations += 1
        for _ in range(200):
            force, slope = self.friction(self.v)
            off = MASS / STEP * np.diff(self.v, prepend=0) + force
            self.bands = np.array([MASS / STEP + slope, np.full(self.steps, -MASS / STEP)])  # diagonal, below it
            if abs(off).max() <= SMALL * theta[:2].max() * MASS * G:
                return STEP * np.cumsum(self.v)
            slip, step = self.v - self.surface, solve_banded((1, 0), self.bands, off)
            self.v = np.where(slip * (slip - step) < 0, self.surface, self.v - step)  # friction is steepest at rest
        raise RuntimeError("Newton's method does not converge: take a smaller time step")

    def pull_back(self, cotangent):
        """Derivatives of the sum of positions times cotangents by the four numbers, at the last trajectory: the adjoint
        is one transposed system, and the rest is one request."""
        on_v = STEP * np.cumsum(cotangent[::-1])[::-1]
        upper = np.array([np.roll(self.bands[1], 1), self.bands[0]])  # row by row, those of the transpose
        adjoint = -solve_banded((0, 1), upper, on_v)
        self.requests += 1
        answer = self.contacts.vjp(self.velocities(self.v), {"gradient": self.velocities(adjoint).ravel()}, FIELDS)
        return np.array([answer["cotangents"][field] for field in FIELDS])

    def push_forward(self, k):
        """Derivatives of the positions by one of the four numbers: one request, and one system."""
        self.requests += 1
        answer = self.contacts.jvp(self.velocities(self.v), {FIELDS[k]: 1.0})
        return STEP * np.cumsum(-solve_banded((1, 0), self.bands, answer["tangents"]["gradient"][::2]))


def measured(client, steps, noise, seed):
    """Positions with noise, and those without."""
    path = Puck(client, steps).simulate(TRUE)
    return path + noise * np.random.default_rng(seed).normal(size=steps), path


def fit(client, data, noise, exact=True, start=START):
    """The four numbers with the least sum of squares, found with BFGS in their logarithms; exact: derivatives from the
    service, otherwise forward differences of the sum. Also the puck, and [sum of squares] over the simulations."""
    puck, sums, began = Puck(client, len(data)), [], time.perf_counter()

    def squares(x):
        off = (puck.simulate(np.exp(x)) - data) / noise
        sums.append(off @ off / 2)
        return sums[-1], off / noise

    def with_derivatives(x):
        total, cotangent = squares(x)
        return total, puck.pull_back(cotangent) * np.exp(x)

    found = minimize(with_derivatives if exact else lambda x: squares(x)[0], np.log(start), jac=exact, method="BFGS",
                     options={"gtol": 1e-5, "maxiter": 200})
    puck.seconds = time.perf_counter() - began
    return np.exp(found.x), puck, np.array(sums)


def deviations(puck, theta, noise):
    """Standard deviations that the noise gives the four numbers, from the derivatives of the positions by them."""
    puck.simulate(theta)
    jacobian = np.column_stack([puck.push_forward(k) for k in range(4)]) / noise
    return np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))
