"""Many clients at once, with large and small requests in JSON and frames, some of which disconnect at any point: every
answer has the same bytes as from an idle server with one thread. CONCURRENT_REQUESTS: how many in each test (300, or
25 with a small SHARE).
"""
import contextlib
import http.client
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
import urllib.parse
import urllib.request

import pytest

from conftest import ONE_IN, ROOT, eventually, metric, start, stop

sys.path.insert(0, str(ROOT / "tests" / "chaos"))
from load import FRAME, JSON, Clients, Pressing, Request, batch, frame, json, learn, send  # noqa: E402

COUNT = int(os.environ.get("CONCURRENT_REQUESTS", 300 // min(ONE_IN, 12)))
GENTLE = 300  # seconds in which a server may complete requests under way


def mixed():
    """Some requests run on the connection's thread, others on the worker and its team, which also print the long
    arrays."""
    requests = []
    kinds = [(1, ["potential", "gradient", "hessian"], None),
             (12, ["potential", "gradient", "hessian", "collisions"], None),
             (150, ["gradient", "hessian"], {"format": "triplets"}),
             (600, ["hessian"], {"format": "csr", "projection": "clamp"}),
             (6000, ["potential", "gradient", "hessian"], {"format": "factors"}),
             (9000, ["potential", "gradient"], None),
             (9000, ["collisions"], None)]
    for n, outputs, hessian in kinds:
        document = batch(f"{n} {outputs}", n, outputs, hessian)
        for media, body in ((JSON, json.dumps(document).encode()), (FRAME, frame(document))):
            requests.append(Request(f"{n} {outputs} {media}", body, media))
    ys = [random.Random(1).uniform(-1e-2, 1e-2) for _ in range(500)]
    parameters = json.dumps({"y": ys, "mu_s": 1, "mu_k": 0.1, "eps_v": 1e-3}).encode()
    requests.append(Request("function", parameters, JSON, "/v1/functions/smooth_mu_f1"))
    return requests


@pytest.fixture(scope="module")
def requests():
    process, base = start("--threads", "1", "--io-threads", "1")
    learned = mixed()
    learn(base, learned)
    assert stop(process) == 0
    return learned


class Staying(Clients):
    """Send all requests on one connection until it is closed."""

    connection = None

    def run(self, seed):
        parts = urllib.parse.urlsplit(self.url)
        r = random.Random(seed)
        with contextlib.closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)) as connection:
            while not self.over.is_set():
                request = r.choice(self.requests)
                connection.request("POST", request.path, request.body, {"Content-Type": request.media})
                answer = connection.getresponse()
                right = answer.status == 200 and answer.read() == request.expected
                self.count("right" if right else "wrong", None if right else f"{request.name}: {answer.status}")


class Leaving(Clients):
    """Disconnect, politely or not, at some point between the first byte of a request and the last byte of its
    answer."""

    def one(self, request):
        parts = urllib.parse.urlsplit(self.url)
        data = (f"POST {request.path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {request.media}\r\n"
                f"Content-Length: {len(request.body)}\r\n\r\n").encode() + request.body
        with contextlib.suppress(OSError), socket.create_connection((parts.hostname, parts.port), timeout=60) as client:
            whole = random.random() < 0.5
            client.sendall(data if whole else data[:random.randrange(len(data))])
            if whole and random.random() < 0.5:
                client.recv(random.randrange(1, 3000))
            if random.random() < 0.7:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.count("cut off")


class Watching(Clients):
    """Read metrics and pages, whose contents depend on the other clients."""

    def one(self, request):
        path = random.choice(["/metrics", "/readyz", "/v1/info", "/v1/functions/smooth_mu?y=1&mu_s=1&mu_k=1&eps_v=1"])
        with contextlib.suppress(OSError, http.client.HTTPException), urllib.request.urlopen(self.url + path) as answer:
            answer.read()
            self.count("right")


class Enduring(Clients):
    """Clients of a stopping server: they get no response, or one that reports the stop."""

    def refused(self, request, status, body):
        if status != 503:
            self.count("wrong", f"{request.name}: {status} {body[:200]!r}")


def await_answers(clients, n):
    """The test has no time limit of its own: the clients' timeouts end it if nothing moves."""
    while clients.n_answered < n and any(thread.is_alive() for thread in clients.threads):
        time.sleep(0.02)


def is_quiet(base):
    """Apart from the request for the metrics, nothing holds memory, a place in the queue or a connection."""
    return (metric(base, 'frictiond_memory_bytes{kind="requests"}') == 0 and metric(base, "frictiond_queue_bytes") == 0
            and metric(base, "frictiond_queue_requests") == 0 and metric(base, "frictiond_connections") <= 1)


def await_quiet(base):
    """Longer than the minute after which the server closes a connection whose end it did not notice."""
    for _ in range(6000):
        with contextlib.suppress(OSError):
            if is_quiet(base):
                return True
        time.sleep(0.05)
    return False


def check_all(base, requests):
    for request in requests:
        status, body = send(base, request, timeout=300)
        assert status == 200 and body == request.expected, (request.name, status, body[:300])


@pytest.mark.parametrize("threads", [2, 8])
def test_every_answer_has_the_bytes_of_a_quiet_server(server_with, requests, threads):
    base = server_with("--threads", str(threads), "--io-threads", "3", "--idle-seconds", "0")
    clients, staying = Clients(base, requests, 4), Staying(base, requests, 2)
    with Leaving(base, requests, 2, pause=0.01), Watching(base, requests, 1, pause=0.01), staying, clients:
        await_answers(clients, COUNT)
        await_answers(staying, 1)
    assert clients.counts["right"] >= COUNT and staying.counts["right"] > 0
    for counted in (clients, staying):
        assert counted.faults == [] and counted.counts["right"] == counted.n_answered
    assert await_quiet(base)
    check_all(base, requests)


def test_small_limits_refuse_and_never_confuse(server_with, requests):
    """Places, bytes, memory and connections are scarce: requests that are not refused get the right responses, and
    everything is released."""
    base = server_with("--threads", "2", "--io-threads", "2", "--queue-requests", "1", "--max-json-bytes", "3M",
                       "--max-frame-bytes", "3M", "--queue-bytes", "3M", "--memory-bytes", "16M", "--connections", "6",
                       "--pool-bytes", "1M", "--idle-seconds", "0")
    clients = Pressing(base, requests, 8)
    with Leaving(base, requests, 1, pause=0.01), clients:
        await_answers(clients, COUNT // 2)
        eventually(lambda: len(clients.statuses) > 1)
    assert clients.counts["wrong"] == 0 and set(clients.statuses) == {200, 503}, (clients.statuses, clients.faults)
    assert await_quiet(base)
    check_all(base, [request for request in requests if len(request.body) < 1 << 16])


@pytest.mark.parametrize("seconds,signals", [(GENTLE, 1), (GENTLE, 2), (0, 1)], ids=["drains", "hurried", "at once"])
def test_stopped_under_load(requests, seconds, signals):
    """Every response until the end is right or reports the stop; the server exits normally."""
    process, base = start("--threads", "2", "--io-threads", "3", "--drain-seconds", str(seconds))
    clients = Enduring(base, requests, 6)
    try:
        with Leaving(base, requests, 1, pause=0.01), clients:
            await_answers(clients, 20)
            process.send_signal(signal.SIGHUP)
            await_answers(clients, 40)
            if signals > 1:
                process.terminate()
            code = stop(process)
    finally:
        process.kill()
    assert code == 0
    assert clients.counts["wrong"] == 0, clients.faults
    assert clients.counts["right"] >= 1


def test_signal_before_any_request():
    """Starts and stops servers in immediate succession, many times."""
    for _ in range(5):
        process, _ = start("--threads", "2")
        threading.Thread(target=process.terminate).start()
        assert stop(process) == 0
