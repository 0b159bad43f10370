"""The C client called from Fortran."""
import json
import pathlib

import pytest
from carried import SCRIPTS, at, both_steps, flat
from derived import SCRIPTS as DERIVED
from derived import requests
from native import evaluate, numbers
from native_sets import (expected, file, test_a_set_has_the_name_that_is_given,  # noqa: F401
                         test_a_unix_domain_socket, test_what_a_set_refuses_is_named,
                         test_what_happens_to_a_set_is_mended)

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = ["gfortran", "-Wall", "-Wextra", "-Werror", "-fcheck=all", "-fsanitize=address"]


@pytest.fixture(scope="session")
def compiled(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fortran")
    run("cc", "-c", "-fsanitize=address", "examples/c/frictiond.c", "-o", folder / "client.o")

    def compile_one(path, name):
        run(*STRICT, "-J", folder, "examples/fortran/frictiond.f90", path, folder / "client.o", "-lcurl", "-ljansson",
            "-o", folder / name)
        return folder / name

    return compile_one


@pytest.fixture(scope="session")
def program(compiled):
    return compiled("examples/fortran/tile.f90", "tile")


@pytest.fixture(scope="session")
def probe(compiled):
    return [compiled("tests/examples/probes/probe.f90", "probe")]


def test_the_tile_is_that_of_python(program, run, server, tile, same):
    same(tile, run(program, server))


def test_the_example_says_what_is_wrong(program, fail, refusing):
    assert "422: must be larger than 0 /friction/eps_v" in fail(program, refusing)


def test_anchors_are_carried(probe, run, server, tmp_path):
    script = SCRIPTS["bodies alone"]
    (tmp_path / "script.json").write_text(json.dumps(script))
    read = ["/body_gradient", "/collisions/body_world/anchor"]
    expected_numbers = [number for answer in both_steps(server, script, 0.5) for pointer in read
                        for number in flat(at(answer, pointer))]
    assert numbers(run(*probe, server, "carry", tmp_path / "script.json")) == expected_numbers


def test_derivatives_forward_and_backward(probe, run, server, tmp_path):
    script = DERIVED["vertices"]
    down, up = requests(script)
    questions = [{name: value for name, value in document.items() if name not in script["set"]}
                 for document in (down, up)]
    (tmp_path / "script.json").write_text(json.dumps({
        "set": script["set"], "down": questions[0], "up": questions[1], "whole": {"down": down, "up": up}}))
    cotangents = evaluate(server, up, "/v1/vjp")["cotangents"]
    assert numbers(run(*probe, server, "derive", tmp_path / "script.json")) == 2 * [
        *evaluate(server, down, "/v1/jvp")["tangents"]["gradient"], *flat(cotangents["/positions"]),
        cotangents["/friction/stribeck_speed"]]


def test_the_command_of_the_comment(run, server, tile, same, tmp_path):
    text = (ROOT / "examples" / "fortran" / "tile.f90").read_text().splitlines()
    first = next(i for i, line in enumerate(text) if line.startswith("! cc "))
    command = " ".join(line.strip("! ") for line in text[first:first + 3]).replace("build/", f"{tmp_path}/")
    command = command.replace("-J build", f"-J {tmp_path}").replace("[URL]", server)
    same(tile, run("sh", "-c", command))
