# SPDX-License-Identifier: MIT
"""Meshes in motion."""
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._answer import outline
from ._errors import Error
from ._steps import euler_step

if TYPE_CHECKING:
    from ._client import Client

BOTH = ["friction", "barrier"]


class Motion(NamedTuple):
    """Result of Scene.step.

    positions    at the end of the step [n_vertices, dim] (m)
    velocities   at the end of the step [n_vertices, dim] (m/s)
    forces       of barrier and friction on the vertices at the end of the step [n_vertices, dim] (N)
    iterations   of Newton's method
    requests     to the service
    """
    positions: NDArray[Any]
    velocities: NDArray[Any]
    forces: NDArray[Any]
    iterations: int
    requests: int

    def __repr__(self) -> str:
        return f"Motion({', '.join(f'{name}={outline(value)}' for name, value in self._asdict().items())})"


class Scene:
    """A mesh that moves in time steps: see Client.scene. The service finds the contacts, keeps them apart, evaluates
    barrier and friction, and carries the anchors of sticking contacts from step to step.

    positions    [n_vertices, dim] (m), at the beginning of the next step
    velocities   [n_vertices, dim] (m/s), at the beginning of the next step; may be set
    contacts     the Set in the service
    h            length of a step (s)
    requests     number of requests so far
    seconds      spent in them
    """

    def __init__(self, client: "Client", positions: ArrayLike, mesh: Mapping[str, Any], friction: Mapping[str, Any],
                 barrier: Mapping[str, Any], h: float, velocities: ArrayLike = 0.0, margin: float | None = None,
                 anchors: bool = True, name: str | None = None) -> None:
        self.positions = np.array(positions, float)
        if not h > 0:
            raise ValueError(f"h is {h}: a time step is longer than 0")
        self.h, self.anchors, self.requests, self.seconds = float(h), anchors, 0, 0.0
        self.velocities = np.array(np.broadcast_to(np.asarray(velocities, float), self.positions.shape))
        self.held = np.zeros((len(self.positions), 1), bool)
        self.held[np.asarray(mesh.get("fixed", []), int)] = True
        self.contacts = client.set({
            "dim": self.positions.shape[1], "positions": self.positions, "mesh": mesh, "friction": friction,
            "barrier": barrier, "anchors": anchors, **({} if margin is None else {"margin": margin})}, name)

    def evaluate(self, velocities: ArrayLike, **query: Any) -> Any:
        """POST /v1/sets/NAME/evaluate at the end of a step with these velocities: barrier and friction, in units of
        velocities. potential (W), gradient (N) and Hessian (N s/m) are those of D(v) + barrier(x + h v) / h. query:
        outputs and their options, or other terms.

        If vertices move further than the set's margin allows, the margin is made larger first.
        """
        v = np.reshape(np.asarray(velocities, float), self.positions.shape)
        return self._ask({"velocities": v, "current_positions": self.positions + self.h * v, "time_step": self.h,
                          "terms": BOTH, **query})

    def longest(self, velocities: ArrayLike, change: ArrayLike, keep: float = 0.1) -> float:
        """How many times `change`, at most once, can be added to the velocities of this step so that the way there
        leaves every pair of the mesh `keep` times its distance."""
        v, dv = (np.reshape(np.asarray(a, float), self.positions.shape) for a in (velocities, change))
        limit = {"direction": self.h * dv, "keep": keep}
        return self._ask({"current_positions": self.positions + self.h * v, "terms": ["barrier"],
                          "outputs": ["longest_step"], "longest_step": limit})["longest_step"]["step"]

    def step(self, inertia: Any, load: ArrayLike = 0.0,
             others: Callable[[NDArray[Any]], tuple[Any, Any, Any]] | None = None, tolerance: float = 1e-8,
             iterations: int = 200) -> Motion:
        """One step of implicit Euler: finds the positions x that minimise

            (x - y) M (x - y) / 2h^2 - load x + barrier(x) + h D((x - positions) / h) + others(x)

        with y = positions + h velocities and D the friction potential. Newton's method starts at rest and crosses no
        contact. Then the step ends: the scene's positions, velocities and anchors become those found. If it fails,
        nothing changes. Vertices in mesh["fixed"] do not move.

        inertia     M: a mass (kg), masses whose shape broadcasts to [n_vertices, dim], or a symmetric positive definite
                    matrix over all DOFs, dense or SciPy sparse
        load        forces (N) that do not depend on x; their shape broadcasts to [n_vertices, dim]
        others      further energies, such as elasticity: others(x) returns a value (J), its gradient [n_vertices, dim]
                    (N) and its Hessian over all DOFs (N/m), positive semidefinite; an infinite value rules x out
        tolerance   largest unbalanced force, relative to the largest force
        iterations  maximum number of iterations

        Raises NotConverged.
        """
        before, h = self.requests, self.h

        def of_velocities(v):
            value, gradient, hessian = others(self.positions + h * v)
            return (value / h, gradient, h * hessian) if np.isfinite(value) else (np.inf, None, None)

        lagged = {"dim": self.positions.shape[1], "lagged_velocities": None, "collisions": {}}
        after = euler_step(lambda query: self.evaluate(**query), lagged, self.velocities, inertia, h, load,
                           of_velocities if others else None, 0.0, tolerance, iterations, held=self.held,
                           longest=self.longest, anchors=False, noise=1e-9, unprojected_below=1e-3)
        # The last direction of Newton's method ends within what `longest` allowed.
        positions = self.positions + h * after.velocities
        if self.anchors:
            self._timed(self.contacts.advance, after.velocities, positions)
        else:
            self._timed(self.contacts.patch, positions=positions)
        self.positions, self.velocities = positions, after.velocities
        forces = -np.reshape(after.answer["gradient"], positions.shape)
        return Motion(positions, after.velocities, forces, after.iterations, self.requests - before)

    def close(self) -> None:
        """Deletes the set."""
        self.contacts.close()

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<frictiond.Scene of {len(self.positions)} vertices, steps of {self.h} s, {self.contacts!r}>"

    def _ask(self, query: Mapping[str, Any]) -> Any:
        for last in (False, True):
            try:
                return self._timed(self.contacts.evaluate, **query)
            except Error as error:
                if error.code != "moved_too_far" or last:
                    raise
            moved = np.linalg.norm(query["current_positions"] - self.positions, axis=1).max()
            self._timed(self.contacts.patch, margin=4 * moved)  # twice what this needs

    def _timed(self, request: Callable[..., Any], *arguments: Any, **fields: Any) -> Any:
        begin = time.perf_counter()
        try:
            return request(*arguments, **fields)
        finally:
            self.requests += 1
            self.seconds += time.perf_counter() - begin
