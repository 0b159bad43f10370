"""The output of make while it builds, and `make run`: its port and its log."""
import contextlib
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import threading
import urllib.request

import pytest

from conftest import ROOT

MODE = os.environ.get("MODE", "release")
CONTACT = b"""{"dim": 2, "velocities": [[0, 0]], "friction": {"mu": 0.3, "eps_v": 0.1},
    "collisions": {"plane_vertex": {"vertices": [0], "normal_force": 1, "plane_normal": [0, 1]}}}"""


def environment(**more):
    """The environment without variables set by the user or by a make that runs the tests."""
    plain = {name: value for name, value in os.environ.items() if not re.match(r"MAKE|MFLAGS|FRICTIOND|V$|PORT$", name)}
    return {**plain, "no_proxy": "127.0.0.1", **more}


def make(*words, **more):
    return subprocess.run(["make", "--no-print-directory", *words], cwd=ROOT, env=environment(**more), text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False)


# ---- building ----

def build(folder, *words, **more):
    shutil.rmtree(folder, ignore_errors=True)
    return make(f"B={folder}", f"{folder}/core/law/mollifier.c.o", *words, **more)


def test_a_line_for_each_command(tmp_path):
    assert build(tmp_path / "b").stdout == "  CC core/law/mollifier.c\n"


def test_v_1_shows_the_commands(tmp_path):
    command = rf"^\S+ .*-c core/law/mollifier\.c -o {tmp_path}/b/core/law/mollifier\.c\.o$"
    assert re.search(command, build(tmp_path / "b", "V=1").stdout, re.M)
    assert re.search(command, build(tmp_path / "b", V="1").stdout, re.M)


@pytest.mark.parametrize("words", [[], ["V=0"], ["V=1"]], ids=str)
def test_errors_are_shown_in_full(tmp_path, words):
    done = build(tmp_path / "b", 'CC=sh -c "seq 1000; echo it is broken; exit 1" >&2', *words)
    assert done.returncode != 0
    assert [*map(str, range(1, 1001)), "it is broken"] == done.stderr.splitlines()[:1001]


@pytest.mark.skipif(MODE != "release", reason="the demo runs the release build")
def test_the_demo_does_not_announce_a_build_that_is_not_needed():
    assert make("all").returncode == 0
    done = make("demo")
    assert done.returncode == 0 and "Stop the service" in done.stdout
    assert "Building" not in done.stdout and "compiles" not in done.stdout


# ---- make run ----

class Run:
    """make run, with a file or a terminal as standard error, until its process group is interrupted as by Ctrl-C."""

    def __init__(self, words, stderr, **more):
        self.process = subprocess.Popen(["make", "--no-print-directory", "run", f"MODE={MODE}", *words], cwd=ROOT,
                                        env=environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=stderr, text=True, start_new_session=True)
        self.lines = []
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("frictiond listening on "):
                self.url = line.split()[-1]
                return
        self.process.wait()
        raise AssertionError(self.lines)

    def post(self):
        request = urllib.request.Request(self.url + "/v1/evaluate", CONTACT, {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
            assert answer.status == 200

    def stop(self):
        os.killpg(self.process.pid, signal.SIGINT)
        self.process.stdout.read()
        self.process.wait()
        self.process.stdout.close()


@contextlib.contextmanager
def terminal(pieces):
    """A terminal to write to; afterwards `pieces` contains the output."""
    try:
        reading, writing = pty.openpty()
    except OSError:
        pytest.skip("this machine gives no pseudo-terminals (/dev/pts is not mounted), which this test needs")

    def read():
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while data := os.read(reading, 4096):
                pieces.append(data.decode())

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield writing
    finally:
        os.close(writing)
        reader.join()
        os.close(reading)


def logged_on_a_terminal(**more):
    pieces = []
    with terminal(pieces) as writing:
        run = Run(["PORT=0"], writing, **more)
        run.post()
        run.stop()
    return "".join(pieces)


def test_on_a_terminal_requests_are_not_logged():
    log = logged_on_a_terminal()
    assert "level=" not in log
    assert "FRICTIOND_LOG_LEVEL=info" in log


def test_on_a_terminal_they_are_when_asked_for():
    log = logged_on_a_terminal(FRICTIOND_LOG_LEVEL="info")
    assert 'path="/v1/evaluate" status=200' in log
    assert "FRICTIOND_LOG_LEVEL" not in log


def test_into_a_file_they_are_logged(tmp_path):
    with open(tmp_path / "log", "w") as file:
        run = Run(["PORT=0"], file)
        run.post()
        run.stop()
    assert 'path="/v1/evaluate" status=200' in (tmp_path / "log").read_text()


def test_the_port_is_8080_or_what_is_given():
    assert re.search(r"frictiond --port '?9123'?$", make("-n", "run", "PORT=9123").stdout, re.M)
    assert "--port" not in make("-n", "run").stdout


def test_a_port_that_is_taken_says_what_to_do():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        done = make("run", f"MODE={MODE}", f"PORT={listener.getsockname()[1]}")
    assert done.returncode != 0
    assert "in use" in done.stderr and "--port" in done.stderr and "FRICTIOND_PORT" in done.stderr
