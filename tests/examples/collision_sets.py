"""Collision sets for the tests of the clients: a batch in its two parts, a patch, a service that is restarted, and one
on a Unix-domain socket; and tests for the suites of the languages whose probe has `sets` (see native.py).

  sets FILE    FILE: {"name", "set", "question", "patch"}. Evaluates the set, checks it (prints a word with "true"),
               prints the indices of its pattern, patches it, evaluates it; lets a patch of eps_v be refused, prints
               status and pointer; patches mu_s and mu_k away and mu to 0.5, evaluates, and ends the set.
               Prints the potential, gradient, and the indices and data of the Hessian of each evaluation.
"""
import json
import urllib.request

import pytest
from conftest import integration
from fake import FakeService
from test_python import TILE, plainly

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


@pytest.fixture
def script(tmp_path):
    """Writes the file of a probe."""
    document, question = parts(BATCH)
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"name": "sets-of-probe", "set": document, "question": question, "patch": MOVED}))
    return path


def told(server, batch):
    answer = plainly(server, "/v1/evaluate", batch)
    return [answer["potential"], *answer["gradient"], *answer["hessian"]["indices"], *answer["hessian"]["data"]]


def assert_told(server, output):
    """Asserts that a probe has printed what whole requests give, to the last bit."""
    last = {**BATCH, **MOVED, "friction": {"eps_v": BATCH["friction"]["eps_v"], "mu": 0.5}}
    words = output.lower().replace("/friction/eps_v", "0").split()
    assert words.count("true") == 1
    indices = plainly(server, "/v1/evaluate", BATCH)["hessian"]["indices"]
    expected = [*told(server, BATCH), *indices, *told(server, {**BATCH, **MOVED}), 422, 0, *told(server, last)]
    assert [float(word) for word in words if word != "true"] == expected


def sets_of(server):
    with urllib.request.urlopen(server + "/v1/sets") as answer:
        return [held["name"] for held in json.load(answer)["sets"]]


LOSSES = {"none": [], "forgotten": ["pass", "forget", *["pass"] * 3, "forget"], "replaced": ["pass", "replace"],
          "patch of none": [*["pass"] * 4, "forget"], "busy": [(503, {"Retry-After": "0"})] * 2,
          "last patch": [*["pass"] * 7, "forget"]}


@pytest.mark.parametrize("losses", LOSSES.values(), ids=LOSSES)
def test_a_set_gives_what_whole_requests_give(probe, run, server, script, losses):
    with FakeService(server, *losses) as fake:
        assert_told(server, run(*probe, fake.url, "sets", script))
        assert fake.requests[-1][0] == "DELETE"
    assert "sets-of-probe" not in sets_of(server)


def test_a_restart_is_survived(probe, run, server_with, script):
    one, other = server_with(), server_with()
    with RestartedService(one, other, 5) as fake:
        assert_told(other, run(*probe, fake.url, "sets", script))
    assert sets_of(one) == ["sets-of-probe"] and sets_of(other) == []


def test_a_service_that_goes_on_forgetting(probe, fail, server, script):
    with FakeService(server, "pass", *["forget", "pass"] * 9) as fake:
        assert "404" in fail(*probe, fake.url, "sets", script)


def test_sets_over_a_unix_socket(probe, run, fail, unix_server, server, script):
    assert_told(server, run(*probe, unix_server, "sets", script))
    output = fail(*probe, unix_server + "-nobody", "functions")
    assert unix_server + "-nobody" in output and "is it running?" in output
