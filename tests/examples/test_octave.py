"""The client for GNU Octave."""
import pytest
from collision_sets import *  # noqa: F401,F403
from native import *  # noqa: F401,F403
from native import hessian_as_matrix


@pytest.fixture
def example():
    return "octave-cli", "examples/octave/tile.m"


@pytest.fixture
def probe():
    return "octave-cli", "tests/examples/probes/probe.m"


@pytest.mark.parametrize("vertices, options", [
    ([0], {"format": "csr", "triangle": "upper"}), ([0, 0], {"format": "triplets"}),
    ([], {"format": "csr"}), ([], {"format": "triplets"})], ids=["half", "twice", "no csr", "no triplets"])
def test_the_hessian_is_a_sparse_matrix(probe, run, server, tmp_path, vertices, options):
    hessian_as_matrix(probe, run, server, tmp_path / "batch.json", vertices, **options)
