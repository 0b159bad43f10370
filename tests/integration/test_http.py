"""HTTP itself, byte by byte, including requests that no HTTP library would send. Every case states the response and
whether the connection can be used afterwards (RFC 9112). Every refusal is a problem with a request id, whichever part
of the server found the fault."""
import json
import os
import re
import select
import signal
import socket
import tempfile
import time
import urllib.parse

import pytest

from conftest import start, stop, with_more_time

BODY = b'{"y": [0.1], "mu_s": 1, "mu_k": 0.1, "eps_v": 0.001}'
N = len(BODY)
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
LINE = b"POST /v1/functions/smooth_mu HTTP/1.1\r\n"
POST = LINE + b"Host: localhost\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % N
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
WHOLE = b"%x\r\n%s\r\n" % (N, BODY)
END = b"0\r\n\r\n"


class Connection:
    def __init__(self, base):
        url = urllib.parse.urlsplit(base)
        self.is_unix = url.scheme == "http+unix"
        if self.is_unix:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(url.path)
        else:
            self.socket = socket.create_connection((url.hostname, url.port))
        self.socket.settimeout(300)
        self.buffer = b""

    def expects(self, status, data):
        """Over a Unix-domain socket the Host is not checked."""
        return 200 if self.is_unix and status == 421 else status, data

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (ConnectionResetError, BrokenPipeError):
            pass  # only data sent by the server matters

    def more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return data

    def answer(self):
        """(status, headers, body) of the next answer; None at the end of the connection."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.more():
                assert self.buffer == b"", self.buffer
                return None
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        status = int(re.fullmatch(r"HTTP/1\.1 (\d{3}) .+", lines[0])[1])
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        length = 0 if status == 100 else int(headers["content-length"])
        while len(self.buffer) < length:
            assert self.more(), "the answer is cut off"
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return status, headers, body

    def final(self):
        answer = self.answer()
        while answer and answer[0] == 100:
            answer = self.answer()
        return answer

    def is_usable(self):
        self.send(GET + b"\r\n")
        answer = self.final()
        return answer is not None and answer[0] == 200 and json.loads(answer[2]) == {"status": "ok"}

    def is_closed(self):
        return self.answer() is None

    def close(self):
        self.socket.close()


@pytest.fixture(scope="module")
def unix_server():
    with tempfile.TemporaryDirectory(prefix="http-", dir="/tmp") as directory:
        process, base = start("--port", "none", "--unix", f"{directory}/socket")
        yield base
        assert stop(process) == 0


def pytest_generate_tests(metafunc):
    """Cases that need no server of their own run over TCP and over a Unix-domain socket."""
    if "connect" in metafunc.fixturenames:
        servers = ["server"] if "server_with" in metafunc.fixturenames else ["server", "unix_server"]
        metafunc.parametrize("connect", servers, indirect=True)


@pytest.fixture
def connect(request):
    opened = []
    server = request.getfixturevalue(request.param)

    def one(base=None):
        opened.append(Connection(base or server))
        return opened[-1]

    yield one
    for connection in opened:
        connection.close()


REFUSED_AND_CLOSED = {
    # Content-Length
    "two equal lengths": (400, POST + LENGTH + LENGTH + b"\r\n" + BODY),
    "two lengths": (400, POST + LENGTH + b"Content-Length: 5\r\n\r\n" + BODY),
    "two lengths far apart, other case": (400, POST + LENGTH + b"X-A: b\r\ncontent-LENGTH: 5\r\n\r\n" + BODY),
    "list of lengths": (400, POST + b"Content-Length: %d, %d\r\n\r\n" % (N, N) + BODY),
    "negative length": (400, POST + b"Content-Length: -5\r\n\r\n" + BODY),
    "length with a plus": (400, POST + b"Content-Length: +%d\r\n\r\n" % N + BODY),
    "hexadecimal length": (400, POST + b"Content-Length: 0x2d\r\n\r\n" + BODY),
    "length in words": (400, POST + b"Content-Length: abc\r\n\r\n" + BODY),
    "empty length": (400, POST + b"Content-Length:\r\n\r\n" + BODY),
    "length with a space inside": (400, POST + b"Content-Length: 4 5\r\n\r\n" + BODY),
    "length beyond 64 bits": (413, POST + b"Content-Length: 99999999999999999999999999\r\n\r\n" + BODY),
    "length that is 1 modulo 2^64": (413, POST + b"Content-Length: 18446744073709551617\r\n\r\n" + BODY),
    "length over the limit": (413, POST + b"Content-Length: 999999999999\r\n\r\n" + BODY),
    # Transfer-Encoding
    "length and chunked": (400, POST + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n" + WHOLE + END),
    "chunked and length": (400, POST + b"Transfer-Encoding: chunked\r\n" + LENGTH + b"\r\n" + WHOLE + END),
    "gzip, chunked": (400, POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + WHOLE + END),
    "identity": (400, POST + b"Transfer-Encoding: identity\r\n\r\n" + BODY),
    "xchunked": (400, POST + b"Transfer-Encoding: xchunked\r\n\r\n" + WHOLE + END),
    "chunked in quotes": (400, POST + b'Transfer-Encoding: "chunked"\r\n\r\n' + WHOLE + END),
    "chunked after a vertical tab": (400, POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n" + WHOLE + END),
    "chunked twice": (400, POST + b"Transfer-Encoding: chunked\r\n" * 2 + b"\r\n" + WHOLE + END),
    "space before the colon": (400, POST + b"Transfer-Encoding : chunked\r\n\r\n" + WHOLE + END),
    "chunked in HTTP/1.0": (400, CHUNKED.replace(b"1.1", b"1.0", 1) + WHOLE + END),
    # chunks
    "chunk size 0x..": (400, CHUNKED + b"0x" + WHOLE + END),
    "chunk size with a minus": (400, CHUNKED + b"-" + WHOLE + END),
    "chunk size with a plus": (400, CHUNKED + b"+" + WHOLE + END),
    "chunk size after a space": (400, CHUNKED + b" " + WHOLE + END),
    "chunk size in words": (400, CHUNKED + b"xyz\r\n" + BODY + b"\r\n" + END),
    "no chunk size": (400, CHUNKED + b"\r\n" + BODY + b"\r\n" + END),
    "chunk size of 65 bits": (413, CHUNKED + b"1000000000000000" + WHOLE + END),
    "chunk size of 64 bits": (413, CHUNKED + b"ffffffffffffffff\r\n" + BODY + b"\r\n" + END),
    "chunk size ends in a bare LF": (400, CHUNKED + b"%x\n" % N + BODY + b"\r\n" + END),
    "chunk ends in a bare LF": (400, CHUNKED + b"%x\r\n" % N + BODY + b"\n" + END),
    "chunk extension with a bare LF": (400, CHUNKED + b"%x;a\nb\r\n" % N + BODY + b"\r\n" + END),
    "chunk longer than its size": (400, CHUNKED + b"%x\r\n" % N + BODY + b"XX\r\n" + END),
    "no CR LF after a chunk": (400, CHUNKED + b"%x\r\n" % N + BODY + END),
    "endless chunk extension": (400, CHUNKED + b"%x;" % N + b"a" * 5000),
    "trailer that is not a header": (400, CHUNKED + WHOLE + b"0\r\nX A: b\r\n\r\n"),
    # Host
    "two equal hosts": (400, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"),
    "two hosts": (400, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: b\r\n\r\n"),
    "no host": (400, b"GET /healthz HTTP/1.1\r\n\r\n"),
    "host with a space": (400, b"GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n"),
    "host with a path and a user": (400, b"GET /healthz HTTP/1.1\r\nHost: a/b@c\r\n\r\n"),
    # lines
    "bare LF everywhere": (400, b"GET /healthz HTTP/1.1\nHost: a\n\n"),
    "bare LF after a header": (400, GET + b"X-A: b\nX-C: d\r\n\r\n"),
    "bare LF at the end of the head": (400, GET + b"\n"),
    "bare CR in a value": (400, GET + b"X-A: b\rX-C: d\r\n\r\n"),
    "bare CR everywhere": (400, b"GET /healthz HTTP/1.1\rHost: localhost\r\r"),
    "folded line": (400, GET + b"X-A: b\r\n c\r\n\r\n"),
    "folded first line": (400, b"GET /healthz HTTP/1.1\r\n Host: localhost\r\nHost: b\r\n\r\n"),
    "space in a name": (400, GET + b"X A: b\r\n\r\n"),
    "no colon": (400, GET + b"XAb\r\n\r\n"),
    "no name": (400, GET + b": b\r\n\r\n"),
    "NUL in a value": (400, GET + b"X-A: a\0b\r\n\r\n"),
    "NUL in a name": (400, GET + b"X\0A: b\r\n\r\n"),
    "control character in a value": (400, GET + b"X-A: a\x01b\r\n\r\n"),
    # the request line
    "NUL in the target": (400, b"GET /heal\0thz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "tabs in the request line": (400, b"GET\t/healthz\tHTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "two spaces in the request line": (400, b"GET  /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "space in the target": (400, b"GET /healthz a HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "target without a slash": (400, b"GET healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "method that is not a token": (400, b"G@T /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "HTTP/0.9": (400, b"GET /healthz\r\n\r\n"),
    "http/1.1 in small letters": (400, b"GET /healthz http/1.1\r\nHost: localhost\r\n\r\n"),
    "HTTP/1.10": (400, b"GET /healthz HTTP/1.10\r\nHost: localhost\r\n\r\n"),
    "HTTP/2 preface": (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    "TLS to a plain port": (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 10),
    # sizes
    "long header": (431, GET + b"X-A: " + b"a" * 100000 + b"\r\n\r\n"),
    "many headers": (431, GET + b"".join(b"X-%d: a\r\n" % i for i in range(20000)) + b"\r\n"),
    "long target": (414, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    # others
    "unknown expectation": (417, POST + LENGTH + b"Expect: 200-ok\r\n\r\n" + BODY),
    "two content types": (400, POST + LENGTH + b"Content-Type: application/json\r\n\r\n" + BODY),
}

ANSWERED_AND_USABLE = {
    "plain": (200, GET + b"\r\n"),
    "body": (200, POST + LENGTH + b"\r\n" + BODY),
    "empty lines in front": (200, b"\r\n\r\n" + GET + b"\r\n"),
    "spaces around a length": (200, POST + b"Content-Length: \t %d \t\r\n\r\n" % N + BODY),
    "zeros before a length": (200, POST + b"Content-Length: 000%d\r\n\r\n" % N + BODY),
    "chunks": (200, CHUNKED + WHOLE + END),
    "chunks of one byte": (200, CHUNKED + b"".join(b"1\r\n%c\r\n" % c for c in BODY) + END),
    "ChUnKeD": (200, CHUNKED.replace(b": chunked", b":\tChUnKeD") + WHOLE + END),
    "chunk size in capitals and zeros": (200, CHUNKED + b"000%X\r\n" % N + BODY + b"\r\n000\r\n\r\n"),
    "chunk extensions": (200, CHUNKED + b'%x;a="b";c\r\n' % N + BODY + b"\r\n0;d\r\n\r\n"),
    "trailers change nothing": (200, CHUNKED + WHOLE + b"0\r\nHost: b\r\nContent-Length: 4\r\nX-A: b\r\n\r\n"),
    "empty host": (421, b"GET /healthz HTTP/1.1\r\nHost:\r\n\r\n"),
    "absolute target": (200, b"GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "the longest head": (404, b"GET /" + b"a" * 8000 + b" HTTP/1.1\r\nHost: localhost\r\nX-A: " + b"b" * 12000 + b"\r\n\r\n"),
    "the most headers": (200, GET + b"".join(b"X-%d: %s\r\n" % (i, b"c" * 60) for i in range(279)) + b"\r\n"),
    "HTTP/1.2 is understood": (200, b"GET /healthz HTTP/1.2\r\nHost: localhost\r\n\r\n"),
    "bytes beyond ASCII in a value": (200, GET + b"X-A: a\xffb\r\n\r\n"),
    "GET with a body": (200, GET + b"Content-Length: 3\r\n\r\nabc"),
    "GET with chunks": (200, GET + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n" + END),
    "upgrade is not taken up": (200, GET + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"),
    "no length": (411, POST + b"\r\n"),
    "compressed body": (415, POST + LENGTH + b"Content-Encoding: gzip\r\n\r\n" + BODY),
    "compressed chunks": (415, CHUNKED[:-2] + b"Content-Encoding: gzip\r\n\r\n" + WHOLE + END),
    "method in small letters": (405, b"get /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "OPTIONS *": (404, b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "CONNECT": (404, b"CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "TRACE": (405, b"TRACE /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
}


def check_answer(answer, status):
    assert answer is not None, "closed without an answer"
    assert answer[0] == status, answer
    assert answer[1].get("x-request-id")
    if status >= 400:
        assert answer[1]["content-type"] == "application/problem+json"
        problem = json.loads(answer[2])
        assert problem["status"] == status and problem["detail"]


@pytest.mark.parametrize("name", REFUSED_AND_CLOSED)
def test_refused_and_closed(connect, name):
    status, data = REFUSED_AND_CLOSED[name]
    connection = connect()
    connection.send(data)
    answer = connection.answer()
    check_answer(answer, status)
    assert answer[1]["connection"].lower() == "close"
    connection.send(GET + b"\r\n")
    assert connection.is_closed()


@pytest.mark.parametrize("name", REFUSED_AND_CLOSED)
def test_refused_byte_by_byte_after_another(connect, name):
    status, data = REFUSED_AND_CLOSED[name]
    if len(data) > 2000:
        data = data[:30000]
    connection = connect()
    connection.send(GET + b"\r\n" + data[:1])
    for i in range(1, len(data), 1 if len(data) < 2000 else 1000):
        connection.send(data[i:i + (1 if len(data) < 2000 else 1000)])
    check_answer(connection.answer(), 200)
    check_answer(connection.answer(), status)
    assert connection.is_closed()


@pytest.mark.parametrize("name", ANSWERED_AND_USABLE)
def test_answered_and_usable(connect, name):
    connection = connect()
    status, data = connection.expects(*ANSWERED_AND_USABLE[name])
    connection.send(data)
    check_answer(connection.final(), status)
    assert connection.is_usable()


@pytest.mark.parametrize("name", ANSWERED_AND_USABLE)
def test_answered_byte_by_byte(connect, name):
    connection = connect()
    status, data = connection.expects(*ANSWERED_AND_USABLE[name])
    if not connection.is_unix:
        connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for i in range(len(data)):
        connection.send(data[i:i + 1])
    check_answer(connection.final(), status)
    assert connection.is_usable()


def test_refused_by_the_head_and_then_by_a_chunk(connect):
    """The chunk before the fault is longer than one read of the server, so the first response exists already.
    The second replaces it; the build with AddressSanitizer checks that the first does not leak."""
    connection = connect()
    connection.send(CHUNKED.replace(b"smooth_mu", b"nothing") + b"30000\r\n" + b" " * 0x30000 + b"\r\nxyz\r\n")
    check_answer(connection.answer(), 400)
    assert connection.is_closed()


def test_http_1_0_needs_no_host_and_closes(connect):
    connection = connect()
    connection.send(b"GET /healthz HTTP/1.0\r\n\r\n")
    check_answer(connection.answer(), 200)
    assert connection.is_closed()


def test_close_is_honoured(connect):
    connection = connect()
    connection.send(GET + b"Connection: close\r\n\r\n" + GET + b"\r\n")
    check_answer(connection.answer(), 200)
    assert connection.is_closed()


def test_nothing_is_said_after_the_last_answer(connect):
    """Half a head at the end of the input does not count as a late request."""
    connection = connect()
    connection.send(GET + b"Connection: close\r\n\r\n" + GET)
    check_answer(connection.answer(), 200)
    assert connection.is_closed()


def test_a_client_that_goes_on_after_a_faulty_chunk_is_not_reset(connect):
    """A reset could destroy the response before the client reads it."""
    connection = connect()
    connection.send(POST + b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n")
    assert connection.answer()[0] == 100
    connection.send(b"zz\r\n")
    check_answer(connection.answer(), 400)
    for _ in range(3):
        connection.socket.sendall(b"more")
        time.sleep(0.05)
    assert connection.is_closed()


def test_pipeline(connect):
    """Responses are in order, even if valid requests, refused ones and bodies of both kinds alternate."""
    connection = connect()
    requests = [connection.expects(status, data) for status, data in ANSWERED_AND_USABLE.values()] * 4
    connection.send(b"".join(data for _, data in requests))
    for status, _ in requests:
        check_answer(connection.final(), status)
    assert connection.is_usable()


def test_a_smuggled_request_is_never_run(connect):
    """The second request starts where two parsers could disagree about the end of the first."""
    smuggled = b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: smuggled\r\n\r\n"
    fronts = [POST + b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n" % (len(END) + len(smuggled)) + END,
              POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding : identity\r\n\r\n" + END,
              POST + b"Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n\r\n" + END,
              POST + b"Content-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(smuggled),
              CHUNKED + b"0\n\r\n", CHUNKED + b"0;\n\r\n", CHUNKED + b"00x\r\n\r\n"]
    for front in fronts:
        connection = connect()
        connection.send(front + smuggled)
        check_answer(connection.answer(), 400)
        assert connection.is_closed()


def test_half_closed_peer_is_answered(connect):
    for data, status in [(GET + b"\r\n", 200), (POST + LENGTH + b"\r\n" + BODY, 200), (CHUNKED + WHOLE + END, 200)]:
        connection = connect()
        connection.send(data)
        connection.socket.shutdown(socket.SHUT_WR)
        check_answer(connection.answer(), status)
        assert connection.is_closed()


def test_half_closed_peers_in_the_queue_are_answered(connect):
    """Clients shut down their sending side while their requests wait in the queue or are evaluated."""
    body = json.dumps({"dim": 2, "velocities": [[1, 2]], "friction": {"mu": 0.3, "eps_v": 1e-3}, "collisions": {
        "plane_vertex": {"vertices": [0] * 2000, "normal_force": 1, "plane_normal": [0, 1]}}}).encode()
    request = b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(body), body)
    for _ in range(3):
        connections = [connect() for _ in range(20)]
        for connection in connections:
            connection.send(request)
            connection.socket.shutdown(socket.SHUT_WR)
        for connection in connections:
            check_answer(connection.answer(), 200)
            assert connection.is_closed()


def test_half_closed_connections_end_soon(server_with, connect):
    """The library may overlook an end of stream that arrives together with data, and would wait for a minute of
    silence. Such a connection has one second left; the test allows half a minute, for busy machines. A request that can
    never be completed may get a response or none."""
    base = server_with()
    for data, status in [(GET + b"\r\n", 200), (POST + LENGTH + b"\r\n" + BODY, 200), (CHUNKED + WHOLE + END, 200),
                         (POST + LENGTH + b"\r\n", 408), (POST + LENGTH + b"\r\n" + BODY[:5], 408), (CHUNKED, 408),
                         (CHUNKED + WHOLE, 408), (CHUNKED + WHOLE[:9], 408), (GET, 408)]:
        connection = connect(base)
        assert connection.is_usable()
        server_with.started[0].send_signal(signal.SIGSTOP)  # so that data and end have both arrived when it looks
        connection.send(data)
        connection.socket.shutdown(socket.SHUT_WR)
        server_with.started[0].send_signal(signal.SIGCONT)
        began = time.monotonic()
        answer = connection.answer()
        if answer is not None or status == 200:
            check_answer(answer, status)
            assert connection.is_closed()
        assert time.monotonic() - began < 30, data


MEBIBYTE = 1 << 20
NOWHERE = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\n"


def test_a_refused_body_that_is_too_long_to_be_read(connect):
    """A refused body of up to a mebibyte is read to keep the connection usable; a longer one is not waited for."""
    connection = connect()
    connection.send(NOWHERE + b"Content-Length: %d\r\n\r\n" % MEBIBYTE)
    assert not select.select([connection.socket], [], [], 0.5)[0]
    connection.send(b" " * MEBIBYTE)
    check_answer(connection.answer(), 404)
    assert connection.is_usable()
    connection = connect()
    connection.send(NOWHERE + b"Content-Length: %d\r\n\r\n" % (MEBIBYTE + 1))
    check_answer(connection.answer(), 404)
    assert connection.is_closed()


def test_a_refused_body_in_chunks_that_becomes_too_long(connect):
    chunk = b"%x\r\n%s\r\n" % (MEBIBYTE // 16, b" " * (MEBIBYTE // 16))
    connection = connect()
    connection.send(NOWHERE + b"Transfer-Encoding: chunked\r\n\r\n" + 16 * chunk + END)
    check_answer(connection.answer(), 404)
    assert connection.is_usable()
    connection = connect()
    connection.send(NOWHERE + b"Transfer-Encoding: chunked\r\n\r\n" + 16 * chunk)
    assert not select.select([connection.socket], [], [], 0.5)[0]
    connection.send(chunk)
    check_answer(connection.answer(), 404)
    assert connection.is_closed()


def test_expect_continue(connect):
    connection = connect()
    connection.send(POST + LENGTH + b"Expect: 100-continue\r\n\r\n")
    assert connection.answer()[0] == 100
    connection.send(BODY)
    check_answer(connection.answer(), 200)
    assert connection.is_usable()


def test_expect_continue_refused(connect):
    """There is no 100 before a refusal; the body never comes, so the connection is closed."""
    for data, status in [(POST + b"Content-Length: 999999999999\r\n", 413),
                         (POST + LENGTH + b"Content-Encoding: gzip\r\n", 415),
                         (POST.replace(b"smooth_mu", b"nothing") + LENGTH, 404)]:
        connection = connect()
        connection.send(data + b"Expect: 100-continue\r\n\r\n")
        check_answer(connection.answer(), status)
        assert connection.is_closed()


def test_over_the_limit_without_breaking_the_pipe(server_with, connect):
    """An announced body is refused at once, a chunked one as soon as it is too long. The client may finish sending."""
    base = server_with("--max-json-bytes", "1K")
    for head in (POST + b"Content-Length: 100000\r\n\r\n", CHUNKED + b"%x\r\n" % 100000):
        connection = connect(base)
        connection.socket.sendall(head)
        if b"Length" in head:
            check_answer(connection.answer(), 413)
        connection.socket.sendall(b" " * 100000 + (b"" if b"Length" in head else b"\r\n" + END))
        if b"Length" not in head:
            check_answer(connection.answer(), 413)


@pytest.mark.parametrize("data", [GET[:20], POST + LENGTH, POST + LENGTH + b"\r\n" + BODY[:5],
                                  CHUNKED + b"%x\r\n" % N + BODY[:5], CHUNKED + WHOLE + b"0\r\nX-"],
                         ids=["request line", "head", "body", "chunk", "trailers"])
@pytest.mark.parametrize("trickles", [False, True], ids=["silent", "trickling"])
def test_slow(server_with, connect, data, trickles):
    """A request that has not arrived in time gets 408, whether the client is silent or sends a byte now and then."""
    def attempt(seconds):
        connection = connect(server_with("--receive-seconds", str(seconds)))
        connection.send(data)
        for _ in range(1000 if trickles else 0):
            if select.select([connection.socket], [], [], 0.1)[0]:
                break
            connection.send(b"a")
        check_answer(connection.answer(), 408)
        assert connection.is_closed()

    with_more_time(attempt)


def test_slow_clients_hold_nobody_up(server_with, connect):
    base = server_with("--io-threads", "1", "--threads", "1")
    slow = [connect(base) for _ in range(50)]
    for i, connection in enumerate(slow):
        connection.send([GET[:20], POST + LENGTH + b"\r\n" + BODY[:5], CHUNKED + b"%x\r\n" % N][i % 3])
    quick = connect(base)
    for _ in range(100):
        assert quick.is_usable()


def test_idle_connections_cost_little(server_with, connect):
    """One thread serves 500 idle connections; `make bench` measures how they affect the latency of other requests."""
    base = server_with("--io-threads", "1")
    idle = [connect(base) for _ in range(500)]
    quick = connect(base)
    for _ in range(200):
        assert quick.is_usable()
    assert all(connection.is_usable() for connection in idle[::50])


def test_as_many_requests_at_once_as_the_library_takes_events(server_with, connect):
    """libmicrohttpd takes 128 events at a time, and after exactly 128 it would wait for another before it serves any."""
    base = server_with("--io-threads", "1")
    process = server_with.started[0]
    connections = [connect(base) for _ in range(128)]
    assert all(connection.is_usable() for connection in connections)
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED)
    for connection in connections:
        connection.send(GET + b"\r\n")
    process.send_signal(signal.SIGCONT)
    for connection in connections:
        check_answer(connection.answer(), 200)


def test_reset_in_the_middle(connect):
    """A client that disconnects, at any point, does not affect others."""
    data = POST + LENGTH + b"\r\n" + BODY + CHUNKED + WHOLE + END
    for n in range(0, len(data), 7):
        connection = connect()
        connection.send(data[:n])
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
    assert connect().is_usable()


def test_silence_before_a_request_is_closed(server_with, connect):
    """No request has begun, so there is no answer."""
    def attempt(seconds):
        connection = connect(server_with("--receive-seconds", str(seconds)))
        assert connection.is_usable()
        assert connection.is_closed()

    with_more_time(attempt)


def evaluate(base, **more):
    request = {"dim": 2, "velocities": [[1, 2], [0, 0], [0, 1]], "friction": {"mu": 0.3, "eps_v": 1e-3},
               "collisions": {"plane_vertex": {"vertices": [0, 1], "normal_force": 1, "plane_normal": [0, 1]},
                              "vertex_vertex": {"vertices": [[1, 2]], "normal_force": 1, "tangent_basis": [[1], [0]]}}}
    body = json.dumps({**request, **more}).encode()
    connection = Connection(base)
    connection.send(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(body) + body)
    answer = connection.answer()
    connection.close()
    return answer


def framed(document, tail_bytes):
    text = json.dumps(document).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + bytes(tail_bytes)


@pytest.mark.parametrize("what", ["strings of backslashes", "an array of blanks", "a function and its answer"])
def test_deadline_while_reading_and_printing(server_with, what):
    """Only the deadline can end these requests within a second: while they are read, in the loop over entries, and
    while the result is printed."""
    base = server_with("--deadline-seconds", "1", "--threads", "1")
    n = 10_000_000
    path, media, body = {
        "strings of backslashes": lambda: ("/v1/evaluate", "application/json", b"[" + b",".join(
            [b'"' + b"\\" * 1_000_000 + b'"'] * 100) + b"]"),
        "an array of blanks": lambda: ("/v1/evaluate", "application/json", b"[" + b" " * 200_000_000 + b'"x"]'),
        "a function and its answer": lambda: ("/v1/functions/smooth_friction_f0", "application/vnd.frictiond.frame", framed(
            {"y": {"dtype": "f64", "shape": [n], "offset": 0}, "eps_v": 1.5}, 8 * n))}[what]()
    connection = Connection(base)
    connection.send(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nAccept: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n" % (path.encode(), media.encode(), len(body)))
    time.sleep(1.2)
    connection.send(body)
    answer = connection.answer()
    check_answer(answer, 503)
    assert "deadline of 1 second" in json.loads(answer[2])["detail"]
    assert connection.is_usable()


def test_contacts_and_vertices_have_limits(server_with):
    check_answer(evaluate(server_with("--max-contacts", "3", "--max-vertices", "3")), 200)
    for option, pointer in [("contacts", "/collisions/plane_vertex/vertices"), ("vertices", "/velocities")]:
        answer = evaluate(server_with("--max-" + option, "2"))
        check_answer(answer, 413)
        assert json.loads(answer[2])["errors"] == [{"pointer": pointer, "detail": f"3 {option} exceed the limit of 2"}]


def test_memory_has_a_ceiling(server_with):
    """A request that needs more memory than there is gets 413. Smaller requests still work, and with more memory the
    same request succeeds."""
    n = 20000
    many = {"plane_vertex": {"vertices": [0] * n, "normal_force": 1, "plane_normal": [0, 1]}}
    tight, roomy = server_with("--memory-bytes", "16M"), server_with("--memory-bytes", "256M")
    large = {"collisions": many, "velocities": [[1, 2]] * 1000000, "outputs": ["potential", "gradient"]}
    check_answer(evaluate(tight, **large), 413)
    check_answer(evaluate(tight), 200)
    check_answer(evaluate(roomy, **large), 200)
    check_answer(evaluate(tight), 200)


def test_deadline(server_with):
    """A request that takes too long is stopped, and its response states this."""
    base = server_with("--deadline-seconds", "1", "--threads", "1")
    n = 1500000
    slow = {"outputs": ["hessian"], "hessian": {"format": "csr"}, "velocities": [[1, 2]] * 4,
            "collisions": {"plane_vertex": {"vertices": [0, 1, 2, 3] * (n // 4), "normal_force": 1, "plane_normal": [0, 1]}}}
    body = json.dumps({"dim": 2, "friction": {"mu": 0.3, "eps_v": 1e-3}, **slow}).encode()
    connection = Connection(base)
    connection.send(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                    b"Content-Length: %d\r\n\r\n" % len(body))
    time.sleep(1.2)
    connection.send(body)
    answer = connection.answer()
    check_answer(answer, 503)
    assert "deadline of 1 second" in json.loads(answer[2])["detail"]
    assert answer[1]["retry-after"]
    assert connection.is_usable()
