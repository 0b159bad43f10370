"""The client for Rust, built offline from Debian's crates. The build is kept in build/rust."""
import pathlib
import shutil

import pytest
from carried import *  # noqa: F401,F403
from collision_sets import *  # noqa: F401,F403
from derived import *  # noqa: F401,F403
from fake import FakeService
from native import *  # noqa: F401,F403

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROJECT = ROOT / "build" / "rust"
DEBIAN = ["--offline", "--config", ROOT / "examples/rust/debian.toml"]


@pytest.fixture(scope="session")
def programs(run):
    """A copy of the project with the probe as a second program, as its lock file is for Debian's versions."""
    PROJECT.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "examples" / "rust", PROJECT, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    (PROJECT / "Cargo.lock").unlink(missing_ok=True)  # an older cargo may not be able to read a newer one's
    shutil.copy(ROOT / "tests" / "examples" / "probes" / "probe.rs", PROJECT / "src" / "bin")
    run("cargo", "build", *DEBIAN, "--manifest-path", PROJECT / "Cargo.toml")
    return PROJECT / "target" / "debug"  # conftest.py sets that folder


@pytest.fixture
def example(programs):
    return [programs / "tile"]


@pytest.fixture
def probe(programs):
    return [programs / "probe"]


def test_a_set_keeps_a_connection_open(probe, run, server, script):
    with FakeService(server) as fake:
        run(*probe, fake.url, "sets", script)
        assert (len(fake.requests), fake.connections) == (10, 1)
