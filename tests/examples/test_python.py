"""The Python package of clients/python and the Python examples. What does not depend on the transport is tested over HTTP
and in process; test_local.py has what only the latter has."""
import http.client
import json
import multiprocessing
import pathlib
import socket
import subprocess
import sys
import textwrap
import threading
import time
import urllib.request

import numpy as np
import pytest
from carried import SCRIPTS, both_steps, steps
from conftest import integration
from derived import SCRIPTS as DERIVED
from derived import requests
from fake import FakeService

ROOT = pathlib.Path(__file__).resolve().parents[2]
import frictiond
from frictiond._document import QUERY, merge
from frictiond._http import LONGEST_WAIT

SCENE = json.loads((ROOT / "examples" / "scene" / "scene.json").read_text())  # 16 vertices, all types of contacts
PLANE = {"dim": 3, "velocities": [[0.02, 0.01, 0]], "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
         "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0, 0, 1], "normal_force": 9.81}}}
TILE = {
    "dim": 3, "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],
    "velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]],
    "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
    "collisions": {
        "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
        "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3.0, 2.5, 4.0]}},
}
ALL = {"outputs": ["potential", "gradient", "hessian", "collisions"],
       "collision_outputs": ["potential", "tangential_velocity", "mu_s", "mu_k", "normal_force", "status"]}


def without_collisions(batch):
    """A batch for which outputs other than `collisions` will be requested."""
    return {name: value for name, value in batch.items() if name != "collision_outputs"}


def plainly(url, path, document):
    """The response to a POST, using only the standard library."""
    request = urllib.request.Request(url + path, json.dumps(document).encode(), {"Content-Type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as response:
        return json.load(response)


def with_arrays(value, key=None):
    """A document with arrays in place of its lists of numbers."""
    if isinstance(value, dict):
        return {name: with_arrays(member, name) for name, member in value.items()}
    return np.array(value) if isinstance(value, list) and key not in ("outputs", "collision_outputs", "terms") else value


def assert_same(answer, expected, where=""):
    """Asserts that an answer of the module has the same numbers as one from json.load, to the last bit."""
    if isinstance(expected, dict):
        assert answer.keys() == expected.keys(), where
        for key in expected:
            assert_same(answer[key], expected[key], f"{where}/{key}")
    elif isinstance(answer, np.ndarray):
        assert np.array_equal(answer, np.array(expected).reshape(answer.shape)), where
    else:
        assert answer == expected, where


@pytest.fixture
def hasty(monkeypatch):
    """Records the durations of waits instead of waiting."""
    waits = []
    monkeypatch.setattr(time, "sleep", waits.append)
    return waits


BUSY = (503, {"Retry-After": "1"})
LAWS = [next(steps(script, 1)) for script in SCRIPTS.values()]  # other laws, anchors, bodies with and without vertices
ROLLING = {"dim": 2, "body_positions": [[0, 0.5], [1, 0.5]], "body_velocities": [[0.25, 0, -1], [0, 0, 0.5]],
           "friction": {"eps_v": 1, "mu": 0.5},
           "collisions": {"body_world": {"bodies": [0], "point": [[0, 0]], "normal": [[0, 1]], "normal_force": 9.81,
                                         "roll_radius": 0.125},
                          "body_body": {"bodies": [[0, 1]], "point": [[0.5, 0.5]], "normal": [[1, 0]],
                                        "normal_force": 2}},
           "outputs": ["gradient", "collisions"], "collision_outputs": ["anchor", "friction_force", "spin", "rolling"]}


def dense(matrix):
    return matrix.toarray()


# Examples

@pytest.mark.parametrize("example", ["first_batch.py", "tile.py"])
def test_the_tile(example, tile, run, server, same):
    assert tile.startswith("4 contacts, potential 0.010549 N m/s\n") and len(tile.splitlines()) == 7
    same(tile, run("python3", f"examples/python/{example}", server))


def test_a_block_brakes_by_coulombs_law(run, server):
    lines = run("python3", "examples/python/brake.py", server).splitlines()
    numbers = dict(line.split(": ") for line in lines)
    measured, expected = float(numbers["distance"].split()[0]), float(numbers["v0^2/(2 mu g)"].split()[0])
    assert measured == pytest.approx(expected, rel=0.01)
    assert float(numbers["speed at the end"].split()[0]) < 1e-3


@pytest.mark.parametrize("example", ["first_batch.py", "tile.py", "brake.py", "frame_client.py"])
def test_examples_say_why_they_fail(example, fail, nobody, refusing):
    output = fail("python3", f"examples/python/{example}", nobody)
    assert nobody in output and "is it running?" in output
    output = fail("python3", f"examples/python/{example}", refusing)
    assert "/friction/eps_v" in output and "must be larger than 0" in output
    assert "nonsense" in fail("python3", f"examples/python/{example}", "nonsense")


def test_a_python_without_packages(server, run, fail, tile, same):
    """Another python3 comes first in PATH (-S: no packages): the example that needs no packages works, and the others
    report what is missing."""
    same("\n".join(tile.splitlines()[:5]), run("python3", "-S", "examples/python/first_batch.py", server))
    output = fail("python3", "-S", "examples/python/tile.py", server)
    assert "numpy" in output and "pip install" in output and "Traceback" not in output


# Numbers

@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("convert", [dict, with_arrays])
@pytest.mark.parametrize("batch", [PLANE, TILE, SCENE])
def test_json_and_frames_give_what_urllib_and_json_give(server, connect, batch, convert, frames):
    batch = {**batch, **ALL}
    answer = connect(frames=frames).evaluate(convert(batch))
    assert_same(answer, plainly(server, "/v1/evaluate", batch))
    assert isinstance(answer["gradient"], np.ndarray) and answer["gradient"].dtype == np.float64
    assert answer["hessian"]["rows"].dtype == np.int32
    assert answer["collisions"]["plane_vertex"]["status"].dtype == np.int32


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("convert", [dict, with_arrays])
@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_are_what_urllib_and_json_give(server, connect, name, convert, frames):
    client, script, (down, up) = connect(frames=frames), DERIVED[name], requests(DERIVED[name])
    tangents, cotangents = convert(down["tangents"]), convert(up["cotangents"])
    batch = convert({**script["set"], **script["query"]})
    with client.set(convert(script["set"])) as contacts:
        forward = [client.jvp(batch, tangents), contacts.jvp(tangents=tangents, **convert(script["query"]))]
        backward = [client.vjp(batch, cotangents, script["wrt"]),
                    contacts.vjp(cotangents=cotangents, wrt=tuple(script["wrt"]), **convert(script["query"]))]
    for answer in forward:
        assert_same(answer, plainly(server, "/v1/jvp", down))
        assert isinstance(answer["tangents"]["gradient"], np.ndarray)
    for answer in backward:
        assert_same(answer, plainly(server, "/v1/vjp", up))


def test_both_products_of_a_jacobian_agree(connect):
    script, client = DERIVED["vertices"], connect()
    down, up = requests(script)
    batch = with_arrays({**script["set"], **script["query"]})
    back = client.vjp(batch, up["cotangents"], list(down["tangents"]))["cotangents"]
    forward = client.jvp(batch, down["tangents"])["tangents"]
    there = sum(np.sum(np.multiply(forward[name], values)) for name, values in up["cotangents"].items())
    assert there == pytest.approx(sum(np.sum(np.multiply(back[field], values))
                                      for field, values in down["tangents"].items()), rel=1e-12)


def test_formats_of_requests(server):
    with FakeService(server) as fake:
        frictiond.Client(fake.url).evaluate(with_arrays(PLANE))
        frictiond.Client(fake.url).evaluate(PLANE)
        frictiond.Client(fake.url, frames=False).evaluate(with_arrays(PLANE))
        kinds = [(headers["Content-Type"], headers["Accept"].split(",")[0]) for _, _, headers, _ in fake.requests]
    assert kinds == [(frictiond.FRAME, frictiond.FRAME), (frictiond.JSON, frictiond.FRAME),
                     (frictiond.JSON, frictiond.JSON)]


def test_arrays_of_frames_are_views_that_cannot_be_written(connect):
    answer = connect().evaluate(with_arrays(SCENE))
    assert not answer["gradient"].flags.writeable and answer["gradient"].base is not None


def arrays_of(value):
    if isinstance(value, np.ndarray):
        return [value]
    return [array for member in value.values() for array in arrays_of(member)] if isinstance(value, dict) else []


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_arrays_are_read_only_at_every_size(connect, frames, n):
    client = connect(frames=frames)
    batch = {"dim": 3, "velocities": np.full((n + 1, 3), 0.1), "friction": {"eps_v": 1, "mu": 0.5},
             "collisions": {"plane_vertex": {"vertices": np.arange(n), "plane_normal": [0, 0, 1], "normal_force": 1}}}
    found = arrays_of(client.evaluate({**batch, **ALL})) + [client.function("smooth_friction_f1", y=np.zeros(n + 1), eps_v=1.0)]
    with client.set(batch) as contacts:
        found += arrays_of(contacts.evaluate()) + arrays_of(contacts.pattern())
    assert len(found) > 10 and not any(array.flags.writeable for array in found)


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("batch", [PLANE, TILE, SCENE, ROLLING], ids=["plane", "tile", "scene", "rolling"])
def test_one_batch_serves_set_and_evaluate(server, connect, batch, frames):
    client = connect(frames=frames)
    with client.set(batch) as contacts:
        assert_same(contacts.evaluate(), plainly(server, "/v1/evaluate", batch))
        assert contacts.check()["agrees"] and client.check(batch)["agrees"]
        field = "velocities" if "velocities" in batch else "body_velocities"
        elsewhere = np.multiply(batch[field], 3)
        assert_same(contacts.evaluate(**{field: elsewhere}),
                    plainly(server, "/v1/evaluate", {**batch, field: elsewhere.tolist()}))
        assert set(contacts.evaluate(outputs=["potential"])) >= {"potential"}
        assert "gradient" not in contacts.evaluate(outputs=["potential"])


def test_the_query_is_what_the_contract_calls_one(connect):
    schema = connect()._ask("GET", "/openapi.json")["components"]["schemas"]
    asked = set(schema["CollisionSetQuery"]["properties"]) - set(schema["CollisionSet"]["properties"])
    assert asked == set(QUERY)


CORNER = {"dim": 3, "positions": [[0.25, 0.25, 0.5], [0, 0, 0], [1, 0, 0], [0, 1, 0]],
          "current_positions": [[0.25, 0.25, 0.25], [0, 0, 0], [1, 0, 0], [0, 1, 0]],
          "velocities": [[0.5, 0, -1], [0, 0, 0], [0, 0, 0], [0, 0, 0]], "time_step": 0.25,
          "friction": {"eps_v": 0.25, "mu": 0.5}, "barrier": {"dhat": 1, "stiffness": 4},
          "collisions": {"face_vertex": {"vertices": [[0, 1, 2, 3]]}, "edge_edge": {"vertices": [], "mollifier": []}},
          "terms": ["friction", "barrier"], "closest_features": "search", "outputs": ["potential", "collisions"],
          "collision_outputs": ["feature", "current_feature", "barrier_potential", "barrier_force"]}


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("convert", [dict, with_arrays])
def test_a_barrier_beside_friction(server, connect, convert, frames):
    client, batch = connect(frames=frames), convert(CORNER)
    answer = client.evaluate(batch)
    assert_same(answer, plainly(server, "/v1/evaluate", CORNER))
    found = answer["collisions"]["face_vertex"]
    assert found["feature"].dtype.kind == "i" and list(found["feature"]) == list(found["current_feature"]) == [15]
    with client.set(batch) as contacts:
        assert_same(contacts.evaluate(), answer)


def test_a_set_asks_for_the_terms_of_its_batch(connect):
    """Fields of a query that belong together are defaults together: velocities with current positions, each of the
    terms and the time step by itself."""
    client = connect(frames=True)
    with client.set(CORNER) as contacts:
        def potential(**query):
            return contacts.evaluate(**query, outputs=["potential"])["potential"]

        def whole(**changes):
            batch = {name: value for name, value in CORNER.items() if name != "collision_outputs"}
            return client.evaluate({**batch, **changes, "outputs": ["potential"]})["potential"]

        assert potential() == whole()
        assert potential(terms=["friction"]) == whole(terms=["friction"])
        assert potential(time_step=1) == whole(time_step=1)
        x = CORNER["positions"]
        assert potential(current_positions=x, terms=["barrier"]) == whole(current_positions=x, terms=["barrier"])
        assert contacts.jvp(tangents={})["potential"] == whole(terms=["friction"])
        assert contacts.step(np.zeros((4, 3)), 1.0, 0.01, carry=False).iterations == 0  # of friction alone


def test_a_batch_may_say_how_many_vertices_it_has(connect):
    client = connect()
    batch = {**PLANE, "n_vertices": 1}
    assert client.evaluate(batch)["n_vertices"] == 1
    with client.set(batch) as contacts:
        assert contacts.evaluate()["n_vertices"] == 1
    with pytest.raises(ValueError, match="n_vertices is 2, but velocities has 3 numbers"):
        client.evaluate({**batch, "n_vertices": 2})


# Mistakes

def test_wrt_may_be_a_single_pointer(connect):
    client, cotangents = connect(), {"potential": 1}
    batch = {**PLANE, "friction": {"eps_v": 1e-3, "mu": 0.5}}
    expected = client.vjp(batch, cotangents, ["/friction/mu"])
    assert_same(client.vjp(batch, cotangents, "/friction/mu"), expected)
    with client.set(batch) as contacts:
        assert_same(contacts.vjp(cotangents=cotangents, wrt="/friction/mu"), expected)


@pytest.mark.parametrize("form", ["csr", "triplets"])
def test_hessians_that_are_not_whole(connect, form):
    client = connect()
    with pytest.raises(ValueError, match="no Hessian: ask for"):
        frictiond.hessian_matrix(client.evaluate({**PLANE, "outputs": ["gradient"]}))
    answer = client.evaluate({**PLANE, "hessian": {"format": form, "pattern": False}})
    with pytest.raises(ValueError, match=f"without its pattern.*{form}.*Set.pattern"):
        frictiond.hessian_matrix(answer)
    with client.set(PLANE) as contacts:
        whole = frictiond.hessian_matrix(client.evaluate(PLANE))
        assert (dense(frictiond.hessian_matrix(answer, pattern=contacts.pattern(form))) == dense(whole)).all()


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "localhost:8080", "friction.example"])
def test_a_url_needs_a_scheme(url):
    with pytest.raises(ValueError, match=f"has no scheme; http://{url} has one"):
        frictiond.Client(url)


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", ">f8", ">f4", "i1", "i2", "i4", "i8", ">i4", "u1", "u2", "u4",
                                   "u8"])
def test_all_real_dtypes(server, connect, dtype, frames):
    client, n = connect(frames=frames), 24
    velocities = (np.arange(3 * n) % 7).reshape(n, 3).astype(dtype)
    indices = np.arange(n).astype(dtype) if np.dtype(dtype).kind in "iu" else np.arange(n)
    batch = {"dim": 3, "velocities": velocities, "friction": {"eps_v": 1, "mu": 0.5},
             "collisions": {"plane_vertex": {"vertices": indices, "plane_normal": [0, 0, 1],
                                             "normal_force": np.ones(n, dtype)}}}
    listed = json.loads(json.dumps(batch, default=lambda array: array.astype(
        np.int64 if array.dtype.kind in "iu" else np.float64).tolist()))
    assert_same(client.evaluate(batch), plainly(server, "/v1/evaluate", listed))


def test_numbers_beyond_the_range_of_a_dtype_become_the_next_larger_one():
    document = frictiond.decode_frame(frictiond.encode_frame({"a": np.array([2**63, 1], np.uint64),
                                                              "b": np.array([2**62, 1], np.uint64)}))
    assert document["a"].dtype == np.float64 and document["a"].tolist() == [2.0**63, 1.0]
    assert document["b"].dtype == np.int64 and document["b"].tolist() == [2**62, 1]


@pytest.mark.parametrize("frames", [False, True])
def test_arrays_that_are_not_contiguous(connect, frames):
    client = connect(frames=frames)
    rng = np.random.default_rng(1)
    batch = {**with_arrays(SCENE), "velocities": rng.normal(size=(16, 3))}
    expected = client.evaluate(batch)
    wide = np.zeros((32, 6))
    wide[::2, ::2] = batch["velocities"]
    for velocities in (np.asfortranarray(batch["velocities"]), wide[::2, ::2], batch["velocities"][::-1].copy()[::-1],
                       np.broadcast_to(batch["velocities"], (1, 16, 3))[0]):
        assert_same(client.evaluate({**batch, "velocities": velocities}), expected)


@pytest.mark.parametrize("frames", [False, True])
def test_empty_groups_and_numpy_scalars(connect, frames):
    client = connect(frames=frames)
    batch = {"dim": np.int64(3), "velocities": np.zeros((2, 3)),
             "friction": {"eps_v": np.float32(0.5), "mu": np.float64(0.25)},
             "collisions": {"vertex_vertex": {"vertices": np.empty((0, 2), int), "normal_force": np.empty(0),
                                              "tangent_basis": np.empty((0, 3, 2))},
                            "plane_vertex": {"vertices": np.array([]), "plane_normal": np.array([0, 0, 1]),
                                             "normal_force": []}}, **ALL}
    answer = client.evaluate(batch)
    assert answer["n_collisions"] == 0 and answer["potential"] == 0
    assert answer["gradient"].tolist() == [0] * 6
    assert answer["hessian"]["rows"].size == 0 and answer["hessian"]["rows"].dtype == np.int32
    assert answer["collisions"]["vertex_vertex"]["potential"].size == 0
    assert abs(frictiond.hessian_matrix(answer)).sum() == 0


def test_lists_of_arrays(server, connect):
    answer = connect().evaluate({**PLANE, "velocities": [np.array([0.02, 0.01, 0])]})
    assert_same(answer, plainly(server, "/v1/evaluate", PLANE))


def test_skipped_contacts_are_listed(connect):
    batch = {"dim": 2, "positions": np.zeros((2, 2)), "velocities": np.ones((2, 2)), "on_degenerate": "skip",
             "friction": {"eps_v": 1, "mu": 1},
             "collisions": {"vertex_vertex": {"vertices": [[0, 1]], "normal_force": 1}}}
    assert connect().evaluate(batch)["skipped"] == [
        {"group": "vertex_vertex", "index": 0, "reason": "coincident_vertices"}]


@pytest.mark.parametrize("what", [np.array([True]), np.array([1j]), np.array(["a"]), np.array([None])])
def test_arrays_that_are_not_real(connect, what):
    for frames in (False, True):
        with pytest.raises(TypeError, match="/velocities: .*real numbers" if frames else "real numbers"):
            connect(frames=frames).evaluate({**PLANE, "velocities": what})


@pytest.mark.parametrize("batch", [None, [PLANE], json.dumps(PLANE)])
@pytest.mark.parametrize("ask", [
    frictiond.Client.evaluate, frictiond.Client.check, frictiond.Client.set, lambda client, batch: client.jvp(batch, {}),
    lambda client, batch: client.vjp(batch, {}, []), lambda client, batch: client.step(batch, [0], 1, 1)])
def test_a_batch_is_a_dict(connect, ask, batch):
    with pytest.raises(TypeError, match=f"a batch is a dict, not {type(batch).__name__}"):
        ask(connect(), batch)


def test_other_schemes_are_named():
    with pytest.raises(ValueError, match="'ftp://a'; one begins with http://, https:// or http.unix:///"):
        frictiond.Client("ftp://a")


def test_what_is_not_finite_is_named(connect):
    velocities = np.zeros((1, 3))
    velocities[0, 1] = np.nan
    with pytest.raises(frictiond.Error) as caught:
        connect().evaluate({**PLANE, "velocities": velocities})
    assert caught.value.errors[0][0] == "/velocities/0/1"
    for velocities in (velocities, velocities.tolist()):
        with pytest.raises(ValueError, match="^/velocities/0/1: nan"):
            connect(frames=False).evaluate({**PLANE, "velocities": velocities})


# Hessians

@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("projection", ["none", "clamp"])
@pytest.mark.parametrize("batch", [PLANE, TILE, SCENE, with_arrays(SCENE), *LAWS, ROLLING],
                         ids=["plane", "tile", "scene", "arrays", *SCRIPTS, "rolling"])
def test_all_formats_and_triangles_are_one_matrix(server, connect, batch, projection, frames):
    client = connect(frames=frames)
    h = plainly(server, "/v1/evaluate", {**json.loads(json.dumps(without_collisions(batch), default=np.ndarray.tolist)),
                                         "outputs": ["hessian"], "hessian": {"projection": projection}})["hessian"]
    expected = np.zeros(h["shape"])
    np.add.at(expected, (h["rows"], h["cols"]), h["values"])
    patterns = set()
    for how in [{"format": "factors"}, *({"format": form, "triangle": triangle} for form in ("triplets", "csr")
                                         for triangle in ("full", "upper", "lower"))]:
        asked = {**without_collisions(batch), "outputs": ["hessian"], "hessian": {**how, "projection": projection}}
        matrix = frictiond.hessian_matrix(client.evaluate(asked), asked)
        assert type(matrix).__name__ == "csr_matrix" and matrix.has_sorted_indices
        assert np.allclose(dense(matrix), expected, rtol=1e-12, atol=1e-12 * abs(expected).max()), how
        patterns.add((matrix.indptr.tobytes(), matrix.indices.tobytes()))
        matrix.data *= 2  # the dictionary belongs to the caller
    assert len(patterns) == 1


def test_hessian_in_2d_from_factors(connect):
    batch = {"dim": 2, "positions": [[0.25, 0.1], [0, 0], [1, 0]], "velocities": [[0.5, 0], [0, 0.1], [0, 0]],
             "friction": {"eps_v": 1, "mu": 0.5},
             "collisions": {"edge_vertex": {"vertices": [[0, 1, 2]], "normal_force": 10}}}
    client = connect()
    factors = {**batch, "hessian": {"format": "factors"}}
    assert np.allclose(dense(frictiond.hessian_matrix(client.evaluate(factors), factors)),
                       dense(frictiond.hessian_matrix(client.evaluate(batch))), rtol=1e-14)


def test_hessian_of_a_plain_json_answer(server, connect):
    batch = {**SCENE, "hessian": {"format": "factors"}}
    assert np.array_equal(dense(frictiond.hessian_matrix(plainly(server, "/v1/evaluate", batch), batch)),
                          dense(frictiond.hessian_matrix(connect().evaluate(batch), batch)))
    with pytest.raises(ValueError, match="needs the batch"):
        frictiond.hessian_matrix(plainly(server, "/v1/evaluate", batch))


# Laws, bodies, anchors

@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("convert", [dict, with_arrays])
@pytest.mark.parametrize("batch", [*LAWS, ROLLING], ids=[*SCRIPTS, "rolling"])
def test_bodies_and_laws_give_what_urllib_and_json_give(server, connect, batch, convert, frames):
    answer = connect(frames=frames).evaluate(convert(batch))
    assert_same(answer, plainly(server, "/v1/evaluate", batch))
    for name, group in answer["collisions"].items():
        n, dim = len(batch["collisions"][name].get("bodies", batch["collisions"][name].get("vertices"))), batch["dim"]
        shapes = {"anchor": (n, dim), "friction_force": (n, dim), "spin": (n,), "rolling": (n, dim - 1)}
        assert {key: value.shape for key, value in group.items()} == {key: shapes[key] for key in group}
    if "body_positions" in batch:
        assert answer["n_bodies"] == len(batch["body_positions"])
        assert answer["body_gradient"].shape == np.shape(batch["body_velocities"])


def test_factors_of_bodies_have_their_shapes(connect):
    for batch, shape in ((LAWS[1], {"body_body": (2, 5, 12), "body_world": (6, 5, 6)}),
                         (ROLLING, {"body_body": (1, 2, 6), "body_world": (1, 2, 3)})):
        asked = {**without_collisions(batch), "outputs": ["hessian"], "hessian": {"format": "factors"}}
        h = connect().evaluate(asked)["hessian"]
        assert {name: h[name]["jacobian"].shape for name in shape} == shape
        assert {name: h[name]["inner"].shape for name in shape} == {
            name: (n, m * (m + 1) // 2) for name, (n, m, _) in shape.items()}


def test_indices_of_bodies_travel_as_integers(server):
    with FakeService(server) as fake:
        frictiond.Client(fake.url).evaluate(with_arrays(LAWS[2]))
        sent = frictiond.decode_frame(fake.requests[0][3])
    assert sent["collisions"]["body_world"]["bodies"].dtype == np.int64
    assert sent["collisions"]["body_world"]["point"].dtype == sent["body_velocities"].dtype == np.float64


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("trouble", [[], ["pass", "pass", "forget", "pass", "forget"]])
def test_a_set_carries_anchors(server, name, frames, trouble):
    script = SCRIPTS[name]
    with FakeService(server, *trouble) as fake:
        with frictiond.Client(fake.url, frames=frames).set(with_arrays(script["set"])) as contacts:
            query = with_arrays(script["query"])
            first = contacts.evaluate(**query)
            assert contacts.carry(first, ratio=0.5)["version"] == contacts.info["version"]
            second = contacts.evaluate(**query)
            assert contacts.check(**{key: value for key, value in query.items() if "outputs" not in key})["agrees"]
    for answer, expected in zip((first, second), both_steps(server, script, 0.5)):
        assert_same(answer, expected)


def test_an_answer_without_anchors_carries_none(connect):
    with connect().set(parts(TILE)[0]) as contacts:
        for query in ({}, {"outputs": ["collisions"]}):
            with pytest.raises(ValueError, match="no anchors"):
                contacts.carry(contacts.evaluate(TILE["velocities"], **query))


def test_a_line_with_bodies(connect):
    """The slope agrees with the gradients."""
    batch = {**without_collisions(LAWS[2]), "outputs": ["gradient", "line"]}
    directions = [np.cos(np.arange(np.size(batch[key]))).reshape(np.shape(batch[key]))
                  for key in ("velocities", "body_velocities")]
    batch["line"] = {"direction": directions[0], "body_direction": directions[1], "steps": np.array([0.0, 1.0])}
    answer = connect().evaluate(batch)
    slope = answer["gradient"] @ directions[0].ravel() + np.sum(answer["body_gradient"] * directions[1])
    assert answer["line"]["slope"][0] == pytest.approx(slope, rel=1e-12) and answer["line"]["slope"].shape == (2,)


@pytest.mark.parametrize("frames", [False, True])
def test_contacts_of_a_mesh_are_evaluated(server, connect, frames):
    """What is found is a batch's collisions as it is, whether or not there are any."""
    client = connect(frames=frames)
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 0.125]])
    mesh = {"faces": np.array([[0, 1, 2]]), "vertices": [3]}
    found = client.contacts(x, 0.25, mesh, outputs=["collisions", "distances"])
    assert found["n_collisions"] == 1 and found["distances"]["face_vertex"].tolist() == [0.125]
    for at, potential in ((x, True), (x * [1, 1, 8], False)):
        collisions = client.contacts(at, 0.25, mesh)["collisions"]
        answer = client.evaluate({"dim": 3, "current_positions": at, "barrier": {"dhat": 0.25, "stiffness": 1},
                                  "terms": ["barrier"], "collisions": collisions, "outputs": ["potential"]})
        assert (answer["potential"] > 0) == potential
    same = client.contacts(x, 0.25, candidates={"face_vertex": {"vertices": [[3, 0, 1, 2]]}})
    assert_same(same["collisions"], found["collisions"])
    with client.set({"dim": 3, "positions": x, "mesh": mesh, "barrier": {"dhat": 0.25, "stiffness": 1},
                     "friction": {"eps_v": 1e-3, "mu": 0.3}, "anchors": True}) as drop:
        assert drop.info["margin"] == 0.25 and drop.info["min_distance"] == 0.125
        assert_same(drop.contacts()["collisions"], found["collisions"])
        pairs = drop.contacts(merge=False)["collisions"]["face_vertex"]
        assert pairs["anchor"].tolist() == [[0, 0, 0]] and pairs["vertices"].tolist() == [[3, 0, 1, 2]]


@pytest.mark.parametrize("frames", [False, True])
def test_notes_of_a_check_stay_lists(server, connect, frames):
    client = connect(frames=frames)
    weak = {**PLANE, "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.2}}
    notes = client.check(with_arrays(weak))["notes"]
    assert notes == plainly(server, "/v1/check", weak)["notes"] and notes and set(notes[0]) >= {"code", "pointer"}
    good = {**PLANE, "friction": {"eps_v": 1e-3, "mu": 0.5}}
    assert client.check(good)["notes"] == []


@pytest.mark.parametrize("frames", [False, True])
def test_laws_have_their_parameters(connect, frames):
    client = connect(frames=frames)
    y, eps, v = np.linspace(0, 0.02, 41), 1e-3, np.linspace(0.004, 0.006, 41)
    x = np.maximum(y - eps, 0) / v
    z = np.minimum(y / eps, 1)
    expected = np.where(y < eps, 0.6 * (2 * z - z**2), 0.4 + 0.2 * np.exp(-x**2)) + 2 * y
    values = client.function("law_force", y=y, mu_s=0.6, mu_k=0.4, eps_v=eps, law="stribeck", stribeck_speed=v, viscous=2)
    assert np.allclose(values, expected, rtol=1e-12)
    curve = {"speeds": np.array([0, 0.5, 1]), "factors": [1, 0.7, 0.6]}
    values = client.function("law_force", y=[0.5 + eps, 9], mu_s=0.5, mu_k=0.5, eps_v=eps, law="curve", curve=curve)
    assert np.allclose(values, [0.35, 0.3], rtol=1e-12)


# Check, functions, info

@pytest.mark.parametrize("frames", [False, True])
def test_check(connect, frames):
    client = connect(frames=frames)
    found = client.check(with_arrays(SCENE))
    assert found["agrees"] is True and found["n_collisions"] == 19
    for name in ("gradient", "hessian"):
        assert 0 <= found[name]["relative_difference"] <= found["tolerance"] < 1e-4
    assert found["worst"]["group"] in SCENE["collisions"] and found["worst"]["quantity"] in found
    answer = client.evaluate(with_arrays(SCENE))
    claims = {"potential": answer["potential"], "gradient": answer["gradient"], "hessian": frictiond.hessian_matrix(answer)}
    assert client.check(with_arrays(SCENE), claims=claims)["claims"]["agrees"] is True
    claims["gradient"] = -answer["gradient"]
    assert client.check(with_arrays(SCENE), claims=claims)["claims"]["looks_like"] == ["sign"]
    empty = {**PLANE, "collisions": {"plane_vertex": {"vertices": [], "plane_normal": [0, 0, 1], "normal_force": 1}}}
    assert client.check(empty)["worst"] is None
    with pytest.raises(frictiond.Error) as caught:
        client.check({**PLANE, "friction": {"eps_v": 0, "mu": 1}})
    assert caught.value.errors[0][0] == "/friction/eps_v"


@pytest.mark.parametrize("frames", [False, True])
def test_functions(connect, frames):
    client = connect(frames=frames)
    assert len(client.functions()) == 19
    y = np.linspace(0, 2e-3, 41)
    values = client.function("smooth_mu", y=y, mu_s=1, mu_k=0.1, eps_v=1e-3)
    z = np.minimum(y / 1e-3, 1)
    assert np.allclose(values, 1 + (0.1 - 1) * (3 * z**2 - 2 * z**3), rtol=1e-12)
    assert client.function("smooth_mu", y=[0, 1], mu_s=1, mu_k=0.1, eps_v=1e-3).tolist() == [1, 0.1]
    assert client.function("smooth_mu", y=0.5, mu_s=1, mu_k=0.1, eps_v=1).tolist() == [0.55]
    assert client.function("anisotropic_x_from_tau_aniso", tau_aniso=np.array([[3.0, 4.0]])).tolist() == [[0.6, 0.8]]


@pytest.mark.parametrize("frames", [False, True])
def test_function_values(connect, frames):
    client = connect(frames=frames)
    law = {"y": np.linspace(0, 2e-3, 41), "mu_s": 1, "mu_k": 0.1, "eps_v": 1e-3}
    turn = {"tau_aniso": np.array([[3.0, 4.0]])}
    values = client.function_values({"smooth_mu_f1": law, "smooth_mu": law, "anisotropic_x_from_tau_aniso": turn})
    assert list(values) == ["smooth_mu_f1", "smooth_mu", "anisotropic_x_from_tau_aniso"]
    for name in ("smooth_mu", "smooth_mu_f1"):
        assert values[name].tobytes() == client.function(name, **law).tobytes()
    assert values["anisotropic_x_from_tau_aniso"].tolist() == [[0.6, 0.8]]


def test_function_errors(connect):
    client = connect()
    with pytest.raises(frictiond.Error) as caught:
        client.function_values({"smooth_mu": {"y": [0, 1], "mu_s": 1, "mu_k": 0.1, "eps_v": [1, -1]}})
    assert caught.value.status == 422 and caught.value.errors[0][0] == "/functions/smooth_mu/eps_v/1"
    with pytest.raises(frictiond.Error) as caught:
        client.function("no such/function?", y=[0])
    assert caught.value.status == 404
    with pytest.raises(frictiond.Error) as caught:
        client.function("smooth_friction_f1", y=[0, 1], epsv=1)
    assert caught.value.status == 422 and caught.value.errors[0][0] == "/epsv"


def test_info(server):
    info = frictiond.Client(server + "/").info()
    assert info["name"] == "frictiond" and info["limits"]["contacts"] == 10000000
    assert info["formats"] == [frictiond.JSON, frictiond.FRAME]


@pytest.mark.parametrize("triangle", ["full", "upper", "lower"])
@pytest.mark.parametrize("form", ["csr", "triplets", "bsr"])
def test_values_of_a_pattern_are_the_same_matrix(connect, form, triangle):
    client, (lagged, velocities) = connect(), parts(with_arrays(SCENE))
    expected = frictiond.hessian_matrix(client.evaluate(without_collisions(SCENE) | {"outputs": ["hessian"]}))
    how = {"format": form, "triangle": triangle, "pattern": False}
    with client.set(lagged) as contacts:
        pattern = contacts.pattern(form, triangle)
        answer = contacts.evaluate(velocities, outputs=["hessian"], hessian=how)
    assert not answer["hessian"].keys() & {"indptr", "indices", "rows", "cols"}
    matrix = frictiond.hessian_matrix(answer, pattern=pattern)
    assert np.allclose(dense(matrix), dense(expected), rtol=1e-12, atol=1e-12 * abs(expected).max())
    assert np.array_equal(matrix.indptr, expected.indptr) and np.array_equal(matrix.indices, expected.indices)


# Collision sets

def parts(batch):
    """The set's document and the velocities."""
    query = ("velocities", "outputs", "hessian", "collision_outputs")
    return {name: value for name, value in batch.items() if name not in query}, batch["velocities"]


def names_of_sets(client):
    return {entry["name"] for entry in client._ask("GET", "/v1/sets")["sets"]}


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("convert", [dict, with_arrays])
@pytest.mark.parametrize("batch", [TILE, SCENE], ids=["tile", "scene"])
def test_a_set_gives_what_the_whole_batch_gives(server, connect, batch, convert, frames):
    client, (lagged, velocities) = connect(frames=frames), parts(convert(batch))
    with client.set(lagged) as contacts:
        assert contacts.name in names_of_sets(connect()) and contacts.info["n_vertices"] == len(velocities)
        for factor in (1, -2.5):
            v = (np.array(velocities) * factor).tolist()
            expected = plainly(server, "/v1/evaluate", {**batch, "velocities": v, **ALL})
            assert_same(contacts.evaluate(convert({"v": v})["v"], **ALL), expected)
        assert_same(contacts.check(velocities), plainly(server, "/v1/check", batch))
        h = plainly(server, "/v1/evaluate", {**without_collisions(batch), "outputs": ["hessian"],
                                                 "hessian": {"format": "csr", "triangle": "upper"}})["hessian"]
        pattern = contacts.pattern(triangle="upper")
        assert_same(pattern, {key: value for key, value in h.items() if key != "data"})
        assert pattern["indices"].dtype == np.int32
    assert contacts.name not in names_of_sets(connect())


def test_a_set_has_the_name_that_the_caller_gives(connect):
    with connect().set(parts(TILE)[0], name="run-17.step~3") as contacts:
        assert contacts.name == "run-17.step~3" and contacts.name in names_of_sets(connect())
    with pytest.raises(frictiond.Error) as caught:
        connect().set(parts(TILE)[0], name="a name")
    assert caught.value.status == 422


def test_a_set_names_the_wrong_field(connect):
    with pytest.raises(frictiond.Error) as caught:
        connect().set({**TILE, "velocity": 1})
    assert caught.value.status == 422 and caught.value.errors[0][0] == "/velocity"
    with connect().set(parts(TILE)[0]) as contacts, pytest.raises(frictiond.Error) as caught:
        contacts.evaluate([[0, 0, 0], [0, 0, 0], [0, 0, "a"], [0, 0, 0]])
    assert caught.value.errors[0][0] == "/velocities/2/2"


PATCH = {"positions": (np.array(TILE["positions"]) * 1.5).tolist(), "friction": {"mu_s": None, "mu_k": None, "mu": 0.7},
         "collisions": {"plane_vertex": {"normal_force": [1.0, 2.0, 3.0]}}}
PATCHED = {**TILE, "positions": PATCH["positions"], "friction": {"eps_v": 1e-3, "mu": 0.7},
           "collisions": {**TILE["collisions"], "plane_vertex": {**TILE["collisions"]["plane_vertex"],
                                                                 "normal_force": [1.0, 2.0, 3.0]}}}


@pytest.mark.parametrize("frames", [False, True])
@pytest.mark.parametrize("trouble", [[], ["pass", "forget"], ["pass", "replace"], ["pass", "pass", "forget"],
                                     ["pass", "pass", "replace"], ["pass", "pass", "pass", "forget"],
                                     ["pass", "forget", "pass", "pass", "replace", "pass", "forget"],
                                     ["pass", BUSY, "pass", "half", "drop", BUSY, BUSY, BUSY]])
def test_a_set_survives_every_failure(server, hasty, trouble, frames):
    """PUT, evaluate, PATCH, evaluate, DELETE, with a failure at each of them."""
    with FakeService(server, *trouble) as fake:
        client, lagged = frictiond.Client(fake.url, frames=frames), with_arrays(parts(TILE)[0])
        with client.set(lagged) as contacts:
            lagged["positions"] *= np.nan  # requests that were sent
            assert_same(contacts.evaluate(np.array(TILE["velocities"]), **ALL),
                        plainly(server, "/v1/evaluate", {**TILE, **ALL}))
            patch = with_arrays(PATCH)
            contacts.patch(**patch)
            patch["positions"] *= np.nan
            for _ in range(2):
                assert_same(contacts.evaluate(np.array(TILE["velocities"]), **ALL),
                            plainly(server, "/v1/evaluate", {**PATCHED, **ALL}))
                assert contacts.pattern()["shape"] == [12, 12]
        assert all("If-Collision-Set-Version" in headers for method, _, headers, _ in fake.requests if method != "PUT")
        assert fake.connections <= 2 + trouble.count("drop")
    assert contacts.name not in names_of_sets(frictiond.Client(server))


def anchored(batch):
    """The contacts of a batch, with anchors of 0."""
    return merge(parts(batch)[0], {"collisions": {name: {"anchor": [0, 0, 0]} for name in batch["collisions"]}})


@pytest.mark.parametrize("trouble", [[], ["pass", "half", "drop"] * 20, (["pass"] * 19 + ["forget"]) * 6,
                                     (["pass"] * 19 + ["replace"]) * 6,
                                     *(["pass"] * n + ["forget", "pass", "replace", "drop"] for n in range(1, 30, 7))])
def test_steps_survive_every_failure(server, hasty, trouble):
    """A set that ends 18 time steps, some of them with patches between, has the anchors of one that is asked for its
    anchors and patched."""
    rng = np.random.default_rng(5)
    velocities, positions = np.array(TILE["velocities"]), np.array(TILE["positions"])
    query = {"outputs": ["gradient", "collisions"], "collision_outputs": ["anchor"]}
    with FakeService(server, *trouble) as fake, frictiond.Client(server).set(anchored(TILE)) as other:
        with frictiond.Client(fake.url, frames=len(trouble) % 2 == 0).set(with_arrays(anchored(TILE))) as contacts:
            for i in range(18):
                v, x = velocities * rng.normal(size=(4, 3)), positions + 1e-3 * rng.normal(size=(4, 3))
                if i % 5 == 2:
                    contacts.patch(friction={"mu_s": 0.5 + 0.01 * i})
                    other.patch(friction={"mu_s": 0.5 + 0.01 * i})
                if i == 13:
                    for one in (contacts, other):
                        one.carry(other.evaluate(v, **query))
                other.carry(other.evaluate(v, **query))
                other.patch(positions=x, collisions={"face_vertex": {"surface_velocity": 1e-3 * v[0]}})
                assert contacts.advance(v, x, collisions={"face_vertex": {"surface_velocity": 1e-3 * v[0]}}) is contacts.info
                v *= np.nan
                if i % 4 == 3:
                    assert_same(contacts.evaluate(velocities, **query), other.evaluate(velocities, **query))
            assert_same(contacts.evaluate(velocities, **query), other.evaluate(velocities, **query))
            assert len(contacts._changes) < 16


def test_a_step_that_is_refused_changes_nothing(server):
    with FakeService(server, "pass", "pass", "pass", "forget", "pass", "pass", "forget") as fake:
        with frictiond.Client(fake.url).set(anchored(TILE)) as contacts:
            contacts.advance(TILE["velocities"], TILE["positions"])
            expected = contacts.evaluate(TILE["velocities"])
            for _ in range(2):  # first the set exists, then it was forgotten
                with pytest.raises(frictiond.Error) as caught:
                    contacts.advance(TILE["velocities"], [[0, 0, 0]] * 4)
                assert caught.value.errors[0][0] == "/collisions/face_vertex/vertices/0"
                assert_same(contacts.evaluate(TILE["velocities"]), expected)
            with pytest.raises(frictiond.Error, match="/positions"):
                contacts.advance(TILE["velocities"])
    with frictiond.Client(server).set(parts(TILE)[0]) as contacts:
        with pytest.raises(frictiond.Error, match="/collisions/face_vertex/anchor"):
            contacts.advance(TILE["velocities"], TILE["positions"])
    with pytest.raises(ValueError, match="closed"):
        contacts.advance(TILE["velocities"], TILE["positions"])


def test_a_set_from_a_mesh_advances(connect):
    x, v = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 0.125]]), np.zeros((4, 3))
    v[3, 0] = 2.0**-20
    with connect().set({"dim": 3, "positions": x, "friction": {"eps_v": 1, "mu": 1}, "anchors": True, "barrier": {
            "dhat": 0.25, "stiffness": 1}, "mesh": {"faces": [[0, 1, 2]], "vertices": [3]}}) as contacts:
        for _ in range(40):
            x = x + v
            assert contacts.advance(v, x)["n_collisions"] == 1
        answer = contacts.evaluate(0 * v, outputs=["collisions"], collision_outputs=["anchor"])
        assert answer["collisions"]["face_vertex"]["anchor"].tolist() == [[40 * 2.0**-20, 0, 0]]
        assert len(contacts._changes) <= 16


def test_bodies_advance(connect):
    document = {"dim": 3, "body_positions": [[0, 0, 0]], "friction": {"eps_v": 1, "mu": 1}, "collisions": {"body_world": {
        "bodies": [0], "point": [0, 0, -1], "normal": [0, 0, 1], "normal_force": 1, "anchor": [0, 0, 0]}}}
    with connect().set(document) as contacts:
        contacts.advance(body_velocities=[[0.25, 0, 0, 0, 0, 0]], body_positions=[[0.25, 0, 0]])
        answer = contacts.evaluate(body_velocities=np.zeros((1, 6)), outputs=["collisions"], collision_outputs=["anchor"])
        assert answer["collisions"]["body_world"]["anchor"].tolist() == [[0.25, 0, 0]]


def test_a_patch_that_is_refused_changes_nothing(server):
    expected = plainly(server, "/v1/evaluate", TILE)
    with FakeService(server, "pass", "pass", "forget", "pass", "forget") as fake:
        with frictiond.Client(fake.url).set(parts(TILE)[0]) as contacts:
            for _ in range(2):  # first the set exists, then it was forgotten
                with pytest.raises(frictiond.Error) as caught:
                    contacts.patch(friction={"eps_v": -1})
                assert caught.value.errors[0][0] == "/friction/eps_v"
                assert_same(contacts.evaluate(TILE["velocities"]), expected)


def test_a_set_survives_a_restart_of_the_service(server_with):
    url = server_with()
    port = url.rpartition(":")[2]
    with frictiond.Client(url).set(with_arrays(parts(SCENE)[0])) as contacts:
        before = contacts.evaluate(np.array(SCENE["velocities"]), **ALL)
        process = server_with.started.pop()
        process.terminate()
        process.communicate()
        assert process.returncode == 0
        server_with("--port", port)
        assert_same(contacts.evaluate(np.array(SCENE["velocities"]), **ALL), before)


def test_a_set_that_is_replaced_again_and_again_is_an_error(server):
    with FakeService(server, "pass", *["replace", "pass"] * 3) as fake:
        contacts = frictiond.Client(fake.url).set(parts(TILE)[0])
        with pytest.raises(frictiond.Error) as caught:
            contacts.evaluate(TILE["velocities"])
        assert caught.value.status == 412 and caught.value.code == "set_changed"
        contacts.close()


def test_a_404_of_a_proxy_is_no_forgotten_set(server):
    with FakeService(server, "pass", (404, {})) as fake, frictiond.Client(fake.url).set(parts(TILE)[0]) as contacts:
        with pytest.raises(frictiond.Error) as caught:
            contacts.evaluate(TILE["velocities"])
        assert caught.value.status == 404 and len(fake.requests) == 2


def test_a_set_that_another_program_has_replaced_is_not_deleted(connect):
    with connect().set(parts(TILE)[0]) as contacts:
        other = connect().set(parts(SCENE)[0], name=contacts.name)
    assert contacts.name in names_of_sets(connect())
    other.close()
    assert contacts.name not in names_of_sets(connect())


def test_the_end_of_a_block_hides_no_error(server, hasty):
    with FakeService(server, "pass", *["reset"] * 6) as fake, pytest.raises(KeyError):
        with frictiond.Client(fake.url).set(parts(TILE)[0]) as contacts:
            raise KeyError
    with pytest.raises(ValueError, match="closed"):
        contacts.evaluate(TILE["velocities"])
    with pytest.raises(ValueError, match="closed"):
        contacts.patch(friction={"mu": 1})
    contacts.close()


def test_threads_share_a_set(server):
    with FakeService(server, *["pass"] * 3, "forget", *["pass"] * 12, "replace") as fake:
        with frictiond.Client(fake.url).set(with_arrays(parts(SCENE)[0])) as contacts:
            results = {}

            def work(k):
                velocities = np.full((16, 3), 0.01 * k)
                results[k] = [contacts.evaluate(velocities)["potential"] for _ in range(5)]

            threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    for k in range(4):
        batch = {**SCENE, "velocities": [[0.01 * k] * 3] * 16}
        assert results[k] == [plainly(server, "/v1/evaluate", batch)["potential"]] * 5


def test_a_unix_domain_socket(server, tmp_path):
    process, url = integration.start("--port", "none", "--unix", str(tmp_path / "100% socket"))
    try:
        assert url == f"http+unix://{tmp_path}/100% socket"
        client = frictiond.Client(url)
        assert_same(client.evaluate(with_arrays(TILE)), plainly(server, "/v1/evaluate", TILE))
        with client.set(with_arrays(parts(TILE)[0])) as contacts:
            assert_same(contacts.evaluate(TILE["velocities"]), plainly(server, "/v1/evaluate", TILE))
        client.close()
    finally:
        assert integration.stop(process) == 0
    with pytest.raises(frictiond.Unavailable, match="is it running?"):
        frictiond.Client(url, retries=0).info()


@pytest.mark.parametrize("method", ["evaluate", "check", "pattern", "patch", "carry", "advance"])
def test_examples_of_docstrings_of_sets(connect, method):
    scene = merge(parts(SCENE)[0], {"collisions": {name: {"anchor": [0, 0, 0]} for name in SCENE["collisions"]}})
    with connect().set(scene) as contacts:
        example(getattr(frictiond.Set, method), contacts=contacts, v=np.zeros((16, 3)),
                positions=np.array(SCENE["positions"]), h=0.01)


# Errors

@pytest.mark.parametrize("frames", [False, True])
def test_errors_say_what_is_wrong(connect, frames):
    batch = {**PLANE, "friction": {"eps_v": 0, "mu": 1}}
    with pytest.raises(frictiond.Error) as caught:
        connect(frames=frames).evaluate(with_arrays(batch))
    error = caught.value
    assert (error.status, error.title) == (422, "Unprocessable Content")
    assert error.errors == [("/friction/eps_v", error.detail)] and error.code == "out_of_range"
    assert (error.request_id is None) == repr(connect()).startswith("frictiond.local")
    assert str(error).startswith("422 Unprocessable Content: /friction/eps_v: ")
    assert not isinstance(error, frictiond.Unavailable)


def test_a_proxy_page_is_an_error_too(server):
    with FakeService(server, (403, {"Content-Type": "text/html"})) as fake:
        with pytest.raises(frictiond.Error) as caught:
            frictiond.Client(fake.url).evaluate(PLANE)
    assert caught.value.status == 403


@pytest.mark.parametrize("url", ["127.0.0.1:8080", "ftp://127.0.0.1", "http://", "http://127.0.0.1/?a=b", "",
                                 "http+unix://", "http+unix://relative/path", "http+unix:/path"])
def test_invalid_urls(url):
    with pytest.raises(ValueError):
        frictiond.Client(url)


def test_tokens(server_with, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("lab 0123456789abcdef0123456789abcdef\n")
    tokens.chmod(0o600)
    url = server_with("--tokens", str(tokens))
    assert frictiond.Client(url, token="0123456789abcdef0123456789abcdef").evaluate(PLANE)["n_vertices"] == 1
    for token in (None, "x" * 32):
        with pytest.raises(frictiond.Error) as caught:
            frictiond.Client(url, token=token).info()
        assert caught.value.status == 401


def test_tls(server_with, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "30", "-subj", "/CN=frictiond", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", tmp_path / "key", "-out", tmp_path / "crt"], check=True, stderr=subprocess.DEVNULL)
    (tmp_path / "key").chmod(0o600)
    url = server_with("--tls-cert", str(tmp_path / "crt"), "--tls-key", str(tmp_path / "key"))
    assert url.startswith("https://")
    client = frictiond.Client(url, ca=str(tmp_path / "crt"))
    assert_same(client.evaluate(with_arrays(SCENE)), client.evaluate(SCENE))
    with pytest.raises(frictiond.Error, match="not trusted"):
        frictiond.Client(url).info()


# Failures and retries

def test_503_twice_then_an_answer(server, hasty):
    with FakeService(server, BUSY, BUSY) as fake:
        assert_same(frictiond.Client(fake.url).evaluate(PLANE), plainly(server, "/v1/evaluate", PLANE))
        assert len(fake.requests) == 3 and fake.connections == 1
        assert len({body for *_, body in fake.requests}) == 1
    assert len(hasty) == 2 and all(1 <= wait <= 1.25 for wait in hasty)


def test_waits_grow_and_are_capped(server, hasty):
    with FakeService(server, *[(503, {"Retry-After": "100000"})], *[(502, {})] * 12) as fake:
        frictiond.Client(fake.url, retries=13).info()
    assert hasty[0] == LONGEST_WAIT == max(hasty)
    assert 0.1 <= hasty[1] <= 0.125 and hasty[2] >= 0.2


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2037 07:28:00 GMT", "-3", "1.5", "9" * 30, ""])
def test_retry_after_that_is_not_a_number_of_seconds(server, hasty, value):
    with FakeService(server, (503, {"Retry-After": value})) as fake:
        frictiond.Client(fake.url).info()
    assert len(hasty) == 1 and hasty[0] < 1


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_unavailable_after_all_retries(server, hasty, status):
    with FakeService(server, *[(status, {})] * 9) as fake:
        with pytest.raises(frictiond.Unavailable) as caught:
            frictiond.Client(fake.url, retries=2).evaluate(PLANE)
        assert len(fake.requests) == 3
    assert caught.value.status == status and caught.value.detail == "as told"


@pytest.mark.parametrize("status", [400, 404, 413, 422, 500])
def test_errors_that_repeating_cannot_mend_are_not_repeated(server, hasty, status):
    with FakeService(server, (status, {})) as fake:
        with pytest.raises(frictiond.Error) as caught:
            frictiond.Client(fake.url).evaluate(PLANE)
        assert len(fake.requests) == 1 and not hasty
    assert caught.value.status == status and not isinstance(caught.value, frictiond.Unavailable)


def test_no_server(nobody, hasty):
    with pytest.raises(frictiond.Unavailable) as caught:
        frictiond.Client(nobody, retries=3).info()
    assert caught.value.status is None and nobody in caught.value.detail and len(hasty) == 3


@pytest.mark.parametrize("trouble", ["reset", "half"])
def test_connections_that_break(server, hasty, trouble):
    with FakeService(server, trouble, trouble) as fake:
        assert_same(frictiond.Client(fake.url).evaluate(PLANE), plainly(server, "/v1/evaluate", PLANE))
        assert len(fake.requests) == 3 and fake.connections == 3
    assert len(hasty) == 2
    with FakeService(server, *[trouble] * 9) as fake, pytest.raises(frictiond.Unavailable):
        frictiond.Client(fake.url, retries=1).evaluate(PLANE)


def test_one_connection_is_kept_and_replaced_without_a_wait(server, hasty):
    with FakeService(server, "pass", "pass", "drop", "drop") as fake:
        client = frictiond.Client(fake.url, retries=0)
        for expected in (1, 1, 1, 2, 3, 3):
            client.info()
            assert fake.connections == expected
        client.close()
        client.info()
        assert fake.connections == 4
    assert not hasty


def test_silence_is_unavailable(hasty):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = frictiond.Client(f"http://127.0.0.1:{silent.getsockname()[1]}", timeout=0.2)
        with pytest.raises(frictiond.Unavailable, match="nothing for 0.2 s"):
            client.info()
    assert not hasty


def test_a_refusal_before_all_was_sent(server_with):
    client = frictiond.Client(server_with("--max-frame-bytes", "64K"), retries=0)
    batch = {**PLANE, "velocities": np.zeros((1000000, 3))}
    for _ in range(3):
        with pytest.raises(frictiond.Error) as caught:
            client.evaluate(batch)
        assert caught.value.status == 413
        assert client.evaluate(with_arrays(PLANE))["n_vertices"] == 1


def test_an_interrupted_request_does_not_spoil_the_next(server, monkeypatch):
    client, read = frictiond.Client(server), http.client.HTTPResponse.read

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(http.client.HTTPResponse, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        client.evaluate(SCENE)
    monkeypatch.setattr(http.client.HTTPResponse, "read", read)
    assert client.info()["name"] == "frictiond"


def test_threads_share_a_client(server):
    with FakeService(server) as fake:
        client, results = frictiond.Client(fake.url), {}

        def work(k):
            batch = {**with_arrays(SCENE), "velocities": np.full((16, 3), 0.01 * k)}
            results[k] = [client.evaluate(batch)["potential"] for _ in range(5)]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert fake.connections == 8
    for k in range(8):
        batch = {**SCENE, "velocities": [[0.01 * k] * 3] * 16}
        assert results[k] == [plainly(server, "/v1/evaluate", batch)["potential"]] * 5


def forked(client, queue):
    queue.put([client.info()["name"] for _ in range(3)])


def test_processes_that_fork_get_connections_of_their_own(server):
    with FakeService(server) as fake:
        client, context = frictiond.Client(fake.url), multiprocessing.get_context("fork")
        client.info()
        queue = context.Queue()
        process = context.Process(target=forked, args=(client, queue))
        process.start()
        assert queue.get() == ["frictiond"] * 3
        process.join()
        client.info()
        assert fake.connections == 2


# Frames

def frame(document, tail=b"", pad=b" "):
    text = document if isinstance(document, bytes) else json.dumps(document).encode()
    text += pad * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + tail


def test_frames_there_and_back():
    document = {"a": np.arange(6.0).reshape(2, 3), "b": {"c": np.array([1, 2], np.int32), "d": "text", "e": [1, None]},
                "f": np.array([1, 2], np.uint32), "g": np.array([0.5], np.float32), "h": np.array([-1, 2**40])}
    data = frictiond.encode_frame(document)
    assert (8 + int.from_bytes(data[:8], "little")) % 64 == 0
    back = frictiond.decode_frame(data)
    assert back.keys() == document.keys() and back["b"]["d"] == "text" and back["b"]["e"] == [1, None]
    for key in "afgh":
        assert back[key].dtype == document[key].dtype and np.array_equal(back[key], document[key])
        assert not back[key].flags.writeable and back[key].ctypes.data % 8 == 0


@pytest.mark.parametrize("data", [
    b"", b"1234567", b"\xff" * 8, b"\xff" * 200, frame({})[:-1], frame({})[:8], frame(b"[1]"), frame(b"{,}"),
    frame(b"{}", pad=b"x"), (5).to_bytes(8, "little") + b"{}   ", frame(b'{"a":"\xff"}'), frame(b"[" * 100000),
    frame(b'{"a":' * 100000),
    *(frame({"a": reference}, bytes(64)) for reference in [
        {"dtype": "f64", "shape": [9], "offset": 0}, {"dtype": "f64", "shape": [1], "offset": 64},
        {"dtype": "f64", "shape": [1], "offset": 4}, {"dtype": "f64", "shape": [1], "offset": -8},
        {"dtype": "f64", "shape": [-1], "offset": 0}, {"dtype": "f64", "shape": [1.0], "offset": 0},
        {"dtype": "f64", "shape": [True], "offset": 0}, {"dtype": "f64", "shape": 1, "offset": 0},
        {"dtype": "f64", "shape": [1]}, {"dtype": "f16", "shape": [1], "offset": 0},
        {"dtype": None, "shape": [1], "offset": 0}, {"dtype": [], "shape": [1], "offset": 0},
        {"dtype": "f64", "shape": [1], "offset": 0, "more": 1}, {"dtype": "f64", "shape": [2**40, 2**40], "offset": 0},
        {"dtype": "f64", "shape": [0] * 100, "offset": 0}, {"dtype": "f64", "shape": [1], "offset": None},
        {"dtype": "f64", "shape": [0, 2**80], "offset": 0}, {"dtype": "f64", "shape": [0], "offset": 2**70}])])
def test_broken_frames_are_refused(data):
    with pytest.raises(ValueError):
        frictiond.decode_frame(data)


def test_an_answer_that_is_not_a_frame(server):
    with FakeService(server, (200, {"Content-Type": frictiond.FRAME})) as fake:
        with pytest.raises(frictiond.Error, match="Not an answer of frictiond"):
            frictiond.Client(fake.url).evaluate(PLANE)


@pytest.mark.parametrize("method", ["evaluate", "check", "function", "functions", "info", "set"])
def test_examples_of_docstrings(connect, method):
    example(getattr(frictiond.Client, method), client=connect(), batch=SCENE, lagged=parts(SCENE)[0])


def example(method, **names):
    """Runs the last line of a docstring."""
    code, _, expected = textwrap.dedent(method.__doc__).strip().rpartition("\n\n")[2].strip().partition("    # ")
    found = eval(code, {"np": np, **names})
    assert len(found) if isinstance(found, (list, np.ndarray)) else found
    assert not expected or repr(found) == expected
