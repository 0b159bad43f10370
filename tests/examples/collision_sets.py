"""Collision sets for the tests of the clients: a batch in its two parts, a patch, a service that is restarted, and one
on a Unix-domain socket.
"""
import numpy as np
import pytest
from conftest import integration
from fake import FakeService

TILE = {
    "dim": 3, "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],
    "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
    "collisions": {
        "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
        "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3.0, 2.5, 4.0]}},
}
QUERY = {"velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]], "outputs": ["gradient"]}
PATCH = {"positions": (np.array(TILE["positions"]) * [1.5, 1, 1]).tolist(),
         "friction": {"mu_s": None, "mu_k": None, "mu": 0.7},
         "collisions": {"plane_vertex": {"normal_force": [1.0, 2.0, 3.0]}}}
PATCHED = {**TILE, "positions": PATCH["positions"], "friction": {"eps_v": 1e-3, "mu": 0.7},
           "collisions": {**TILE["collisions"], "plane_vertex": {**TILE["collisions"]["plane_vertex"],
                                                                 "normal_force": [1.0, 2.0, 3.0]}}}
OF_QUERIES = ("velocities", "outputs", "hessian", "collision_outputs")
BATCH = {**TILE, **QUERY, "outputs": ["potential", "gradient", "hessian"], "hessian": {"format": "csr"}}
MOVED = {"positions": [[x + 0.01 * x * x for x in row] for row in TILE["positions"]]}


def parts(batch):
    """(the set's document, the query)"""
    return ({key: value for key, value in batch.items() if key not in OF_QUERIES},
            {key: value for key, value in batch.items() if key in OF_QUERIES})


class RestartedService(FakeService):
    """Passes requests on to one service until it resets the connection at the n-th request; from then on it passes them
    on to another service, which has no sets."""

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
