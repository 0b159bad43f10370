"""Collision sets for the tests of the clients: a batch in its two parts, a patch, a service that is restarted, and one
on a Unix-domain socket."""
import pytest
from conftest import integration
from fake import FakeService
from test_python import TILE

QUESTION = ("velocities", "outputs", "hessian", "collision_outputs")
BATCH = {**TILE, "outputs": ["potential", "gradient", "hessian"], "hessian": {"format": "csr"}}
MOVED = {"positions": [[x + 0.01 * x * x for x in row] for row in TILE["positions"]]}


def parts(batch):
    """(what a set holds, the question)"""
    return ({key: value for key, value in batch.items() if key not in QUESTION},
            {key: value for key, value in batch.items() if key in QUESTION})


class RestartedService(FakeService):
    """Passes requests on to one service, resets the connection at the n-th request, and is another service from then
    on, which knows no sets."""

    def __init__(self, one, other, n):
        self.services = []
        super().__init__(one, *["pass"] * (n - 1), "reset")
        self.n = n
        self.real = other

    @property
    def real(self):
        return self.services[len(self.requests) >= self.n]

    @real.setter
    def real(self, url):
        self.services.append(url.replace("http://", ""))


@pytest.fixture(scope="session")
def unix_server(tmp_path_factory):
    """The base URL of a service on a Unix-domain socket."""
    process, url = integration.start("--unix", str(tmp_path_factory.mktemp("unix") / "socket"), "--port", "none")
    yield url
    integration.stop(process)
