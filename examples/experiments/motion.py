# SPDX-License-Identifier: MIT
"""Shared by the experiments: a step of implicit Euler with friction from the service, and the command line.

Needs the package frictiond, NumPy and SciPy; Matplotlib for --plot (Debian: python3-numpy python3-scipy
python3-matplotlib).
"""
import argparse
import pathlib
import sys

import numpy as np

import frictiond

G = 9.81  # m/s^2
ROUNDING = 4e-15  # relative to the largest force
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "0.5"


def step(client, request, inertia, before, load, h, start=None, small=ROUNDING):
    """The velocities v that minimise (v - before) M (v - before) / 2h + D(v) - load v, and the service's answer there.

    request   for /v1/evaluate without its velocities: of vertices alone, or of bodies alone
    inertia   the diagonal of M in the shape of v: [n_vertices, dim], or [n_bodies, 6] ([n_bodies, 3] in 2D)
    load      forces (and torques) on them, in the same shape
    start     where Newton's method starts; by default, where the contacts do not slip. If friction falls with slip,
              there may be several solutions, and it finds one near its start
    small     the residual that is small enough, relative to the largest force
    """
    after = client.step(request, before, inertia, h, load, start=start, tolerance=small, collision_outputs=["status"])
    return after.velocities, after.answer


def evaluate(client, request, v, **query):
    """The service's answer at the velocities v of the vertices or of the bodies."""
    field = "body_velocities" if "body_positions" in request else "velocities"
    return client.evaluate({**request, **query, field: v})


def gradient(answer):
    """The negative of the friction forces on all DOFs."""
    return np.concatenate([np.ravel(answer[name]) for name in ("gradient", "body_gradient") if name in answer])


def options(description, **more):
    """URL of the service, --plot FILE, and --NAME for each of `more`, whose value is the default."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("url", nargs="?", default="http://127.0.0.1:8080", help="of the service (%(default)s)")
    parser.add_argument("--plot", metavar="FILE", help="draw the results: .svg, .png, .pdf")
    for name, default in more.items():
        parser.add_argument("--" + name, type=type(default), default=default, metavar="N", help="(%(default)s)")
    return parser.parse_args()


def tell(name, measured, analytic, unit=""):
    print(f"  {name:34}{measured:13.6g}  {analytic:13.6g} {unit}")


def figure(columns, rows=1):
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot as plt
    plt.rcParams.update({"svg.hashsalt": "frictiond", "svg.fonttype": "none", "font.family": "sans-serif",
                         "font.sans-serif": ["DejaVu Sans"], "font.size": 9, "axes.spines.top": False,
                         "axes.spines.right": False, "axes.grid": True, "grid.color": "0.92", "axes.axisbelow": True,
                         "legend.frameon": False, "axes.titlesize": 10, "axes.titlelocation": "left"})
    return plt.subplots(rows, columns, figsize=(9.2, 3.1 * rows), constrained_layout=True)


def save(drawn, path):
    drawn.savefig(path, dpi=110, facecolor="white",
                  metadata={"Date": None, "Creator": None} if path.endswith(".svg") else None)


def run(main):
    try:
        main()
    except (frictiond.Error, RuntimeError, OSError) as error:
        sys.exit(str(error))
