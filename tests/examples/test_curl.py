"""The examples for curl and the shell."""
import json
import pathlib
import shutil

import pytest
from asking import ask, evaluate, is_gone
from collision_sets import QUERY, TILE
from conftest import integration
from fake import FakeService

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def without_jq(tmp_path):
    """An environment whose PATH has everything that tile.sh needs except jq."""
    for name in ("bash", "mktemp", "rm", "cat", "curl", "awk"):
        (tmp_path / name).symlink_to(shutil.which(name))
    return {"PATH": str(tmp_path)}


def test_the_tile(tile, run, server, same):
    same(tile, run("examples/curl/tile.sh", server))


def test_without_jq_the_answer_is_printed(run, server, without_jq):
    answer = json.loads(run(shutil.which("bash"), "examples/curl/tile.sh", server, environment=without_jq))
    assert answer["n_collisions"] == 4


def test_a_frame(run, server):
    document, _, first, second = run("examples/curl/frame.sh", server).splitlines()
    assert json.loads(document)["gradient"]["shape"] == [48]
    expected = json.loads((ROOT / "examples" / "scene" / "answer.json").read_text())["gradient"]
    assert [float(number) for number in (first + " " + second).split()] == pytest.approx(expected[:6], rel=1e-12)


@pytest.mark.parametrize("example", ["tile.sh", "frame.sh", "set.sh"])
def test_examples_say_why_they_fail(example, fail, nobody, refusing):
    output = fail(f"examples/curl/{example}", nobody)
    assert "Failed to connect" in output and f"{nobody}: is it running?" in output
    output = fail(f"examples/curl/{example}", refusing)
    assert "422" in output and "/friction/eps_v: must be larger than 0" in output


def test_without_jq_the_problem_is_printed(fail, refusing, without_jq):
    output = fail(shutil.which("bash"), "examples/curl/tile.sh", refusing, environment=without_jq)
    assert '"pointer": "/friction/eps_v"' in output


PATCHED = {**TILE, "friction": {**TILE["friction"], "mu_s": 0.4}, "collisions": {
    **TILE["collisions"], "plane_vertex": {**TILE["collisions"]["plane_vertex"], "normal_force": [1, 2, 3]}}}


def lines_of_set(server):
    asked = {**QUERY, "outputs": ["potential", "gradient"]}
    answers = [evaluate(server, {**batch, **asked}) for batch in (TILE, PATCHED)]
    return "\n".join(f"4 contacts, potential {answer['potential']!r} N m/s, gradient\n"
                     + " ".join(repr(number) for number in answer["gradient"]) for answer in answers)


@pytest.mark.parametrize("trouble", [
    "", "pass forget", "pass replace", "pass pass forget", "pass pass replace", "pass pass pass forget",
    "pass pass pass replace pass replace"])
def test_a_lost_set_is_put_again(run, server, same, trouble):
    with FakeService(server, *trouble.split()) as fake:
        same(lines_of_set(server), run("examples/curl/set.sh", fake.url), 1e-15)
        assert fake.requests[-1][0] == "DELETE"
    assert is_gone(server, fake)


def test_a_set_that_is_replaced_again_and_again_is_an_error(fail, server):
    with FakeService(server, "pass", *["replace", "pass"] * 3) as fake:
        assert "the set is version" in fail("examples/curl/set.sh", fake.url)
        assert fake.requests[-1][0] == "DELETE" and len(fake.requests) == 7
    assert ask(server, "DELETE", fake.requests[0][1])[0] == 204  # a set that somebody else has put under the name stays


def test_a_unix_domain_socket(run, fail, server, tile, same, tmp_path):
    process, url = integration.start("--port", "none", "--unix", str(tmp_path / "socket"))
    try:
        same(tile, run("examples/curl/tile.sh", url))
        assert run("examples/curl/frame.sh", url) == run("examples/curl/frame.sh", server)
        same(lines_of_set(server), run("examples/curl/set.sh", url), 1e-15)
    finally:
        assert integration.stop(process) == 0
    assert f"{url}: is it running?" in fail("examples/curl/set.sh", url)
