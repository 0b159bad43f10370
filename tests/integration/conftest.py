"""A running server for the tests: the program that FRICTIOND names (default build/frictiond) on a free port; and
functions that wait for a server."""
import http.client
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.request

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ["PATH"] += f":{ROOT}/build/tools/bin"  # programs that scripts/packages extracted from packages
READY = "frictiond listening on "
# Suites with many cases of one kind try only one case in ONE_IN, as in builds with sanitizers (tests/run).
ONE_IN = max(1, int(os.environ.get("SHARE", 1)))
# Sanitizers use additional memory, and keep freed blocks.
SEES_RESIDENT = os.environ.get("MODE", "release") == "release"


def start(*options, environment=None):
    """Starts the program; returns (process, base URL). Its log goes to this process's standard error."""
    program = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
    process = subprocess.Popen(
        [str(program), "--port", "0", *options],
        stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
    line = process.stdout.readline().rstrip("\n")
    if not line.startswith(READY):
        process.kill()
        process.wait()
        pytest.fail(f"the server did not say that it is ready, but: {line!r}")
    return process, line[len(READY):]


def stop(process):
    """Sends SIGTERM; returns the exit code. The server must have printed nothing after its first line."""
    process.send_signal(signal.SIGTERM)
    rest = process.stdout.read()
    code = process.wait()
    process.stdout.close()
    assert rest == ""
    return code


def eventually(condition):
    """Waits until a condition is true and returns its result; gives up after a minute, when something is broken rather
    than slow. A request is counted and logged after its last byte has been sent, so possibly after the client has
    received it."""
    for _ in range(1200):
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it never came true")


def metric(base, series):
    """Returns the value of a series in /metrics; 0 for labels that have not occurred yet. Its metric must exist."""
    with urllib.request.urlopen(base + "/metrics") as answer:
        text = answer.read().decode()
    assert f"# TYPE {series.partition('{')[0]} " in text, series
    return next((float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(series + " ")), 0.0)


def resident_bytes(process, which="VmRSS"):
    """Resident memory now, or with VmHWM its maximum so far."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(rf"^{which}:\s+(\d+) kB$", text, re.M)[1]) << 10


def with_more_time(attempt):
    """For tests in which the client must act before a timeout of the server: calls attempt(seconds) with one second,
    and with more if the machine was too slow. Three quarters of a minute must be enough, because tests/run ends a suite
    that prints nothing for a minute."""
    for seconds in (1, 4, 16, 45):
        try:
            return attempt(seconds)
        except (AssertionError, OSError, http.client.HTTPException):
            if seconds == 45:
                raise
    return None


@pytest.fixture(scope="session")
def server():
    process, base = start()
    yield base
    assert stop(process) == 0


@pytest.fixture
def server_with():
    """A function that starts a server for one test: server_with("--max-json-bytes", "1K") returns its base URL;
    server_with.started lists the processes."""
    started = []

    def start_one(*options, **more):
        process, base = start(*options, **more)
        started.append(process)
        return base

    start_one.started = started
    yield start_one
    codes = [stop(process) for process in started]
    assert codes == [0] * len(started)
