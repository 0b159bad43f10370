"""The client for C++. The example uses Eigen; the probe does not, and runs under AddressSanitizer."""
import pytest
from carried import *  # noqa: F401,F403
from derived import *  # noqa: F401,F403
from native import *  # noqa: F401,F403
from native_sets import *  # noqa: F401,F403
from native import command_of

STRICT = "-std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsanitize=address".split()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cpp")


@pytest.fixture(scope="session")
def example(run, folder):
    run("sh", "-c", command_of("examples/cpp/tile.cpp", folder / "tile"))
    return [folder / "tile"]


@pytest.fixture(scope="session")
def probe(run, folder):
    run("c++", *STRICT, "tests/examples/probes/probe.cpp", "-lcurl", "-o", folder / "probe")
    return [folder / "probe"]
