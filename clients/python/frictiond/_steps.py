# SPDX-License-Identifier: MIT
"""Time steps of implicit Euler."""
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._answer import Answer, outline
from ._document import anchors_of, size_of
from ._errors import NotConverged
from ._matrix import hessian_matrix


class Step(NamedTuple):
    """Result of Client.step and Set.step.

    velocities   at the end of the step, in the shape of those at its beginning (m/s)
    anchors      {group: [n, dim]} for the next step (m/s, as velocities)
    iterations   of Newton's method
    energy       the minimum (W)
    answer       the service's answer at these velocities
    """
    velocities: NDArray[Any]
    anchors: dict[str, NDArray[Any]]
    iterations: int
    energy: float
    answer: Answer

    def __repr__(self) -> str:
        return f"Step({', '.join(f'{name}={outline(value)}' for name, value in self._asdict().items())})"


def euler_step(evaluate, lagged, before, inertia, h, load, others=None, start=None, tolerance=1e-10, iterations=100,
               outputs=(), collision_outputs=(), held=None, longest=None,
               anchors=True, noise=1e-13, unprojected_below=0.0):
    """Set.step without carrying. evaluate(query) returns the answer for the contacts, lagged is their document. others
    may return an infinite value alone.

    held               mask that broadcasts to the shape of before, of DOFs that keep their velocities of `start`
    longest            longest(v, dv) in (0, 1]: how many times dv can be added to v at most
    anchors            whether the answer has them
    noise              relative error of energies: where they differ by less, forces decide
    unprojected_below  unbalanced force, relative to the largest force, below which the Hessian is not projected: the
                       end of Newton's method is then as fast as it can be
    """
    from scipy.sparse import csr_matrix, diags, issparse
    from scipy.sparse.linalg import spsolve
    if not h > 0:
        raise ValueError(f"h is {h}: a time step is longer than 0")
    before = np.asarray(before, float)
    shape, n = before.shape, before.size
    if not np.isfinite(before).all():
        raise ValueError(f"before is not finite: {before[~np.isfinite(before)][0]}")
    dim = lagged["dim"]
    n_bodies = size_of(lagged.get("body_positions", ())) // dim
    n_of_vertices = n - n_bodies * 3 * (dim - 1)
    n_vertices = lagged.get("n_vertices", n_of_vertices // dim)
    if n_of_vertices < 0 or n_of_vertices != dim * n_vertices:
        raise ValueError(f"before has the shape {shape}: expected {dim} numbers for each of {max(n_vertices, 0)} vertices, and"
                         f" {3 * (dim - 1)} for each of {n_bodies} bodies")
    if issparse(inertia) or np.shape(inertia) == (n, n):
        M = csr_matrix(inertia)
    else:
        M = diags(_like(before, inertia, "inertia").ravel(), format="csr")
    if M.shape != (n, n):
        raise ValueError(f"inertia has the shape {M.shape}, and before has {n} numbers")
    load, scale = _like(before, load, "load").ravel(), max(abs(M @ before.ravel()).max(initial=0) / h, 0)
    free = np.flatnonzero(~np.broadcast_to(False if held is None else held, shape).ravel())
    load = np.where(np.isin(np.arange(n), free), load, 0.0)
    wanted = {"outputs": [*dict.fromkeys(["potential", "gradient", "hessian", *outputs])],
              "hessian": {"format": "csr", "projection": "clamp"}}
    if anchors:
        wanted["outputs"] = [*dict.fromkeys([*wanted["outputs"][:3], "collisions", *outputs])]
        wanted["collision_outputs"] = [*dict.fromkeys(["anchor", *collision_outputs])]
    options = wanted["hessian"]

    def place(v, prefix=""):
        where = {prefix + "velocities": v[:n_of_vertices].reshape(-1, dim)} if n_of_vertices else {}
        return where | ({prefix + "body_velocities": v[n_of_vertices:].reshape(n_bodies, -1)} if n_bodies else {})

    # The directions of matchstick ellipses must not change while the energy is minimised.
    fixed = {name: value for name, value in place(before.ravel(), "lagged_").items() if name not in lagged}

    def at(v):
        """(energy, unbalanced forces, the service's answer, the Hessian of others, rounding of the energy, largest
        force)"""
        value, gradient, hessian = others(v.reshape(shape)) if others else (0.0, np.zeros(n), None)
        if not np.isfinite(value):
            return (np.inf,)
        answer, away = evaluate({**fixed, **wanted, **place(v)}), v - before.ravel()
        friction = np.concatenate([np.ravel(answer[name]) for name in ("gradient", "body_gradient") if name in answer])
        terms = away @ (M @ away) / (2 * h), -load @ v, answer["potential"], value
        residual = np.zeros(n)
        residual[free] = (M @ away / h - load + friction + np.ravel(gradient))[free]
        return sum(terms), residual, answer, hessian, noise * sum(map(abs, terms)), max(
            scale, abs(load).max(), abs(friction).max(), abs(np.ravel(gradient)).max())

    def fail(why):
        worst = abs(residual).argmax()
        raise NotConverged(
            f"the time step has not converged: {why}. The force out of balance is largest at {_dof(worst, n_of_vertices, lagged)}:"
            f" {residual[worst]:.3g}, where {tolerance * largest:.3g} is allowed. Try a shorter step or a larger eps_v",
            v.reshape(shape), residual.reshape(shape))

    def direction():
        matrix = M / h + hessian_matrix(answer) + (0 * M if hessian is None else csr_matrix(hessian))
        dv = np.zeros(n)
        dv[free] = spsolve(matrix.tocsr()[free][:, free].tocsc(), -residual[free])
        return dv

    v = (_without_slip(before, n_of_vertices, lagged) if start is None else _like(before, start, "start")).ravel()
    energy, residual, answer, hessian, rounding, largest = at(v)
    for iteration in range(iterations + 1):
        if abs(residual).max() <= tolerance * largest:
            return Step(v.reshape(shape), anchors_of(answer), iteration, energy, answer)
        if iteration == iterations:
            fail(f"{iterations} iterations of Newton's method did not suffice")
        dv = direction()
        if not residual @ dv < 0 and options["projection"] == "none":
            options["projection"] = "clamp"
            answer = at(v)[2]
            dv = direction()
        if abs(dv).max() <= 1e-15 * abs(v).max():  # the imbalance is only rounding
            return Step(v.reshape(shape), anchors_of(answer), iteration, energy, answer)
        slope, length = residual @ dv, longest(v.reshape(shape), dv.reshape(shape)) if longest else 1.0
        if not slope < 0:  # also refuses NaN
            fail("Newton's direction does not go downhill, so that inertia or the Hessian of others is not positive")
        while True:
            tried = at(v + length * dv)
            # If energies differ only by rounding, compare the forces.
            if tried[0] <= energy + 1e-4 * length * slope or (
                    tried[0] <= energy + rounding and abs(tried[1]).max() < 0.9 * abs(residual).max()):
                break
            length /= 2
            if length < 1e-12:
                fail("the line search found no lower energy")
        v, (energy, residual, answer, hessian, rounding, largest) = v + length * dv, tried
        # Where friction falls nearly as fast as inertia rises, the projected Hessian is far too stiff.
        near = abs(residual).max() < unprojected_below * largest
        options["projection"] = "none" if near or iteration >= 20 else "clamp"


def _like(before, value, name):
    """The value in the shape of before."""
    try:
        return np.array(np.broadcast_to(np.asarray(value, float), before.shape))
    except ValueError:
        raise ValueError(f"{name} has the shape {np.shape(value)}, and before has {before.shape}") from None


def _without_slip(before, n_of_vertices, lagged):
    """Velocities at which contacts do not slip: those of the surfaces."""
    v, dim = np.zeros(before.size), lagged["dim"]
    for name, group in lagged["collisions"].items():
        surface = np.asarray(group.get("surface_velocity", 0.0), float)
        if not surface.any():
            continue
        if name != "plane_vertex":
            raise ValueError(f"{name} has a surface_velocity: give start, velocities at which its contacts do not slip")
        vertices = np.asarray(group["vertices"], int).ravel()
        v[:n_of_vertices].reshape(-1, dim)[vertices] = surface.reshape(-1, dim)
    return v


def _dof(at, n_of_vertices, lagged):
    """The name of a DOF."""
    size = lagged["dim"] if at < n_of_vertices else 3 * (lagged["dim"] - 1)
    at, what = (at, "vertex") if at < n_of_vertices else (at - n_of_vertices, "body")
    return f"{what} {at // size}, component {at % size}"
