"""Attempts to tie up the service: memory that is not counted, responses that are never read, bodies that never end, too
many connections, and responses that are sent on an unusual path."""
import json
import re
import socket
import struct
import threading
import time
import urllib.parse
import urllib.request

import pytest

from conftest import SEES_RESIDENT, eventually, metric, resident_bytes, with_more_time

HEAD = b"Host: localhost\r\n"


def address_of(base):
    url = urllib.parse.urlsplit(base)
    return url.hostname, url.port


def connect(base, receive_buffer=None):
    connection = socket.socket()
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(300)
    connection.connect(address_of(base))
    return connection


def send(connection, data):
    try:
        connection.sendall(data)
    except (ConnectionResetError, BrokenPipeError):
        pass  # only data sent by the server matters


def receive_all(connection):
    data = b""
    try:
        while more := connection.recv(1 << 20):
            data += more
    except ConnectionResetError:
        pass
    return data


def ask(base, data):
    """Everything received until the server closes."""
    with connect(base) as connection:
        send(connection, data)
        return receive_all(connection)


def head_and_body(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("latin-1").split("\r\n")
    status = int(re.fullmatch(r"HTTP/1\.1 (\d{3}) .+", lines[0])[1])
    return status, {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}, body


# ---- memory allocated before there is a request ----

@pytest.mark.parametrize("n", [65, 600, 2000, 4000])
def test_many_arguments_are_refused_at_once(server, n):
    answer = ask(server, b"GET /?" + b"&".join([b"a"] * n) + b" HTTP/1.1\r\n" + HEAD + b"\r\n")
    status, headers, body = head_and_body(answer)
    assert status == 414 and json.loads(body)["status"] == 414
    assert headers["connection"] == "close"


@pytest.mark.parametrize("more,expected", [(0, 422), (1, 431)])
def test_as_many_arguments_and_header_lines_as_there_may_be_are_answered(server, more, expected):
    """A head at all limits at once: its records and the longest text fill the library's memory. The 422 is for one
    parameter given 64 times, which only the route notices."""
    target = b"/v1/functions/smooth_mu?" + b"&".join([b"y=1"] * 64)
    lines = b"".join(b"X-%d: %s\r\n" % (i, b"c" * 55) for i in range(280 - 64 - 3 + more))
    head = b"GET " + target + b" HTTP/1.1\r\n" + HEAD + b"Connection: close\r\n" + lines
    head += b"X-A: " + b"a" * ((20 << 10) - 9 - len(head)) + b"\r\n\r\n"
    status, _, body = head_and_body(ask(server, head))
    assert status == expected and json.loads(body)["status"] == status


def test_requests_that_the_library_gives_up_leave_nothing(server_with):
    """Arguments, header lines and targets up to and beyond every limit, whatever the library does with them."""
    base = server_with("--log-level", "error")
    process = server_with.started[0]
    heads = [b"GET /?" + b"&" * n + b" HTTP/1.1\r\n" + HEAD + b"X: a\r\n" * m + b"\r\n"
             for n, m in [(63, 210), (63, 280), (600, 0), (1900, 0), (7000, 0), (0, 279)]]
    def round_of(n):
        for i in range(n):
            ask(base, heads[i % len(heads)].replace(HEAD, HEAD + b"Connection: close\r\n"))
    round_of(300)
    before = resident_bytes(process)
    round_of(3000)
    assert not SEES_RESIDENT or resident_bytes(process) - before < 1 << 20  # a sanitizer reports leaks at the end


@pytest.mark.parametrize("cookie", [b"a" * 14000, b"a=b; " * 2800], ids=["one", "many"])
def test_long_cookies_get_one_answer(server, cookie):
    answer = ask(server, b"GET /healthz HTTP/1.1\r\n" + HEAD + b"Cookie: " + cookie + b"\r\n\r\n")
    status, headers, body = head_and_body(answer)
    assert status == 431 and headers["content-type"] == "application/problem+json"
    assert answer.count(b"HTTP/1.1") == 1 and len(body) == int(headers["content-length"])


def test_cookies_of_other_services_do_no_harm(server):
    cookies = b"; ".join(b"c%d=%s" % (i, b"x" * 20) for i in range(250))
    answer = ask(server, b"GET /healthz HTTP/1.1\r\n" + HEAD + b"Connection: close\r\nCookie: " + cookies + b"\r\n\r\n")
    assert head_and_body(answer)[0] == 200


# ---- responses that clients do not read ----

def big_request(n):
    """A request with a response of about 550 bytes per contact."""
    contacts = json.dumps({"dim": 3, "velocities": [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2]],
                           "friction": {"mu": 0.3, "eps_v": 1e-3},
                           "collisions": {"vertex_vertex": {"vertices": [[0, 1]] * n, "normal_force": 1,
                                          "tangent_basis": [[[1, 0], [0, 1], [0, 0]]] * n}}}).encode()
    return (b"POST /v1/evaluate HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(contacts) + contacts)


def test_an_answer_has_to_be_taken_in_time(server_with):
    base = server_with("--send-seconds", "1")
    rejected = 'frictiond_rejected_total{reason="not_taken"}'
    with connect(base, receive_buffer=4096) as connection:
        send(connection, big_request(20000))
        taken = connection.recv(1)
        assert taken == b"H"
        eventually(lambda: metric(base, rejected) == 1)
        rest = receive_all(connection)
    length = int(re.search(rb"Content-Length: (\d+)", taken + rest)[1])
    assert len(rest.partition(b"\r\n\r\n")[2]) < length, "an answer that was cut looks cut"
    eventually(lambda: metric(base, 'frictiond_memory_bytes{kind="requests"}') == 0)


def test_an_answer_that_is_taken_steadily_is_cut_all_the_same(server_with):
    """The client reads a little every tenth of a second, so no idle timeout applies."""
    base = server_with("--send-seconds", "1")
    with connect(base, receive_buffer=4096) as connection:
        send(connection, big_request(20000))
        taken = 0
        while metric(base, 'frictiond_rejected_total{reason="not_taken"}') == 0:
            taken += len(connection.recv(2048))
            time.sleep(0.1)
        taken += len(receive_all(connection))
    assert taken < 20000 * 1000


def test_pipelined_answers_have_to_be_taken(server_with):
    """Requests small responses, one after the other, until the sockets are full."""
    base = server_with("--send-seconds", "1")
    with connect(base, receive_buffer=4096) as connection:
        request = b"GET /openapi.json HTTP/1.1\r\n" + HEAD + b"\r\n"
        sender = threading.Thread(target=send, args=(connection, request * 2000))
        sender.start()
        eventually(lambda: metric(base, 'frictiond_rejected_total{reason="not_taken"}') == 1)
        receive_all(connection)
        sender.join()


def test_answers_wait_where_they_count(server_with):
    """Responses are held by the server, not by the system's buffers, which would take megabytes for each client that
    reads nothing. Only the part that fits into the client's buffers is released."""
    base = server_with("--send-seconds", "3600", "--drain-seconds", "0")
    connections = [connect(base, receive_buffer=1 << 17) for _ in range(4)]
    for connection in connections:
        send(connection, big_request(3000))
        assert connection.recv(1) == b"H"
    time.sleep(0.5)  # enough for the system to accept everything
    assert metric(base, 'frictiond_memory_bytes{kind="requests"}') > len(connections) << 20
    for connection in connections:
        connection.close()


def test_time_for_an_answer_grows_with_its_size(server_with):
    """10 MB extend the time limit by ten seconds: a client that begins to read a second late gets all of them."""
    def attempt(seconds):
        base = server_with("--send-seconds", str(seconds))
        with connect(base, receive_buffer=1 << 18) as connection:
            send(connection, big_request(20000).replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
            assert connection.recv(1) == b"H"
            time.sleep(seconds + 1)
            status, headers, body = head_and_body(b"H" + receive_all(connection))
        assert status == 200 and len(body) == int(headers["content-length"]) > 8 << 20
        assert metric(base, 'frictiond_rejected_total{reason="not_taken"}') == 0
    with_more_time(attempt)


def test_quick_clients_are_never_cut(server_with):
    """However long a connection lasts, the time limit of an answer ends with that answer."""
    def attempt(seconds):
        base = server_with("--send-seconds", str(seconds))
        with connect(base) as connection:
            for _ in range(4):
                send(connection, b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n")
                assert connection.recv(65536).startswith(b"HTTP/1.1 200")
                time.sleep(0.7 * seconds)
    with_more_time(attempt)


# ---- bodies that are not needed ----

REFUSED = {
    "no token": (401, b"POST /v1/evaluate HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"),
    "nothing there": (404, b"POST /nothing HTTP/1.1\r\n" + HEAD + b"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"),
    "wrong method": (405, b"POST /healthz HTTP/1.1\r\n" + HEAD),
    "wrong type": (415, b"POST /v1/evaluate HTTP/1.1\r\n" + HEAD + b"Content-Type: text/plain\r\n"
                   b"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\n"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_body_cannot_trickle_for_ever(server_with, tmp_path, name):
    status, head = REFUSED[name]
    tokens = tmp_path / "tokens"
    tokens.write_text("me 0123456789abcdef0123456789abcdef\n")
    tokens.chmod(0o600)
    def attempt(seconds):
        base = server_with("--receive-seconds", str(seconds), "--tokens", str(tokens))
        with connect(base) as connection:
            send(connection, head + b"Content-Length: 100000\r\n\r\n")
            connection.settimeout(0.1)
            answer = b""
            for _ in range(600 * seconds):
                send(connection, b"x")
                try:
                    answer = connection.recv(65536)
                    break
                except socket.timeout:
                    continue
            connection.settimeout(300)
            answer, _, body = head_and_body(answer + receive_all(connection))
            assert answer == status and json.loads(body)["status"] == status
    with_more_time(attempt)


def test_trickling_refused_bodies_do_not_keep_others_out(server_with):
    base = server_with("--receive-seconds", "2", "--connections", "8")
    connections = [connect(base) for _ in range(8)]
    for connection in connections:
        send(connection, b"POST /nothing HTTP/1.1\r\n" + HEAD + b"Content-Length: 1000000\r\n\r\n")
    over = threading.Event()
    def trickle():
        while not over.wait(0.2):
            for connection in connections:
                send(connection, b"x")
    trickling = threading.Thread(target=trickle)
    trickling.start()
    def is_served():
        return ask(base, b"GET /healthz HTTP/1.1\r\n" + HEAD + b"Connection: close\r\n\r\n").startswith(b"HTTP/1.1 200")
    eventually(is_served)
    over.set()
    trickling.join()
    for connection in connections:
        connection.close()


# ---- more connections than the limit ----

def test_churn_over_the_limit(server_with):
    """There are as many threads as connections, so each thread can have only one. Every place becomes free again, and
    SIGTERM ends the process, as the fixture checks."""
    base = server_with("--connections", "16", "--io-threads", "16", "--log-level", "error")
    request = b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n"
    def churn():
        for i in range(300):
            with connect(base) as connection:
                if i % 3 == 0:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                if i % 2 == 0:
                    send(connection, request)
                    try:
                        connection.recv(65536)
                    except ConnectionResetError:
                        pass
    threads = [threading.Thread(target=churn) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(lambda: metric(base, "frictiond_connections") == 1)
    opened = [connect(base) for _ in range(15)]
    for connection in opened:
        send(connection, request)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    for connection in opened:
        connection.close()


# ---- responses that bypass the library ----

LONG_CHUNK = b"Transfer-Encoding: chunked\r\n\r\n200000\r\n" + b" " * 0x200000 + b"\r\n0\r\n\r\n"


def test_a_preflight_with_a_long_body(server_with):
    base = server_with("--allow-origin", "https://a.example")
    status, headers, body = head_and_body(ask(base,
        b"OPTIONS /v1/evaluate HTTP/1.1\r\n" + HEAD + b"Origin: https://a.example\r\n"
        b"Access-Control-Request-Method: POST\r\n" + LONG_CHUNK))
    assert status == 204 and body == b""
    assert "content-type" not in headers and "content-length" not in headers
    assert headers["access-control-allow-origin"] == "https://a.example"
    assert headers["connection"] == "close"


def test_head_with_a_long_body(server):
    status, headers, body = head_and_body(ask(server, b"HEAD /metrics HTTP/1.1\r\n" + HEAD + LONG_CHUNK))
    assert status == 200 and body == b"" and int(headers["content-length"]) > 1000


def test_answers_past_the_library_have_all_headers(server_with):
    base = server_with("--allow-origin", "https://a.example", "--max-json-bytes", "1K", "--memory-bytes", "16M")
    trace = b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    head = HEAD + b"Origin: https://a.example\r\ntraceparent: " + trace + b"\r\nContent-Type: application/json\r\n"
    for target, expected in (b"/v1/evaluate", 413), (b"/v1/nothing", 404):
        status, headers, body = head_and_body(ask(base, b"POST " + target + b" HTTP/1.1\r\n" + head + LONG_CHUNK))
        assert status == expected and json.loads(body)["status"] == status
        assert headers["access-control-allow-origin"] == "https://a.example"
        assert "x-request-id" in headers["access-control-expose-headers"].lower()
        assert headers["traceresponse"].startswith("00-0af7651916cd43dd8448eb211c80319c-")
        assert headers["vary"] == "Origin"


def test_late_answers_have_all_headers(server_with):
    def attempt(seconds):
        base = server_with("--allow-origin", "https://a.example", "--receive-seconds", str(seconds))
        with connect(base) as connection:
            send(connection, b"POST /v1/evaluate HTTP/1.1\r\n" + HEAD + b"Origin: https://a.example\r\n"
                 b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
            status, headers, _ = head_and_body(receive_all(connection))
        assert status == 408 and headers["access-control-allow-origin"] == "https://a.example"
    with_more_time(attempt)


def test_faulty_heads_are_counted_as_other(server_with):
    base = server_with()
    assert head_and_body(ask(base, b"GET x HTTP/1.1\r\n" + HEAD + b"\r\n"))[0] == 400
    other = 'frictiond_requests_total{route="other",status="400"}'
    eventually(lambda: metric(base, other) == 1)
    assert metric(base, 'frictiond_requests_total{route="/",status="400"}') == 0


def test_a_304_states_the_length_of_its_page(server):
    with urllib.request.urlopen(server + "/") as page:
        tag, length = page.headers["ETag"], page.headers["Content-Length"]
    answer = ask(server, b"GET / HTTP/1.1\r\n" + HEAD + b"Connection: close\r\nIf-None-Match: " + tag.encode() + b"\r\n\r\n")
    status, headers, body = head_and_body(answer)
    assert status == 304 and body == b""
    assert headers.get("content-length", length) == length and "content-type" not in headers
