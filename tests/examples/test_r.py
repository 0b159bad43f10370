"""The client for R."""
import pytest
from collision_sets import *  # noqa: F401,F403
from fake import FakeService
from native import *  # noqa: F401,F403
from native import hessian_as_matrix


@pytest.fixture
def example():
    return "Rscript", "examples/r/tile.R"


@pytest.fixture
def probe():
    return "Rscript", "tests/examples/probes/probe.R"


@pytest.mark.parametrize("vertices, options", [
    ([0], {"format": "csr", "triangle": "upper"}), ([0, 0], {"format": "triplets"}),
    ([], {"format": "csr"}), ([], {"format": "triplets"})], ids=["half", "twice", "no csr", "no triplets"])
def test_the_hessian_is_a_sparse_matrix(probe, run, server, tmp_path, vertices, options):
    hessian_as_matrix(probe, run, server, tmp_path / "batch.json", vertices, **options)


def test_a_set_keeps_a_connection_open(probe, run, server, script):
    with FakeService(server) as fake:
        run(*probe, fake.url, "sets", script)
        assert (len(fake.requests), fake.connections) == (10, 1)
