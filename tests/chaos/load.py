"""Requests of many kinds, the bytes that an idle server returns for them, and clients that send them."""
import http.client
import json
import random
import struct
import threading
import time
import urllib.parse

JSON, FRAME = "application/json", "application/vnd.frictiond.frame"


def numbers(random, n, scale=1.0):
    return [random.gauss(0, scale) for _ in range(n)]


def batch(seed, n, outputs, hessian=None):
    """n contacts on a mesh of n/2 vertices in 3D, a third each of vertex_vertex, edge_vertex and face_vertex."""
    r = random.Random(seed)
    n_vertices = max(4, n // 2)
    each = max(1, n // 3)
    groups = {}
    for name, k in (("vertex_vertex", 2), ("edge_vertex", 3), ("face_vertex", 4)):
        first = [r.randrange(n_vertices - k + 1) for _ in range(each)]
        groups[name] = {"vertices": [f + j for f in first for j in range(k)],
                        "normal_force": [r.random() for _ in range(each)]}
    document = {"dim": 3, "velocities": numbers(r, 3 * n_vertices, 1e-3), "positions": numbers(r, 3 * n_vertices),
                "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3}, "collisions": groups, "outputs": outputs,
                "on_degenerate": "skip"}
    if hessian:
        document["hessian"] = hessian
    return document


def frame(document):
    """The same request as a frame, with its long arrays in the tail."""
    tail = bytearray()

    def lift(name, value):
        if isinstance(value, dict):
            return {key: lift(key, member) for key, member in value.items()}
        if not isinstance(value, list) or len(value) < 16:
            return value
        code, dtype = ("i", "i32") if name == "vertices" else ("d", "f64")
        reference = {"dtype": dtype, "shape": [len(value)], "offset": len(tail)}
        tail.extend(struct.pack(f"<{len(value)}{code}", *value))
        tail.extend(bytes(-len(tail) % 8))
        return reference

    text = json.dumps(lift("", document)).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return struct.pack("<Q", len(text)) + text + bytes(tail)


class Request:
    def __init__(self, name, body, media, path="/v1/evaluate"):
        self.name, self.body, self.media, self.path = name, body, media, path
        self.expected = None


def mixed():
    """Requests from small ones to 20 MB, with all outputs, as JSON and as frames."""
    requests = []

    def add(name, n, outputs, hessian=None, types=(JSON, FRAME)):
        document = batch(name, n, outputs, hessian)
        for media in types:
            body = json.dumps(document).encode() if media == JSON else frame(document)
            requests.append(Request(f"{name} {media}", body, media))

    for i in range(4):
        add(f"one {i}", 1, ["potential", "gradient", "hessian"])
    add("dozen", 12, ["potential", "gradient", "hessian", "collisions"])
    add("csr", 3000, ["hessian"], {"format": "csr", "projection": "clamp"})
    add("triplets", 600, ["gradient", "hessian"])
    add("factors", 10000, ["potential", "gradient", "hessian"], {"format": "factors"})
    add("gradient", 30000, ["potential", "gradient"])
    add("large", 180000, ["potential", "gradient"])  # 20 MB of JSON
    requests.append(Request("function", json.dumps({"y": numbers(random.Random(1), 500), "mu_s": 1, "mu_k": 0.1, "eps_v": 1e-3})
                            .encode(), JSON, "/v1/functions/smooth_mu_f1"))
    return requests


def send(url, request, timeout=120):
    """(status, body) of a request on its own connection. Raises OSError or HTTPException unless the response is
    complete."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
    try:
        connection.request("POST", request.path, request.body, {"Content-Type": request.media})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def learn(url, requests):
    """The responses of an idle server."""
    for request in requests:
        status, request.expected = send(url, request)
        assert status == 200, (request.name, status, request.expected[:300])


class Clients:
    """n threads that send requests until told to stop, and count the responses."""

    def __init__(self, url, requests, n, repeats=0, pause=0.0):
        self.url, self.requests, self.repeats, self.pause = url, requests, repeats, pause
        self.lock = threading.Lock()
        self.counts = {"right": 0, "wrong": 0, "lost": 0, "cut off": 0}
        self.statuses = {}
        self.faults = []
        self.over = threading.Event()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(n)]

    def count(self, what, fault=None):
        with self.lock:
            self.counts[what] += 1
            if fault and len(self.faults) < 10:
                self.faults.append(fault)

    def one(self, request):
        """Repeats the request once if the response was cut off, which its Content-Length shows."""
        for attempt in range(self.repeats + 1):
            try:
                status, body = send(self.url, request)
            except (OSError, http.client.HTTPException) as error:
                self.count("cut off" if attempt < self.repeats else "lost", f"{request.name}: {error!r}")
                continue
            with self.lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
            if status == 200 and body == request.expected:
                return self.count("right")
            if status == 200:
                return self.count("wrong", f"{request.name}: other bytes")
            return self.refused(request, status, body)
        return None

    def refused(self, request, status, body):
        self.count("lost", f"{request.name}: {status} {body[:200]!r}")

    def run(self, seed):
        r = random.Random(seed)
        while not self.over.is_set():
            self.one(r.choice(self.requests))
            if self.pause:
                time.sleep(self.pause)

    @property
    def n_answered(self):
        return self.counts["right"] + self.counts["wrong"] + self.counts["lost"]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()


class Pressing(Clients):
    """Clients that expect 503, which must have a Retry-After and counts neither as wrong nor as lost."""

    def refused(self, request, status, body):
        if status != 503 or json.loads(body)["status"] != 503:
            self.count("lost", f"{request.name}: {status} {body[:200]!r}")
