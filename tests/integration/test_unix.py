"""A server on a Unix-domain socket: its file, who may connect, and the same HTTP as over TCP."""
import contextlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading

import pytest

from conftest import READY, ROOT, eventually

PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
ONE = {"dim": 3, "velocities": [[0.02, 0.01, 0]], "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
       "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0, 0, 1], "normal_force": 9.81}}}


class Running:
    """A server whose first lines are `lines`, for TCP first; its log goes to the file `log`, if given."""

    def __init__(self, *options, log=None, n_lines=1, program=(PROGRAM,), **more):
        self.log_path = log
        with open(log, "w") if log else contextlib.nullcontext() as file:
            self.process = subprocess.Popen([*map(str, (*program, *options))], stdout=subprocess.PIPE, stderr=file,
                                            text=True, **more)
        self.lines = [self.process.stdout.readline().rstrip("\n") for _ in range(n_lines)]
        if not all(line.startswith(READY) for line in self.lines):
            self.process.kill()
            pytest.fail(f"not ready: {self.lines}")
        self.urls = [line[len(READY):] for line in self.lines]

    def log(self):
        return pathlib.Path(self.log_path).read_text()

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        rest = self.process.stdout.read()
        self.process.stdout.close()
        code = self.process.wait()
        assert rest == ""
        return code


@pytest.fixture
def directory():
    """A short path, as sockets require."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="unix-", dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def path(directory):
    return directory / "socket"


@pytest.fixture
def serve():
    """A function that starts a server for one test; servers that still run are stopped after the test."""
    started = []

    def one(*options, **more):
        started.append(Running(*options, **more))
        return started[-1]

    yield one
    codes = [running.stop() for running in started if running.process.poll() is None]
    assert codes == [0] * len(codes)


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=300)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(300)
        self.sock.connect(str(self.path))

    def ask(self, method, target, body=None, headers=()):
        self.request(method, target, json.dumps(body) if isinstance(body, dict) else body,
                     {"Content-Type": "application/json", **dict(headers)})
        answer = self.getresponse()
        return answer.status, answer.read()


def ask(path, method, target, body=None, headers=()):
    connection = Connection(path)
    try:
        return connection.ask(method, target, body, headers)
    finally:
        connection.close()


def curl(*arguments):
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def fails(*options):
    """(exit code, error messages)"""
    done = subprocess.run([str(PROGRAM), *map(str, options)], capture_output=True, text=True, timeout=60)
    assert done.stdout == ""
    return done.returncode, "".join(line for line in done.stderr.splitlines(True) if line.startswith("frictiond: "))


def alone(path, *more):
    return "--port", "none", "--unix", path, *more


# --- the file

def test_the_printed_line_and_the_socket_file(serve, path):
    running = serve(*alone(path))
    assert running.lines == [f"frictiond listening on http+unix://{path}"]
    assert stat.S_ISSOCK(path.lstat().st_mode) and stat.S_IMODE(path.lstat().st_mode) == 0o600
    assert not [line for line in pathlib.Path(f"/proc/{running.process.pid}/net/tcp").read_text().splitlines()
                if socket_of(running.process.pid, line)]
    assert ask(path, "GET", "/healthz") == (200, b'{"status":"ok"}')
    assert running.stop() == 0
    assert os.listdir(path.parent) == []


def socket_of(pid, line):
    """Whether a line of /proc/net/tcp is about a socket of this process."""
    inode = line.split()[9]
    return any(os.readlink(f"/proc/{pid}/fd/{fd}") == f"socket:[{inode}]" for fd in os.listdir(f"/proc/{pid}/fd"))


def test_beside_tcp(serve, path):
    running = serve("--port", "0", "--unix", path, n_lines=2)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", running.urls[0]) and running.urls[1] == f"http+unix://{path}"
    over_tcp = curl(running.urls[0] + "/v1/evaluate", "--json", json.dumps(ONE))
    assert ask(path, "POST", "/v1/evaluate", ONE) == (200, over_tcp)


@pytest.mark.parametrize("mode,umask", [("0600", 0), ("660", 0), ("0666", 0o77), ("0", 0)])
def test_modes(serve, path, mode, umask):
    serve(*alone(path, "--unix-mode", mode), preexec_fn=lambda: os.umask(umask))
    assert stat.S_IMODE(path.lstat().st_mode) == int(mode, 8)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become other users")
def test_permissions_decide(serve, path):
    path.parent.chmod(0o755)
    serve(*alone(path, "--unix-mode", "0660"))
    os.chown(path, 0, 4242)

    def as_user(user, group):
        return subprocess.run(["curl", "-sS", "--unix-socket", path, "http://localhost/healthz"], capture_output=True,
                              user=user, group=group, extra_groups=[]).returncode
    assert as_user(0, 0) == 0 and as_user(4241, 4242) == 0
    assert as_user(4241, 4241) == 7  # curl: cannot connect


def test_a_stale_file_is_replaced(serve, path):
    serve(*alone(path)).stop(signal.SIGKILL)
    assert path.is_socket()
    serve(*alone(path))
    assert ask(path, "GET", "/healthz")[0] == 200


def test_a_live_socket_is_not_replaced(serve, path):
    first = serve(*alone(path))
    assert fails(*alone(path)) == (1, f"frictiond: cannot listen on {path}: another process listens there\n")
    assert ask(path, "GET", "/healthz")[0] == 200
    assert first.stop() == 0 and not path.exists()


@pytest.mark.parametrize("make", [lambda path: path.write_text("mine"), lambda path: path.symlink_to("/nowhere"),
                                  lambda path: path.mkdir(), os.mkfifo], ids=["file", "link", "directory", "pipe"])
def test_nothing_else_is_removed(path, make):
    make(path)
    before = path.lstat()
    assert fails(*alone(path)) == (1, f"frictiond: cannot listen on {path}: there is a file that is not a socket\n")
    assert path.lstat().st_ino == before.st_ino


def test_another_file_of_the_name_stays(serve, path):
    running = serve(*alone(path))
    path.unlink()
    path.write_text("mine")
    assert running.stop() == 0
    assert path.read_text() == "mine"


def test_impossible_sockets_are_refused(path):
    assert fails("--port", "none") == (2, "frictiond: --port none needs --unix PATH, or sockets passed in (LISTEN_FDS)\n")
    code, text = fails(*alone("/tmp/" + 103 * "a"))
    assert code == 2 and "--unix: '/tmp/a" in text and "at most 107" in text
    code, text = fails(*alone("/nowhere/socket"))
    assert code == 1 and text == "frictiond: cannot listen on /nowhere/socket: No such file or directory\n"
    assert fails(*alone(path, "--unix-mode", "0888"))[0] == 2


def test_one_of_several_processes_gets_a_stale_file(serve, path):
    serve(*alone(path)).stop(signal.SIGKILL)
    several = [subprocess.Popen([str(PROGRAM), *map(str, alone(path))], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True) for _ in range(6)]
    lines = [process.stdout.readline() for process in several]
    assert sorted(map(bool, lines)) == [False] * 5 + [True]
    assert ask(path, "GET", "/healthz")[0] == 200
    for process, line in zip(several, lines):
        if line:
            process.terminate()
        process.stdout.close()
        assert process.wait() == (0 if line else 1)
    assert not path.exists()


# --- who may connect

@pytest.fixture
def tokens(directory):
    path = directory / "tokens"
    path.write_text("lab 0123456789abcdef\n")
    path.chmod(0o600)
    return path


def test_callers_are_users(serve, path, tokens, directory):
    running = serve("--port", "0", "--unix", path, "--tokens", tokens, n_lines=2, log=directory / "log")
    assert curl(running.urls[0] + "/v1/info", "-o", "/dev/null", "-w", "%{http_code}") == b"401"
    assert ask(path, "GET", "/v1/info")[0] == 200
    assert ask(path, "GET", "/metrics", headers={"Authorization": "Bearer wrong"})[0] == 200
    user = f"uid:{os.geteuid()}"
    line = eventually(lambda: [line for line in running.log().splitlines() if 'path="/metrics"' in line])[0]
    assert f'client="{user}"' in line and f'token="{user}"' in line


def test_without_tokens_all_are_one(serve, path, directory):
    running = serve(*alone(path), log=directory / "log")
    assert ask(path, "GET", "/v1/info", headers={"Authorization": "Bearer x"})[0] == 200
    line = eventually(lambda: [line for line in running.log().splitlines() if 'path="/v1/info"' in line])[0]
    assert f'client="uid:{os.geteuid()}"' in line and "token=" not in line


SET = {"dim": 3, "n_vertices": 1, "friction": ONE["friction"], "collisions": ONE["collisions"]}
LAB = {"Authorization": "Bearer 0123456789abcdef"}


def test_sets_belong_to_users(serve, path, tokens):
    """A set belongs to the system user who put it: neither a token nor another user gives access."""
    running = serve("--port", "0", "--unix", path, "--tokens", tokens, "--unix-mode", "0666", n_lines=2)
    assert ask(path, "PUT", "/v1/sets/a", SET)[0] == 201
    assert ask(path, "POST", "/v1/sets/a/evaluate", {"velocities": ONE["velocities"]}, LAB)[0] == 200
    over_tcp = http.client.HTTPConnection(running.urls[0].removeprefix("http://"), timeout=300)
    over_tcp.request("GET", "/v1/sets/a", headers=LAB)
    assert over_tcp.getresponse().status == 404
    over_tcp.close()
    if os.geteuid() == 0:
        found = subprocess.run(["curl", "-sS", "--unix-socket", path, "http://localhost/v1/sets"], capture_output=True,
                               user=4241, group=4241, extra_groups=[])
        assert json.loads(found.stdout)["sets"] == []


def test_without_tokens_sets_are_everybodys(serve, path):
    running = serve("--port", "0", "--unix", path, n_lines=2)
    assert ask(path, "PUT", "/v1/sets/a", SET)[0] == 201
    assert json.loads(curl(running.urls[0] + "/v1/sets/a"))["name"] == "a"


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"},
                                     {"Sec-Fetch-Site": "cross-site"}], ids=lambda headers: "".join(headers))
def test_names_and_pages_do_not_matter(serve, path, headers):
    serve(*alone(path, "--allow-host", "a.example"))
    assert ask(path, "POST", "/v1/evaluate", ONE, headers)[0] == 200


@pytest.mark.parametrize("lines", [b"", b"Host: a\r\nHost: a\r\n", b"Host: a b\r\n"], ids=["none", "two", "no host"])
def test_host_must_be_sound(serve, path, lines):
    serve(*alone(path))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" + lines + b"\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_tls_is_for_tcp(serve, path, directory):
    certificate = directory / "certificate"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "1", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout",
                    directory / "key", "-out", certificate], check=True, capture_output=True)
    tls = "--tls-cert", certificate, "--tls-key", directory / "key"
    running = serve("--port", "0", "--unix", path, *tls, n_lines=2)
    assert running.urls[0].startswith("https://") and running.urls[1] == f"http+unix://{path}"
    over_tls = curl("--cacert", certificate, running.urls[0] + "/v1/evaluate", "--json", json.dumps(ONE))
    assert ask(path, "POST", "/v1/evaluate", ONE) == (200, over_tls)
    large = b" " * (1 << 20) + json.dumps(ONE).encode()
    assert ask(path, "POST", "/v1/evaluate", large) == (200, over_tls)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(b"nonsense\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
    done = subprocess.run([PROGRAM, "health", "--unix", path, *tls], capture_output=True, text=True)
    assert done.stdout == f"healthy: http+unix://{path}/healthz returned 200\n"


# --- requests

@pytest.fixture(scope="module")
def there():
    """The path of a server's socket, for tests that need nothing else."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="unix-", dir="/tmp")) / "socket"
    running = Running(*alone(path))
    yield path
    assert running.stop() == 0
    path.parent.rmdir()


def test_curl(there):
    def status(*arguments):
        return curl("--unix-socket", there, "-o", "/dev/null", "-w", "%{http_code}", *arguments)
    assert status("http://localhost/") == b"200"
    assert status("-I", "http://anything/v1/info") == b"200"
    assert status("http://localhost/nowhere") == b"404"
    assert status("-X", "DELETE", "http://localhost/v1/info") == b"405"
    assert status("-X", "OPTIONS", "http://localhost/v1/evaluate") == b"405"
    assert status("http://localhost/v1/evaluate", "--json", "[") == b"400"
    assert status("http://localhost/v1/evaluate", "--json", json.dumps(ONE)) == b"200"
    assert status("http://localhost/v1/evaluate", "--json", json.dumps(ONE), "-H", "Expect: 100-continue") == b"200"
    assert status("http://localhost/v1/evaluate", "--json", json.dumps(ONE), "-H", "Transfer-Encoding: chunked") == b"200"
    assert status("http://localhost/v1/functions/nothing?x=1") == b"404"


def test_the_command_of_the_documentation(there):
    text = (ROOT / "docs/options.md").read_text()
    [command] = re.findall(r"^curl .*--unix-socket .*$", text, re.M)
    done = subprocess.run(["sh", "-c", command.replace("/run/frictiond/socket", str(there))], capture_output=True)
    assert done.returncode == 0 and json.loads(done.stdout)["name"] == "frictiond"


def test_a_connection_is_kept(there):
    connection = Connection(there)
    statuses = [connection.ask("POST", "/v1/evaluate", ONE)[0]]
    first = connection.sock
    statuses += [connection.ask("GET", "/healthz")[0] for _ in range(20)]
    assert connection.sock is first and statuses == [200] * 21
    connection.close()


def many(n):
    """A batch of n contacts with a plane."""
    return {"dim": 3, "velocities": [[0.02, 0.01 + i / n, 0] for i in range(n)], "friction": ONE["friction"],
            "outputs": ["potential", "gradient", "hessian"],
            "collisions": {"plane_vertex": {"vertices": list(range(n)), "plane_normal": [0, 0, 1], "normal_force": 9.81}}}


def test_a_large_body_and_a_large_answer(there, server):
    """Longer than any buffer, and the same as over TCP."""
    batch = json.dumps(many(60000)).encode()
    status, answer = ask(there, "POST", "/v1/evaluate", batch)
    assert status == 200 and len(answer) > 10 << 20
    done = subprocess.run(["curl", "-sS", "--noproxy", "*", server + "/v1/evaluate", "-H",
                           "Content-Type: application/json", "--data-binary", "@-"], input=batch, capture_output=True)
    assert done.stdout == answer


def test_many_at_one_time(there):
    expected = ask(there, "POST", "/v1/evaluate", ONE)
    answers = []

    def client():
        connection = Connection(there)
        answers.extend(connection.ask("POST", "/v1/evaluate", ONE) for _ in range(50))
        connection.close()
    threads = [threading.Thread(target=client) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 800


def open_connections(path, n):
    connections = [socket.socket(socket.AF_UNIX) for _ in range(n)]
    for connection in connections:
        connection.settimeout(300)
        connection.connect(str(path))
    return connections


def test_a_thousand_connections(serve, path):
    """The limit counts those over TCP and those over the socket together."""
    running = serve("--port", "0", "--unix", path, "--connections", "1000", n_lines=2)
    connections = open_connections(path, 1000)
    for connection in connections:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert all(connection.recv(4096).startswith(b"HTTP/1.1 200 ") for connection in connections)
    assert ask(path, "GET", "/healthz")[0] == 503
    assert curl(running.urls[0] + "/healthz", "-o", "/dev/null", "-w", "%{http_code}") == b"503"
    for connection in connections:
        connection.close()
    eventually(lambda: ask(path, "GET", "/healthz")[0] == 200)


def test_a_user_counts_as_an_address(serve, path):
    running = serve("--port", "0", "--unix", path, "--connections-per-address", "2", n_lines=2)
    connections = open_connections(path, 2)
    status, answer = ask(path, "GET", "/healthz")
    assert status == 429 and b"This user has as many connections" in answer
    assert curl(running.urls[0] + "/healthz", "-o", "/dev/null", "-w", "%{http_code}") == b"200"
    for connection in connections:
        connection.close()


# --- sockets passed by another process

# Moves the given descriptors to 3 and up and becomes the program, as systemd does.
LAUNCHER = """
import fcntl, os, sys
fds = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 100) for fd in sys.argv[1].split(",")]
for i, fd in enumerate(fds):
    os.dup2(fd, 3 + i)
    os.close(fd)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(fds)), LISTEN_FDNAMES=":".join("x" * len(fds)))
os.execv(sys.argv[2], sys.argv[2:])
"""


def handing_over(*sockets):
    fds = [one.fileno() for one in sockets]
    return {"program": (sys.executable, "-c", LAUNCHER, ",".join(map(str, fds)), PROGRAM), "pass_fds": fds}


@pytest.fixture
def unix_socket(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))
        one.listen()
        yield one


@pytest.fixture
def tcp_socket():
    with socket.create_server(("127.0.0.1", 0)) as one:
        yield one


def url_of(tcp_socket):
    return f"http://127.0.0.1:{tcp_socket.getsockname()[1]}"


def test_a_unix_domain_socket_is_handed_over(serve, path, unix_socket):
    """The socket remains when the server ends: connections wait there for the next server."""
    for _ in range(2):
        running = serve(**handing_over(unix_socket))
        assert running.urls == [f"http+unix://{path}"]
        assert ask(path, "POST", "/v1/evaluate", ONE)[0] == 200
        assert running.stop() == 0 and path.is_socket()
    with contextlib.closing(Connection(path)) as waiting:
        waiting.request("GET", "/healthz")
        serve(**handing_over(unix_socket))
        assert waiting.getresponse().status == 200


def test_tcp_is_handed_over(serve, tcp_socket):
    running = serve(**handing_over(tcp_socket))
    assert running.urls == [url_of(tcp_socket)]
    assert curl(running.urls[0] + "/healthz") == b'{"status":"ok"}'


def test_unix_and_tcp_sockets_are_passed_together(serve, path, unix_socket, tcp_socket, directory):
    running = serve(**handing_over(unix_socket, tcp_socket), n_lines=2)
    assert running.urls == [url_of(tcp_socket), f"http+unix://{path}"]
    assert curl(running.urls[0] + "/healthz") == b'{"status":"ok"}' and ask(path, "GET", "/healthz")[0] == 200


def test_options_that_are_given_count_beside_them(serve, path, unix_socket, tcp_socket):
    port = str(tcp_socket.getsockname()[1])
    running = serve("--port", "0", **handing_over(unix_socket), n_lines=2)
    assert running.urls[0].startswith("http://127.0.0.1:") and running.urls[1] == f"http+unix://{path}"
    running.stop()
    running = serve("--port", port, "--unix", path, **handing_over(unix_socket, tcp_socket), n_lines=2)
    assert running.urls == [url_of(tcp_socket), f"http+unix://{path}"]
    health = subprocess.run([PROGRAM, "health", "--unix", path], capture_output=True)
    assert health.returncode == 0
    assert running.stop() == 0 and path.is_socket()


def test_others_must_be_intended_there_too(directory):
    with socket.create_server(("0.0.0.0", 0)) as everywhere:
        start = handing_over(everywhere)
        done = subprocess.run([*map(str, start["program"])], pass_fds=start["pass_fds"], capture_output=True, text=True,
                              timeout=60)
    assert done.returncode == 2 and "without --tokens anybody who can reach 0.0.0.0 may use the service" in done.stderr


def test_what_is_handed_over_must_listen(directory):
    with socket.socket() as silent:
        start = handing_over(silent)
        done = subprocess.run([*map(str, start["program"])], pass_fds=start["pass_fds"], capture_output=True, text=True,
                              timeout=60)
    assert done.returncode == 1 and done.stderr == (
        "frictiond: file descriptor 3, which is passed in (LISTEN_FDS), is neither a listening TCP socket nor a listening "
        "Unix-domain stream socket\n")


def test_what_is_meant_for_another_process(serve, path, unix_socket):
    other = handing_over(unix_socket)
    other["program"] = (*other["program"][:2], LAUNCHER.replace("os.getpid()", "1"), *other["program"][3:])
    running = serve("--port", "0", **other)
    assert running.urls[0].startswith("http://127.0.0.1:")


# --- the end

def test_requests_under_way_are_completed(serve, path):
    running = serve(*alone(path, "--drain-seconds", "600"))
    body = json.dumps(ONE).encode()
    with socket.socket(socket.AF_UNIX) as held:
        held.connect(str(path))
        held.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(body))
        assert held.recv(100).startswith(b"HTTP/1.1 100 ")
        running.process.send_signal(signal.SIGTERM)
        eventually(lambda: ask(path, "GET", "/readyz")[0] == 503)
        assert ask(path, "POST", "/v1/evaluate", ONE)[0] == 503
        held.sendall(body)
        assert held.recv(4096).startswith(b"HTTP/1.1 200 ")
    assert running.process.wait() == 0
    assert not path.exists()


def test_a_client_that_goes_does_no_harm(there):
    for _ in range(20):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(there))
            connection.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc")
    assert ask(there, "GET", "/healthz")[0] == 200


def test_health_of_a_server_that_hangs(serve, path):
    running = serve(*alone(path))
    running.process.send_signal(signal.SIGSTOP)
    done = subprocess.run([PROGRAM, "health", "--unix", path, "--timeout-seconds", "1"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"frictiond: not healthy: no answer at {path} within 1 s\n")
    running.process.send_signal(signal.SIGCONT)


def test_a_client_that_goes_is_given_up(serve, path):
    """Clients leave in the middle of a request, and the metrics count it as one without a response."""
    serve(*alone(path))
    for _ in range(3):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(b"POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                               b"Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n")
            assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
            connection.sendall(b" " * 50000)

    def given_up():
        metrics = ask(path, "GET", "/metrics")[1].decode()
        return 'frictiond_requests_total{route="/v1/check",status="none"} 3\n' in metrics
    eventually(given_up)


def test_health(there, path):
    def health(*options, **environment):
        done = subprocess.run([PROGRAM, "health", *map(str, options)], capture_output=True, text=True,
                              env={**os.environ, **environment})
        return done.returncode, done.stdout + done.stderr
    assert health("--ready", *alone(there)) == (0, f"healthy: http+unix://{there}/readyz returned 200\n")
    assert health(FRICTIOND_UNIX=str(there))[0] == 0
    code, text = health(*alone(path))
    assert code == 1 and f"{path} cannot be reached: No such file or directory" in text
    assert health("--port", "none") == (1, "frictiond: not healthy: --port none needs --unix PATH\n")
