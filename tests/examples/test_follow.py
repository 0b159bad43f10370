"""The body that follows a path (examples/experiments/follow.py): compares its derivatives with differences, and checks
that moving the posts brings the path closer."""
import pathlib
import sys

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples/experiments"))
import follow  # noqa: E402
from conftest import integration  # noqa: E402


@pytest.fixture(scope="module")
def client():
    """A client of a server that does not log each of thousands of requests; with a share of the cases, of a service in
    this process, which takes half the time."""
    if integration.ONE_IN > 1:
        yield follow.frictiond.local(threads=1)
        return
    process, base = integration.start("--log-level", "warning")
    yield follow.frictiond.Client(base)
    assert integration.stop(process) == 0


def test_derivatives_are_those_of_the_distance(client):
    """Compares with central differences of whole simulations along one direction."""
    table, posts = follow.Table(client, 100), follow.first_posts()
    adjoint = follow.by_adjoint(table, posts)
    direction = np.random.default_rng(15).standard_normal(posts.shape)
    ahead, behind = (follow.distance(table.simulate(posts + h * direction)[0])[0] for h in (1e-6, -1e-6))
    assert (adjoint * direction).sum() == pytest.approx((ahead - behind) / 2e-6, rel=1e-5)


def test_newton_and_lagging_agree(client):
    posts = follow.first_posts()
    newton, lagging, apart = follow.compared(client, posts, 100)
    assert apart < 1e-6
    assert newton.mean() < lagging.mean()


def test_posts_move_to_where_the_path_is_closer(client):
    found = follow.improve(client, 100, 3)
    assert min(found.distances) < 0.7 * found.distances[0]
