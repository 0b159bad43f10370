"""deploy/nginx in front of fake replicas, and of real ones that are killed and drained."""
import concurrent.futures
import contextlib
import http.client
import json
import os
import signal
import socket

import pytest

from proxy import SHIPPED, Proxy, call, code_of, post
from real import Replicas

CONTACT = {"dim": 2, "velocities": [[1, 2]], "friction": {"mu": 0.3, "eps_v": 0.1},
           "collisions": {"plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}}


def n_requests(replicas):
    return sum(len(replica.requests) for replica in replicas)


def is_problem(answer, status, code):
    assert (answer[0], code_of(answer)) == (status, code)
    return answer[1]


def test_the_configuration_is_valid(directory):
    status, text = Proxy(directory, ["127.0.0.1:1", "127.0.0.1:2"]).check()
    assert status == 0, text
    assert "warn" not in text


def test_every_replica_is_in_both_lists():
    shipped = (SHIPPED / "upstreams.conf").read_text()
    servers = [line.split() for line in shipped.splitlines() if line.startswith("server ")]
    watched = [words[1] for words in servers if "backup;" not in words]
    spare = [words[1] for words in servers if "backup;" in words]
    assert watched == spare and len(set(watched)) == len(watched) >= 2


def test_identity_and_trace_are_passed_on(proxy, fakes):
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    post(proxy, **{"X-Request-Id": "step-42", "traceparent": trace, "Authorization": "Bearer abc",
                   "Connection": "close"})
    [(_, headers, body)] = sum((replica.requests for replica in fakes), [])
    assert headers["X-Request-Id"] == "step-42" and headers["traceparent"] == trace
    assert headers["Authorization"] == "Bearer abc" and body == b"{}"
    assert headers.get_all("Host") == [f"127.0.0.1:{proxy.port}"] and headers["Connection"] is None


def test_replicas_get_the_name_of_the_proxy(proxy, fakes):
    """Replicas need the Host header to recognize their own page, and for --allow-host."""
    for host in "localhost", "Friction.example:8443", "[::1]:1":
        post(proxy, Host=host, Origin="http://a", **{"Sec-Fetch-Site": "cross-site"})
        [(_, headers, _)] = sum((replica.requests for replica in fakes), [])
        assert headers.get_all("Host") == [host]
        assert headers["Origin"] == "http://a" and headers["Sec-Fetch-Site"] == "cross-site"
        for replica in fakes:
            replica.requests.clear()
    with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
        connection.sendall(b"GET /readyz HTTP/1.0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 200 ")
    [(_, headers, _)] = sum((replica.requests for replica in fakes), [])
    assert headers.get_all("Host") == ["localhost"]


@pytest.mark.parametrize("given", [None, "", 'a"b', "a b", "x" * 129])
def test_a_request_without_a_sane_id_gets_one(proxy, fakes, given):
    post(proxy, **({} if given is None else {"X-Request-Id": given}))
    [(_, headers, _)] = sum((replica.requests for replica in fakes), [])
    assert len(headers["X-Request-Id"]) == 32 and headers.get_all("X-Request-Id") == [headers["X-Request-Id"]]


@pytest.mark.parametrize("answer", [503, 502, None], ids=["refused", "bad gateway", "died"])
def test_another_replica_takes_the_request(proxy, fakes, answer):
    fakes[0].answer = fakes[1].answer = answer
    for i in range(20):
        status, headers, body = post(proxy, b'{"i":%d}' % i)
        assert (status, body) == (200, b'{"replica": 200}')
    assert [body for _, _, body in fakes[2].requests] == [b'{"i":%d}' % i for i in range(20)]
    assert fakes[0].requests and fakes[1].requests


def test_the_same_identity_on_every_try(proxy, fakes):
    fakes[0].answer = fakes[1].answer = 503
    for _ in range(6):
        post(proxy)
    seen = {}
    for replica in fakes:
        for _, headers, _ in replica.requests:
            seen.setdefault(headers["X-Request-Id"], []).append(replica.address)
    assert len(seen) == 6 and max(map(len, seen.values())) > 1


@pytest.mark.parametrize("answer", [400, 401, 404, 408, 413, 422, 429, 500, 501, 504])
def test_errors_that_every_replica_would_return_are_passed_on(proxy, fakes, answer):
    for replica in fakes:
        replica.answer = answer
    assert post(proxy)[::2] == (answer, b'{"replica": %d}' % answer)
    assert n_requests(fakes) == 1


def test_an_answer_that_breaks_off_does_not_look_whole(proxy, fakes):
    """Once a response has begun, no other replica can take over; the client must notice and repeat the request."""
    for replica in fakes:
        replica.answer = "half"
    with pytest.raises(http.client.IncompleteRead):
        post(proxy)
    assert n_requests(fakes) == 1


def test_under_overload_clients_get_a_503(proxy, fakes):
    """A 503 from a replica, or from nginx once it has tried all, has a Retry-After."""
    for replica in fakes:
        replica.answer = 503
    n = 60
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: post(proxy), range(n)))
    for answer in answers:
        status, headers, body = answer
        assert status == 503 and headers["Retry-After"] in ("1", "7")
        assert body == b'{"replica": 503}' or is_problem(answer, 503, "stopped")
    assert n_requests(fakes) <= 6 * n, "a request is tried at most six times"
    for replica in fakes:
        replica.answer = 200
    assert post(proxy)[0] == 200, "as soon as there is room again, requests are taken"


def test_without_any_replica_the_answer_is_503(directory):
    with contextlib.ExitStack() as stack:
        silent = [stack.enter_context(socket.socket()) for _ in range(3)]  # bound but not listening
        for replica in silent:
            replica.bind(("127.0.0.1", 0))
        running = stack.enter_context(Proxy(directory, [f"127.0.0.1:{replica.getsockname()[1]}" for replica in silent]))
        for _ in range(20):
            assert is_problem(post(running), 503, "stopped")["Retry-After"] == "1"


def test_too_long_a_body_is_refused_at_once(proxy, fakes):
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port)
    connection.putrequest("POST", "/v1/evaluate")
    connection.putheader("Content-Length", str((1 << 30) + 1))
    connection.endheaders()
    answer = connection.getresponse()
    is_problem((answer.status, answer.headers, answer.read()), 413, "body_too_long")
    connection.close()
    assert n_requests(fakes) == 0


@pytest.mark.parametrize("path", ["/metrics", "/metrics?x=1", "//metrics", "/./metrics", "/%6detrics",
                                  "/v1/../metrics"])
def test_metrics_are_not_for_clients(proxy, fakes, path):
    is_problem(call(proxy, "GET", path), 404, "unknown_path")
    assert n_requests(fakes) == 0


HEADS = {
    "no host": ("malformed_http", 400, ""),
    "two hosts": ("malformed_http", 400, "Host: x\r\nHost: y\r\n"),
    "two lengths": ("malformed_http", 400, "Host: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n"),
    "length and chunks": ("malformed_http", 400, "Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
    "another coding": ("malformed_http", 400, "Host: x\r\nTransfer-Encoding: gzip\r\n"),
    "a long field": ("head_too_long", 431, "Host: x\r\nA: " + 20000 * "a" + "\r\n"),
}


@pytest.mark.parametrize("name", HEADS)
def test_a_bad_head_does_not_reach_a_replica(proxy, fakes, name):
    code, status, fields = HEADS[name]
    with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
        connection.sendall(f"POST /v1/evaluate HTTP/1.1\r\n{fields}\r\n".encode())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        is_problem((answer.status, answer.headers, answer.read()), status, code)
    assert n_requests(fakes) == 0


def test_a_replica_sees_a_request_when_all_of_it_is_there(proxy, fakes):
    body = os.urandom(5 << 20)
    connection = http.client.HTTPConnection("127.0.0.1", proxy.port)
    connection.putrequest("POST", "/v1/evaluate")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()
    halves = [body[:4 << 20], body[4 << 20:]]
    connection.send(b"%x\r\n%s\r\n" % (len(halves[0]), halves[0]))
    for _ in range(20):
        assert post(proxy)[0] == 200
    assert n_requests(fakes) == 20
    connection.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(halves[1]), halves[1]))
    assert connection.getresponse().status == 200
    connection.close()
    [(_, headers, got)] = [request for replica in fakes for request in replica.requests if request[2] != b"{}"]
    assert got == body and headers["Content-Length"] == str(len(body)) and headers["Transfer-Encoding"] is None


def test_connections_to_replicas_are_kept(proxy, fakes):
    for _ in range(100):
        assert post(proxy)[0] == 200
    workers = os.cpu_count()
    assert sum(replica.connections for replica in fakes) <= 3 * workers


@pytest.fixture
def replicas(program):
    with Replicas(program, 3) as running:
        yield running


def batch(n):
    """A request that takes some time: n contacts, with a csr matrix in the response."""
    return {**CONTACT, "velocities": [[1 + i % 7, 2] for i in range(n)],
            "collisions": {"plane_vertex": {"vertices": list(range(n)), "normal_force": 1, "plane_normal": [0, 1]}},
            "hessian": {"format": "csr"}}


BODIES = [json.dumps(CONTACT).encode(), json.dumps(batch(3000)).encode(), json.dumps(batch(30000)).encode()]


def test_pages_behind_the_proxy(directory, replicas):
    """The explorer's own requests pass; those of other pages or to other host names are refused."""
    with Proxy(directory, replicas.addresses()) as running:
        own = f"127.0.0.1:{running.port}"
        for host, origin, expected in (own, f"http://{own}", 200), (own, "http://evil.example", 403), (own, "null", 403), \
                ("localhost", "http://localhost", 200), ("evil.example", "http://evil.example", 421):
            status, headers, _ = post(running, BODIES[0], Host=host, Origin=origin)
            assert status == expected and "Access-Control-Allow-Origin" not in headers


def test_replicas_die_and_drain_between_requests(directory, replicas):
    with Proxy(directory, replicas.addresses()) as running:
        expected = [post(running, body)[2] for body in BODIES]
        assert all(b'"potential"' in answer for answer in expected)
        for turn in range(8):
            code = replicas.end(turn % 2, signal.SIGTERM if turn % 4 > 1 else signal.SIGKILL)
            assert code == (0 if turn % 4 > 1 else -signal.SIGKILL)
            for body, answer in zip(BODIES, expected):
                assert post(running, body)[::2] == (200, answer)
            replicas.start(turn % 2)


def test_a_replica_dies_during_requests(directory, replicas):
    """A SIGSTOP before the kill guarantees that the replica has requests under way."""
    with Proxy(directory, replicas.addresses()) as running, concurrent.futures.ThreadPoolExecutor(6) as pool:
        expected = [post(running, body)[2] for body in BODIES]
        for turn in range(4):
            victim = turn % 2  # the third stays alive: nginx may avoid failed ones for a while
            replicas.running[victim].send_signal(signal.SIGSTOP)
            calls = [pool.submit(post, running, body) for body in 2 * BODIES]
            concurrent.futures.wait(calls, return_when=concurrent.futures.FIRST_COMPLETED)
            held = [call for call in calls if not call.done()]
            assert held, "least_conn gives every replica a share"
            replicas.end(victim)
            for i, call_ in enumerate(calls):
                assert call_.result()[::2] == (200, expected[i % len(BODIES)])
            replicas.start(victim)
