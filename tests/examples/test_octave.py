"""The client for GNU Octave."""
import pytest
from native import *  # noqa: F401,F403


@pytest.fixture
def example():
    return "octave-cli", "examples/octave/tile.m"


@pytest.fixture
def probe():
    return "octave-cli", "tests/examples/probes/probe.m"
