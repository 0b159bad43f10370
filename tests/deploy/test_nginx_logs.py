"""nginx never logs a client's query, whatever fails; the logs still show the failure."""
import contextlib
import http.client
import re
import shutil
import signal
import socket
import socketserver
import threading
import time

import pytest

from proxy import Proxy, call, code_of

MARK = "q7-secret-7q"
PATH = "/v1/functions/smooth_mu"
TARGET = f"{PATH}?mu_s=0.5&y={MARK}"
HEADERS = {"Referer": f"http://a.example/?{MARK}", "X-Data": MARK, "Cookie": f"a={MARK}",
           "Authorization": f"Bearer {MARK}"}
ANSWERS = {
    "garbage": b"neither HTTP nor anything else\r\n\r\n",
    "long head": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: " + 20000 * b"a" + b"\r\n\r\n",
    "half": b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
    "half a chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf",
    "bad chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\nhalf",
    "large": b"HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n" + bytes(1 << 25),
    "fine": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK",
    "nothing": b"",
}


class Raw(socketserver.ThreadingTCPServer):
    """A replica that responds to a head with the test's bytes; with None, never."""
    daemon_threads, block_on_close = True, False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), RawHandler)
        self.answer, self.seen, self.over = ANSWERS["fine"], threading.Semaphore(0), threading.Event()
        self.address = f"127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def end(self):
        self.over.set()
        self.shutdown()
        self.server_close()


class RawHandler(socketserver.StreamRequestHandler):
    def handle(self):
        while self.rfile.readline().strip():
            pass
        self.server.seen.release()
        if self.server.answer is None:
            self.server.over.wait()
            return
        with contextlib.suppress(OSError):
            self.wfile.write(self.server.answer)


@pytest.fixture
def replica():
    one = Raw()
    yield one
    one.end()


def ask(proxy, method="GET", body=None):
    """The status; 0 if the response breaks off."""
    try:
        return call(proxy, method, TARGET, body, HEADERS)[0]
    except http.client.HTTPException:
        return 0


def refusal(proxy, method="GET", body=None):
    """(status, code) of a response made by nginx."""
    answer = call(proxy, method, TARGET, body, HEADERS)
    return answer[0], code_of(answer)


def send(proxy, head):
    """The status returned for raw bytes; 0 if the connection ends without one."""
    answer = b""
    with socket.create_connection(("127.0.0.1", proxy.port)) as connection, contextlib.suppress(ConnectionResetError):
        connection.sendall(head)
        while some := connection.recv(65536):
            answer += some
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def written(directory):
    """The contents of all files in the directory except the configuration."""
    return {path: path.read_bytes() for path in directory.rglob("*")
            if path.is_file() and path.parent != directory / "nginx"}


def lines(directory):
    """The fields of each line of the access log."""
    text = (directory / "log").read_text(errors="replace")
    return [dict(re.findall(r'(\w+)="?([^" ]*)"?', line)) for line in text.splitlines() if line.startswith("time=")]


def logged(directory, status):
    """The line of the only request with this status."""
    for _ in range(1200):
        found = [line for line in lines(directory) if line["status"] == str(status)]
        if found:
            [line] = found
            return line
        time.sleep(0.05)
    raise AssertionError(f"no line with status {status}: {lines(directory)}")


def is_silent(directory):
    culprits = [(path, text) for path, text in written(directory).items() if MARK.encode() in text]
    assert not culprits


# nginx mistakes garbage for an HTTP/0.9 response.
BROKEN = {"garbage": ("009", ""), "long head": ("503", "no_answer"), "nothing": ("503", "no_answer"),
          "half": ("200", ""), "half a chunk": ("200", ""), "bad chunk": ("200", "")}


@pytest.mark.parametrize("answer", BROKEN)
def test_a_broken_answer(directory, replica, answer):
    replica.answer = ANSWERS[answer]
    with Proxy(directory, [replica.address]) as proxy:
        ask(proxy)
        status, cause = BROKEN[answer]
        line = logged(directory, status)
        assert (line["cause"], line["path"]) == (cause, PATH)
        if answer == "half":
            assert (line["upstream_announced"], line["upstream_bytes"]) == ("9", "4")
    is_silent(directory)


def test_nobody_listens(directory):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        with Proxy(directory, [f"127.0.0.1:{silent.getsockname()[1]}"]) as proxy:
            assert refusal(proxy) == (503, "stopped")
            assert logged(directory, 503)["cause"] == "no_answer"
    is_silent(directory)


def test_a_replica_is_silent(directory, replica):
    replica.answer = None
    proxy = Proxy(directory, [replica.address])
    proxy.change("proxy_read_timeout 310s;", "proxy_read_timeout 1s;")
    with proxy:
        assert refusal(proxy) == (503, "deadline_passed")
        assert logged(directory, 503)["cause"] == "timed_out"
    is_silent(directory)


def test_a_client_leaves(directory, replica):
    replica.answer = None
    with Proxy(directory, [replica.address]) as proxy:
        connection = http.client.HTTPConnection("127.0.0.1", proxy.port)
        connection.request("GET", TARGET, headers=HEADERS)
        replica.seen.acquire()
        connection.close()
        assert logged(directory, 499)["path"] == PATH
    is_silent(directory)


def test_a_client_leaves_in_a_body(directory, replica):
    with Proxy(directory, [replica.address]) as proxy:
        with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
            connection.sendall(f"POST {TARGET} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf".encode())
        assert logged(directory, 400)["path"] == PATH
    is_silent(directory)


def test_a_body_does_not_come(directory, replica):
    proxy = Proxy(directory, [replica.address])
    proxy.change("client_body_timeout 30s;", "client_body_timeout 1s;")
    with proxy:
        send(proxy, f"POST {TARGET} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf".encode())
        assert logged(directory, 408)["path"] == PATH
    is_silent(directory)


def test_too_many_connections(directory, replica):
    replica.answer = None
    proxy = Proxy(directory, [replica.address])
    proxy.change("limit_conn per_address 256;", "limit_conn per_address 1;")
    with proxy, contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.port)) as first:
        first.request("GET", TARGET, headers=HEADERS)
        replica.seen.acquire()
        assert refusal(proxy) == (429, "address_has_too_many_connections")
        assert logged(directory, 429)["cause"] == "too_many_connections"
    is_silent(directory)


@pytest.mark.parametrize("fields", ["Content-Length: 1073741825", "Transfer-Encoding: chunked"])
def test_too_long_a_body(directory, replica, fields):
    with Proxy(directory, [replica.address]) as proxy:
        assert send(proxy, f"POST {TARGET} HTTP/1.1\r\nHost: a\r\n{fields}\r\n\r\n40000001\r\na".encode()) == 413
        assert logged(directory, 413)["path"] == PATH
    is_silent(directory)


HEADS = {
    "long target": (414, f"GET {TARGET}{9000 * 'a'} HTTP/1.1\r\nHost: a\r\n"),
    "long field": (431, f"GET {TARGET} HTTP/1.1\r\nHost: a\r\nA: {20000 * 'a'}\r\n"),
    "no host": (400, f"GET {TARGET} HTTP/1.1\r\n"),
    "two lengths": (400, f"GET {TARGET} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n"),
    "bad host": (400, f"GET {TARGET} HTTP/1.1\r\nHost: a/{MARK}\r\n"),
    "bad line": (400, f"GET {TARGET} {MARK} HTTP/1.1\r\nHost: a\r\n"),
    "bad version": (505, f"GET {TARGET} HTTP/3.7\r\nHost: a\r\n"),
    "above the root": (400, f"GET /../..?{MARK} HTTP/1.1\r\nHost: a\r\n"),
    "another coding": (400, f"GET {TARGET} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n"),
    "metrics": (404, f"GET /metrics?{MARK} HTTP/1.1\r\nHost: a\r\n"),
    "own pages": (404, f"GET /problem/502?{MARK} HTTP/1.1\r\nHost: a\r\n"),
    "absolute": (200, f"GET http://a.example{TARGET} HTTP/1.1\r\nHost: a\r\n"),
    "absolute without a path": (200, f"GET http://a.example?{MARK} HTTP/1.1\r\nHost: a\r\n"),
    "fragment": (200, f"GET {PATH}#{MARK} HTTP/1.1\r\nHost: a\r\n"),
}


@pytest.mark.parametrize("name", HEADS)
def test_heads(directory, replica, name):
    status, head = HEADS[name]
    with Proxy(directory, [replica.address]) as proxy:
        assert send(proxy, f"{head}Connection: close\r\n\r\n".encode()) == status
        assert logged(directory, status)["cause"] == ""
    is_silent(directory)


def lose(folder):
    """A path where nothing can be written: even root cannot write below a file."""
    shutil.rmtree(folder)
    folder.write_text("")


def test_a_body_cannot_be_kept(directory, replica):
    with Proxy(directory, [replica.address]) as proxy:
        lose(directory / "spool/bodies")
        assert refusal(proxy, "POST", bytes(4 << 20)) == (503, "out_of_memory")
        assert logged(directory, 503)["cause"] == "proxy_failed"
    is_silent(directory)


def test_an_answer_cannot_be_kept(directory, replica):
    """nginx gives up a response if the client reads it more slowly than the replica sends it."""
    replica.answer = ANSWERS["large"]
    with Proxy(directory, [replica.address]) as proxy:
        lose(directory / "spool/answers")
        with socket.create_connection(("127.0.0.1", proxy.port)) as connection:
            connection.sendall(f"GET {TARGET} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            line = logged(directory, 200)
            assert line["completion"] == ""
    is_silent(directory)


def test_nginx_is_stopped_during_a_request(directory, replica):
    replica.answer = None
    proxy = Proxy(directory, [replica.address])
    proxy.change("worker_shutdown_timeout 330s;", "worker_shutdown_timeout 1s;")
    with proxy, contextlib.closing(http.client.HTTPConnection("127.0.0.1", proxy.port)) as held:
        held.request("GET", TARGET, headers=HEADERS)
        replica.seen.acquire()
        proxy.process.send_signal(signal.SIGQUIT)
        proxy.process.wait()
    is_silent(directory)


def test_an_error_log_of_requests_would_tell(directory, replica):
    """Shows that the tests above can fail."""
    replica.answer = ANSWERS["nothing"]
    proxy = Proxy(directory, [replica.address])
    proxy.change("error_log /dev/null emerg;", "error_log stderr error;")
    with proxy:
        assert ask(proxy) == 503
    with pytest.raises(AssertionError):
        is_silent(directory)


def test_startup_errors_are_logged(directory):
    proxy = Proxy(directory, ["127.0.0.1:1"])
    proxy.change("limit_conn per_address 256;", "limit_conn nowhere 256;")
    status, text = proxy.check()
    assert status == 1 and "nowhere" in text
