"""Time steps: blocks that friction can hold stay at rest, at all angles, in the recipes, in Python and in C; and
Set.step."""
import contextlib
import io
import math
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from snippets import ROOT, blocks  # noqa: E402

import frictiond  # noqa: E402
from conftest import integration  # noqa: E402

MU_S, MU_K, G = 0.6, 0.4, 9.81
EVERY = 1 if integration.ONE_IN == 1 else 10
ANGLES = [*range(0, 31, EVERY), 0.99 * math.degrees(math.atan(MU_S))]
[RECIPE] = [block.source for block in blocks(ROOT / "examples/README.md") if "np.radians(20)" in block.source]
CREEPS, RESTS = (block.source for block in blocks(ROOT / "docs/sticking.md")[:4:2])


def printed(source, names):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        exec(source, names)
    return text.getvalue()


@pytest.mark.parametrize("degrees", ANGLES)
def test_the_block_of_the_examples_rests(connect, degrees):
    names = {"np": np, "frictiond": frictiond, "client": connect()}
    text = printed(RECIPE.replace("np.radians(20)", f"np.radians({degrees})"), names)
    assert "anchored: 0.000000 mm/s" in text
    # Without anchors the block creeps at the speed t p eps_v at which the rising part of the law, mu_s (2t - t^2),
    # equals the load.
    p, load = (1 + MU_K / MU_S) / 2, math.tan(math.radians(degrees)) / MU_S
    creep = float(re.search(r"creeps: +(\S+) mm/s", text)[1])
    assert creep == pytest.approx(p * (1 - math.sqrt(1 - load)), abs=1e-6)


@pytest.mark.parametrize("share", np.linspace(0, 0.99, 12)[::-EVERY])
def test_the_block_of_the_page_rests(share):
    names = {}
    assert "9.81, 4.0, 1e-3" in CREEPS
    text = printed(CREEPS.replace("9.81, 4.0, 1e-3", f"9.81, {share * 0.5 * 9.81}, 1e-3"), names)
    creeps, predicted = re.fullmatch(r"creeps at (\S+) m/s, predicted (\S+) m/s\n", text).groups()
    assert creeps == predicted
    assert re.match(r"moves at -?0\.000000 m/s", printed(RESTS, names))


@pytest.fixture(scope="session")
def rest(tmp_path_factory):
    program = tmp_path_factory.mktemp("rest") / "rest"
    subprocess.run(["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-Icore", "examples/c/rest.c",
                    "build/release/libfric.a", "-fopenmp", "-lm", "-o", program], cwd=ROOT, check=True)
    return program


def test_blocks_of_the_library_rest(rest):
    """At every angle the block comes to rest at the deflection whose force balances the load, and nothing moves in the
    last half."""
    text = subprocess.run([rest, "200", str(MU_S), str(MU_K), "0.01", *map(str, ANGLES)], check=True, capture_output=True,
                          text=True).stdout
    rows = re.findall(r"^\S+ of the cone, with anchors: (\S+) (\S+)$", text, re.M)
    assert len(rows) == len(ANGLES)
    for degrees, (late, way) in zip(ANGLES, rows):
        load = math.tan(math.radians(degrees)) / MU_S
        assert abs(float(late)) < 1e-16
        assert float(way) == pytest.approx((1 + MU_K / MU_S) / 2 * (1 - math.sqrt(1 - load)) * 1e-5, rel=1e-5, abs=1e-12)


def test_blocks_beyond_the_cone_slide(rest):
    text = subprocess.run([rest, "200", str(MU_S), str(MU_K), "0.01", "32"], check=True, capture_output=True, text=True)
    late, way = map(float, re.search(r"with anchors: (\S+) (\S+)", text.stdout).groups())
    angle = math.radians(32)
    assert way == pytest.approx(G * (math.sin(angle) - MU_K * math.cos(angle)) * 2**2 / 2, rel=0.02) and late > way / 2


@pytest.mark.parametrize("arguments", [
    "20000 0.6 0.4 0.01 35",      # fast: inertia exceeds the normal force, and rounding the tolerance of balance
    "2000 0.3 0.1 1e-4 5 10 16",  # friction falls nearly as steeply as inertia rises
    "2000 1.2 0.05 1e-4 10 45 49"])  # energies cancel
def test_the_library_s_steps_converge(rest, arguments):
    done = subprocess.run([rest, *arguments.split()], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert len(re.findall("of the cone", done.stdout)) == 2 * (len(arguments.split()) - 4)


# Set.step, Client.step

def block(load, dim=2, **friction):
    return {"dim": dim, "n_vertices": 1, "friction": {"eps_v": 1e-3, "mu_s": MU_S, "mu_k": MU_K, "mu_transition": "peak",
                                                      **friction},
            "collisions": {"plane_vertex": {"vertices": [0], "plane_normal": [0] * (dim - 1) + [1],
                                            "normal_force": load}}}


@pytest.mark.parametrize("frames", [False, True])
def test_client_and_set_take_the_same_steps(connect, frames):
    client, batch, v = connect(frames=frames), block(G), np.zeros((1, 2))
    with client.set(batch) as contacts:
        u = v
        for _ in range(20):
            one, other = contacts.step(u, 1.0, 0.01, [5, 0]), client.step(batch, v, 1.0, 0.01, [5, 0])
            u, v = one.velocities, other.velocities
            batch["collisions"]["plane_vertex"]["anchor"] = other.anchors["plane_vertex"]
            assert (u == v).all() and one.energy == other.energy and u.shape == (1, 2)
    assert abs(v).max() < 1e-10


def test_a_sliding_block_keeps_sliding(connect):
    with connect().set(block(G)) as contacts:
        after = contacts.step([[2.0, 0]], 1.0, 0.01)
    assert after.velocities == pytest.approx(np.array([[2 - MU_K * G * 0.01, 0]]), rel=1e-9)


def test_steps_where_friction_falls_nearly_as_steeply_as_inertia_rises(connect):
    angle, mass, h, v = math.radians(16), 1.0, 1e-4, np.zeros((1, 2))
    with connect().set(block(mass * G * math.cos(angle), mu_s=0.3, mu_k=0.1)) as contacts:
        for _ in range(60):
            before, load = v, np.array([[mass * G * math.sin(angle), 0]])
            after = contacts.step(v, mass, h, load)
            v = after.velocities
            balance = mass / h * (v - before) - load + np.reshape(after.answer["gradient"], (1, 2))
            assert abs(balance).max() < 1e-9 * G


def test_the_surface_is_where_a_step_begins(connect):
    batch = block(G)
    batch["collisions"]["plane_vertex"]["surface_velocity"] = [3, 0]
    with connect().set(batch) as contacts:
        after = contacts.step([[3.0, 0]], 1.0, 0.01)
    assert after.iterations == 0 and after.velocities.tolist() == [[3, 0]]


def test_masses_matrices_and_others(connect):
    """A number, masses, a matrix, a sparse matrix; and a spring, k x^2 / 2h at x + h v."""
    client, k, h, load = connect(), 50.0, 0.01, [[9.0, 0]]

    def spring(v):
        stretch = 0.01 + h * np.ravel(v)
        return k * stretch @ stretch / (2 * h), (k * stretch).reshape(1, 2), h * k * np.eye(2)

    found = [client.step(block(G), [[0.5, 0]], inertia, h, load, others=spring).velocities
             for inertia in (2.0, [[2.0, 2.0]], 2 * np.eye(2), csr_matrix(2 * np.eye(2)))]
    expected = (2 / h * 0.5 + 9 - MU_K * G - k * 0.01) / (2 / h + h * k)
    for v in found:
        assert v[0, 0] == pytest.approx(expected, rel=1e-9)


def test_bodies_take_steps(connect):
    batch = {"dim": 3, "body_positions": [[0, 0, 0.1]], "friction": {"eps_v": 1e-3, "mu": 0.5},
             "collisions": {"body_world": {"bodies": [0], "point": [[0, 0, 0]], "normal": [[0, 0, 1]], "normal_force": G}}}
    after = connect().step(batch, [[1.0, 0, 0, 0, 0, 0]], [1, 1, 1, 0.004, 0.004, 0.004], 0.001)
    assert after.velocities[0] == pytest.approx([1 - 0.5 * G * 1e-3, 0, 0, 0, 0.5 * G * 0.1 / 0.004 * 1e-3, 0], abs=1e-8)


def test_the_next_step_may_be_longer(connect):
    with connect().set(block(G)) as contacts:
        anchor = contacts.step([[0.0, 0]], 1.0, 0.01, [3, 0], next_h=0.02).anchors["plane_vertex"]
        after = contacts.evaluate([[0, 0]], outputs=["collisions"], collision_outputs=["anchor"])
    assert after["collisions"]["plane_vertex"]["anchor"] == pytest.approx(anchor / 2, rel=1e-14) and anchor[0, 0] > 0


def test_what_does_not_converge_is_named(connect):
    with connect().set(block(G)) as contacts:
        version = contacts.info["version"]
        with pytest.raises(frictiond.NotConverged, match="1 iterations.*vertex 0, component 0: -?[0-9].* is allowed") as caught:
            contacts.step([[0.0, 0]], 1.0, 0.01, [5, 0], iterations=1)
        assert abs(caught.value.residual).max() > 0 and contacts.info["version"] == version
        with pytest.raises(frictiond.NotConverged, match="not go downhill"):
            contacts.step([[0.0, 0]], -1.0, 0.01, [0, 1])


@pytest.mark.parametrize("change,message", [
    ({"before": [[0.0, 0, 0]]}, r"before has the shape \(1, 3\): expected 2 numbers for each of 1 vertices"),
    ({"before": [[0.0, np.nan]]}, "before is not finite"), ({"h": 0}, "longer than 0"),
    ({"load": [1, 2, 3]}, r"load has the shape \(3,\)"),
    ({"inertia": np.ones(3)}, "inertia has the shape"), ({"start": [1, 2, 3]}, "start has the shape")])
def test_arguments_of_steps(connect, change, message):
    with connect().set(block(G)) as contacts, pytest.raises(ValueError, match=message):
        contacts.step(**{"before": [[0.0, 0]], "inertia": 1.0, "h": 0.01, **change})
