"""Tests of jvp and vjp, of batches and of sets, in the clients that native.py tests. A suite test_LANGUAGE.py imports
them. The fixture `probe` does this as well:

  PROBE URL derive FILE   FILE: {"set", "question", "along": JSON Pointers, "values": {"v0", "v1", ..} for them,
                          "cotangents", "wrt"}. Prints all numbers of the tangents (of potential, gradient,
                          body_gradient) and of the cotangents, in the order of wrt: of the whole batch, in each of the
                          forms in which the client sends it, and of the set.
"""
import json

import pytest
from carried import SCRIPTS as CARRIED
from carried import SMALL, flat
from native import evaluate, numbers

LAW = {"eps_v": 0.25, "mu_s": 0.5, "mu_k": 0.25, "law": "stribeck", "stribeck_speed": 0.5}
TILE = {"dim": 3, "positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.5, 0.125], [2, 0.125, 0]], "friction": LAW,
        "collisions": {"face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
                       "edge_vertex": {"vertices": [[4, 1, 2]], "normal_force": [1.5]},
                       "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1],
                                        "normal_force": [3.0, 2.5, 4.0]}}}
VELOCITIES = [[0.5, 0, 0.125], [0.25, 0.125, 0], [0.125, 0.375, 0], [1, 0.25, 0], [0.5, -0.5, 0.25]]
N = len(VELOCITIES)
BODIES = {**CARRIED["both"]["set"], "positions": [[k / 8, 0, 0] for k in range(CARRIED["both"]["set"]["n_vertices"])]}
del BODIES["n_vertices"]  # which a whole request does not have
SCRIPTS = {
    "vertices": {
        "set": TILE, "question": {"velocities": VELOCITIES},
        "along": ["/positions", "/friction/stribeck_speed", "/velocities", "/collisions/plane_vertex/normal_force"],
        "values": {"v0": [[k / 8, 0.25, -k / 16] for k in range(N)], "v1": 0.5,
                   "v2": [[k * SMALL, 0.5, 0] for k in range(N)], "v3": [1, 0, -2]},
        "cotangents": {"potential": 0.5, "gradient": [(k % 5 - 2) / 4 for k in range(3 * N)]},
        "wrt": ["/velocities", "/friction/stribeck_speed", "/collisions/face_vertex/normal_force", "/positions",
                "/collisions/plane_vertex/normal_force"]},
    "bodies": {
        "set": BODIES,
        "question": {name: CARRIED["both"]["question"][name] for name in ("velocities", "body_velocities")},
        "along": ["/body_velocities", "/friction/mu_k"],
        "values": {"v0": [[k * SMALL, 0, SMALL, 0, -SMALL, b * SMALL] for b, k in enumerate((3, 2, 1))], "v1": 0.25},
        "cotangents": {"potential": 1, "gradient": [k / 16 for k in range(18)],
                       "body_gradient": [(7 * k % 5) / 4 for k in range(18)]},
        "wrt": ["/collisions/body_world/spin_radius", "/body_velocities", "/friction/viscous",
                "/collisions/body_world/point"]},
}


def requests(script):
    """The documents of a jvp and of a vjp."""
    whole = {**script["set"], **script["question"]}
    tangents = {field: script["values"][f"v{k}"] for k, field in enumerate(script["along"])}
    return {**whole, "tangents": tangents}, {**whole, "cotangents": script["cotangents"], "wrt": script["wrt"]}


def printed(server, script):
    """What one form prints."""
    down, up = requests(script)
    tangents, cotangents = evaluate(server, down, "/v1/jvp")["tangents"], evaluate(server, up, "/v1/vjp")["cotangents"]
    return [number for values in (*(tangents[name] for name in ("potential", "gradient", "body_gradient")
                                    if name in tangents), *(cotangents[field] for field in script["wrt"]))
            for number in flat(values)]


@pytest.mark.parametrize("name", SCRIPTS)
def test_derivatives_forward_and_backward(probe, run, server, tmp_path, name):
    (tmp_path / "script.json").write_text(json.dumps(SCRIPTS[name]))
    told, once = numbers(run(*probe, server, "derive", tmp_path / "script.json")), printed(server, SCRIPTS[name])
    assert sum(number != 0 for number in once) > 20
    assert len(told) in (2 * len(once), 3 * len(once)) and told == once * (len(told) // len(once))


def test_fields_without_derivatives_are_named(probe, fail, server, tmp_path):
    script = {**SCRIPTS["vertices"], "wrt": ["/positions", "/dim"]}
    (tmp_path / "script.json").write_text(json.dumps(script))
    output = fail(*probe, server, "derive", tmp_path / "script.json")
    assert "422" in output and "/wrt/1" in output
