"""The examples for curl and the shell."""
import json
import pathlib
import shutil

import pytest

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


@pytest.mark.parametrize("example", ["tile.sh", "frame.sh"])
def test_examples_say_why_they_fail(example, fail, nobody, refusing):
    output = fail(f"examples/curl/{example}", nobody)
    assert "Failed to connect" in output and f"{nobody}: is it running?" in output
    output = fail(f"examples/curl/{example}", refusing)
    assert "422" in output and "/friction/eps_v: must be larger than 0" in output


def test_without_jq_the_problem_is_printed(fail, refusing, without_jq):
    output = fail(shutil.which("bash"), "examples/curl/tile.sh", refusing, environment=without_jq)
    assert '"pointer": "/friction/eps_v"' in output
