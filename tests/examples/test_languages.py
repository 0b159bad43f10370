"""The examples in languages without a client of their own: each prints the output of Python's example, and reports
failures."""
import pathlib

import pytest
from conftest import CARGO, RUST, command_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = {"cpp": " -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -fsanitize=address",
          "fortran": " -Wall -Wextra -Werror -fcheck=all -fsanitize=address"}


@pytest.fixture(scope="session", params=["cpp", "fortran", "octave", "r", "rust"])
def example(request, run, tmp_path_factory):
    """The command that runs the example of a language, without the URL."""
    if request.param in ("octave", "r"):
        return {"octave": ["octave-cli", "examples/octave/tile.m"], "r": ["Rscript", "examples/r/tile.R"]}[request.param]
    if request.param == "rust":
        run("cargo", "rustc", "--offline", "--config", "examples/rust/debian.toml", "--manifest-path",
            "examples/rust/Cargo.toml", "--", "-D", "warnings", environment=CARGO)
        return [RUST / "debug/tile"]
    path = {"cpp": "examples/cpp/tile.cpp", "fortran": "examples/fortran/tile.f90"}[request.param]
    command, program = command_of(path, tmp_path_factory.mktemp(request.param))
    run("sh", "-c", command + STRICT[request.param])
    return [program]


def test_the_tile_is_that_of_python(example, run, server, tile, same):
    same(tile, run(*example, server))


def test_the_example_says_what_is_wrong(example, fail, refusing, nobody):
    output = fail(*example, refusing)
    assert "422: must be larger than 0" in output and "/friction/eps_v" in output
    output = fail(*example, nobody)
    assert nobody in output and "is it running?" in output
