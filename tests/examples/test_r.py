"""The client for R."""
import pytest
from native import *  # noqa: F401,F403


@pytest.fixture
def example():
    return "Rscript", "examples/r/tile.R"


@pytest.fixture
def probe():
    return "Rscript", "tests/examples/probes/probe.R"
