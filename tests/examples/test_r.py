"""The client for R."""
import pytest
from carried import *  # noqa: F401,F403
from carried import BODIES_OF_SETS, ONE_BODY
from collision_sets import *  # noqa: F401,F403
from derived import *  # noqa: F401,F403
from fake import FakeService
from native import *  # noqa: F401,F403
from native import batch, hessian_as_matrix


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
    hessian_as_matrix(probe, run, server, tmp_path / "batch.json", batch(vertices), **options)


@pytest.mark.parametrize("form", ["csr", "triplets"])
@pytest.mark.parametrize("document", [ONE_BODY, *BODIES_OF_SETS], ids=["one", "alone", "and vertices"])
def test_the_hessian_is_over_all_degrees_of_freedom(probe, run, server, tmp_path, document, form):
    hessian_as_matrix(probe, run, server, tmp_path / "batch.json", document, format=form)


def test_a_set_keeps_a_connection_open(probe, run, server, script):
    with FakeService(server) as fake:
        run(*probe, fake.url, "sets", script)
        assert (len(fake.requests), fake.connections) == (10, 1)
