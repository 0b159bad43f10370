"""Shared by the tests of the examples: a running server, servers that refuse or do not exist, and commands to run.

A language example prints the lines of examples/python/first_batch.py; `same_lines` compares them, numbers with a
tolerance. Missing interpreters fail a test (`make examples-test` installs them).
"""
import copy
import http.server
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import npm_project as npm  # noqa: E402

# The Python package of clients/python; with INSTALLED in the environment, the one installed for this Python, with its own
# library and program (tests/wheel/run).
INSTALLED = bool(os.environ.get("INSTALLED"))
PYTHON = sys.executable if INSTALLED else "/usr/bin/python3"
if not INSTALLED:
    PACKAGE = str(ROOT / "clients/python")
    os.environ["PYTHONPATH"] = PACKAGE + os.pathsep + os.environ.get("PYTHONPATH", "")
    os.environ.setdefault("FRICTIOND_LIBRARY", str(ROOT / "build/release/libfrictiond.so"))
    sys.path.insert(0, PACKAGE)
# Kept, so that crates are compiled only once. One unit of code per crate takes less time in all than several.
RUST = ROOT / "build/rust/target"
CARGO = {"CARGO_TARGET_DIR": str(RUST), "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_CODEGEN_UNITS": "1",
         "CARGO_INCREMENTAL": "0"}
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?!\w)")
PROBLEM = {"type": "about:blank", "title": "Unprocessable Content", "status": 422, "detail": "must be larger than 0",
           "errors": [{"pointer": "/friction/eps_v", "detail": "must be larger than 0"}]}


def load(name, path):
    specification = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


integration = load("integration_conftest", ROOT / "tests" / "integration" / "conftest.py")
server = integration.server
server_with = integration.server_with


class Compared:
    """A transport of the Python package in process. Every answer must have the same bytes as that of a second transport,
    over HTTP, to the same request."""
    OWN = re.compile(rb',?"(request_id|instance)":"[^"]*"')  # members of problems
    DIFFERENT = ("/v1/info", "/v1/sets")  # limits that depend on the memory; sets of other tests

    def __init__(self, local, http):
        self._local, self._http, self.n_compared = local, http, 0

    def send(self, method, target, headers, pieces):
        pieces = list(pieces)
        answer, other = (transport.send(method, target, headers, pieces) for transport in (self._local, self._http))
        if target not in self.DIFFERENT:
            (status, found, body), (expected, theirs, content) = answer, other
            kinds = [headers.get("Content-Type") or "" for headers in (found, theirs)]
            texts = [self.OWN.sub(b"", text) if status >= 400 else text for text in (b"".join(body), b"".join(content))]
            assert (status, kinds[0], texts[0]) == (expected, kinds[1], texts[1]), (method, target)
            self.n_compared += 1
        return answer

    def close(self):
        self._local.close()
        self._http.close()

    def __repr__(self):
        return repr(self._local)

    def __getattr__(self, name):
        return getattr(self._local, name)


@pytest.fixture(params=["http", "local"])
def connect(request, server):
    """connect(frames=True): a client of the service over HTTP, or of one in this process, whose answers are compared with
    those over HTTP, byte by byte. All clients of a test have the same service."""
    import frictiond
    if request.param == "http":
        return lambda **how: frictiond.Client(server, **how)
    service = frictiond.local(threads=2)

    def connect_one(frames=True):
        client = copy.copy(service)
        client._begin(Compared(service._transport, frictiond.Client(server)._transport), frames)
        return client
    return connect_one


def environment():
    return {**os.environ, "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1"}


def run_in_root(*command, **more):
    """Runs a command from the repository's root; python3 is the one with the package. Returns the completed process, with its output as
    text."""
    command = [str(word) for word in command]
    command[0] = PYTHON if command[0] == "python3" else command[0]
    if not shutil.which(command[0], path=os.environ["PATH"] + ":" + str(ROOT)):
        pytest.fail(f"{command[0]} is missing: scripts/packages examples")
    return subprocess.run(command, cwd=more.pop("cwd", ROOT), env={**environment(), **more.pop("environment", {})}, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


@pytest.fixture(scope="session")
def run():
    """run("examples/curl/tile.sh", server) returns the output of a command, which must succeed."""
    def run_one(*command, **more):
        done = run_in_root(*command, **more)
        assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout
    return run_one


@pytest.fixture(scope="session")
def fail():
    """fail("examples/curl/tile.sh", nobody) returns all output of a command that must exit with 1."""
    def run_one(*command, **more):
        done = run_in_root(*command, **more)
        assert done.returncode == 1, f"{command} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr
    return run_one


@pytest.fixture(scope="session")
def npm_project(tmp_path_factory):
    """A folder with the npm package installed, and the examples in JavaScript."""
    return npm.npm_project(tmp_path_factory.mktemp("npm"))


@pytest.fixture(scope="session")
def tile(server, run):
    """The output of every language example: the lines of examples/python/first_batch.py."""
    return run("python3", "examples/python/first_batch.py", server)


def same_lines(one, other, tolerance=1e-5):
    """Asserts that two texts have the same lines. Numbers and spaces may differ a little (-0.00000, 1e-05)."""
    one, other = ([line.split() for line in text.strip().splitlines()] for text in (one, other))
    assert len(one) == len(other), f"{one}\nis not\n{other}"
    for a, b in zip(one, other):
        words = [NUMBER.sub("#", " ".join(line)) for line in (a, b)]
        assert words[0] == words[1]
        numbers = [[float(number) for number in NUMBER.findall(" ".join(line))] for line in (a, b)]
        assert numbers[0] == pytest.approx(numbers[1], rel=tolerance, abs=tolerance), f"{a} is not {b}"


@pytest.fixture(scope="session")
def same():
    """The function same_lines, for suites that do not import this file."""
    return same_lines


@pytest.fixture(scope="session")
def nobody():
    """A URL on which nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


class Refusal(http.server.BaseHTTPRequestHandler):
    """Reads a request and returns PROBLEM."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps(PROBLEM).encode()
        self.send_response(422)
        self.send_header("Content-Type", "application/problem+json")
        self.send_header("X-Request-Id", "refused-1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def refusing():
    """URL of a server that returns 422 for everything: pointer /friction/eps_v, detail `must be larger than 0`."""
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusal)
    listener.daemon_threads = True
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{listener.server_address[1]}"
    listener.shutdown()
    listener.server_close()
    thread.join()


def command_of(path, folder):
    """(command, program): the shell command that builds an example, from the comment at its top, with another folder"""
    lines = [line.strip("/*! \n") for line in (ROOT / path).read_text().splitlines()[:12]]
    first = next(i for i, line in enumerate(lines) if line.startswith(("cc ", "c++ ")))
    last = next(i for i in range(first, len(lines)) if "[URL]" in lines[i])
    words = " ".join(lines[first:last + 1]).split(" [URL]")[0]
    command, program = words.replace("build/", f"{folder}/").replace("-J build", f"-J {folder}").rsplit(" && ", 1)
    assert f" -o {program}" in command
    return command, program
