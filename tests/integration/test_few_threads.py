"""If a limit leaves few threads, the server starts with as many as it can get and reports their number, or reports why
it cannot start. Once it is ready, it never starts another thread. Tested as a separate user, because root is exempt
from RLIMIT_NPROC, and in a cgroup with pids.max."""
import contextlib
import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import tempfile
import urllib.request

import pytest

from conftest import ONE_IN, ROOT, READY, eventually, metric, stop

PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
FRAME = "application/vnd.frictiond.frame"
THREADS = 4

# LeakSanitizer uses a thread to look for leaks.
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


def users():
    """Users that have processes."""
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                yield folder.stat().st_uid


def tasks_of(pid):
    return set(os.listdir(f"/proc/{pid}/task"))


@pytest.fixture(scope="module")
def program():
    """Copies the program to where any user can run it."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield shutil.copy(PROGRAM, folder)


class Limits:
    """Counts processes of a user who has no others: those of the test's own user come and go during the test."""
    def __init__(self):
        if os.getuid() != 0:
            pytest.skip("RLIMIT_NPROC counts all that a user runs; only root can try it as a user that runs nothing else")
        taken = set(users())
        self.user = next(user for user in range(54321, 60000) if user not in taken)

    def __call__(self, n):
        """Returns a function with which a child process limits itself to n threads."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (n, n))
            os.setgroups([])
            os.setgid(self.user)
            os.setuid(self.user)
        return limit

    def remove(self):
        pass


class Cgroup:
    """A child of this process's cgroup, of version 1 or 2."""
    def __init__(self):
        self.folder = next(filter(None, map(self.make, self.parents())), None)
        if not self.folder:
            pytest.skip("no cgroup with pids.max can be made here: that needs root and a writable /sys/fs/cgroup")

    @staticmethod
    def parents():
        mount = pathlib.Path("/sys/fs/cgroup")
        for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if "pids" in controllers.split(","):
                yield mount / "pids" / path.lstrip("/")
                yield mount / "pids"
            elif not controllers:
                yield mount / path.lstrip("/")
                yield mount

    @staticmethod
    def make(parent):
        folder = parent / f"frictiond-test-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if not (folder / "pids.max").exists():
                with contextlib.suppress(OSError):
                    (parent / "cgroup.subtree_control").write_text("+pids")
            with contextlib.suppress(OSError):
                (folder / "pids.max").write_text("max")
                return folder
            folder.rmdir()
        return None

    def __call__(self, n):
        (self.folder / "pids.max").write_text(str(n))
        procs = str(self.folder / "cgroup.procs")

        def join():
            with open(procs, "w") as file:
                file.write(str(os.getpid()))
        return join

    def remove(self):
        eventually(self.is_removed)

    def is_removed(self):
        with contextlib.suppress(OSError):
            self.folder.rmdir()
        return not self.folder.exists()


@pytest.fixture(params=[Limits] if ONE_IN > 1 and os.environ.get("MODE") == "tsan" else [Limits, Cgroup])
def limit(request):
    limit = request.param()
    yield limit
    limit.remove()


@pytest.fixture
def start(program, tmp_path):
    """A function that starts a server with a limit: (process, base URL or None, path of the log)."""
    started = []

    def start_one(preexec, *options):
        path = tmp_path / f"log.{len(started)}"
        with path.open("wb") as log:
            process = subprocess.Popen([program, "--port", "0", "--threads", str(THREADS), "--drain-seconds", "1", *options],
                                       stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=preexec, cwd="/",
                                       env=ENVIRONMENT)
        started.append(process)
        line = process.stdout.readline().rstrip("\n")
        return process, line[len(READY):] if line.startswith(READY) else None, path

    yield start_one
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def scene():
    """Requests with all kinds of loops and responses, long enough to use every thread."""
    n = 20000 if ONE_IN == 1 else 9000
    return {"dim": 3, "velocities": [[i % 7 * 1e-3, i % 5 * 1e-3, 0] for i in range(n)],
            "friction": {"eps_v": 1e-3, "mu": 0.5}, "outputs": ["potential", "gradient", "hessian", "collisions"],
            "collisions": {"plane_vertex": {"vertices": list(range(n)), "normal_force": 1, "plane_normal": [0, 0, 1]}}}


def ask(base, path, request=None, accept="application/json"):
    data = json.dumps(request).encode() if request else None
    asked = urllib.request.Request(base + path, data, {"Content-Type": "application/json", "Accept": accept})
    with urllib.request.urlopen(asked) as answer:
        return answer.read()


def work(base):
    """The responses to large and small requests."""
    answers = []
    for form, media in (("triplets", ["application/json"]), ("csr", [FRAME]), ("factors", ["application/json", FRAME])):
        for accept in media if ONE_IN > 1 else ["application/json", FRAME]:
            answers.append(ask(base, "/v1/evaluate", {**scene(), "hessian": {"format": form}}, accept))
    answers.append(ask(base, "/v1/check", {key: value for key, value in scene().items() if key != "outputs"}))
    return answers


@pytest.fixture(scope="module")
def expected(program):
    process = subprocess.Popen([program, "--port", "0", "--threads", "2"], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    answers = work(process.stdout.readline().rstrip("\n")[len(READY):])
    assert stop(process) == 0
    return answers


def linger(base, n):
    """Opens that many connections, which are refused at once but continue to send."""
    connections = []
    for _ in range(n):
        connections.append(socket.create_connection(("127.0.0.1", int(base.rsplit(":", 1)[1]))))
        connections[-1].sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
                                b"Content-Length: 99999999999\r\n\r\n" + b" " * 1000)
        received = b""
        while more := connections[-1].recv(65536):
            received += more
        assert received.startswith(b"HTTP/1.1 413")
    return connections


def test_any_number_of_threads(limit, start, expected):
    """The server becomes ready and states how many threads it has, or exits with 1 and a line that gives the reason."""
    sizes = []
    for n in itertools.takewhile(lambda _: sizes.count(THREADS) < 2, range(1, 17)):
        process, base, log = start(limit(n), "--io-threads", "2")
        if not base:
            assert process.wait() == 1
            text = log.read_text()
            assert len(text.splitlines()) == 1 and "threads cannot be started" in text
            assert not sizes
            continue
        before = tasks_of(process.pid)
        info = json.loads(ask(base, "/v1/info"))
        sizes.append(info["threads"])
        assert metric(base, "frictiond_threads") == info["threads"]
        assert len(before) <= n
        warned = f"{info['threads']} of {THREADS} threads for large evaluations"
        assert (warned in log.read_text()) == (info["threads"] < THREADS)
        eventually(lambda: f" {info['threads']} threads\"" in log.read_text())  # logged after the announcement
        if ONE_IN == 1 or info["threads"] in (1, THREADS):
            assert work(base) == expected
        assert tasks_of(process.pid) == before
        assert stop(process) == 0
    assert sizes == sorted(sizes) and set(sizes) == set(range(1, THREADS + 1))


def test_lingering_takes_no_threads(limit, start, expected):
    """80 refused connections, of which 64 are kept."""
    process, base, _ = start(limit(14), "--io-threads", "2")
    before = tasks_of(process.pid)
    connections = linger(base, 80)
    assert work(base) == expected
    assert tasks_of(process.pid) == before
    for connection in connections:
        connection.close()
    assert stop(process) == 0


def test_no_thread_is_started_after_readiness(start, expected):
    """This holds without a limit, too."""
    process, base, _ = start(None, "--io-threads", "3")
    before = tasks_of(process.pid)
    connections = linger(base, 70)
    for _ in range(2):
        assert work(base) == expected
        ask(base, "/v1/functions/smooth_mu?y=1&mu_s=1&mu_k=1&eps_v=1")
    assert tasks_of(process.pid) == before
    for connection in connections:
        connection.close()
    assert stop(process) == 0


@pytest.mark.parametrize("variables", [{"OMP_DYNAMIC": "true"}, {"OMP_THREAD_LIMIT": "2"}, {"OMP_NUM_THREADS": "7"}])
def test_openmp_variables(program, expected, variables):
    """None of these variables allows the number of threads to change later."""
    process = subprocess.Popen([program, "--port", "0", "--threads", str(THREADS)], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, env={**os.environ, **variables})
    base = process.stdout.readline().rstrip("\n")[len(READY):]
    before = tasks_of(process.pid)
    assert json.loads(ask(base, "/v1/info"))["threads"] == (2 if "OMP_THREAD_LIMIT" in variables else THREADS)
    assert work(base) == expected
    assert tasks_of(process.pid) == before
    assert stop(process) == 0


def test_check_with_few_threads(limit, program, tmp_path):
    """The command opens parallel regions on another thread."""
    path = tmp_path / "request.json"
    path.write_text(json.dumps(scene()))
    sizes = []
    for n in range(1, 8):
        with path.open() as request:
            done = subprocess.run([program, "check", "--threads", str(THREADS), "-"], stdin=request, capture_output=True,
                                  text=True, preexec_fn=limit(n), cwd="/", env=ENVIRONMENT, check=False)
        assert done.returncode == 0 and "agrees within" in done.stdout
        told = re.fullmatch(rf"frictiond: --threads: (\d) of {THREADS}, no more can be started .*\n", done.stderr)
        assert told or not done.stderr
        sizes.append(int(told[1]) if told else THREADS)
        assert sizes[-1] <= n
    assert sizes == sorted(sizes) and set(sizes) == set(range(1, THREADS + 1))
