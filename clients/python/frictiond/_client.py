# SPDX-License-Identifier: MIT
"""Clients and sets, over any transport.

A transport sends a request and returns the response: send(method, target, headers, pieces) -> (status, headers, pieces
of the body). close() releases a connection or service; the next request opens another one. _http.py and _local.py each
define a transport.
"""
import os
import threading
import urllib.parse
import uuid
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._answer import Answer
from ._document import (FRAME, JSON, PLACE, TERMS, VELOCITIES, WANTED, Batch, anchors_of, answer_of, body_of, bytes_of,
                        document_of, joined, merge, parts_of, with_velocities)
from ._errors import Error, error_of
from ._matrix import claims_of
from ._scene import Scene
from ._steps import Step, euler_step

MOST_CHANGES = 16  # after so many, a set asks for its anchors, so as not to keep more
LOST = ("unknown_set", "set_changed")  # codes of errors that another PUT resolves
ACCEPT = f"{FRAME}, {JSON};q=0.5"
DEFAULT_VELOCITIES = dict.fromkeys(VELOCITIES, VELOCITIES)
DEFAULTS = dict.fromkeys(PLACE, PLACE) | dict.fromkeys(WANTED, WANTED) | {name: (name,) for name in TERMS}


class Client:
    """A service at `url`. Threads may share a client; each has a connection of its own, which stays open.

    url       http://…, https://…, or http+unix:///PATH for the Unix-domain socket /PATH
    token     for services that require one
    retries   number of retries after 503, 429, 502, 504 and failed connections; repeating a request is safe
    timeout   seconds without a byte from the service
    frames    True: arrays are sent in binary. False: everything is JSON
    ca        PEM file of the authorities to trust for https (default: the system's)

        client = frictiond.Client("https://friction.example", token=os.environ["FRICTIOND_TOKEN"])
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", token: str | None = None, retries: int = 5,
                 timeout: float = 300, frames: bool = True, ca: str | None = None) -> None:
        from ._http import Http
        self._begin(Http(url, token, retries, timeout, ca), frames)

    def _begin(self, transport, frames):
        self._transport, self.frames = transport, frames
        self._headers = {"Accept": ACCEPT if frames else JSON}

    def __repr__(self) -> str:
        return repr(self._transport)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def evaluate(self, batch: Batch) -> Answer:
        """POST /v1/evaluate: the answer as a dict, its arrays of numbers as NumPy arrays, which are read-only:

        potential      one number (N m/s; N m if velocities are displacements)
        gradient       [n_vertices * dim], minus the friction force (N)
        body_gradient  [n_bodies, 6] (2D: [n_bodies, 3]), minus force and torque (N, N m)
        hessian        a dict for hessian_matrix (N s/m)
        collisions     {group: {output: [n] or [n, dim], ...}}
        n_vertices, n_collisions

        batch["terms"], ["friction"] by default, selects the energies that the first four sum up: friction at the
        velocities, the barrier at batch["current_positions"], or both; velocities are then displacements over
        batch["time_step"].

        batch["outputs"] selects among the members. The same batch may be passed to Client.set: n_vertices, which only sets
        accept, is not sent here.

            client.evaluate({"dim": 2, "velocities": np.array([[0.5, 0.0]]), "friction": {"eps_v": 1e-3, "mu": 0.3},
                             "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0, 1],
                                                             "normal_force": 10}}})["gradient"]    # array([3., 0.])
        """
        return self._post("/v1/evaluate", with_velocities(batch))

    def contacts(self, positions: ArrayLike, distance: float, mesh: Mapping[str, Any] | None = None,
                 **more: Any) -> Answer:
        """POST /v1/contacts: the pairs of a mesh that are closer than a distance; "collisions" of the answer is what
        evaluate takes. mesh: faces, edges, vertices, planes, rest_positions, body, ignore, fixed. more: candidates in
        place of a mesh, min_distance, weighting, merge, previous, outputs, longest_step.

            x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 0.125]])
            client.contacts(x, 0.25, {"faces": [[0, 1, 2]], "vertices": [3]})["n_collisions"]    # 1
        """
        request = {"dim": np.shape(positions)[1], "positions": positions, "distance": distance, **more}
        return self._post("/v1/contacts", request if mesh is None else {**request, "mesh": mesh})

    def check(self, batch: Batch, claims: Mapping[str, Any] | None = None) -> Answer:
        """POST /v1/check: how closely gradient and Hessian agree with central differences; notes on the physics.
        claims: somebody else's results for the batch, to be compared with the service's: any of potential, gradient,
        body_gradient and hessian, which may be a SciPy matrix, and a tolerance.

            client.check(batch, claims={"gradient": forces})["claims"]["looks_like"]    # perhaps ["sign"]

            client.check(batch)["agrees"]    # True
        """
        document = with_velocities(batch)
        return self._post("/v1/check", document if claims is None else {**document, "claims": claims_of(claims)})

    def jvp(self, batch: Batch, tangents: Mapping[str, ArrayLike]) -> Answer:
        """POST /v1/jvp: potential and gradient, and under "tangents" their derivatives along tangents: {JSON Pointer of
        a field: numbers of its shape}. batch: as for evaluate, without outputs and their options.

            client.jvp(batch, {"/velocities": direction})["tangents"]["gradient"]    # the Hessian times direction
        """
        return self._post("/v1/jvp", {**with_velocities(batch), "tangents": tangents})

    def vjp(self, batch: Batch, cotangents: Mapping[str, ArrayLike], wrt: str | Sequence[str]) -> Answer:
        """POST /v1/vjp: potential and gradient, and under "cotangents" the derivatives of the sum of all results times
        their cotangents ("potential", "gradient", "body_gradient"; default 0) with respect to every number of the
        fields named by wrt, a list of JSON Pointers (or one).

            client.vjp(batch, {"potential": 1}, ["/friction/mu"])["cotangents"]["/friction/mu"]    # one number
        """
        return self._post("/v1/vjp", {**with_velocities(batch), "cotangents": cotangents, "wrt": _pointers(wrt)})

    def step(self, batch: Batch, before: ArrayLike, inertia: Any, h: float, load: ArrayLike = 0.0, **how: Any) -> Step:
        """One step of implicit Euler. Set.step describes the arguments. Unlike it, this method carries no anchors: put
        those of the result into the next batch, for the contacts that persist.

            after = client.step(batch, v, inertia, h, load)
            batch["collisions"]["plane_vertex"]["anchor"] = after.anchors["plane_vertex"]
        """
        lagged, _ = parts_of(batch)
        lagged.pop("n_vertices", None)
        return euler_step(lambda query: self.evaluate({**lagged, **query}), lagged, before, inertia, h, load, **how)

    def function(self, name: str, **parameters: Any) -> NDArray[Any]:
        """A scalar function of the friction law at many points, as a NumPy array.

            client.function("smooth_mu", y=np.linspace(0, 2e-3, 9), mu_s=1, mu_k=0.1, eps_v=1e-3)

        law_force, law_potential, … support every law:

            client.function("law_force", y=np.linspace(0, 1, 9), mu_s=1, mu_k=1, eps_v=1e-3, law="curve",
                            curve={"speeds": [0, 0.5, 1], "factors": [1, 0.7, 0.6]})
        """
        return self._post("/v1/functions/" + urllib.parse.quote(name, safe=""), parameters)["values"]

    def function_values(self, calls: Mapping[str, Mapping[str, Any]]) -> dict[str, NDArray[Any]]:
        """Several scalar functions in one request: a dict of NumPy arrays by name.

            law = {"y": np.linspace(0, 2e-3, 9), "mu_s": 1, "mu_k": 0.1, "eps_v": 1e-3}
            values = client.function_values({"smooth_mu": law, "smooth_mu_f1": law})
        """
        answers = self._post("/v1/functions", {"functions": calls})["functions"]
        return {name: answer["values"] for name, answer in answers.items()}

    def set(self, batch: Batch, name: str | None = None) -> "Set":
        """PUT /v1/sets/NAME: stores contacts in the service, as a Set to be evaluated many times. batch: as for
        evaluate. Its velocities, outputs and their options are not sent; they are the defaults of the set's methods.
        Without velocities, give "n_vertices", unless another field has a row per vertex.
        name: random by default.

            client.set(lagged).evaluate(np.zeros((16, 3)))["n_vertices"]    # 16
        """
        return Set(self, batch, name)

    def scene(self, positions: ArrayLike, mesh: Mapping[str, Any], friction: Mapping[str, Any],
              barrier: Mapping[str, Any], h: float, velocities: ArrayLike = 0.0, margin: float | None = None,
              anchors: bool = True, name: str | None = None) -> Scene:
        """A mesh that moves in time steps of length h (s). PUTs a set whose contacts the service finds, and ends every
        step for it.

        positions   [n_vertices, dim] (m)
        mesh        faces, edges, vertices, planes, rest_positions, body, ignore, fixed: docs/contacts.md
        friction    coefficients and law; eps_v in m/s
        barrier     dhat, stiffness, ...
        velocities  at the beginning; their shape broadcasts to that of positions
        margin      how much further than the barrier pairs are watched (m), by default dhat. It grows if needed
        anchors     True: sticking contacts do not creep

            scene = client.scene(x, {"faces": faces, "planes": {"normal": [[0, 0, 1]], "origin": [[0, 0, 0]]}},
                                 {"eps_v": 1e-3, "mu": 0.5}, {"dhat": 1e-3, "stiffness": 1e9}, 0.01)
            after = scene.step(masses, load)
        """
        return Scene(self, positions, mesh, friction, barrier, h, velocities, margin, anchors, name)

    def functions(self) -> list[dict[str, Any]]:
        """The scalar functions: a list of dicts with name, meaning, parameters.

            [function["name"] for function in client.functions()]
        """
        return self._ask("GET", "/v1/functions", convert=False)["functions"]

    def info(self) -> Answer:
        """The version, the limits and the threads of the service.

            client.info()["limits"]["contacts"]    # 10000000
        """
        return self._ask("GET", "/v1/info", convert=False)

    def close(self) -> None:
        """Over HTTP, closes this thread's connection; in process, destroys the service and its sets. The next request
        opens another one."""
        self._transport.close()

    def _post(self, path, document):
        return self._ask("POST", path, *body_of(document, self.frames))

    def _ask(self, method, target, pieces=(), content_type=None, headers={}, convert=True):
        """The answer to a request. convert: lists of numbers become arrays."""
        status, headers, body = self._send(method, target, pieces, content_type, headers)
        try:
            return answer_of(body, _kind(headers), convert)
        except ValueError as error:
            raise Error(status, "Not an answer of frictiond", str(error)) from error

    def _send(self, method, target, pieces=(), content_type=None, headers={}):
        """A response with status 2xx."""
        headers = {**self._headers, **headers}
        if pieces:
            headers["Content-Type"] = content_type
        response = status, headers, body = self._transport.send(method, target, headers, pieces)
        if status not in (200, 201, 204):
            raise error_of(status, headers, bytes_of(body))
        return response


def _kind(headers):
    return (headers.get("Content-Type") or "").partition(";")[0].strip().lower()


def _pointers(wrt):
    return [wrt] if isinstance(wrt, str) else list(wrt)


class Set:
    """Contacts that the service keeps prepared: see Client.set. Threads may share a set.

    The service may forget a set, or be replaced by one that does not have it. The set is then PUT again, with all
    patches and steps, from a copy, so you may change arrays after sending them. Every request states the version of the set, so
    no answer is for contacts that somebody else has put under the same name. Leaving a `with` block deletes the set.

    name    in the service
    query   velocities, outputs and their options, terms and time_step from the batch given to Client.set: defaults for
            methods called without velocities, without outputs, or without terms
    info    the service's description of the set: version, n_vertices, n_collisions, groups, idle_seconds, skipped

        with client.set(lagged) as contacts:
            answer = contacts.evaluate(velocities, outputs=["gradient"])
            contacts.patch(positions=positions)
    """

    def __init__(self, client: Client, batch: Batch, name: str | None = None) -> None:
        self.name, self._client, self._lock = name or str(uuid.uuid4()), client, threading.Lock()
        _sets.add(self)
        self._path = "/v1/sets/" + urllib.parse.quote(self.name, safe="")
        lagged, self.query = parts_of(batch)
        body = joined(body_of(lagged, client.frames))
        # The service computes anchors when a step ends. _document lacks these, but _base and _changes lead to them.
        self._document = self._base = document_of(*body)
        self._changes: list[tuple[str, str, tuple[Any, ...]]] = []
        self._put(body)

    def evaluate(self, velocities: ArrayLike | None = None, **query: Any) -> Answer:
        """POST /v1/sets/NAME/evaluate: as Client.evaluate, for these contacts and this query. Pass velocities of bodies
        by keyword: contacts.evaluate(body_velocities=twists)["body_gradient"]. The barrier alone needs none:
        contacts.evaluate(terms=["barrier"], current_positions=x)

            contacts.evaluate(np.zeros((16, 3)), outputs=["gradient"])["n_vertices"]    # 16
        """
        return self._ask("POST", "/evaluate", self._query(velocities, query, DEFAULTS))

    def check(self, velocities: ArrayLike | None = None, claims: Mapping[str, Any] | None = None, **query: Any) -> Answer:
        """POST /v1/sets/NAME/check: how closely gradient and Hessian agree with central differences, and somebody
        else's results with the service's, as Client.check.

            contacts.check(np.full((16, 3), 0.1))["agrees"]    # True
        """
        asked = self._query(velocities, query, DEFAULTS)
        return self._ask("POST", "/check", asked if claims is None else {**asked, "claims": claims_of(claims)})

    def jvp(self, velocities: ArrayLike | None = None, tangents: Mapping[str, ArrayLike] | None = None,
            **query: Any) -> Answer:
        """POST /v1/sets/NAME/jvp: as Client.jvp, for these contacts and this query. Tangents may be along fields of
        either.

            contacts.jvp(np.zeros((16, 3)), {"/friction/mu_s": 1})["tangents"]["potential"]
        """
        return self._ask("POST", "/jvp", {**self._query(velocities, query), "tangents": tangents or {}})

    def vjp(self, velocities: ArrayLike | None = None, cotangents: Mapping[str, ArrayLike] | None = None,
            wrt: str | Sequence[str] = (), **query: Any) -> Answer:
        """POST /v1/sets/NAME/vjp: as Client.vjp, for these contacts and this query.

            contacts.vjp(np.zeros((16, 3)), {"gradient": np.ones(48)}, ["/positions"])["cotangents"]["/positions"]
        """
        given = {"cotangents": cotangents or {}, "wrt": _pointers(wrt)}
        return self._ask("POST", "/vjp", {**self._query(velocities, query), **given})

    def pattern(self, format: str = "csr", triangle: str = "full") -> Answer:
        """GET /v1/sets/NAME/pattern: the "hessian" of an answer, without its values.

            contacts.pattern(format="triplets")["shape"]    # [48, 48]
        """
        return self._ask("GET", "/pattern?" + urllib.parse.urlencode({"format": format, "triangle": triangle}))

    def contacts(self, merge: bool = True) -> Answer:
        """GET /v1/sets/NAME/contacts, of a set with a mesh: the contacts at its positions as Client.contacts returns
        them; merge=False: the set's list of pairs, with anchors.

            floor = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 0.125]])
            drop = client.set({"dim": 3, "positions": floor, "mesh": {"faces": [[0, 1, 2]], "vertices": [3]},
                               "barrier": {"dhat": 0.25, "stiffness": 4}, "friction": {"eps_v": 1e-3, "mu": 0.3}})
            drop.contacts()["min_distance"]    # 0.125
        """
        return self._ask("GET", f"/contacts?merge={'true' if merge else 'false'}")

    def patch(self, **fields: Any) -> Answer:
        """PATCH /v1/sets/NAME: new values for members of the contacts; None removes a member, a dict changes
        only the members that it names. A refused patch changes nothing. Returns info.

            contacts.patch(friction={"eps_v": 2e-3})["n_vertices"]    # 16
        """
        body = joined(body_of(fields, self._client.frames))
        with self._lock:
            patch = document_of(*body)
            document = merge(self._contacts(), patch)
            if self._changes and ("mesh" in document or not _has_all_anchors(patch, document)):
                self._change(document, self._base, [*self._changes, ("PATCH", "", body)])
            else:
                self._change(document, document, [], ("PATCH", "", body))
            return self.info

    def advance(self, velocities: ArrayLike | None = None, positions: ArrayLike | None = None, **fields: Any) -> Answer:
        """POST /v1/sets/NAME/advance: ends a time step. The anchors of all contacts become those that they have at these
        velocities, and the positions are those with which the next step begins. All contacts must have an anchor.
        fields: body_velocities and body_positions of a set with bodies; lagged_velocities, lagged_body_velocities and
        collisions={group: {"surface_velocity": ..}} for the next step. A refused step changes nothing. A set from a mesh
        that the service forgets gets back the deflections of its last steps alone. Returns info.

            contacts.advance(v, positions + h * v)["n_vertices"]    # 16
        """
        given = {"velocities": velocities, "positions": positions, **fields}
        step = {name: value for name, value in given.items() if value is not None}
        body = joined(body_of(step, self._client.frames))
        with self._lock:
            next_step = {name: value for name, value in document_of(*body).items() if name not in VELOCITIES}
            document = merge(self._contacts(), next_step)
            change = ("POST", "/advance", body)
            if len(self._changes) < MOST_CHANGES or "mesh" in document:
                self._change(document, self._base, [*self._changes, change])
            else:
                anchors = self._anchors_at({name: value for name, value in step.items() if name in VELOCITIES})
                document = merge(document, {"collisions": {name: {"anchor": anchor} for name, anchor in anchors.items()}})
                self._change(document, document, [], change)
            if len(self._changes) > MOST_CHANGES:
                self._begin_at_contacts()
            return self.info

    def carry(self, answer: Answer, ratio: float = 1.0) -> Answer:
        """Patches the anchors with those of an answer ("collisions" among its outputs, "anchor" among its
        collision_outputs), for the next step. ratio: this step's length divided by the next one's, if `velocities` are
        velocities. The next step must have the same contacts; otherwise match anchors yourself. Returns info.

            contacts.carry(contacts.evaluate(np.zeros((16, 3)), outputs=["collisions"],
                                             collision_outputs=["anchor"]))["n_vertices"]    # 16
        """
        anchors = anchors_of(answer)
        if not anchors:
            raise ValueError('the answer has no anchors: ask for {"outputs": ["collisions"], "collision_outputs":'
                             ' ["anchor"]}')
        return self.patch(collisions={name: {"anchor": ratio * anchor} for name, anchor in anchors.items()})

    def step(self, before: ArrayLike, inertia: Any, h: float, load: ArrayLike = 0.0, next_h: float | None = None,
             carry: bool = True, **how: Any) -> Step:
        """One step of implicit Euler. Returns the velocities v at its end, which minimise

            (v - before) M (v - before) / 2h - load v + D(v) + others(v)

        with D the friction potential, and patches the anchors for the next step, so that sticking contacts hold. Newton's
        method starts where no contact slips, only lowers this energy, and ends when the forces balance. If friction
        falls with slip, a step may have several solutions, one of which sticks; starting from the last velocity would
        find a sliding one.

        before    velocities at the beginning of the step: [n_vertices, dim] (m/s); with only bodies, twists
                  [n_bodies, 6] (2D: [n_bodies, 3]); with both, flat: vertices first, then bodies. v has this shape
        inertia   M: a mass (kg), masses whose shape broadcasts to that of before, or a symmetric
                  positive definite matrix over all DOFs [n_dofs, n_dofs], dense or SciPy sparse
        h         length of the step (s)
        load      forces (N) that do not depend on v; their shape broadcasts to that of before
        next_h    length of the next step, if it differs: anchors are then multiplied by h / next_h
        carry     False: the set keeps its anchors; match the anchors of the result to other contacts yourself
        others    further energies, such as elasticity Psi(x + h v) / h: others(v) returns a value (W = N m/s), its
                  gradient (N, in the shape of v) and its Hessian [n_dofs, n_dofs] (N s/m), positive semidefinite
        start     velocities to start from, in the shape of before, at which contacts do not slip. By default 0, or the
                  surface_velocity of a plane. Required if other contacts have a surface_velocity
        tolerance    largest unbalanced force, relative to the largest force (1e-10)
        iterations   maximum number of iterations (100)
        outputs, collision_outputs   additional contents of the answer

        Returns a Step: velocities; anchors {group: [n, dim]}, not multiplied by h / next_h; iterations; energy, the
        minimum (W); answer, the service's answer at v. Raises NotConverged.

            contacts.step(np.zeros((16, 3)), 1.0, 0.01).iterations    # 0
        """
        friction = {"terms": ["friction"]} if "terms" in self.query else {}
        after = euler_step(lambda query: self.evaluate(**query, **friction), self._contacts(), before, inertia, h, load, **how)
        if carry and after.anchors:
            self.carry(after.answer, 1.0 if next_h is None else h / next_h)
        return after

    def close(self) -> None:
        """DELETE /v1/sets/NAME. Raises no Error: if the request fails, the service drops the set later."""
        with self._lock:
            if self._document is None:
                return
            self._document = None
            try:
                self._client._send("DELETE", self._path, headers=self._means())
            except Error:
                pass

    def __enter__(self) -> "Set":
        return self

    def __repr__(self) -> str:
        if self._document is None:
            return f"<frictiond.Set {self.name!r}: closed>"
        return (f"<frictiond.Set {self.name!r}: {self.info['n_vertices']} vertices, {self.info['n_collisions']} contacts,"
                f" in {self._client!r}>")

    def __exit__(self, *_: object) -> None:
        self.close()

    def _query(self, velocities, named, groups=DEFAULT_VELOCITIES):
        """A query with the given fields. Groups of fields of which none is given default to self.query.
        groups: the group of each field"""
        named = named if velocities is None else {"velocities": velocities, **named}
        return {name: value for name, value in self.query.items()
                if name in groups and named.keys().isdisjoint(groups[name])} | named

    def _ask(self, method, path, query=None):
        body = () if query is None else body_of(query, self._client.frames)
        for last in (False, False, True):
            self._contacts()
            meant = self._means()
            try:
                return self._client._ask(method, self._path + path, *body, headers=meant)
            except Error as error:
                if error.code not in LOST or last:
                    raise
            with self._lock:
                if meant == self._means():  # otherwise another thread has put or patched it meanwhile
                    self._contacts()
                    self._restore(self._base, self._changes)

    def _put(self, body):
        self.info = self._client._ask("PUT", self._path, *body, convert=False)

    def _send(self, method, path, body):
        self.info = self._client._ask(method, self._path + path, *body, headers=self._means(), convert=False)

    def _restore(self, base, changes):
        for last in (False, False, True):
            try:
                self._put(body_of(base, self._client.frames))
                for change in changes:
                    self._send(*change)
                return
            except Error as error:
                if error.code not in LOST or last:
                    raise

    def _change(self, document, base, changes, change=None):
        """Sends a change, by default the last one. If the set is lost, sends all that leads to the same."""
        try:
            self._send(*(change or changes[-1]))
        except Error as error:
            if error.code not in LOST:
                raise
            self._restore(base, changes)
        self._document, self._base, self._changes = document, base, changes

    def _begin_at_contacts(self):
        """Keeps the contacts of a mesh, with their anchors, in place of the changes that led to them."""
        try:
            pairs = self._client._ask("GET", self._path + "/contacts?merge=false", headers=self._means())
        except Error as error:
            if error.code not in LOST:
                raise
            return  # the changes still lead to them
        previous = {"positions": self._document["positions"], "collisions": pairs["collisions"]}
        self._base, self._changes = {**self._document, "previous": previous}, []

    def _anchors_at(self, velocities):
        asked = {**velocities, "outputs": ["collisions"], "collision_outputs": ["anchor"]}
        for last in (False, True):
            try:
                return anchors_of(self._client._ask("POST", self._path + "/evaluate",
                                                    *body_of(asked, self._client.frames), headers=self._means()))
            except Error as error:
                if error.code not in LOST or last:
                    raise
                self._restore(self._base, self._changes)

    def _contacts(self):
        if self._document is None:
            raise ValueError(f"the set {self.name} is closed")
        return self._document

    def _means(self):
        return {"If-Collision-Set-Version": self.info["version"]}


def _has_all_anchors(patch, document):
    """Whether a patch brings all anchors, so that the document has them."""
    groups = patch.get("collisions")
    return isinstance(groups, dict) and all("anchor" in (groups.get(name) or {}) for name in document["collisions"])


_sets: "weakref.WeakSet[Set]" = weakref.WeakSet()


def _after_fork_in_child():
    """Another thread of the parent may have held a lock."""
    for contacts in list(_sets):
        contacts._lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork_in_child)
