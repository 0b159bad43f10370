"""Access: bearer tokens and their reload, TLS, origins of web pages, addresses that must be chosen explicitly."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.parse

import pytest

from conftest import READY, ROOT, eventually, with_more_time

PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
EVALUATE = "/v1/evaluate"
JSON = {"Content-Type": "application/json"}
CONTACT = json.dumps({"dim": 2, "velocities": [[0, 0]], "friction": {"mu": 0.3, "eps_v": 0.1}, "collisions": {
    "plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}}).encode()
LAB, HUB = "lab-0123456789abcdef", "hub~0123456789/abc+def=="
ORIGIN = "https://a.example"


class Server:
    """A server for one test. Its log can be read, and signals can be sent to it."""

    def __init__(self, folder, *options, command=(), environment=None):
        self.log_path = folder / f"log.{time.monotonic_ns()}"
        with open(self.log_path, "w") as log:
            self.process = subprocess.Popen([*command, str(PROGRAM), "--port", "0", *map(str, options)], text=True,
                                            stdout=subprocess.PIPE, stderr=log,
                                            env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline().rstrip("\n")
        if not line.startswith(READY):
            self.process.wait()
            pytest.fail(f"the server did not start: {line} {self.log()}")
        self.base = line[len(READY):]
        url = urllib.parse.urlsplit(self.base)
        self.scheme, self.host, self.port = url.scheme, url.hostname, url.port

    def log(self):
        return self.log_path.read_text()

    def await_log(self, text, n):
        """Returns the log once it contains the text n times: a line may be written a moment after the response was
        sent."""
        try:
            eventually(lambda: self.log().count(text) >= n)
        except AssertionError:
            pytest.fail(f"{text!r} never came: {self.log()}")
        return self.log()

    def hang_up(self, expected):
        """Sends SIGHUP; returns once the log shows another reload."""
        before = self.log().count(expected)
        self.process.send_signal(signal.SIGHUP)
        self.await_log(expected, before + 1)

    def connect(self, context=None):
        if context:
            return http.client.HTTPSConnection(self.host, self.port, context=context, timeout=300)
        return http.client.HTTPConnection(self.host, self.port, timeout=300)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait()
        self.process.stdout.close()
        return code


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(*options, **more):
        servers.append(Server(tmp_path, *options, **more))
        return servers[-1]

    yield start
    assert [server.stop() for server in servers] == [0] * len(servers)


def ask(connection, method, target, token=None, body=None, headers=None):
    headers = dict(headers or {})
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    connection.request(method, target, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def refused(*options, **environment):
    done = subprocess.run([str(PROGRAM), "--port", "0", *map(str, options)], capture_output=True, text=True,
                          env={**os.environ, **environment}, timeout=300)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.rstrip("\n").split("\n")[-1].startswith("frictiond: ")
    return done.stderr


def write_tokens(path, text):
    """Replaces a file by renaming, the right way for a file that is in use."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.chmod(0o600)
    new.rename(path)
    return path


@pytest.fixture
def tokens(tmp_path):
    return write_tokens(tmp_path / "tokens", f"# who\nlab {LAB}\n\nhub\t{HUB}\r\n")


# --- tokens ----------------------------------------------------------------------------------------------------------

def test_all_but_what_is_public_needs_a_token(serve, tokens):
    server = serve("--tokens", tokens)
    connection = server.connect()
    for path in "/healthz", "/readyz", "/openapi.json":
        assert ask(connection, "GET", path)[0] == 200
        assert ask(connection, "GET", path, "wrong")[0] == 200
    assert ask(connection, "GET", "/explorer/../v1/info")[0] == 404  # begins like a public path but is not one
    for method, path in ("GET", "/v1/info"), ("GET", "/metrics"), ("GET", "/nowhere"), ("OPTIONS", EVALUATE), \
            ("DELETE", "/healthz/"), ("GET", "/v1/functions"), ("PUT", EVALUATE), ("GET", "/healthz/../v1/info"):
        status, headers, body = ask(connection, method, path)
        assert status == 401, path
        assert headers["WWW-Authenticate"] == 'Bearer realm="frictiond"'
        assert headers["Content-Type"] == "application/problem+json"
        assert json.loads(body)["status"] == 401
        status, headers, body = ask(connection, method, path, LAB + "x")
        assert status == 401 and headers["WWW-Authenticate"] == 'Bearer realm="frictiond", error="invalid_token"'
    assert ask(connection, "HEAD", "/v1/info")[::2] == (401, b"")
    for token in LAB, HUB:
        assert ask(connection, "GET", "/v1/info", token)[0] == 200
        assert ask(connection, "POST", EVALUATE, token, CONTACT, JSON)[0] == 200
        assert ask(connection, "GET", "/nowhere", token)[0] == 404
        assert ask(connection, "DELETE", "/v1/info", token)[0] == 405
    assert ask(connection, "GET", "/v1/info", headers={"authorization": f"bEaReR  {LAB} "})[0] == 200
    assert ask(connection, "GET", "/v1/info", headers={"Authorization": f"Basic {LAB}"})[0] == 401
    for token in "", LAB[:-1], LAB.upper(), f"{LAB} {LAB}", f"{LAB},{HUB}", "x" * 4000:
        assert ask(connection, "GET", "/v1/info", token)[0] == 401


def test_log_has_names_and_no_tokens(serve, tokens):
    server = serve("--tokens", tokens, "--log-level", "debug")
    connection = server.connect()
    ask(connection, "GET", "/v1/info", LAB)
    ask(connection, "GET", f"/v1/info?access_token={LAB}", HUB)
    ask(connection, "GET", "/v1/info", LAB + "x")
    ask(connection, "GET", "/healthz", LAB)
    ask(connection, "GET", "/healthz")
    log = server.await_log("request_id=", 5)
    assert LAB not in log and HUB not in log and "lab-0" not in log
    lines = [line for line in log.splitlines() if "request_id=" in line]
    assert [' token="lab"' in line for line in lines] == [True, False, False, False, False]
    assert [' token="hub"' in line for line in lines] == [False, True, False, False, False]


def test_metrics_count_refused_requests(serve, tokens):
    server = serve("--tokens", tokens)
    connection = server.connect()
    for token in None, "wrong", LAB + "x":
        assert ask(connection, "POST", EVALUATE, token, CONTACT, JSON)[0] == 401
    assert ask(connection, "POST", EVALUATE, LAB, CONTACT, JSON)[0] == 200
    server.await_log("request_id=", 4)
    metrics = ask(connection, "GET", "/metrics", HUB)[2].decode().splitlines()
    assert 'frictiond_rejected_total{reason="unauthorized"} 3' in metrics
    assert f'frictiond_requests_total{{route="{EVALUATE}",status="401"}} 3' in metrics


def raw(server, data, wait=True):
    """Everything that the server sends in response to these bytes until it closes."""
    with socket.create_connection((server.host, server.port)) as s:
        s.settimeout(300)
        s.sendall(data)
        got = b""
        while wait and (more := s.recv(65536)):
            got += more
        return got


def test_refused_by_the_head_alone(serve, tokens):
    """The refusal waits neither for a 100 nor for the body, which is announced but never sent."""
    server = serve("--tokens", tokens)
    head = f"POST {EVALUATE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n".encode()
    for more in b"Content-Length: 1000\r\nExpect: 100-continue\r\n", b"Content-Length: 200000000\r\n", \
            b"Content-Length: 999999999999\r\n", b"Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n":
        assert raw(server, head + more + b"\r\n").startswith(b"HTTP/1.1 401 "), more
    connection = server.connect()
    assert ask(connection, "POST", EVALUATE, "wrong", CONTACT, JSON)[0] == 401
    assert ask(connection, "POST", EVALUATE, LAB, CONTACT, JSON)[0] == 200  # on the same connection
    compressed = {**JSON, "Content-Encoding": "gzip"}
    assert ask(connection, "POST", EVALUATE, None, CONTACT, compressed)[0] == 401
    assert ask(connection, "POST", EVALUATE, LAB, CONTACT, compressed)[0] == 415


def test_one_authorization_only(serve, tokens):
    lines = f"Authorization: Bearer {LAB}\r\n".encode()
    for server in serve("--tokens", tokens), serve():
        for target in b"/v1/info", b"/healthz":
            got = raw(server, b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\n" + 2 * lines + b"\r\n")
            assert got.startswith(b"HTTP/1.1 400 "), got


def test_curl(serve, tokens):
    server = serve("--tokens", tokens)

    def curl(*arguments):
        command = ["curl", "-s", "--noproxy", "*", "-o", os.devnull, "-w", "%{http_code}", *arguments]
        return subprocess.run(command, capture_output=True, text=True).stdout

    assert curl(server.base + "/v1/info") == "401"
    assert curl("--oauth2-bearer", LAB, server.base + "/v1/info") == "200"
    assert curl("-H", f"Authorization: Bearer {HUB}", "-H", "Content-Type: application/json", "-d", CONTACT.decode(),
                server.base + EVALUATE) == "200"


def test_bad_files_of_tokens(tmp_path):
    path = tmp_path / "tokens"
    for text, what in (f"lab {LAB}\nhub {LAB}\n", ":2: the token of 'hub' is the same as that of 'lab'"), \
            ("lab short\n", ":1: "), \
            ("", "no token"), (f"lab {LAB}\nlab {HUB}\n", ":2: a token named 'lab'"):
        err = refused("--tokens", write_tokens(path, text))
        assert f"--tokens: {path}" in err and what in err
        assert LAB not in err and "short\n" not in err
    assert "No such file" in refused("--tokens", tmp_path / "none")
    assert "No such file" in refused(FRICTIOND_TOKENS=str(tmp_path / "none"))
    assert "not a regular file" in refused("--tokens", tmp_path)


def test_warning_if_everybody_can_read_the_tokens(serve, tokens):
    assert "level=warning" not in serve("--tokens", tokens).log()
    tokens.chmod(0o644)
    assert 'level=warning msg="' + str(tokens) in serve("--tokens", tokens).log()
    assert "level=warning" not in serve("--tokens", tokens, "--log-level", "error").log()


def test_reload(serve, tokens):
    server = serve("--tokens", tokens)
    connection = server.connect()
    write_tokens(tokens, f"hub {HUB}\nnew {'n' * 16}\n")
    server.hang_up("tokens read: 2")
    assert [ask(connection, "GET", "/v1/info", token)[0] for token in (LAB, HUB, "n" * 16)] == [401, 200, 200]
    write_tokens(tokens, f"lab {LAB}\nbad\n")
    server.hang_up("tokens are unchanged")
    assert f"{tokens}:2: a line is a name and a token" in server.log()
    assert [ask(connection, "GET", "/v1/info", token)[0] for token in (LAB, HUB, "n" * 16)] == [401, 200, 200]
    tokens.unlink()
    server.hang_up("tokens are unchanged")
    assert ask(connection, "GET", "/v1/info", HUB)[0] == 200


def test_there_are_files_left_when_all_places_are_taken(serve, tokens):
    """The server keeps descriptors for refusing further clients, for lingering connections, and for rereading the
    tokens."""
    server = serve("--tokens", tokens, "--connections", 100, "--io-threads", 40,
                   command=("sh", "-c", 'ulimit -Sn 64; exec "$@"', "sh"))
    with contextlib.ExitStack() as stack:
        def connect():
            s = stack.enter_context(socket.create_connection((server.host, server.port)))
            s.settimeout(60)
            return s

        for _ in range(100):
            connect()
        assert [connect().recv(12) for _ in range(70)] == 70 * [b"HTTP/1.1 503"]
        write_tokens(tokens, f"hub {HUB}\n")
        server.hang_up("tokens read: 1")


def test_nothing_to_reload(serve):
    server = serve()
    server.hang_up("no tokens and no certificate")
    assert ask(server.connect(), "GET", "/healthz")[0] == 200


def test_reload_under_load(serve, tokens):
    """Tokens that are in both files are never refused; a token that is in neither always is."""
    server = serve("--tokens", tokens)
    stop, wrong, counts = threading.Event(), [], []

    def client(token, expected):
        connection, n = server.connect(), 0
        while n == 0 or not stop.is_set():
            status = ask(connection, "POST", EVALUATE, token, CONTACT, JSON)[0]
            if status != expected:
                wrong.append((token, status))
            n += 1
        counts.append(n)

    threads = [threading.Thread(target=client, args=arguments)
               for arguments in ((LAB, 200), (LAB, 200), (LAB, 200), ("never-0123456789", 401))]
    for thread in threads:
        thread.start()
    for i in range(20):
        write_tokens(tokens, [f"lab {LAB}\n", f"hub {HUB}\nlab {LAB}\n", "lab\n"][i % 3])
        server.hang_up("tokens are unchanged" if i % 3 == 2 else "tokens read: ")
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(counts) == 4 and min(counts) > 0


# --- addresses -------------------------------------------------------------------------------------------------------

def test_other_addresses_need_tokens_or_anonymous(tokens):
    for host in "0.0.0.0", "::ffff:0.0.0.0":
        err = refused("--host", host)
        assert host in err and "--tokens" in err and "--anonymous yes" in err
    assert "--anonymous: 'maybe' is not one of no, yes" in refused("--anonymous", "maybe")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.9.9.9"])
def test_loopback_needs_no_option(serve, host):
    server = serve("--host", host)
    assert ask(server.connect(), "GET", "/v1/info")[0] == 200
    assert "level=warning" not in server.log()


def test_anonymous(serve, tokens):
    """Runs in a separate network namespace, so that nobody can reach the server."""
    alone = ("unshare", "-rn")
    if subprocess.run([*alone, "true"], capture_output=True).returncode != 0:
        pytest.skip("no network namespaces here")
    server = serve("--host", "0.0.0.0", "--anonymous", "yes", command=alone)
    assert 'level=warning msg="no tokens: anybody who can reach 0.0.0.0 may use the service"' in server.log()
    server = serve("--host", "0.0.0.0", command=alone, environment={"FRICTIOND_ANONYMOUS": "yes"})
    assert 'level=warning msg="no tokens' in server.log()
    server = serve("--host", "0.0.0.0", "--tokens", tokens, command=alone)
    assert 'level=warning msg="no TLS' in server.log()


# --- TLS -------------------------------------------------------------------------------------------------------------

def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_certificate(folder, name, *key):
    certificate, private = folder / f"{name}.crt", folder / f"{name}.key"
    openssl("req", "-x509", "-newkey", *(key or ("ec", "-pkeyopt", "ec_paramgen_curve:P-256")), "-nodes", "-days", 2,
            "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", private,
            "-out", certificate)
    private.chmod(0o600)
    return certificate, private


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    return {"a": make_certificate(folder, "a"), "b": make_certificate(folder, "b"),
            "rsa": make_certificate(folder, "rsa", "rsa:2048"), "folder": folder}


def trust(*certificates):
    context = ssl.create_default_context()
    for certificate, _ in certificates:
        context.load_verify_locations(certificate)
    return context


def tls_options(pair):
    return "--tls-cert", pair[0], "--tls-key", pair[1]


@pytest.fixture
def https(serve, certificates):
    server = serve(*tls_options(certificates["a"]))
    return server, trust(certificates["a"])


@pytest.mark.parametrize("name", ["a", "rsa"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_https(serve, certificates, name, version):
    server = serve(*tls_options(certificates[name]))
    assert server.base.startswith("https://127.0.0.1:")
    context = trust(certificates[name])
    context.minimum_version = context.maximum_version = version
    connection = server.connect(context)
    for _ in range(3):
        assert ask(connection, "GET", "/healthz")[0] == 200
        assert ask(connection, "POST", EVALUATE, None, CONTACT, JSON)[0] == 200
    assert connection.sock.version() == version.name.replace("_", ".")


def test_old_versions_are_refused(https):
    server, context = https
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        server.connect(context).connect()


def test_curl_with_the_certificate(serve, certificates, tokens):
    server = serve(*tls_options(certificates["a"]), "--tokens", tokens)
    command = ["curl", "-sS", "--noproxy", "*", "--cacert", certificates["a"][0], "--oauth2-bearer", LAB]
    done = subprocess.run([*command, server.base + "/v1/info"], capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["name"] == "frictiond"
    command[4] = certificates["b"][0]
    assert subprocess.run([*command, server.base + "/v1/info"], capture_output=True).returncode == 60


def test_nothing_in_the_clear(https):
    """A client that sends data in the clear gets no HTTP response."""
    server, _ = https
    for data in b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\x00" * 100, \
            b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n":
        got = b""
        with contextlib.suppress(ConnectionResetError):
            got = raw(server, data)
        assert b"HTTP" not in got and b"{" not in got and b"<" not in got
    assert ask(server.connect(https[1]), "GET", "/healthz")[0] == 200


def test_closed_without_an_answer(serve, certificates):
    """A client that may not even begin a session gets no reason, which could only be sent in the clear."""
    server = serve(*tls_options(certificates["a"]), "--connections-per-address", 1)
    first = server.connect(trust(certificates["a"]))
    assert ask(first, "GET", "/healthz")[0] == 200
    got = b""
    with contextlib.suppress(ConnectionResetError):
        got = raw(server, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert got == b""
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        server.connect(trust(certificates["a"])).connect()
    server.await_log('rejected="connections"', 2)
    assert ask(first, "GET", "/healthz")[0] == 200


def planes(n):
    """A request with a large response: n contacts as triplets."""
    return json.dumps({"dim": 3, "velocities": [[0.25, 0.5, 0.125]] * n, "friction": {"mu": 0.3, "eps_v": 0.1},
                       "hessian": {"format": "triplets"}, "collisions": {"plane_vertex": {
                           "vertices": list(range(n)), "plane_normal": [0, 1, 0], "normal_force": 1.5}}}).encode()


@pytest.mark.parametrize("accept", ["application/json", "application/vnd.frictiond.frame"])
def test_long_bodies_are_the_same_as_in_the_clear(serve, server_with, https, accept):
    server, context = https
    plain = urllib.parse.urlsplit(server_with())
    connection = server.connect(context)
    headers = {**JSON, "Accept": accept}
    for n in 100, 1000, 60000:
        body = planes(n)
        clear = http.client.HTTPConnection(plain.hostname, plain.port)
        expected = ask(clear, "POST", EVALUATE, None, body, headers)
        clear.close()
        for chunked in False, True:
            sent = iter([body[i:i + 50000] for i in range(0, len(body), 50000)]) if chunked else body
            got = ask(connection, "POST", EVALUATE, None, sent, headers)
            assert got[0] == expected[0] == 200 and got[1]["Content-Type"] == accept
            assert got[2] == expected[2]


def encrypted(server, context):
    plain = socket.create_connection((server.host, server.port))
    plain.settimeout(300)
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF
    return context.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False)


def until_end(s):
    """Everything received. Raises if the end is not announced as TLS requires, because data could then be missing."""
    got = b""
    while more := s.recv(65536):
        got += more
    return got


def test_pieces_and_pipelines(https):
    """Sends requests in pieces of any size, and several at once: everything that the filter holds back gets through."""
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    post = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        EVALUATE.encode(), len(CONTACT), CONTACT)
    stream = 40 * (get + b"\r\n" + post) + get + b"Connection: close\r\n\r\n"
    for size in 1, 7, 1000, len(stream):
        with encrypted(*https) as s:
            for i in range(0, len(stream), size):
                s.sendall(stream[i:i + size])
            assert until_end(s).count(b"HTTP/1.1 200 ") == 81, size


def test_http_hygiene_under_tls(https):
    chunked = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" % (
        EVALUATE.encode())
    cases = {b"GET / HTTP/1.1\r\n\r\n": b"400", b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n": b"400",
             b"GET / HTTP/1.1\nHost: a\n\n": b"400", chunked + b"zz\r\n": b"400",
             chunked[:-2] + b"Content-Length: 3\r\n\r\n": b"400",
             b"GET /" + 20000 * b"a" + b" HTTP/1.1\r\nHost: localhost\r\n\r\n": b"414",
             chunked.replace(b"Transfer-Encoding: chunked", b"Content-Length: 999999999999"): b"413"}
    for data, status in cases.items():
        with encrypted(*https) as s:
            s.sendall(data)
            got = until_end(s)
        assert got.startswith(b"HTTP/1.1 " + status) and got.count(b"HTTP/1.1") == 1, (data[:60], got)
        assert b"application/problem+json" in got


def test_too_slow_under_tls(serve, certificates):
    context = trust(certificates["a"])
    head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % EVALUATE.encode()

    def attempt(seconds):
        server = serve(*tls_options(certificates["a"]), "--receive-seconds", seconds)
        for more in b"Content-Length: 100\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n":
            with encrypted(server, context) as s:
                s.sendall(head + more)
                got = until_end(s)
            assert got.startswith(b"HTTP/1.1 408 ") and b"application/problem+json" in got
        with encrypted(server, context) as s:
            s.sendall(head)
            if until_end(s):
                pytest.fail("something that is not encrypted")  # more time would not help

    with_more_time(attempt)


def test_answers_have_to_be_taken_under_tls(serve, certificates):
    """Pipelines requests until the sockets are full, and reads nothing. The connection is cut in a way that no client
    can mistake for a proper end."""
    server = serve(*tls_options(certificates["a"]), "--send-seconds", 1)
    with encrypted(server, trust(certificates["a"])) as s:
        s.setblocking(False)
        with contextlib.suppress(ssl.SSLWantWriteError, ConnectionResetError, BrokenPipeError):
            for _ in range(2000):
                s.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        eventually(lambda: 'rejected="not_taken"' in server.log())
        s.setblocking(True)
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            until_end(s)


def test_ends_are_announced(serve, certificates):
    """The server ends TLS properly on an idle connection and when the client asks for the end; the library alone would
    just close the socket."""
    context = trust(certificates["a"])

    def attempt(seconds):
        server = serve(*tls_options(certificates["a"]), "--receive-seconds", seconds)
        for request in b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", \
                b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n":
            with encrypted(server, context) as s:
                s.sendall(request)
                assert until_end(s).count(b"HTTP/1.1 200 ") == (1 if request else 0)

    with_more_time(attempt)


def cpu_seconds(server):
    fields = (pathlib.Path("/proc") / str(server.process.pid) / "stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_idle(server, seconds, cpu):
    """Waits until the server uses less than `cpu` seconds of CPU time within `seconds`; it may still have work at
    first."""
    def is_idle():
        before = cpu_seconds(server)
        time.sleep(seconds)
        return cpu_seconds(server) - before < cpu

    assert any(is_idle() for _ in range(20))


def test_a_silent_handshake_takes_no_cpu(https):
    server, context = https
    assert ask(server.connect(context), "GET", "/healthz")[0] == 200
    silent = [socket.create_connection((server.host, server.port)) for _ in range(8)]
    for i, s in enumerate(silent):
        s.sendall(b"\x16\x03\x01\x02\x00\x01\x00"[:i])
    check_idle(server, 1, 0.2)
    assert ask(server.connect(context), "GET", "/healthz")[0] == 200
    for s in silent:
        s.close()


HELLO = b"\x16\x03\x01" + struct.pack(">H", 16000) + b"\x01\x00\x3e\x7c" + 15000 * b"\0"


def ended(s):
    try:
        return s.recv(1000) == b""
    except socket.timeout:
        return False
    except (ConnectionResetError, BrokenPipeError):
        return True


def test_slow_handshake(serve, certificates):
    """A handshake sent byte by byte could otherwise hold the connection for hours."""
    server = serve(*tls_options(certificates["a"]), "--receive-seconds", 1)
    for first in 1, 4, 40:
        with socket.create_connection((server.host, server.port)) as s:
            s.settimeout(0.1)
            s.sendall(HELLO[:first])
            n, over = first, False
            while not over and n < first + 600:  # a minute
                with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                    s.sendall(HELLO[n:n + 1])
                n += 1
                over = ended(s)
            assert over


def test_what_goes_wrong_in_a_handshake_leaves_nothing(serve, certificates):
    """After silence, ends and resets at any point of a handshake and after it, all connections are free again and the
    server is idle."""
    context = trust(certificates["a"])

    def silent(server, n):
        s = socket.create_connection((server.host, server.port))
        s.sendall(HELLO[:n])
        return s

    def half_closed(server, n):
        s = silent(server, n)
        s.shutdown(socket.SHUT_WR)
        return s

    def reset(server, n):
        s = silent(server, n)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()
        return None

    def greeted(server, data):
        s = encrypted(server, context)
        s.sendall(data)
        return s

    def all_places_are_free(server):
        connections = [server.connect(context) for _ in range(8)]
        try:
            for connection in connections:
                connection.connect()
            return [ask(connection, "GET", "/healthz")[0] for connection in connections] == [200] * 8
        except (OSError, http.client.HTTPException):
            return False
        finally:
            for connection in connections:
                connection.close()

    def attempt(seconds):
        server = serve(*tls_options(certificates["a"]), "--receive-seconds", seconds, "--connections-per-address", 8)
        for make, what in (silent, (0, 3, 5, 100, 8000)), (half_closed, (0, 3, 100)), (reset, (0, 3, 100)), \
                (greeted, (b"", b"GET / HTTP/1.1\r\n", b"\r\n")):
            sockets = [s for s in [make(server, n) for n in what] if s]
            for s in sockets:
                s.settimeout(60 + seconds)
                assert ended(s), (make, what)
                s.close()
        return server

    server = with_more_time(attempt)
    assert eventually(lambda: all_places_are_free(server))
    check_idle(server, 0.5, 0.1)


def test_a_handshake_without_end_is_given_up_at_once(serve, certificates):
    """By itself GnuTLS would keep a message of 16 MiB until it is complete or --receive-seconds have passed."""
    server = serve(*tls_options(certificates["a"]))
    record = b"\x16\x03\x01" + struct.pack(">H", 16384)
    message = b"\x01\xff\xff\xff\x03\x03" + (1 << 20) * b"a"
    with socket.create_connection((server.host, server.port)) as s:
        s.settimeout(60)
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            for i in range(0, 1 << 20, 16384):
                s.sendall(record + message[i:i + 16384])
        assert ended(s)


def test_stops_with_handshakes_under_way(https):
    server, context = https
    assert ask(server.connect(context), "GET", "/healthz")[0] == 200
    silent = [socket.create_connection((server.host, server.port)) for _ in range(4)]
    for i, s in enumerate(silent):
        s.sendall(HELLO[:i])
    assert ask(server.connect(context), "GET", "/healthz")[0] == 200
    assert server.stop() == 0
    for s in silent:
        assert ended(s)
        s.close()


def test_certificate_is_read_again(serve, certificates, tmp_path):
    def put(name):
        for kind, source in zip(("crt", "key"), certificates[name]):
            new = tmp_path / f"new.{kind}"
            new.write_bytes(source.read_bytes())
            new.chmod(0o600)
            new.rename(tmp_path / f"server.{kind}")

    put("a")
    server = serve(*tls_options((tmp_path / "server.crt", tmp_path / "server.key")))
    old, new = trust(certificates["a"]), trust(certificates["b"])
    kept = server.connect(old)
    assert ask(kept, "GET", "/healthz")[0] == 200
    put("b")
    server.hang_up("certificate and key read")
    assert ask(server.connect(new), "GET", "/healthz")[0] == 200
    with pytest.raises(ssl.SSLCertVerificationError):
        server.connect(old).connect()
    assert ask(kept, "GET", "/healthz")[0] == 200
    (tmp_path / "server.key").write_bytes(certificates["a"][1].read_bytes())
    server.hang_up("certificate and key are unchanged")
    assert "the key does not belong to the certificate" in server.log()
    assert ask(server.connect(new), "GET", "/healthz")[0] == 200


def test_certificate_is_read_again_under_load(serve, certificates):
    server, context = serve(*tls_options(certificates["a"])), trust(certificates["a"])
    stop, counts = threading.Event(), []

    def client():
        n = 0
        while n == 0 or not stop.is_set():
            connection = server.connect(context)
            assert ask(connection, "POST", EVALUATE, None, CONTACT, JSON)[0] == 200
            connection.close()
            n += 1
        counts.append(n)

    threads = [threading.Thread(target=client) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        server.hang_up("certificate and key read")
    stop.set()
    for thread in threads:
        thread.join()
    assert len(counts) == 3 and min(counts) > 0


def test_bad_certificates(certificates, tmp_path):
    a, b = certificates["a"], certificates["b"]
    text = tmp_path / "text"
    text.write_text("hello\n")
    locked = tmp_path / "locked.key"
    openssl("pkcs8", "-topk8", "-in", a[1], "-passout", "pass:secret", "-out", locked)
    for options, what in ((("--tls-cert", a[0]), "--tls-cert needs --tls-key"),
                          (("--tls-key", a[1]), "--tls-key needs --tls-cert"),
                          (tls_options((a[0], b[1])), f"{b[1]}: the key does not belong to the certificate"),
                          (tls_options((text, a[1])), f"{text}: no certificate in PEM"),
                          (tls_options((a[0], text)), f"{text}: no private key in PEM"),
                          (tls_options((a[0], locked)), f"{locked}: "),
                          (tls_options((tmp_path / "none", a[1])), f"{tmp_path}/none: No such file"),
                          (tls_options((a[0], tmp_path)), f"{tmp_path}: not a regular file")):
        assert what in refused(*options)


def test_draining_under_tls(https):
    server, context = https
    with encrypted(server, context) as s:
        s.sendall(b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
                  b"Expect: 100-continue\r\n\r\n" % (EVALUATE.encode(), len(CONTACT)))
        assert s.recv(100).startswith(b"HTTP/1.1 100 ")
        server.process.send_signal(signal.SIGTERM)
        while ask(connection := server.connect(context), "GET", "/readyz")[0] != 503:
            connection.close()
            time.sleep(0.05)
        s.sendall(CONTACT)
        assert until_end(s).startswith(b"HTTP/1.1 200 ")
    assert server.process.wait() == 0


# --- web pages -------------------------------------------------------------------------------------------------------

PREFLIGHT = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST",
             "Access-Control-Request-Headers": "authorization,content-type"}


def cors_headers(headers):
    return {name: value for name, value in headers.items() if name.startswith("Access-Control-") or name == "Vary"}


def test_pages_may_do_nothing_unless_allowed(serve):
    connection = serve().connect()
    for method, target, headers in ("OPTIONS", EVALUATE, PREFLIGHT), ("GET", "/v1/info", {"Origin": ORIGIN}):
        status, headers, body = ask(connection, method, target, headers=headers)
        assert status == 403 and cors_headers(headers) == {} and "Allow" not in headers
        assert "--allow-origin" in json.loads(body)["detail"]
    assert ask(connection, "OPTIONS", EVALUATE)[0] == 405


def test_pages_of_an_allowed_origin(serve, tokens):
    connection = serve("--allow-origin", f"https://b.example:8443,{ORIGIN}", "--tokens", tokens).connect()
    status, headers, body = ask(connection, "OPTIONS", EVALUATE, headers=PREFLIGHT)
    assert status == 204 and body == b"" and "Content-Type" not in headers
    allowed = {name.strip().lower() for name in headers["Access-Control-Allow-Headers"].split(",")}
    assert allowed == {"authorization", "content-type", "accept", "x-request-id", "traceparent", "if-none-match",
                       "if-collision-set-version"}
    assert "POST" in headers["Access-Control-Allow-Methods"] and int(headers["Access-Control-Max-Age"]) > 0
    assert headers["Access-Control-Allow-Origin"] == ORIGIN and headers["Vary"] == "Origin"
    for token, expected in (LAB, 200), ("wrong", 401), (None, 401):
        status, headers, _ = ask(connection, "POST", EVALUATE, token, CONTACT, {**JSON, "Origin": ORIGIN})
        assert status == expected and headers["Access-Control-Allow-Origin"] == ORIGIN and headers["Vary"] == "Origin"
        exposed = {name.strip() for name in headers["Access-Control-Expose-Headers"].split(",")}
        assert {"X-Request-Id", "Server-Timing", "Retry-After", "Collision-Set-Version", "ETag", "Location",
                "Accept-Patch"} <= exposed
    status, headers, _ = ask(connection, "GET", "/v1/info", LAB)
    assert status == 200 and cors_headers(headers) == {"Vary": "Origin"}
    for other in "https://c.example", "https://b.example", "null":
        for method, target, more in ("GET", "/v1/info", {}), ("GET", "/healthz", {}), ("OPTIONS", EVALUATE, PREFLIGHT):
            status, headers, _ = ask(connection, method, target, LAB, headers={**more, "Origin": other})
            assert status == 403 and cors_headers(headers) == {"Vary": "Origin"}
    assert ask(connection, "OPTIONS", EVALUATE, LAB)[0] == 405


def test_pages_of_any_origin(serve):
    connection = serve("--allow-origin", "*").connect()
    assert ask(connection, "OPTIONS", EVALUATE, headers=PREFLIGHT)[1]["Access-Control-Allow-Origin"] == "*"
    headers = ask(connection, "POST", EVALUATE, None, CONTACT, {**JSON, "Origin": "null"})[1]
    assert headers["Access-Control-Allow-Origin"] == "*" and "Vary" not in headers
    assert cors_headers(ask(connection, "GET", "/v1/info")[1]) == {}


def test_bad_origins():
    for origins in "https://a.example/", "a.example", "null", "*,https://a", ",":
        assert "--allow-origin: '" in refused("--allow-origin", origins)


ROUTES = [("GET", "/v1/info"), ("GET", "/"), ("GET", "/explorer/explorer.js"), ("GET", "/healthz"), ("GET", "/readyz"),
          ("GET", "/metrics"), ("GET", "/openapi.json"), ("HEAD", "/healthz"), ("POST", EVALUATE), ("GET", "/nowhere"),
          ("POST", "/v1/check"), ("DELETE", EVALUATE), ("GET", "/v1/functions/smooth_mu?y=1")]


def called(server, host, method="GET", target="/v1/info", **more):
    """Sends one request with this Host (None: HTTP/1.0 without a Host); returns the response."""
    lines = [f"{method} {target} HTTP/1.{0 if host is None else 1}", *([] if host is None else [f"Host: {host}"]),
             *(f"{name.replace('_', '-')}: {value}" for name, value in more.items()), "Connection: close"]
    body = CONTACT if method == "POST" else b""
    head = "\r\n".join([*lines, "Content-Type: application/json", f"Content-Length: {len(body)}", "", ""])
    head, _, text = raw(server, head.encode() + body).partition(b"\r\n\r\n")
    assert b"Access-Control-" not in head or b" 403 " not in head and b" 421 " not in head
    return int(head.split()[1]), text.decode()


def status_called(*arguments, **more):
    return called(*arguments, **more)[0]


def test_names_on_loopback(serve):
    """A page whose name resolves to 127.0.0.1 sends that name as the host."""
    server = serve()
    for host in "localhost", "LOCALHOST.", "127.0.0.1", "127.200.0.1", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]":
        for port in "", ":", f":{server.port}", ":1":
            assert status_called(server, host + port) == 200, host + port
    for host in "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "a.localhost", "127.1", "0x7f.1", \
            "2130706433", "0177.0.0.1", "0.0.0.0", "192.0.2.1", "[::]", "[::2]", "", f":{server.port}":
        for port in "", f":{server.port}":
            assert status_called(server, host + port) == 421, host + port
    for method, target in ROUTES:
        status, text = called(server, f"evil.example:{server.port}", method, target, Origin="http://evil.example")
        assert status == 421
        if method != "HEAD":
            problem = json.loads(text)
            assert problem["title"] == "Misdirected Request" and problem["status"] == 421
            assert f'"evil.example:{server.port}"' in problem["detail"] and "--allow-host" in problem["detail"]
    assert status_called(server, None) == 200
    assert status_called(server, None, target="http://evil.example/v1/info") == 421
    assert status_called(server, "evil.example", target="http://localhost/v1/info") == 200
    assert status_called(server, "localhost", target="http://evil.example/v1/info") == 421


def test_names_that_were_given(serve, tokens, certificates):
    server = serve("--allow-host", "a.example, B.example:8443")
    for host, expected in ("a.example", 200), ("A.Example.:99", 200), ("b.example:8443", 200), ("b.example", 421), \
            ("localhost", 200), ("evil.example", 421):
        assert status_called(server, host) == expected, host
    server = serve(command=("env", "FRICTIOND_ALLOW_HOST=a.example"))
    assert [status_called(server, host) for host in ("a.example", "b.example")] == [200, 421]
    server, token = serve("--tokens", tokens), {"Authorization": f"Bearer {LAB}"}
    assert status_called(server, "evil.example", **token) == 200
    server = serve("--tokens", tokens, "--allow-host", "a.example")
    assert status_called(server, "evil.example") == status_called(server, "evil.example", **token) == 421
    assert [status_called(server, "a.example"), status_called(server, "a.example", **token)] == [401, 200]
    assert status_called(server, "10.0.0.1:8080", target="/healthz") == 421
    assert status_called(server, "localhost", target="/healthz") == 200
    server = serve("--host", "localhost", *tls_options(certificates["a"]))
    connection = server.connect(trust(certificates["a"]))
    assert ask(connection, "GET", "/healthz")[0] == 200
    assert ask(connection, "GET", "/healthz", headers={"Host": "evil.example"})[0] == 421


ANYWHERE = """
import json, subprocess, sys
sys.path.insert(0, sys.argv[1])
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
import test_access
servers = [test_access.Server(test_access.pathlib.Path(sys.argv[2]), "--host", "0.0.0.0", "--anonymous", "yes", *more)
           for more in ([], ["--allow-host", "a.example"])]
for server in servers:
    server.host = "127.0.0.1"
hosts = "evil.example", "a.example", "localhost"
print(json.dumps([[test_access.status_called(server, host) for host in hosts] for server in servers] +
                 [[test_access.status_called(server, "a.example", Origin="https://evil.example") for server in servers]]))
for server in servers:
    server.stop()
"""


def test_names_on_other_addresses(tmp_path):
    """Runs in a separate network namespace, so that nobody can reach the server."""
    alone = ("unshare", "-rn")
    if subprocess.run([*alone, "ip", "link", "set", "lo", "up"], capture_output=True).returncode != 0:
        pytest.skip("no network namespaces here")
    done = subprocess.run([*alone, sys.executable, "-c", ANYWHERE, pathlib.Path(__file__).parent, tmp_path],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[200, 200, 200], [421, 200, 200], [403, 403]]


def test_pages_of_the_service_and_others(serve, tokens):
    server = serve()
    for name in "localhost", "127.0.0.1", "[::1]":
        host = f"{name}:{server.port}"
        assert status_called(server, host, "POST", EVALUATE, Origin=f"http://{host}") == 200
        for origin in f"https://{host}", f"http://{name}", f"http://{name}:1", f"http://evil.example:{server.port}", "null", \
                "", "https://evil.example", f"http://{host}.evil.example":
            for method, target in ROUTES:
                assert status_called(server, host, method, target, Origin=origin) == 403, (origin, target)
    assert status_called(server, "localhost", Origin="http://127.0.0.1") == 403
    assert "https://evil.example" in called(server, "localhost", Origin="https://evil.example")[1]
    server = serve("--tokens", tokens)
    for token in {}, {"Authorization": f"Bearer {LAB}"}:
        for method, target in ROUTES:
            assert status_called(server, "localhost", method, target, Origin="https://evil.example", **token) == 403


def test_pages_that_do_not_say_where_they_are(serve):
    """Acts like a browser that fetches an image or a script, or posts without CORS: it sends no Origin, or no
    preflight."""
    server = serve("--allow-origin", ORIGIN)

    def answer(target, site, mode="no-cors", dest="empty", method="GET", **more):
        return status_called(server, "localhost", method, target, Sec_Fetch_Site=site, Sec_Fetch_Mode=mode,
                             Sec_Fetch_Dest=dest, **more)

    for site in "cross-site", "same-site", "", "nonsense":
        for method, target in ROUTES:
            expected = 200 if target in ("/healthz", "/readyz") else 403
            assert answer(target, site, method=method) == expected, (site, target)
            expected = 200 if target in ("/", "/healthz", "/readyz") else 403
            assert answer(target, site, "navigate", "document", method=method) == expected, (site, target)
        assert answer("/?x", site, "navigate", "document", method="HEAD") == 200
        assert answer("/", site, "navigate", "document", method="POST") == 403
        assert answer("/", site, "navigate", "iframe") == 403
    for site in "same-origin", "none":
        for target in "/", "/v1/info", "/explorer/explorer.js", "/metrics":
            assert answer(target, site) == 200
    assert answer(EVALUATE, "cross-site", "cors", method="POST", Origin=ORIGIN) == 200
    assert answer(EVALUATE, "same-origin", "cors", method="POST", Origin="https://evil.example") == 403


def test_repeated_headers_are_refused(serve):
    for server in serve(), serve("--allow-origin", "*"):
        for name, value in ("Host", "localhost"), ("Origin", "http://localhost"), ("Sec-Fetch-Site", "none"), \
                ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document"):
            lines = "Host: localhost\r\n" * (name != "Host") + 2 * f"{name}: {value}\r\n"
            got = raw(server, f"GET / HTTP/1.1\r\n{lines}\r\n".encode()).decode()
            assert got.startswith("HTTP/1.1 400 ") and "There is more than one " in got and name in got


def test_what_is_refused_is_counted_and_logged(serve):
    server = serve()
    assert status_called(server, "evil.example", "POST", EVALUATE) == 421
    assert status_called(server, "localhost", "POST", EVALUATE, Origin="null") == 403
    assert status_called(server, "localhost", "GET", "/v1/info", Sec_Fetch_Site="cross-site") == 403
    log = server.await_log("request_id=", 3)
    assert log.count('rejected="misdirected"') == 1 and log.count('rejected="forbidden"') == 2
    assert "evil.example" not in log
    metrics = called(server, "localhost", target="/metrics")[1].splitlines()
    assert 'frictiond_rejected_total{reason="misdirected"} 1' in metrics
    assert 'frictiond_rejected_total{reason="forbidden"} 2' in metrics
    assert f'frictiond_requests_total{{route="{EVALUATE}",status="421"}} 1' in metrics


def test_what_is_refused_is_not_waited_for(serve):
    server = serve()
    for more in "Host: evil.example\r\n", "Host: localhost\r\nOrigin: null\r\n":
        for rest in "Content-Length: 1000\r\nExpect: 100-continue\r\n", "Content-Length: 200000000\r\n":
            got = raw(server, f"POST {EVALUATE} HTTP/1.1\r\n{more}{rest}\r\n".encode())
            assert got.startswith(b"HTTP/1.1 421 " if "evil" in more else b"HTTP/1.1 403 "), got


def test_bad_names():
    for hosts in "https://a.example", "a.example/", "*", "a,*", ",", "a:0", "a:", "::1", "a b@c":
        assert "--allow-host: '" in refused("--allow-host", hosts)
    assert "'https://b' is not a name" in refused(FRICTIOND_ALLOW_HOST="a,https://b")


# --- documentation ---------------------------------------------------------------------------------------------------

def test_the_commands_of_the_page_work(serve, tmp_path):
    page = (ROOT / "docs/security.md").read_text()
    blocks = re.findall(r"^<!-- run by tests/integration/test_access\.py -->\n```sh\n(.*?)```$", page, re.M | re.S)
    write, ask_with_token, ask_with_tls, certificate = blocks

    def run(block, server=None):
        if server:
            assert "127.0.0.1:8080" in block
            block = block.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"})
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(write)
    run(certificate)
    assert (tmp_path / "tokens").stat().st_mode & 0o077 == 0
    server = serve("--tokens", tmp_path / "tokens")
    assert "level=warning" not in server.log() and "tokens read: 2" in server.log()
    assert '"name":"frictiond"' in run(ask_with_token, server)
    server = serve("--tls-cert", tmp_path / "server.crt", "--tls-key", tmp_path / "server.key")
    assert "level=warning" not in server.log()
    assert '"name":"frictiond"' in run(ask_with_tls, server)
