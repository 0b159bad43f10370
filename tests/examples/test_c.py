"""The client for C, under AddressSanitizer."""
import pathlib
import re

import numpy as np
import pytest
from carried import *  # noqa: F401,F403
from derived import *  # noqa: F401,F403
from native import *  # noqa: F401,F403
from native_sets import *  # noqa: F401,F403
from native import command_of, evaluate

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRICT = "-std=gnu11 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -g -fsanitize=address,undefined".split()


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("c")


@pytest.fixture(scope="session")
def example(run, folder):
    run("sh", "-c", command_of("examples/c/tile.c", folder / "tile"))
    return [folder / "tile"]


@pytest.fixture(scope="session")
def probe(run, folder):
    run("cc", *STRICT, "tests/examples/probes/probe.c", "examples/c/frictiond.c", "-lcurl", "-ljansson", "-o",
        folder / "probe")
    return [folder / "probe"]


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
    run("cc", *STRICT, "examples/c/frame.c", "examples/c/frictiond.c", "-lcurl", "-ljansson", "-o", folder / "frame")
    same(frame_lines(evaluate(server, tiles())), run(folder / "frame", server), 1e-9)
    assert "422: must be larger than 0 /friction/eps_v" in fail(folder / "frame", refusing)


def test_the_command_for_frames(run, folder, server):
    run("sh", "-c", command_of("examples/c/frame.c", folder / "plain"))
    assert "4000 contacts" in run(folder / "plain", server)


def test_derivatives_through_the_library(run, folder, same):
    """As docs/library.md shows them; and a pin's friction changes with its normal force, which follows from its height."""
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


def test_the_example_leaks_nothing(run, server, folder, tile, same):
    run("cc", *STRICT, "examples/c/tile.c", "examples/c/frictiond.c", "-lcurl", "-ljansson", "-o", folder / "strict")
    same(tile, run(folder / "strict", server))
