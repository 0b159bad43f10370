"""The client for C, under AddressSanitizer, and the other examples in C. probes/probe.c lists the probe's commands."""
import concurrent.futures
import json
import pathlib
import re

import numpy as np
import pytest
from asking import ask, evaluate, is_gone, numbers
from carried import LAWS, SCRIPTS, at, both_steps, flat
from collision_sets import PATCH, PATCHED, QUERY, TILE
from conftest import command_of, integration
from derived import SCRIPTS as DERIVED
from derived import requests
from fake import FakeService

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = "-std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -g -fsanitize=address,undefined".split()
TOKEN = "0123456789abcdef0123456789abcdef"
BUSY = (503, {"Retry-After": "0"})


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("c")


@pytest.fixture(scope="session")
def example(run, folder):
    command, program = command_of("examples/c/tile.c", folder)
    run("sh", "-c", command)
    return [program]


@pytest.fixture(scope="session")
def probe(run, folder):
    run("cc", *STRICT, "tests/examples/probes/probe.c", "examples/c/frictiond_http.c", "-lcurl", "-ljansson", "-o",
        folder / "probe")
    return [folder / "probe"]


def batch(vertices):
    floor = {"vertices": vertices, "plane_normal": [0, 0, 1], "normal_force": [9.81] * len(vertices)}
    return {"dim": 3, "velocities": [[0.02, 0.01, 0]], "friction": {"eps_v": 1e-3, "mu": 0.3},
            "collisions": {"plane_vertex": floor}, "outputs": ["potential", "gradient", "collisions"],
            "collision_outputs": ["potential"]}


def test_the_tile_is_that_of_python(example, run, server, tile, same):
    same(tile, run(*example, server))


def test_a_busy_service_is_asked_again(example, run, server, tile, same):
    with FakeService(server, BUSY, "reset", (503, {"Retry-After": "1"})) as fake:
        same(tile, run(*example, fake.url))
        assert len(fake.requests) == 4
        assert len({body for *_, body in fake.requests}) == 1


def test_the_example_says_what_is_wrong(example, fail, nobody, refusing, server):
    with FakeService(server, *[BUSY] * 99) as fake, concurrent.futures.ThreadPoolExecutor(3) as all_three:
        wrong, nothing, busy = (all_three.submit(fail, *example, url) for url in (refusing, nobody, fake.url))
        output = wrong.result()
        assert "422" in output and "must be larger than 0" in output and "/friction/eps_v" in output
        assert "onnect" in nothing.result() and nobody in nothing.result() and "is it running?" in nothing.result()
        assert "503" in busy.result() and "as told" in busy.result()
        assert len(fake.requests) == 6


def test_a_page_of_a_proxy_is_no_answer(probe, fail, server):
    with FakeService(server, (404, {"Content-Type": "text/html"})) as fake:
        assert "404" in fail(*probe, fake.url, "functions")


def test_the_wrong_field_is_named(probe, fail, server):
    output = fail(*probe, server, "wrong")
    assert "422" in output and "912 is not a vertex" in output and "/collisions/plane_vertex/vertices/0" in output


@pytest.mark.parametrize("vertices", [[0], []], ids=["one", "none"])
def test_few_contacts(probe, run, server, vertices):
    answer = evaluate(server, batch(vertices))
    expected = answer["gradient"] + [answer["potential"]] + answer["collisions"]["plane_vertex"]["potential"]
    assert numbers(run(*probe, server, "one" if vertices else "none")) == expected


@pytest.mark.parametrize("n", [0, 15, 1000])  # a response with up to 15 numbers is text even in a frame
def test_doubles_survive_both_ways(probe, run, server, tmp_path, n):
    rng = np.random.default_rng(n)
    sent = (rng.uniform(1, 10, n) * 10.0 ** rng.integers(-290, 290, n)).tolist()
    (tmp_path / "numbers").write_text("".join(f"{number!r}\n" for number in sent))
    assert numbers(run(*probe, server, "exact", tmp_path / "numbers")) == sent


def test_a_token_is_sent(probe, run, fail, server_with, tmp_path):
    (tmp_path / "tokens").write_text(f"lab {TOKEN}\n")
    server = server_with("--tokens", str(tmp_path / "tokens"))
    assert run(*probe, server, "token", TOKEN).strip() == "frictiond"
    assert "401" in fail(*probe, server, "functions")


def test_the_scalar_functions_are_listed(probe, run, server):
    assert numbers(run(*probe, server, "functions")) == [19]


# Collision sets

@pytest.fixture(scope="module")
def expected(server):
    pattern = {"outputs": ["hessian"], "hessian": {"format": "csr", "triangle": "upper"}}
    return [*evaluate(server, {**TILE, **QUERY})["gradient"], *evaluate(server, {**PATCHED, **QUERY})["gradient"],
            *evaluate(server, {**TILE, **QUERY, **pattern})["hessian"]["indices"], 1]


@pytest.fixture
def file(tmp_path):
    def write(**changes):
        path = tmp_path / "set.json"
        path.write_text(json.dumps({"lagged": TILE, "query": QUERY, "patch": PATCH, **changes}))
        return path
    return write


@pytest.mark.parametrize("trouble", [
    "", "pass forget", "pass replace", "pass pass forget", "pass pass replace", "pass pass pass forget",
    "pass pass pass pass forget", "pass pass pass pass replace", "pass pass pass pass pass forget",
    "pass forget pass pass replace pass forget", "busy pass busy half busy"])
def test_a_lost_set_is_put_again(probe, run, server, file, expected, trouble):
    """PUT, evaluate, PATCH, evaluate, pattern, check, DELETE, with a failure at each of them."""
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
    ({"query": {**QUERY, "outputs": ["force"]}}, "/outputs/0", "DELETE"),
    ({"patch": {**PATCH, "dim": 2}}, "/", "DELETE")], ids=["lagged", "query", "patch"])
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
    assert ask(server, "DELETE", "/v1/sets/coveted")[0] == 204  # a set that somebody else has put under the name stays


def test_a_unix_domain_socket(probe, run, fail, file, expected, tmp_path):
    process, url = integration.start("--port", "none", "--unix", str(tmp_path / "socket"))
    try:
        assert url == f"http+unix://{tmp_path}/socket"
        assert numbers(run(*probe, url, "set", file())) == expected
    finally:
        assert integration.stop(process) == 0
    output = fail(*probe, url, "functions")
    assert "is it running?" in output and url in output


# Bodies, anchors, laws, derivatives

@pytest.mark.parametrize("name", SCRIPTS)
def test_anchors_are_carried(probe, run, server, tmp_path, name):
    script, ratio = SCRIPTS[name], 0.5
    (tmp_path / "script.json").write_text(json.dumps({**script, "ratio": ratio}))
    answers = both_steps(server, script, ratio)
    assert answers[0] != answers[1]
    assert numbers(run(*probe, server, "carry", tmp_path / "script.json")) == [
        number for answer in answers for pointer in script["read"] for number in flat(at(answer, pointer))]


def test_there_must_be_anchors(probe, fail, server, tmp_path):
    script = SCRIPTS["no bodies"]
    without = {**script, "query": {**script["query"], "collision_outputs": ["potential"]}, "read": ["/gradient"]}
    (tmp_path / "script.json").write_text(json.dumps({**without, "ratio": 1}))
    assert "no anchors" in fail(*probe, server, "carry", tmp_path / "script.json")


@pytest.mark.parametrize("name", LAWS)
def test_laws_have_their_parameters(probe, run, server, tmp_path, name):
    (tmp_path / "law.json").write_text(json.dumps(LAWS[name]))
    told = numbers(run(*probe, server, "law", tmp_path / "law.json"))
    assert told == evaluate(server, LAWS[name]["parameters"], "/v1/functions/" + LAWS[name]["name"])["values"]


def printed(server, script):
    """The output of the probe: once each for JSON, a frame and a set."""
    down, up = requests(script)
    tangents, cotangents = evaluate(server, down, "/v1/jvp")["tangents"], evaluate(server, up, "/v1/vjp")["cotangents"]
    return [number for values in (*(tangents[name] for name in ("potential", "gradient", "body_gradient")
                                    if name in tangents), *(cotangents[field] for field in script["wrt"]))
            for number in flat(values)]


@pytest.mark.parametrize("name", DERIVED)
def test_derivatives_forward_and_backward(probe, run, server, tmp_path, name):
    (tmp_path / "script.json").write_text(json.dumps(DERIVED[name]))
    told, once = numbers(run(*probe, server, "derive", tmp_path / "script.json")), printed(server, DERIVED[name])
    assert sum(number != 0 for number in once) > 20
    assert told == 3 * once


def test_fields_without_derivatives_are_named(probe, fail, server, tmp_path):
    script = {**DERIVED["vertices"], "wrt": ["/positions", "/dim"]}
    (tmp_path / "script.json").write_text(json.dumps(script))
    output = fail(*probe, server, "derive", tmp_path / "script.json")
    assert "422" in output and "/wrt/1" in output


# Other examples

def tiles():
    """The batch of frame.c."""
    n, k = 1000, np.arange(1000)
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]])
    positions = corners + 0.2 * k[:, None, None] * [1, 0, 0]
    velocities = np.zeros((n, 4, 3))
    velocities[:, :, 0] = np.stack([1e-5 * k] * 3 + [np.full(n, 0.01)], axis=1)
    pins = 4 * k[:, None] + [3, 0, 1, 2]
    return {"dim": 3, "positions": positions.ravel().tolist(), "velocities": velocities.ravel().tolist(),
            "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
            "collisions": {"plane_vertex": {"vertices": (4 * k[:, None] + [0, 1, 2]).ravel().tolist(),
                                            "plane_normal": [0, 0, 1], "normal_force": [2, 3, 4] * n},
                           "face_vertex": {"vertices": pins.tolist(), "normal_force": 2}},
            "hessian": {"format": "csr", "projection": "clamp"}}


def frame_lines(answer):
    force = 0 - np.reshape(answer["gradient"], (-1, 3)).sum(axis=0)
    h = answer["hessian"]
    rows = np.repeat(np.arange(12000), np.diff(h["indptr"]))
    trace = np.array(h["data"])[rows == h["indices"]].sum()
    return "\n".join([f"{answer['n_collisions']} contacts, potential {answer['potential']:.6f} N m/s",
                      "friction on all vertices {:.5f} {:.5f} {:.5f} N".format(*force),
                      f"Hessian 12000 x 12000, {len(h['data'])} entries, trace {trace:.4f} N s/m"])


def test_a_frame_carries_the_same_numbers(run, fail, server, same, refusing, folder):
    run("cc", *STRICT, "examples/c/frame.c", "examples/c/frictiond_http.c", "-lcurl", "-ljansson", "-o", folder / "frame")
    same(frame_lines(evaluate(server, tiles())), run(folder / "frame", server), 1e-9)
    assert "422: must be larger than 0 /friction/eps_v" in fail(folder / "frame", refusing)


def test_the_command_for_frames(run, folder, server):
    command, program = command_of("examples/c/frame.c", folder)
    run("sh", "-c", command)
    assert "4000 contacts" in run(program, server)


def test_derivatives_through_the_library(run, folder, same):
    """The output is the one in docs/library.md, and the friction of a pin changes with its normal force, which depends
    on its height."""
    run("cc", *STRICT, "-Icore", "examples/c/derivatives.c", "build/release/libfric.a", "-fopenmp", "-lm", "-o",
        folder / "derivatives")
    told, page = run(folder / "derivatives"), (ROOT / "docs/library.md").read_text()
    same(re.search(r"&& build/derivatives\n```\n```text\n(.*?)```", page, re.S)[1], told)
    rows = [re.findall(r"-?\d[\d.]*(?:e[-+]\d+)?", line) for line in told.splitlines()]
    assert float(rows[1][0]) == pytest.approx(float(rows[0][0]) / 0.3, rel=1e-5)
    heights = [(float(row[0]), float(row[2])) for row in rows[3:]]
    assert len(heights) == 4 and sum(exact for exact, _ in heights) == pytest.approx(0, abs=0.1)
    for exact, difference in heights:
        assert exact == pytest.approx(difference, rel=1e-5)


def test_the_service_in_process(run, folder, same):
    """As docs/local.md shows it: mu_k g per second, without a copy."""
    build = ROOT / "build/release"
    run("cc", *STRICT, "-Iapi", "examples/c/local.c", f"-L{build}", "-lfrictiond", f"-Wl,-rpath,{build}", "-o",
        folder / "local")
    told, page = run(folder / "local"), (ROOT / "docs/local.md").read_text()
    same(re.search(r"```text\n(.*?)```", page, re.S)[1], told)
    speeds = [float(speed) for speed in re.findall(r": (\S+) m/s, 0 bytes", told)]
    assert len(speeds) == 5
    for before, after in zip([0.02, *speeds], speeds):
        assert before - after == pytest.approx(0.3 * 9.81e-3, abs=1.1e-5)


def test_the_example_leaks_nothing(run, server, folder, tile, same):
    run("cc", *STRICT, "examples/c/tile.c", "examples/c/frictiond_http.c", "-lcurl", "-ljansson", "-o", folder / "strict")
    same(tile, run(folder / "strict", server))
