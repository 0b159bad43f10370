"""Newton's method on collision sets: solvers put their sets again when a replica is lost.

A solve minimises inertia + friction, |v - v0|^2 m/2 + D(v), with the contacts of a set: PUT, then evaluations for the
steps and for the line search, a PATCH of the positions, more evaluations, DELETE. Everything is computed in a fixed
order, so two runs send and receive the same bytes, unless a response is wrong.
"""
import hashlib
import http.client
import json
import random
import threading
import time
import urllib.parse

from load import FRAME, JSON, batch, frame

MASS = 100.0      # on the order of friction's stiffness, mu N / eps_v
SMALL = 1e-13     # step size at which a solve has converged, for eps_v = 1e-3
ATTEMPTS = 400    # per request; longer than any outage here
CLEAN = {404, 412, 502, 503}
VERSION = "Collision-Set-Version"


class Lost(Exception):
    """A response that the loss of a replica cannot explain."""


class Set:
    """A collision set that puts itself again when it is lost. Every request names the expected version, because the
    replica that takes over may have an older set of this name. Returns only complete responses for that version."""

    def __init__(self, url, name, counts):
        self.address = urllib.parse.urlsplit(url).netloc
        self.path, self.counts, self.connection = f"/v1/sets/{name}", counts, None
        self.history, self.version = [], None  # to rebuild: (method, media type, body, new version)

    def exchange(self, method, rest, body, media, version):
        """(status, version, body), or None when the connection broke."""
        headers = {"Content-Type": media} if body is not None else {}
        if version:
            headers["If-" + VERSION] = version
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection(self.address, timeout=120)
            self.connection.request(method, self.path + rest, body, headers)
            answer = self.connection.getresponse()
            return answer.status, answer.headers[VERSION], answer.read()
        except (OSError, http.client.HTTPException):
            self.counts["broken"] += 1
            self.close()
            return None

    def attempt(self, *request):
        """The response, or None after a clean error, when the request may be repeated."""
        answer = self.exchange(*request)
        if answer and answer[0] in CLEAN:
            self.counts[answer[0]] += 1
            if answer[0] in (404, 412):
                return self.missing(request[0])
            answer = None
        if answer is None:
            time.sleep(0.02)
        elif answer[0] not in (200, 201, 204):
            raise Lost(f"{request[0]} {self.path}{request[1]}: {answer[0]} {answer[2][:200]!r}")
        return answer

    def missing(self, method):
        """The set is missing or outdated: puts it again, unless it was about to be deleted."""
        if method == "DELETE":
            return 204, None, b""
        self.counts["put again"] += 1
        self.restore()
        return None

    def restore(self):
        """Repeats the requests that built the set, until one replica has accepted all of them."""
        for _ in range(ATTEMPTS):
            before = None
            for method, media, body, version in self.history:
                answer = self.exchange(method, "", body, media, before)
                if answer is None or answer[0] not in (200, 201):
                    time.sleep(0.02)
                    break
                if answer[1] != version:
                    raise Lost(f"{self.path}: the same bytes have version {answer[1]}, and had {version}")
                before = version
            else:
                return
        raise Lost(f"{self.path}: cannot be put again")

    def ask(self, method, rest="", body=None, media=JSON):
        for _ in range(ATTEMPTS):
            answer = self.attempt(method, rest, body, media, self.version)
            if answer:
                return answer
        raise Lost(f"{method} {self.path}{rest}: no answer after {ATTEMPTS} attempts")

    def change(self, method, body, media):
        """PUT or PATCH; returns the version."""
        self.version = self.ask(method, "", body, media)[1]
        self.history.append((method, media, body, self.version))
        return self.version

    def close(self):
        if self.connection:
            self.connection.close()
        self.connection = None


def product(csr, x):
    data, indices, starts = csr["data"], csr["indices"], csr["indptr"]
    return [sum(data[k] * x[indices[k]] for k in range(starts[i], starts[i + 1])) for i in range(len(x))]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b))


def conjugate_gradient(csr, g):
    """Solves (H + MASS) p = -g for p."""
    p, r = [0.0] * len(g), [-value for value in g]
    d, old = list(r), dot(g, g)
    start = old
    for _ in range(2 * len(g)):
        if old <= 1e-24 * start:
            break
        q = [h + MASS * value for h, value in zip(product(csr, d), d)]
        step = old / dot(d, q)
        p = [value + step * along for value, along in zip(p, d)]
        r = [value - step * along for value, along in zip(r, q)]
        new = dot(r, r)
        d, old = [value + new / old * along for value, along in zip(r, d)], new
    return p


class Solve:
    """Runs one solve; `trace` collects a digest of each response, in order, and finally of the result."""

    def __init__(self, url, name, seed, counts):
        self.document = batch(f"solve {seed}", 45, None)
        self.target, self.v = self.document.pop("velocities"), None
        del self.document["outputs"]
        self.media = FRAME if seed % 2 else JSON
        self.set, self.trace = Set(url, name, counts), []

    def note(self, data):
        self.trace.append(hashlib.sha256(data).digest())
        return data

    def evaluate(self, v, outputs):
        query = {"velocities": v, "outputs": outputs, "hessian": {"format": "csr", "projection": "clamp"}}
        if "hessian" not in outputs:
            del query["hessian"]
        return json.loads(self.note(self.set.ask("POST", "/evaluate", json.dumps(query).encode())[2]))

    def inertia(self, v):
        return MASS / 2 * sum((a - b) ** 2 for a, b in zip(v, self.target))

    def energy(self, v):
        return self.evaluate(v, ["potential"])["potential"] + self.inertia(v)

    def newton(self, v):
        for _ in range(100):
            answer = self.evaluate(v, ["potential", "gradient", "hessian"])
            gradient = [g + MASS * (a - b) for g, a, b in zip(answer["gradient"], v, self.target)]
            p = conjugate_gradient(answer["hessian"], gradient)
            if max(map(abs, p)) <= SMALL:
                return v
            v = self.search(v, p, answer["potential"] + self.inertia(v), dot(gradient, p))
        raise Lost(f"{self.set.path}: did not converge, {max(map(abs, p))}")

    def search(self, v, p, energy, slope):
        """Halves the step until the energy decreases enough, or the decrease is within rounding errors."""
        step, rounding = 1.0, 1e-14 * abs(energy)
        while True:
            tried = [a + step * b for a, b in zip(v, p)]
            if self.energy(tried) <= energy + 1e-4 * step * slope + rounding:
                return tried
            step /= 2
            if step < 1e-9:
                raise Lost(f"{self.set.path}: no smaller energy")

    def run(self):
        try:
            document = frame(self.document) if self.media == FRAME else json.dumps(self.document).encode()
            self.note(self.set.change("PUT", document, self.media).encode())
            v = self.newton(self.target)
            moved = [x + 1e-2 * u for x, u in zip(self.document["positions"], v)]
            patch = json.dumps({"positions": moved}).encode()
            self.note(self.set.change("PATCH", patch, "application/merge-patch+json").encode())
            self.note(json.dumps(self.newton(v)).encode())
            self.set.ask("DELETE")
        finally:
            self.set.close()
        return self.trace


class Counts(dict):
    def __missing__(self, _):
        return 0


class Solvers:
    """n threads that solve one problem after another until told to stop, and compare with solves on an idle server.
    Each always uses the same name, so replicas that took over still have sets of earlier solves."""

    def __init__(self, url, expected, n):
        self.url, self.expected = url, expected
        self.lock, self.over = threading.Lock(), threading.Event()
        self.counts, self.faults = Counts(), []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(n)]

    def judge(self, seed, name, mine):
        try:
            trace = Solve(self.url, name, seed, mine).run()
        except Lost as error:
            return "lost", str(error)
        if trace != self.expected[seed]:
            first = next((i for i, (a, b) in enumerate(zip(trace, self.expected[seed])) if a != b), "count")
            return "wrong", f"{name}: answer {first} is another"
        mine["answers"] += len(trace) - 1
        return "right", None

    def run(self, thread):
        r = random.Random(thread)
        while not self.over.is_set():
            mine, seed = Counts(), r.randrange(len(self.expected))
            what, fault = self.judge(seed, f"solver-{thread}", mine)
            with self.lock:
                for key, number in (*mine.items(), (what, 1)):
                    self.counts[key] += number
                if fault and len(self.faults) < 10:
                    self.faults.append(fault)

    @property
    def n_answered(self):
        with self.lock:
            return self.counts["right"] + self.counts["wrong"] + self.counts["lost"]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


def learn(url, n):
    """The traces of n solves on an idle server."""
    return [Solve(url, f"learn-{seed}", seed, Counts()).run() for seed in range(n)]
