"""A running server for the tests: the program named by FRICTIOND (default build/frictiond) on a free port; and waiting
for what servers do in their own time."""
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
os.environ["PATH"] += f":{ROOT}/build/tools/bin"  # what scripts/packages took out of packages
READY = "frictiond listening on "
# Sanitizers have memory of their own, and keep what is freed.
SEES_RESIDENT = os.environ.get("MODE", "release") == "release"


def start(*options, environment=None):
    """Starts the program; gives (process, base URL). What it logs goes to this process's standard error."""
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
    """SIGTERM; gives the exit code. Anything printed after the first line is a fault."""
    process.send_signal(signal.SIGTERM)
    rest = process.stdout.read()
    code = process.wait()
    process.stdout.close()
    assert rest == ""
    return code


def eventually(condition):
    """What a condition gives once that is true; gives up after a minute (something is broken, not slow). A request is
    counted and logged when its last byte has been sent, so perhaps after it was received."""
    for _ in range(1200):
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError("it never came true")


def metric(base, series):
    """Its value in /metrics. 0 for labels that have not occurred yet; the name has to be there."""
    with urllib.request.urlopen(base + "/metrics") as answer:
        text = answer.read().decode()
    assert f"# TYPE {series.partition('{')[0]} " in text, series
    return next((float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(series + " ")), 0.0)


def resident_bytes(process, which="VmRSS"):
    """Now, or with VmHWM the most so far."""
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(rf"^{which}:\s+(\d+) kB$", text, re.M)[1]) << 10


def with_more_time(attempt):
    """For what a client has to have done before a time of the server's is over: attempt(seconds) with a second, and
    where the machine was too slow for that, with more. Three quarters of a minute must do: tests/run ends a suite that is
    silent for a whole one."""
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
    """A function that starts a server of the test's own: server_with("--max-json-bytes", "1K") gives its base URL;
    server_with.started are the processes."""
    started = []

    def start_one(*options, **more):
        process, base = start(*options, **more)
        started.append(process)
        return base

    start_one.started = started
    yield start_one
    codes = [stop(process) for process in started]
    assert codes == [0] * len(started)
