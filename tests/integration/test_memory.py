"""Resident memory is limited: the process stays within --memory-bytes, --pool-bytes and its own needs, whatever clients
announce, and whichever request touched the memory first."""
import json
import re
import socket

import pytest

import conftest
from conftest import SEES_RESIDENT, eventually, metric, resident_bytes

MB = 1 << 20
ITSELF = 48 * MB  # program, libraries, stacks, and the library's memory for some hundred connections
OF_CONNECTION = 46 << 10  # that the library keeps (server/http/http.c)


@pytest.fixture
def serving(request):
    """(process, base URL) of a server with 256 MiB, or with the size in the test's parameter."""
    options = getattr(request, "param", ("--memory-bytes", "256M", "--pool-bytes", "64M"))
    # 60 connections with 16 MiB each take minutes under a sanitizer; the first must still be open at the end.
    process, base = conftest.start(*options, "--log-level", "error", "--drain-seconds", "0", "--receive-seconds", "3600")
    yield process, base
    assert conftest.stop(process) == 0


def held(base):
    return metric(base, 'frictiond_memory_bytes{kind="requests"}')


def connect(base):
    return socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1])))


def connect_many(base, n):
    """Opens that many connections, a few at a time: the server accepts each batch before the next, so that they fit
    into the system's queue, however short it is and however slow the server."""
    connections = []
    for _ in range(0, n, 8):
        connections += [connect(base) for _ in range(min(8, n - len(connections)))]
        eventually(lambda: metric(base, "frictiond_connections") > len(connections))  # one is this request's
    return connections


def head(n, media="application/json"):
    return (f"POST /v1/evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {media}\r\n"
            f"Content-Length: {n}\r\n\r\n").encode()


def status_of_answer(connection):
    """Reads one answer, including its body."""
    received = b""
    while b"\r\n\r\n" not in received:
        more = connection.recv(65536)
        assert more, received
        received += more
    first, body = received.split(b"\r\n\r\n", 1)
    missing = int(re.search(rb"content-length: (\d+)", first.lower())[1]) - len(body)
    while missing > 0:
        missing -= len(connection.recv(missing))
    return int(first.split()[1])


def await_within(process, most_bytes, condition):
    """Waits until a condition is true; resident memory must not exceed that many bytes meanwhile."""
    def is_over():
        return SEES_RESIDENT and resident_bytes(process, "VmHWM") >= most_bytes

    eventually(lambda: condition() or is_over())
    assert not is_over(), f'{resident_bytes(process, "VmHWM")} bytes resident, {most_bytes} allowed'


def await_nothing_held(base):
    eventually(lambda: held(base) == 0 and metric(base, "frictiond_queue_bytes") == 0)


def large_request():
    n = 30000
    return json.dumps({"dim": 2, "velocities": [[0.5, 0]] * n, "friction": {"mu": 0.3, "eps_v": 0.1},
                       "outputs": ["potential"],
                       "collisions": {"plane_vertex": {"vertices": list(range(n)), "normal_force": 1,
                                                       "plane_normal": [0, 1]}}}).encode()


def assert_usable(base):
    with connect(base) as connection:
        body = large_request()
        connection.sendall(head(len(body)) + body)
        assert status_of_answer(connection) == 200


def test_announced_bodies_take_nothing(serving):
    """500 connections announce 4 MiB and send one byte."""
    process, base = serving
    assert_usable(base)
    before = resident_bytes(process)
    connections = connect_many(base, 500)
    for connection in connections:
        connection.sendall(head(4 * MB) + b" ")
    await_within(process, before + ITSELF, lambda: held(base) >= 500 * 4096)
    assert held(base) <= 500 * 16384
    assert_usable(base)
    await_within(process, before + ITSELF, lambda: True)
    for connection in connections:
        connection.close()
    await_nothing_held(base)


def test_warm_memory_counts(serving):
    """60 connections send 16 MiB, which is refused; then they announce as much again and send one byte."""
    process, base = serving
    connections = []
    for _ in range(60):
        connections.append(connect(base))
        connections[-1].sendall(head(16 * MB) + b" " * (16 * MB))
        assert status_of_answer(connections[-1]) == 400
        connections[-1].sendall(head(16 * MB) + b" ")
    await_within(process, 64 * MB + ITSELF, lambda: held(base) >= 60 * 4096)
    for connection in connections:
        connection.close()
    await_nothing_held(base)


@pytest.mark.parametrize("part", [0.4, 0.9])
def test_what_has_arrived_counts_in_full(serving, part):
    """More requests arrive than fit: some are refused, the others stay within the limit, in warm and in fresh memory.
    The refused ones have sent more than is read of a refused body, so they are answered and counted at once."""
    process, base = serving
    for _ in range(2):
        connections = [connect(base) for _ in range(40)]
        for connection in connections:
            try:
                connection.sendall(head(16 * MB) + b" " * int(part * 16 * MB))
            except ConnectionError:
                pass  # was refused
        await_within(process, (256 + 64) * MB + ITSELF,
                     lambda: metric(base, 'frictiond_rejected_total{reason="memory"}') > 0)
        assert held(base) <= 256 * MB
        for connection in connections:
            connection.close()
        await_nothing_held(base)
    assert_usable(base)


@pytest.mark.parametrize("serving", [("--memory-bytes", "16M", "--pool-bytes", "0")], indirect=True)
def test_small_bodies_count(serving):
    """Bodies that are just too short for large requests, and never complete."""
    process, base = serving
    before = resident_bytes(process)
    connections = connect_many(base, 900)
    for connection in connections:
        connection.sendall(head(65536) + b" " * 65535)
    await_within(process, before + 16 * MB + 2 * ITSELF // 3 + 900 * OF_CONNECTION, lambda: held(base) > 15 * MB)
    assert held(base) <= 16 * MB
    for connection in connections:
        connection.sendall(b" ")
    codes = [status_of_answer(connection) for connection in connections]
    assert set(codes) == {400, 503} and codes.count(503) > 500
    for connection in connections:
        connection.close()
    await_nothing_held(base)
    assert_usable(base)


@pytest.mark.skipif(not SEES_RESIDENT, reason="a sanitizer keeps freed memory")
@pytest.mark.parametrize("serving", [("--memory-bytes", "256M", "--idle-seconds", "1")], indirect=True)
def test_memory_of_many_bodies_goes_back(serving):
    """Bodies of a length that malloc itself serves, freed in an order that leaves holes."""
    process, base = serving
    connections = connect_many(base, 900)
    before = resident_bytes(process)
    for connection in connections:
        connection.sendall(head(130000) + b" " * 129999)
    eventually(lambda: held(base) >= 900 * 130000)
    eventually(lambda: resident_bytes(process) > before + 900 * 128000)  # held when a quarter has arrived
    for connection in connections:
        connection.close()
    await_nothing_held(base)
    eventually(lambda: resident_bytes(process) < before + 16 * MB)
    assert_usable(base)


@pytest.mark.parametrize("serving", [("--memory-bytes", "16M", "--max-json-bytes", "1000001", "--max-frame-bytes", "3000001",
                                      "--queue-bytes", "3000001")], indirect=True)
@pytest.mark.parametrize("n,media", [(1000001, "application/json"), (3000001, "application/vnd.frictiond.frame")])
def test_the_longest_body_fits(serving, n, media):
    _, base = serving
    for _ in range(3):
        with connect(base) as connection:
            connection.sendall(head(n, media) + b" " * n)
            assert status_of_answer(connection) == 400
            connection.sendall(head(n, media).replace(b"Content-Length: %d" % n, b"Transfer-Encoding: chunked"))
            connection.sendall(b"%x\r\n" % n + b" " * n + b"\r\n0\r\n\r\n")
            assert status_of_answer(connection) == 400
            connection.sendall(head(n + 1, media))
            assert status_of_answer(connection) == 413
    await_nothing_held(base)


def test_bodies_that_break_off_give_all_back(serving):
    _, base = serving
    for length in (100, 60000, 65537, 200000, 3 * MB):
        for n in sorted({1, 5000, 70000, length // 4 + 1, length - 1}):
            if n >= length:
                continue
            for reset in (False, True):
                connection = connect(base)
                connection.sendall(head(length) + b" " * n)
                eventually(lambda: held(base) >= n)
                if reset:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                connection.close()
                await_nothing_held(base)
