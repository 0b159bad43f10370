#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Estimates the coefficients mu_s and mu_k from measurements of how far pucks slide.

usage: slips.py [URL] [--samples N] [--seed N] [--plot FILE]

A puck is pushed twelve times, faster each time, and slides until friction stops it. The distances were measured with an
error of 3 %. A random walk samples the two coefficients of friction ("law": "stribeck") from their posterior
distribution by Bayes' theorem, with a uniform prior over 0 < mu_k < mu_s < 1. The model is frictiond's, through the
protocol UM-Bridge: /Evaluate for each sample, /ApplyJacobian to find the start. Needs NumPy; Matplotlib for --plot.
"""
import argparse
import http.client
import json
import os
import sys
from urllib.parse import urlsplit

import numpy as np

G = 9.81  # m/s^2
EPS_V, STRIBECK = 0.005, 0.15  # m/s
PUSHES = np.array([0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3, 0.36, 0.42, 0.5, 0.6, 0.7])  # m/s
SLIPS = np.array([0.257, 0.709, 1.696, 3.129, 5.255, 8.608, 12.922, 19.431, 27.077, 41.543, 59.005, 81.503]) / 1e3  # m
ERROR = 0.03  # standard deviation, relative to each slip
TRUE = np.array([0.5, 0.3])  # the coefficients with which the slips were generated
NAMES = ("mu_s", "mu_k")


class Model:
    """A model of UM-Bridge: the essential part of its clients, in a few lines."""

    def __init__(self, url, name, **config):
        self.connection, self.requests = http.client.HTTPConnection(urlsplit(url).netloc), 0
        self.asked = {"name": name, "config": config}

    def send(self, method, path, body):
        self.requests += 1
        self.connection.request(method, path, body and json.dumps(body), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{path}: {text.decode()}")
        return json.loads(text or "{}")

    def evaluate(self, values):
        return self.send("POST", "/Evaluate", {**self.asked, "input": values})["output"]

    def apply_jacobian(self, values, wrt, vec):
        return self.send("POST", "/ApplyJacobian", {**self.asked, "input": values, "outWrt": 0, "inWrt": wrt,
                                                    "vec": vec})["output"]


class Pucks:
    """How far pucks slide. During dt, a puck of mass 1 at speed v loses the speed F(v) dt and slides v dt. So after a
    push it slides the integral of v / F(v) over all lower speeds. This is computed by Gauss's rule with six speeds
    between any two pushes. Each speed has a contact in one set, whose surface moves at that speed under a vertex at
    rest, so one request returns the friction at all speeds.
    """

    def __init__(self, url):
        ends = np.concatenate([[0, EPS_V], PUSHES])
        x, w = np.polynomial.legendre.leggauss(6)
        self.speeds = ((ends[1:, None] + ends[:-1, None]) / 2 + np.diff(ends)[:, None] / 2 * x).ravel()
        self.weights = (np.diff(ends)[:, None] / 2 * w).ravel()
        n, self.name = len(self.speeds), f"slips-{os.getpid()}"
        self.model = Model(url, "friction_gradient", set=self.name, inputs=["/friction/mu_s", "/friction/mu_k"])
        self.model.send("PUT", f"/v1/sets/{self.name}", {
            "dim": 2, "n_vertices": n,
            "friction": {"law": "stribeck", "mu_s": 0.5, "mu_k": 0.5, "eps_v": EPS_V, "stribeck_speed": STRIBECK},
            "collisions": {"plane_vertex": {
                "vertices": list(range(n)), "plane_normal": [0, 1], "normal_force": G,
                "surface_velocity": [[-v, 0] for v in self.speeds.tolist()]}}})

    def close(self):
        self.model.send("DELETE", f"/v1/sets/{self.name}", None)

    def sum(self, values):
        """Integrals from 0 to every push."""
        return np.cumsum((self.weights * values).reshape(-1, 6).sum(axis=1))[1:]

    def forces(self, mu):
        return np.reshape(self.model.evaluate([[m] for m in mu])[0], (-1, 2))[:, 0]

    def slips(self, mu):
        return self.sum(self.speeds / self.forces(mu))

    def slopes(self, mu):
        """Derivatives of the slips with respect to both coefficients, [pushes, 2]."""
        forces = self.forces(mu)
        by = [np.reshape(self.model.apply_jacobian([[m] for m in mu], i, [1]), (-1, 2))[:, 0] for i in range(2)]
        return np.transpose([self.sum(-self.speeds / forces ** 2 * each) for each in by])


def is_possible(mu):
    return 0 < mu[1] < mu[0] < 1


def misfit(slips):
    """Half the sum of squares of the slips' errors, each divided by its standard deviation: -log of the likelihood."""
    return 0.5 * (((slips - SLIPS) / (ERROR * SLIPS)) ** 2).sum()


def most_likely(pucks, mu):
    """The coefficients by the Gauss-Newton method, and the covariance that they would have if slips were linear in
    them."""
    for _ in range(20):
        slopes = pucks.slopes(mu) / (ERROR * SLIPS)[:, None]
        covariance = np.linalg.inv(slopes.T @ slopes)
        change = covariance @ slopes.T @ ((SLIPS - pucks.slips(mu)) / (ERROR * SLIPS))
        mu = mu + change
        if abs(change).max() < 1e-9:
            return mu, covariance
    raise RuntimeError("the most likely coefficients are not found: begin nearer")


def walk(pucks, mu, covariance, n, rng):
    """n samples of the posterior by Metropolis's rule, and the share of accepted steps. Steps have the shape of the
    covariance, multiplied by 2.4 / sqrt(2), which mixes fastest."""
    shape = 2.4 / np.sqrt(2) * np.linalg.cholesky(covariance)
    here, samples, taken = misfit(pucks.slips(mu)), np.empty((n, 2)), 0
    for i in range(n):
        ahead = mu + shape @ rng.normal(size=2)
        there = misfit(pucks.slips(ahead)) if is_possible(ahead) else np.inf
        if np.log(rng.uniform()) < here - there:
            mu, here, taken = ahead, there, taken + 1
        samples[i] = mu
    return samples, taken / n


def effective(x):
    """The equivalent number of independent samples: n / (1 + 2 times the sum of correlations), up to the first one that
    is lost in noise (Geyer)."""
    x = x - x.mean()
    spectrum = abs(np.fft.rfft(x, 2 * len(x))) ** 2
    correlations = np.fft.irfft(spectrum)[:len(x)]
    pairs = (correlations[::2][:len(x) // 2] + correlations[1::2][:len(x) // 2]) / correlations[0]
    last = np.argmax(pairs <= 0) if (pairs <= 0).any() else len(pairs)
    return len(x) / (2 * pairs[:last].sum() - 1)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8080", help="of the service (%(default)s)")
    parser.add_argument("--samples", type=int, default=3000, metavar="N", help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(%(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="draw the results: .svg, .png, .pdf")
    return parser.parse_args()


def main():
    chosen = options()
    pucks, rng = Pucks(chosen.url), np.random.default_rng(chosen.seed)
    try:
        best, covariance = most_likely(pucks, np.array([0.4, 0.35]))
        samples, taken = walk(pucks, best, covariance, chosen.samples, rng)
        tell(samples, taken, best, covariance, pucks.model.requests)
        if chosen.plot:
            draw(chosen.plot, pucks, samples, rng)
    finally:
        pucks.close()


def tell(samples, taken, best, covariance, requests):
    print(f"{len(PUSHES)} slips, error {ERROR:.0%}    true  most likely    mean  deviation  linear  95 % from      to")
    low, high = np.quantile(samples, (0.025, 0.975), axis=0)
    for i, name in enumerate(NAMES):
        print(f"  {name:18}{TRUE[i]:7.4f}{best[i]:13.4f}{samples[:, i].mean():8.4f}{samples[:, i].std():11.4f}"
              f"{covariance[i, i] ** 0.5:8.4f}{low[i]:11.4f}{high[i]:8.4f}")
    slopes = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
    print(f"  correlation                             {np.corrcoef(samples.T)[0, 1]:19.4f}{slopes:8.4f}")
    print(f"  samples {len(samples)}, as good as {min(map(effective, samples.T)):.0f} independent ones")
    print(f"  steps taken {taken:.1%}, requests {requests}")


def mean_coefficient(slips):
    """The coefficient with which a puck would slide as far by Coulomb's law."""
    return PUSHES ** 2 / (2 * G * slips)


def draw(path, pucks, samples, rng):
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "frictiond", "svg.fonttype": "none", "font.family": "sans-serif",
                         "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False, "axes.grid": True, "grid.color": "0.92", "axes.axisbelow": True,
                         "legend.frameon": False, "axes.titlesize": 10, "axes.titlelocation": "left"})
    drawn, (left, right) = plt.subplots(1, 2, figsize=(9.2, 3.1), constrained_layout=True)
    BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "0.5"
    for mu in samples[rng.choice(len(samples), 40)]:
        left.plot(PUSHES, mean_coefficient(pucks.slips(mu)), color=BLUE, lw=0.6, alpha=0.3)
    middle = mean_coefficient(SLIPS)
    left.errorbar(PUSHES, middle, 2 * ERROR * middle, fmt="o", ms=3, lw=1, color=ORANGE, label="measured, ± 2 σ")
    left.plot([], [], color=BLUE, lw=0.6, label="40 samples")
    left.set(title="Mean coefficient of a slip", xlabel="push (m/s)", ylabel="v² / 2 g d")
    right.plot(*samples[::8].T, ".", ms=2.5, color=BLUE, alpha=0.6, label="every eighth sample")
    right.axhline(TRUE[1], color=GREY, lw=0.5)
    right.axvline(TRUE[0], color=GREY, lw=0.5)
    right.plot(*TRUE, "+", ms=12, mew=2, color=ORANGE, label="true")
    right.set(title="What is known of the coefficients", xlabel="μs", ylabel="μk")
    left.legend(loc="upper right")
    right.legend(loc="upper left")  # away from the lines of the true values
    drawn.savefig(path, dpi=110, facecolor="white",
                  metadata={"Date": None, "Creator": None} if path.endswith(".svg") else None)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
