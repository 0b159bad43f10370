"""A running server for the tests: the program named by FRICTIOND (default build/frictiond) on a free port."""
import os
import pathlib
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
READY = "frictiond listening on "


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


@pytest.fixture(scope="session")
def server():
    process, base = start()
    yield base
    assert stop(process) == 0


@pytest.fixture
def server_with():
    """A function that starts a server of the test's own: server_with("--max-json-bytes", "1K") gives its base URL."""
    started = []

    def start_one(*options, **more):
        process, base = start(*options, **more)
        started.append(process)
        return base

    yield start_one
    codes = [stop(process) for process in started]
    assert codes == [0] * len(started)
