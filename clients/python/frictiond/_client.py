"""Client of frictiond, the friction evaluation service. One file: copy it next to your own program.

    import frictiond
    client = frictiond.Client("http://127.0.0.1:8080")
    answer = client.evaluate(batch)              # batch: the document of docs/api.md, lists or NumPy arrays
    force = -answer["gradient"]                  # unit of normal_force
    H = frictiond.hessian_matrix(answer)         # scipy.sparse.csr_matrix
    with client.set(lagged) as contacts:         # a batch without velocities, which the service keeps prepared
        answer = contacts.evaluate(velocities)   # with bodies: contacts.evaluate(body_velocities=twists)
        after = contacts.step(velocities, mass, h, load)   # a time step of implicit Euler; contacts hold at rest
    back = client.vjp(batch, {"gradient": g}, ["/positions", "/friction/mu_s"])   # derivatives; forward: client.jvp

Arrays of answers are read-only. Needs Python 3.10 or later and NumPy; hessian_matrix and steps also need SciPy, and
frictiond.torch (the file frictiond/torch.py beside this one) needs PyTorch. The environment's proxies are not used.
"""
import http.client
import json
import math
import os
import random
import socket
import ssl
import threading
import time
import urllib.parse
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

# The version of frictiond that this file comes with.
__version__ = "0.1.0"

Batch = dict[str, Any]  # the document of a request: docs/api.md
Answer = dict[str, Any]  # arrays of numbers in it are NumPy arrays
FRAME, JSON = "application/vnd.frictiond.frame", "application/json"
DTYPES = {"f64": np.dtype("<f8"), "f32": np.dtype("<f4"), "i32": np.dtype("<i4"), "u32": np.dtype("<u4"),
          "i64": np.dtype("<i8")}
INDICES = ("rows", "cols", "indptr", "indices", "status", "vertices")  # integer fields of answers
LISTS = ("shape", "skipped", "notes")  # fields of answers that stay lists
PATTERN = {"csr": ("indptr", "indices"), "bsr": ("indptr", "indices"), "triplets": ("rows", "cols")}
REPEATED = (429, 502, 503, 504)
FIRST_WAIT, LONGEST_WAIT = 0.05, 30.0  # seconds between tries
LONG = 65536  # bytes; above, calling send for each array takes less time than joining them
PLACE = ("velocities", "body_velocities")  # fields of a query: where to evaluate
WANTED = ("outputs", "collision_outputs", "hessian", "line", "vectors", "position_jacobian")  # and what to return
LOST = ("unknown_set", "set_changed")  # codes of errors that another PUT resolves


class Error(Exception):
    """The service, or a proxy in front of it, refused the request.

    status      HTTP status, or None if there was no answer
    title, detail   text for people
    errors      list of (JSON Pointer into the batch, detail)
    request_id  id of the request in the service's log, or None
    code        for programs: "unknown_set", "set_changed", ..., or None

        try:
            answer = client.evaluate(batch)
        except frictiond.Error as error:
            print(error.status, error.errors)    # 422 [('/friction/eps_v', '0 is out of range: ...')]
    """

    def __init__(self, status: int | None, title: str, detail: str, errors: Iterable[tuple[str, str]] = (),
                 request_id: str | None = None, code: str | None = None) -> None:
        super().__init__(status, title, detail, errors, request_id, code)
        self.status, self.title, self.detail = status, title, detail
        self.errors, self.request_id, self.code = list(errors), request_id, code

    def __str__(self) -> str:
        where = "; ".join(f"{pointer}: {detail}" for pointer, detail in self.errors) or self.detail
        return " ".join(str(word) for word in (self.status, self.title) if word) + f": {where}"


class Unavailable(Error):
    """No answer in time; or after all retries no answer, or still 503 (429, 502, 504). It may work later.

        except frictiond.Unavailable: keep the batch and send it again
    """


class NotConverged(RuntimeError):
    """A time step whose equations Newton's method has not solved. The message names the unbalanced component.
    No anchors were carried, so the step can be repeated, for instance with half its length.

    velocities   of the last iteration
    residual     unbalanced forces at these velocities, in their shape
    """

    def __init__(self, why: str, velocities: NDArray[Any], residual: NDArray[Any]) -> None:
        super().__init__(why)
        self.velocities, self.residual = velocities, residual


class Step(NamedTuple):
    """Result of Client.step and Set.step."""
    velocities: NDArray[Any]
    anchors: dict[str, NDArray[Any]]
    iterations: int
    energy: float
    answer: Answer


class Client:
    """A service at `url`. Threads may share a client; each has a connection of its own, which stays open.

    url       http://…, https://…, or http+unix:///PATH for the Unix-domain socket /PATH
    token     for services that require one
    retries   further tries after 503, 429, 502, 504 and after failed connections; repeating a request is safe
    timeout   seconds without a byte from the service
    frames    arrays travel in binary; False: everything is JSON
    ca        PEM file of the authorities to trust for https (default: the system's)

        client = frictiond.Client("https://friction.example", token=os.environ["FRICTIOND_TOKEN"])
    """

    def __init__(self, url: str = "http://127.0.0.1:8080", token: str | None = None, retries: int = 5,
                 timeout: float = 300, frames: bool = True, ca: str | None = None) -> None:
        self.url, self.retries, self.timeout, self.frames = url.rstrip("/"), retries, timeout, frames
        self._connect, self._prefix = _service(url, timeout, ca)
        self._authorization = {"Authorization": "Bearer " + token} if token else {}
        self._local = threading.local()

    def evaluate(self, batch: Batch) -> Answer:
        """POST /v1/evaluate: the answer as a dict, its arrays of numbers as NumPy arrays, which are read-only. The same
        batch may go to Client.set: n_vertices, which only sets have, is left out here.

            client.evaluate({"dim": 2, "velocities": np.array([[0.5, 0.0]]), "friction": {"eps_v": 1e-3, "mu": 0.3},
                             "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0, 1],
                                                             "normal_force": 10}}})["gradient"]    # array([3., 0.])
        """
        return _arrays(self._post("/v1/evaluate", _with_velocities(batch)))

    def check(self, batch: Batch) -> Answer:
        """POST /v1/check: how far gradient and Hessian agree with central differences, and notes on the physics.

            client.check(batch)["agrees"]    # True
        """
        return _arrays(self._post("/v1/check", _with_velocities(batch)))

    def jvp(self, batch: Batch, tangents: Mapping[str, ArrayLike]) -> Answer:
        """POST /v1/jvp: potential and gradient, and under "tangents" their derivatives along tangents: {JSON Pointer of
        a field: numbers of its shape}. batch: as for evaluate, without outputs and their options.

            client.jvp(batch, {"/velocities": direction})["tangents"]["gradient"]    # the Hessian times direction
        """
        return _arrays(self._post("/v1/jvp", {**_with_velocities(batch), "tangents": tangents}))

    def vjp(self, batch: Batch, cotangents: Mapping[str, ArrayLike], wrt: str | Sequence[str]) -> Answer:
        """POST /v1/vjp: potential and gradient, and under "cotangents" the derivatives of the sum of each answer times
        its cotangent ("potential", "gradient", "body_gradient"; default 0) with respect to every number of the fields
        named by wrt, a list of JSON Pointers (or one).

            client.vjp(batch, {"potential": 1}, ["/friction/mu"])["cotangents"]["/friction/mu"]    # one number
        """
        return _arrays(self._post("/v1/vjp", {**_with_velocities(batch), "cotangents": cotangents, "wrt": _pointers(wrt)}))

    def step(self, batch: Batch, before: ArrayLike, inertia: Any, h: float, load: ArrayLike = 0.0, **how: Any) -> Step:
        """One step of implicit Euler, as Set.step, which describes all arguments, but nothing is carried. Put the
        anchors of the result into the next batch, for the contacts that persist:

            after = client.step(batch, v, inertia, h, load)
            batch["collisions"]["plane_vertex"]["anchor"] = after.anchors["plane_vertex"]
        """
        lagged, _ = _parts(batch)
        lagged.pop("n_vertices", None)
        return _step(lambda query: self.evaluate({**lagged, **query}), lagged, before, inertia, h, load, **how)

    def function(self, name: str, **parameters: Any) -> NDArray[Any]:
        """A scalar function of the friction law at many points, as a NumPy array.

            client.function("smooth_mu", y=np.linspace(0, 2e-3, 9), mu_s=1, mu_k=0.1, eps_v=1e-3)

        law_force, law_potential, … support every law:

            client.function("law_force", y=np.linspace(0, 1, 9), mu_s=1, mu_k=1, eps_v=1e-3, law="curve",
                            curve={"speeds": [0, 0.5, 1], "factors": [1, 0.7, 0.6]})
        """
        return _arrays(self._post("/v1/functions/" + urllib.parse.quote(name, safe=""), parameters))["values"]

    def set(self, batch: Batch, name: str | None = None) -> "Set":
        """PUT /v1/sets/NAME: stores contacts in the service, as a Set to be evaluated many times. batch: as for
        evaluate. Its velocities, outputs and their options are not sent; they are the defaults of the set's methods.
        Without velocities, give "n_vertices", unless another field has a row per vertex.
        name: by default a random one.

            client.set(lagged).evaluate(np.zeros((16, 3)))["n_vertices"]    # 16
        """
        return Set(self, batch, name)

    def functions(self) -> list[dict[str, Any]]:
        """The scalar functions: a list of dicts with name, meaning, parameters.

            [function["name"] for function in client.functions()]
        """
        return self._ask("GET", "/v1/functions")["functions"]

    def info(self) -> Answer:
        """Version, limits, threads of the service.

            client.info()["limits"]["contacts"]    # 10000000
        """
        return self._ask("GET", "/v1/info")

    def close(self) -> None:
        """Closes this thread's connection; the next request opens another one."""
        connection = self._local.__dict__.pop("connection", None)
        if connection:
            connection.close()

    def _post(self, path, document, headers={}):
        return self._ask("POST", path, *self._body(document), headers)

    def _body(self, document):
        """The body of a request and its type."""
        document, tail = _split(document) if self.frames else (document, [])
        if not tail:
            return _json(document), JSON
        pieces = _pieces(document, tail)
        return (b"".join(pieces) if sum(map(len, pieces)) < LONG else pieces), FRAME

    def _ask(self, method, path, body=None, content_type=None, headers={}):
        return _document(*self._send(method, path, body, content_type, headers))

    def _send(self, method, path, body=None, content_type=None, headers={}):
        """The response, of status 2xx, and its body."""
        headers = {"Accept": f"{FRAME}, {JSON};q=0.5" if self.frames else JSON, **self._authorization, **headers}
        if body is not None:
            headers["Content-Type"] = content_type
        if isinstance(body, list):
            headers["Content-Length"] = str(sum(map(len, body)))
        for attempt in range(self.retries + 1):
            try:
                response, data = self._exchange(method, self._prefix + path, body, headers)
            except ssl.SSLCertVerificationError as error:
                raise Error(None, "Certificate not trusted", f"{self.url}: {error.verify_message}") from error
            except TimeoutError as error:
                raise Unavailable(None, "No answer", f"{self.url}: nothing for {self.timeout} s") from error
            except (OSError, http.client.HTTPException) as error:
                hint = "; is it running?" if isinstance(error, (ConnectionRefusedError, FileNotFoundError)) else ""
                failure = Unavailable(None, "No connection", f"{self.url}: {error or type(error).__name__}{hint}")
                wait = 0
            else:
                if response.status in (200, 201, 204):
                    return response, data
                if response.status not in REPEATED:
                    raise _error(response, data)
                failure, wait = _error(response, data), _retry_after(response)
            if attempt < self.retries:
                time.sleep(min(max(wait, FIRST_WAIT * 2**attempt) * random.uniform(1, 1.25), LONGEST_WAIT))
        raise failure

    def _exchange(self, method, path, body, headers):
        """A response and its body. A kept connection that the service has closed meanwhile is replaced at once."""
        connection = self._connection()
        kept = connection.sock is not None
        try:
            try:
                connection.request(method, path, body, headers)
            except (BrokenPipeError, ConnectionResetError):
                if connection.sock is None:
                    raise
                # An answer (413, 503) may have come before everything was sent.
            response = connection.getresponse()
            return response, response.read()
        except BaseException as error:  # KeyboardInterrupt too: the rest of this answer must not be read as the next one
            self.close()
            if not kept or not isinstance(error, ConnectionError):
                raise
        return self._exchange(method, path, body, headers)

    def _connection(self):
        local = self._local
        if getattr(local, "process", None) != os.getpid():  # after a fork, the connection belongs to the parent
            local.process, local.connection = os.getpid(), None
        if getattr(local, "connection", None) is None:
            local.connection = self._connect()
        return local.connection


class Set:
    """Contacts that the service keeps prepared: see Client.set. Threads may share a set.

    The service may forget a set, or be replaced by one that does not have it. The set is then PUT again, with all
    patches, from a copy, so you may change arrays after sending them. Every request states the version of the set, so
    no answer is for contacts that somebody else has put under the same name. The end of `with` deletes the set.

    name    in the service
    query   velocities, outputs and their options from the batch given to Client.set: defaults of the methods that get
            no velocities, or no outputs
    info    the service's description of the set: version, n_vertices, n_collisions, groups, idle_seconds, skipped

        with client.set(lagged) as contacts:
            answer = contacts.evaluate(velocities, outputs=["gradient"])
            contacts.patch(positions=positions)
    """

    def __init__(self, client: Client, batch: Batch, name: str | None = None) -> None:
        self.name, self._client, self._lock = name or str(uuid.uuid4()), client, threading.Lock()
        self._path = "/v1/sets/" + urllib.parse.quote(self.name, safe="")
        lagged, self.query = _parts(batch)
        body, kind = _whole(client._body(lagged))
        self._document = _read(body, kind)
        self._put(body, kind)

    def evaluate(self, velocities: ArrayLike | None = None, **query: Any) -> Answer:
        """POST /v1/sets/NAME/evaluate: the answer of Client.evaluate for the contacts and this query together. Pass
        velocities of bodies by keyword: contacts.evaluate(body_velocities=twists)["body_gradient"]

            contacts.evaluate(np.zeros((16, 3)), outputs=["gradient"])["n_vertices"]    # 16
        """
        return self._ask("POST", "/evaluate", self._query(velocities, query, WANTED))

    def check(self, velocities: ArrayLike | None = None, **query: Any) -> Answer:
        """POST /v1/sets/NAME/check: how far gradient and Hessian agree with central differences.

            contacts.check(np.full((16, 3), 0.1))["agrees"]    # True
        """
        return self._ask("POST", "/check", self._query(velocities, query, WANTED))

    def jvp(self, velocities: ArrayLike | None = None, tangents: Mapping[str, ArrayLike] | None = None,
            **query: Any) -> Answer:
        """POST /v1/sets/NAME/jvp: the answer of Client.jvp for the contacts and this query together, along tangents
        of fields of either.

            contacts.jvp(np.zeros((16, 3)), {"/friction/mu_s": 1})["tangents"]["potential"]
        """
        return self._ask("POST", "/jvp", {**self._query(velocities, query), "tangents": tangents or {}})

    def vjp(self, velocities: ArrayLike | None = None, cotangents: Mapping[str, ArrayLike] | None = None,
            wrt: str | Sequence[str] = (), **query: Any) -> Answer:
        """POST /v1/sets/NAME/vjp: the answer of Client.vjp for the contacts and this query together.

            contacts.vjp(np.zeros((16, 3)), {"gradient": np.ones(48)}, ["/positions"])["cotangents"]["/positions"]
        """
        given = {"cotangents": cotangents or {}, "wrt": _pointers(wrt)}
        return self._ask("POST", "/vjp", {**self._query(velocities, query), **given})

    def pattern(self, format: str = "csr", triangle: str = "full") -> Answer:
        """GET /v1/sets/NAME/pattern: the "hessian" of an answer without its numbers.

            contacts.pattern(format="triplets")["shape"]    # [48, 48]
        """
        return self._ask("GET", "/pattern?" + urllib.parse.urlencode({"format": format, "triangle": triangle}))

    def patch(self, **fields: Any) -> Answer:
        """PATCH /v1/sets/NAME: new values for members of the contacts; None removes a member, a dict changes
        only the members that it names. A refused patch changes nothing. Returns info.

            contacts.patch(friction={"eps_v": 2e-3})["n_vertices"]    # 16
        """
        body, kind = _whole(self._client._body(fields))
        with self._lock:
            document = _merge(self._contacts(), _read(body, kind))
            try:
                self.info = self._client._ask("PATCH", self._path, body, kind, self._means())
            except Error as error:
                if error.code not in LOST:
                    raise
                self._put(*self._client._body(document))
            self._document = document
            return self.info

    def carry(self, answer: Answer, ratio: float = 1.0) -> Answer:
        """Patches the anchors with those of an answer ("collisions" among its outputs, "anchor" among its
        collision_outputs), for the next step. ratio: this step's length divided by the next one's, if `velocities` are
        velocities. The next step must have the same contacts; otherwise match anchors yourself. Returns info.

            contacts.carry(contacts.evaluate(np.zeros((16, 3)), outputs=["collisions"],
                                             collision_outputs=["anchor"]))["n_vertices"]    # 16
        """
        anchors = _anchors(answer)
        if not anchors:
            raise ValueError('the answer has no anchors: ask for {"outputs": ["collisions"], "collision_outputs":'
                             ' ["anchor"]}')
        return self.patch(collisions={name: {"anchor": ratio * anchor} for name, anchor in anchors.items()})

    def step(self, before: ArrayLike, inertia: Any, h: float, load: ArrayLike = 0.0, next_h: float | None = None,
             carry: bool = True, **how: Any) -> Step:
        """One step of implicit Euler. Returns the velocities v at its end, which minimise

            (v - before) M (v - before) / 2h - load v + D(v) + others(v)

        with D the friction potential, and patches the anchors for the next step, so that sticking contacts hold. Newton's
        method starts where no contact slips, goes only downhill, and ends when the forces balance. Where friction falls
        with slip, a step may have several solutions, one of which sticks; from the last velocity, it would find
        a sliding one.

        before    velocities at the beginning of the step: [n_vertices, dim] (m/s); with only bodies, twists
                  [n_bodies, 6] (2D: [n_bodies, 3]); with both, flat: vertices first, then bodies. v has this shape
        inertia   M: a mass (kg), masses whose shape broadcasts to that of before, or a matrix over all DOFs
                  [n_dofs, n_dofs], symmetric, dense or of SciPy; positive definite
        h         length of the step (s)
        load      forces (N) that do not depend on v; their shape broadcasts to that of before
        next_h    length of the next step, if it differs: anchors are then multiplied by h / next_h
        carry     False: the set keeps its anchors; match those of the result with other contacts yourself
        others    further energies, such as elasticity Psi(x + h v) / h: others(v) returns a value (W = N m/s), its
                  gradient (N, in the shape of v) and its Hessian [n_dofs, n_dofs] (N s/m), positive semidefinite
        start     velocities to start from, in the shape of before, at which contacts do not slip. By default 0, or the
                  surface_velocity of a plane. Required if other contacts have a surface_velocity
        tolerance    largest unbalanced force, relative to the largest force (1e-10)
        iterations   at most (100)
        outputs, collision_outputs   additional contents of answer

        Returns a Step: velocities; anchors {group: [n, dim]}, before the factor; iterations; energy, the minimum (W);
        answer, the service's answer at v. Raises NotConverged.

            contacts.step(np.zeros((16, 3)), 1.0, 0.01).iterations    # 0
        """
        after = _step(lambda query: self.evaluate(**query), self._contacts(), before, inertia, h, load, **how)
        if carry and after.anchors:
            self.carry(after.answer, 1.0 if next_h is None else h / next_h)
        return after

    def close(self) -> None:
        """DELETE /v1/sets/NAME. Raises no Error: if it fails, the service forgets the set later."""
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def _query(self, velocities, named, wanted=()):
        """A query with the given fields; velocities and outputs default to self.query."""
        named = named if velocities is None else {"velocities": velocities, **named}
        missing = [names for names in (PLACE, wanted) if not any(name in named for name in names)]
        return {name: value for name, value in self.query.items() if any(name in names for names in missing)} | named

    def _ask(self, method, path, query=None):
        body = () if query is None else self._client._body(query)
        for last in (False, False, True):
            self._contacts()
            meant = self._means()
            try:
                return _arrays(self._client._ask(method, self._path + path, *body, headers=meant))
            except Error as error:
                if error.code not in LOST or last:
                    raise
            with self._lock:
                if meant == self._means():  # otherwise another thread has put or patched it meanwhile
                    self._put(*self._client._body(self._contacts()))

    def _put(self, body, kind):
        self.info = self._client._ask("PUT", self._path, body, kind)

    def _contacts(self):
        if self._document is None:
            raise ValueError(f"the set {self.name} is closed")
        return self._document

    def _means(self):
        return {"If-Collision-Set-Version": self.info["version"]}


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        try:
            self.sock.settimeout(self.timeout)
            self.sock.connect(self._path)
        except BaseException:
            self.close()
            raise


def _service(url, timeout, ca):
    """Returns a function that makes a connection to the service, and the path at which its routes begin."""
    scheme, _, path = url.partition("://")
    if scheme == "http+unix" and path.startswith("/"):
        return lambda: _UnixConnection(path, timeout), ""
    if not path:
        raise ValueError(f"not a URL of a service: {url!r} has no scheme; http://{url or '127.0.0.1:8080'} has one")
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"not a URL of a service: {url!r}; one begins with http://, https:// or http+unix:///, and has no"
                         " query")
    host, port, prefix = parts.hostname, parts.port, parts.path.rstrip("/")
    if parts.scheme == "http":
        return lambda: http.client.HTTPConnection(host, port, timeout=timeout), prefix
    tls = ssl.create_default_context(cafile=ca)
    return lambda: http.client.HTTPSConnection(host, port, timeout=timeout, context=tls), prefix


def hessian_matrix(answer: Answer, batch: Batch | None = None, pattern: Answer | None = None) -> Any:
    """The Hessian of an answer, of any format and triangle, as a symmetric scipy.sparse.csr_matrix of all DOFs.

    DOFs: the vertices', then the bodies'. The pattern depends only on the stencils. The format `factors` needs the
    batch, for its dim, vertices and bodies; an answer without its pattern ("pattern": False) needs that of the same
    format and triangle, from Set.pattern.

        H = frictiond.hessian_matrix(client.evaluate(batch), batch)
        dv = scipy.sparse.linalg.spsolve(M / h + H, -residual)    # Newton step of implicit Euler
    """
    from scipy.sparse import bsr_matrix, coo_matrix, csr_matrix
    if "hessian" not in answer:
        raise ValueError('the answer has no Hessian: ask for {"outputs": ["hessian"]}')
    h = {**(pattern or {}), **answer["hessian"]}
    missing = [name for name in PATTERN.get(h["format"], ()) if name not in h]
    if missing:
        raise ValueError(f"the Hessian has no {' and '.join(missing)}: it came without its pattern, so give that of the"
                         f' format {h["format"]} as pattern=, from Set.pattern("{h["format"]}")')
    shape = tuple(int(n) for n in h["shape"])
    size = np.shape(h["data"])[-1] if h["format"] == "bsr" and len(h["indices"]) else 1  # width of a block
    if h["format"] == "bsr" and size > 1:
        matrix = bsr_matrix((h["data"], h["indices"], h["indptr"]), shape, float).tocsr()
    elif h["format"] == "bsr":
        matrix = csr_matrix(shape)
    elif h["format"] == "csr":
        matrix = csr_matrix((h["data"], h["indices"], h["indptr"]), shape, float, copy=True)
    else:
        factors = h["format"] == "factors"
        rows, cols, values = _blocks(h, batch, answer) if factors else (h["rows"], h["cols"], h["values"])
        matrix = coo_matrix((values, (rows, cols)), shape, float).tocsr()
    # In a full matrix, every contact has entries on both sides of the diagonal; so a triangle can be recognized.
    filled = np.flatnonzero(np.diff(matrix.indptr))
    first, last = matrix.indices[matrix.indptr[filled]], matrix.indices[matrix.indptr[filled + 1] - 1]
    first, last, blocks = first // size, last // size, filled // size  # diagonal blocks are whole
    if not (first >= blocks).all() and not (last <= blocks).all():
        return matrix
    half = matrix.tocoo()
    other = half.row // size != half.col // size
    return coo_matrix((np.concatenate([half.data, half.data[other]]),
                       (np.concatenate([half.row, half.col[other]]), np.concatenate([half.col, half.row[other]]))),
                      shape).tocsr()  # not half + half.T, which would drop zeros from the pattern


def _blocks(h, batch, answer):
    """Rows, columns, values of the blocks J^T A J of the format `factors`; for groups of vertices, J is (w x P)^T."""
    if batch is None:
        raise ValueError("the format factors needs the batch")
    dim, parts = batch["dim"], [(np.empty(0, int), np.empty(0, int), np.empty(0))]
    for name, group in batch["collisions"].items():
        a = np.asarray(h[name]["inner"])
        if not a.size:
            continue
        if "bodies" in group:
            of, size, first = group["bodies"], 3 * (dim - 1), answer["n_vertices"] * dim
            J = np.asarray(h[name]["jacobian"])                         # [n, m, k*size]
        else:
            of, size, first = group["vertices"], dim, 0
            J = np.einsum("nk,nam->nmka", h[name]["weights"], h[name]["tangent_basis"])
        n, m = len(a), J.shape[1]
        J = J.reshape(n, m, -1)
        A, (row, column) = np.empty((n, m, m)), np.triu_indices(m)
        A[:, row, column] = A[:, column, row] = a.reshape(n, -1)
        dofs = (first + np.asarray(of).reshape(n, -1, 1) * size + np.arange(size)).reshape(n, -1)
        k = dofs.shape[1]
        parts.append((np.repeat(dofs, k, axis=1).ravel(), np.tile(dofs, (1, k)).ravel(),
                      (J.transpose(0, 2, 1) @ A @ J).ravel()))
    return (np.concatenate(arrays) for arrays in zip(*parts))


def _step(evaluate, lagged, before, inertia, h, load, others=None, start=None, tolerance=1e-10, iterations=100, outputs=(),
          collision_outputs=()):
    """Set.step without carrying. evaluate(query) returns the answer for the contacts, lagged is their document."""
    from scipy.sparse import csr_matrix, diags, issparse
    from scipy.sparse.linalg import spsolve
    if not h > 0:
        raise ValueError(f"h is {h}: a time step is longer than 0")
    before = np.asarray(before, float)
    shape, n = before.shape, before.size
    if not np.isfinite(before).all():
        raise ValueError(f"before is not finite: {before[~np.isfinite(before)][0]}")
    dim = lagged["dim"]
    n_bodies = _size(lagged.get("body_positions", ())) // dim
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
    wanted = {"outputs": [*{"potential": 0, "gradient": 0, "hessian": 0, "collisions": 0, **dict.fromkeys(outputs)}],
              "collision_outputs": [*{"anchor": 0, **dict.fromkeys(collision_outputs)}],
              "hessian": {"format": "csr", "projection": "clamp"}}
    options = wanted["hessian"]

    def place(v, prefix=""):
        where = {prefix + "velocities": v[:n_of_vertices].reshape(-1, dim)} if n_of_vertices else {}
        return where | ({prefix + "body_velocities": v[n_of_vertices:].reshape(n_bodies, -1)} if n_bodies else {})

    # The directions of matchstick ellipses must not change while the energy is minimised.
    fixed = {name: value for name, value in place(before.ravel(), "lagged_").items() if name not in lagged}

    def at(v):
        """(energy, unbalanced forces, the service's answer, the Hessian of others, rounding of the energy, largest
        force)"""
        answer, away = evaluate({**fixed, **wanted, **place(v)}), v - before.ravel()
        value, gradient, hessian = others(v.reshape(shape)) if others else (0.0, np.zeros(n), None)
        friction = np.concatenate([np.ravel(answer[name]) for name in ("gradient", "body_gradient") if name in answer])
        terms = away @ (M @ away) / (2 * h), -load @ v, answer["potential"], value
        residual = M @ away / h - load + friction + np.ravel(gradient)
        return sum(terms), residual, answer, hessian, 1e-13 * sum(map(abs, terms)), max(
            scale, abs(load).max(), abs(friction).max(), abs(np.ravel(gradient)).max())

    def fail(why):
        worst = abs(residual).argmax()
        raise NotConverged(
            f"the time step has not converged: {why}. The force out of balance is largest at {_dof(worst, n_of_vertices, lagged)}:"
            f" {residual[worst]:.3g}, where {tolerance * largest:.3g} is allowed. Try a shorter step or a larger eps_v",
            v.reshape(shape), residual.reshape(shape))

    def direction():
        matrix = M / h + hessian_matrix(answer) + (0 * M if hessian is None else csr_matrix(hessian))
        return spsolve(matrix.tocsc(), -residual)

    v = (_without_slip(before, n_of_vertices, lagged) if start is None else _like(before, start, "start")).ravel()
    energy, residual, answer, hessian, rounding, largest = at(v)
    for iteration in range(iterations + 1):
        if abs(residual).max() <= tolerance * largest:
            return Step(v.reshape(shape), _anchors(answer), iteration, energy, answer)
        if iteration == iterations:
            fail(f"{iterations} iterations of Newton's method did not suffice")
        dv = direction()
        if not residual @ dv < 0 and options["projection"] == "none":
            options["projection"] = "clamp"
            answer = at(v)[2]
            dv = direction()
        if abs(dv).max() <= 1e-15 * abs(v).max():  # the imbalance is only rounding
            return Step(v.reshape(shape), _anchors(answer), iteration, energy, answer)
        slope, length = residual @ dv, 1.0
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
        options["projection"] = "none" if iteration >= 20 else "clamp"


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


def encode_frame(document: Batch) -> bytes:
    """A document as a frame (docs/frame.md): its NumPy arrays in binary, everything else as text.

        open("batch.frame", "wb").write(frictiond.encode_frame(batch))
    """
    return _join(*_split(document))


def decode_frame(data: bytes) -> Answer:
    """The document of a frame, with its arrays as read-only NumPy views of data (bytes). Raises ValueError if data is
    not a frame.

        answer = frictiond.decode_frame(open("answer.frame", "rb").read())
    """
    data = memoryview(data).toreadonly()
    start = 8 + int.from_bytes(data[:8], "little")
    if len(data) < 8 or start % 64 or start > len(data):
        raise ValueError("not a frame: wrong length")
    
    def view(reference):
        dtype, shape, offset = (reference.get(key) for key in ("dtype", "shape", "offset"))
        if (len(reference) != 3 or str(dtype) not in DTYPES or not isinstance(shape, list)
                or not all(type(n) is int and n >= 0 for n in [offset, *shape]) or offset % 8):
            raise ValueError(f"not a frame: bad reference {reference}")
        count, begin = math.prod(shape), start + offset
        if begin + count * DTYPES[dtype].itemsize > len(data):
            raise ValueError(f"not a frame: {reference} leaves the tail")
        return np.frombuffer(data[begin:], DTYPES[dtype], count).reshape(shape)

    try:
        document = json.loads(bytes(data[8:start]), object_hook=lambda part: view(part) if "dtype" in part else part)
    except RecursionError:
        raise ValueError("not a frame: nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError("not a frame: the document is not an object")
    return document


def _split(document):
    """The document with references in place of arrays, and the parts of its tail."""
    tail, end = [], 0

    def convert(value, pointer=""):
        nonlocal end
        if isinstance(value, dict):
            return {key: convert(member, f"{pointer}/{key}") for key, member in value.items()}
        array = _numbers(value, pointer) if hasattr(value, "__array__") else None
        if array is None or array.ndim == 0 or array.size == 0:
            return value
        offset = (end + 63) // 64 * 64  # 8 is required; 64 is a cache line
        tail.extend([b"\0" * (offset - end), memoryview(array.reshape(-1).view(np.uint8))])
        end = offset + array.nbytes
        name = next(name for name, dtype in DTYPES.items() if dtype == array.dtype)
        return {"dtype": name, "shape": array.shape, "offset": offset}

    return convert(document), tail


def _join(document, tail):
    return b"".join(_pieces(document, tail))


def _pieces(document, tail):
    text = _json(document)
    text += b" " * (-(8 + len(text)) % 64)
    return [len(text).to_bytes(8, "little") + text, *tail]


def _whole(body_and_kind):
    body, kind = body_and_kind
    return (body if isinstance(body, bytes) else b"".join(body)), kind


def _read(body, kind):
    return decode_frame(body) if kind == FRAME else json.loads(body)


def _merge(target, patch):
    """The document after a JSON Merge Patch (RFC 7396); neither is changed."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        target[name] = _merge(target.get(name), value)
    return {name: value for name, value in target.items() if patch.get(name, value) is not None}


def _parts(batch):
    """The contacts of a batch, as a set's document, and the rest of it, a query."""
    _expect_dict(batch)
    lagged = {name: value for name, value in batch.items() if name not in PLACE + WANTED}
    n = _size(batch.get("velocities", ()))
    if n and "n_vertices" not in batch and batch.get("dim") in (2, 3):
        lagged["n_vertices"] = n // batch["dim"]
    return lagged, {name: batch[name] for name in PLACE + WANTED if name in batch}


def _with_velocities(batch):
    """A batch without n_vertices, which has to agree with its velocities."""
    _expect_dict(batch)
    n = batch.get("n_vertices")
    if n is None:
        return batch
    if "velocities" in batch and _size(batch["velocities"]) != n * batch["dim"]:
        raise ValueError(f"n_vertices is {n}, but velocities has {_size(batch['velocities'])} numbers")
    return {name: value for name, value in batch.items() if name != "n_vertices"}


def _expect_dict(batch):
    if not isinstance(batch, dict):
        raise TypeError(f"a batch is a dict, not {type(batch).__name__}")


def _size(value):
    return sum(map(_size, value)) if isinstance(value, (list, tuple)) else np.size(value)


def _pointers(wrt):
    return [wrt] if isinstance(wrt, str) else list(wrt)


def _anchors(answer):
    return {name: np.asarray(group["anchor"]) for name, group in answer.get("collisions", {}).items()
            if "anchor" in group}


def _numbers(value, pointer=""):
    """The array made C-contiguous, with a dtype that frames allow and the same numbers."""
    array = np.asarray(value)
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind == "f":
        dtype = "f32" if size <= 4 else "f64"
    elif kind == "i" or (kind == "u" and size < 4):
        dtype = "i32" if size <= 4 else "i64"
    elif kind == "u":
        dtype = "u32" if size == 4 else "i64" if not array.size or array.max() < 2**63 else "f64"
    else:
        raise TypeError(f"{pointer and pointer + ': '}an array of {array.dtype} does not contain real numbers")
    return array.astype(DTYPES[dtype], order="C", copy=False)


def _json(document):
    try:
        return json.dumps(document, allow_nan=False, default=_lists).encode()
    except ValueError:
        raise ValueError(_not_finite(document) or "the document has a loop") from None


def _lists(value):
    if hasattr(value, "__array__"):
        return _numbers(value).tolist()
    raise TypeError(f"{type(value).__name__} in a batch: {value!r:.80}")


def _not_finite(value, pointer=""):
    """Raises an error that names the place of a NaN or an infinity, which JSON cannot represent."""
    value = _lists(value) if hasattr(value, "__array__") else value
    if isinstance(value, float) and not math.isfinite(value):
        return f"{pointer}: {value} is not finite"
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    return next(filter(None, (_not_finite(member, f"{pointer}/{key}") for key, member in members)), None)


def _arrays(value, key=None):
    """An answer with arrays in place of its lists of numbers; like those of frames, they are read-only, and indices are
    i32 if they fit."""
    if isinstance(value, dict):
        return {name: _arrays(member, name) for name, member in value.items()}
    if not isinstance(value, list) or key in LISTS:
        return value
    array = np.array(value)
    if array.dtype.kind not in "fi":
        return value
    array = array.astype(np.int32) if key in INDICES and (array < 2**31).all() else array
    array.flags.writeable = False
    return array


def _document(response, data):
    """The document of an answer of either format."""
    try:
        kind = response.headers.get_content_type()
        return decode_frame(data) if kind == FRAME else json.loads(data)
    except ValueError as error:
        raise Error(response.status, "Not an answer of frictiond", str(error)) from error


def _error(response, data):
    try:
        problem = json.loads(data)
        title, detail, code = problem["title"], problem["detail"], problem.get("code")
        errors = [(error["pointer"], error["detail"]) for error in problem.get("errors", [])]
    except (ValueError, KeyError, TypeError):  # a proxy's page
        title, detail, errors = response.reason, data[:200].decode(errors="replace"), []
        code = None
    kind = Unavailable if response.status in REPEATED else Error
    return kind(response.status, title, detail, errors, response.headers.get("X-Request-Id"), code)


def _retry_after(response):
    """The number of seconds; 0 if the header is missing or is a date."""
    text = response.headers.get("Retry-After", "").strip()
    return int(text) if text.isdecimal() and len(text) < 9 else 0
