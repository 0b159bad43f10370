"""Tests of collision sets and of Unix-domain sockets in the clients that native.py tests. A suite test_LANGUAGE.py
imports both. The fixture `probe` does this as well:

  PROBE URL set FILE   FILE: {"name": or none, "lagged": the set, "question": {"velocities", "outputs"}, "patch": ..}.
                       Prints the gradient; after the patch, again, the indices of the pattern (csr, upper), and 1 if
                       check agrees. Ends the set.
"""
import http.client
import json
import urllib.parse

import numpy as np
import pytest

from conftest import integration
from fake import FakeService
from native import evaluate, numbers

BUSY = (503, {"Retry-After": "0"})
TILE = {
    "dim": 3, "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],
    "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
    "collisions": {
        "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
        "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3.0, 2.5, 4.0]}},
}
QUESTION = {"velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]], "outputs": ["gradient"]}
PATCH = {"positions": (np.array(TILE["positions"]) * [1.5, 1, 1]).tolist(),
         "friction": {"mu_s": None, "mu_k": None, "mu": 0.7},
         "collisions": {"plane_vertex": {"normal_force": [1.0, 2.0, 3.0]}}}
PATCHED = {**TILE, "positions": PATCH["positions"], "friction": {"eps_v": 1e-3, "mu": 0.7},
           "collisions": {**TILE["collisions"], "plane_vertex": {**TILE["collisions"]["plane_vertex"],
                                                                 "normal_force": [1.0, 2.0, 3.0]}}}


@pytest.fixture(scope="module")
def expected(server):
    pattern = {"outputs": ["hessian"], "hessian": {"format": "csr", "triangle": "upper"}}
    return [*evaluate(server, {**TILE, **QUESTION})["gradient"], *evaluate(server, {**PATCHED, **QUESTION})["gradient"],
            *evaluate(server, {**TILE, **QUESTION, **pattern})["hessian"]["indices"], 1]


@pytest.fixture
def file(tmp_path):
    def write(**changes):
        path = tmp_path / "set.json"
        path.write_text(json.dumps({"lagged": TILE, "question": QUESTION, "patch": PATCH, **changes}))
        return path
    return write


def ask(server, method, path):
    """(status, document) of an answer"""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(server).netloc)
    connection.request(method, path)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read() or "null")
    connection.close()
    return answer


def is_gone(server, fake):
    """Whether no set that the fake service was asked about is left."""
    asked = {path.split("/")[3] for _, path, *_ in fake.requests if path.startswith("/v1/sets/")}
    return asked and not asked & {entry["name"] for entry in ask(server, "GET", "/v1/sets")[1]["sets"]}


@pytest.mark.parametrize("trouble", [
    "", "pass forget", "pass replace", "pass pass forget", "pass pass replace", "pass pass pass forget",
    "pass pass pass pass forget", "pass pass pass pass replace", "pass pass pass pass pass forget",
    "pass forget pass pass replace pass forget", "busy pass busy half busy"])
def test_what_happens_to_a_set_is_mended(probe, run, server, file, expected, trouble):
    """PUT, evaluate, PATCH, evaluate, pattern, check, DELETE, with trouble at any of them."""
    with FakeService(server, *[BUSY if word == "busy" else word for word in trouble.split()]) as fake:
        assert numbers(run(*probe, fake.url, "set", file())) == expected
        assert fake.requests[-1][0] == "DELETE"
        assert fake.connections == 1 + trouble.count("half")
        assert all("If-Collision-Set-Version" in headers for method, _, headers, _ in fake.requests if method != "PUT")
    assert is_gone(server, fake)


def test_a_set_has_the_name_that_is_given(probe, run, server, file, expected):
    with FakeService(server) as fake:
        assert numbers(run(*probe, fake.url, "set", file(name="run-17.step~3"))) == expected
        assert fake.requests[0][1] == "/v1/sets/run-17.step~3"
        for _ in range(2):
            run(*probe, fake.url, "set", file())
        names = {path.split("/")[3] for _, path, *_ in fake.requests}
    assert len(names) == 3


@pytest.mark.parametrize("changes, pointer, last", [
    ({"lagged": {**TILE, "friction": {"eps_v": -1, "mu": 1}}}, "/friction/eps_v", "PUT"),
    ({"question": {**QUESTION, "outputs": ["force"]}}, "/outputs/0", "DELETE"),
    ({"patch": {**PATCH, "dim": 2}}, "/", "DELETE")], ids=["lagged", "question", "patch"])
def test_what_a_set_refuses_is_named(probe, fail, server, file, changes, pointer, last):
    with FakeService(server) as fake:
        output = fail(*probe, fake.url, "set", file(**changes))
        assert "422" in output and pointer in output
        assert fake.requests[-1][0] == last
    assert is_gone(server, fake)


def test_a_set_that_is_replaced_again_and_again_is_an_error(probe, fail, server, file):
    with FakeService(server, "pass", *["replace", "pass"] * 3) as fake:
        assert "412" in fail(*probe, fake.url, "set", file(name="coveted"))
        assert len(fake.requests) == 7
    assert ask(server, "DELETE", "/v1/sets/coveted")[0] == 204  # what somebody else has put there stays there


def test_a_unix_domain_socket(probe, run, fail, file, expected, tmp_path):
    process, url = integration.start("--port", "none", "--unix", str(tmp_path / "socket"))
    try:
        assert url == f"http+unix://{tmp_path}/socket"
        assert numbers(run(*probe, url, "set", file())) == expected
    finally:
        assert integration.stop(process) == 0
    output = fail(*probe, url, "functions")
    assert "is it running?" in output and url in output
