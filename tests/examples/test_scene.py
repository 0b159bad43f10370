"""Client.scene: meshes that fall, rest, slide and come apart, in process and over HTTP."""
import math

import numpy as np
import pytest

import frictiond
from conftest import integration

G, H, MU = 9.81, 0.01, 0.5
TETRAHEDRON = np.array([[0, 0, 1e-3], [0.1, 0, 1e-3], [0, 0.1, 1e-3], [0.02, 0.02, 0.05]])
FACES = [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]]
FLOOR = {"normal": [[0, 0, 1]], "origin": [[0, 0, 0]]}
LAW, BARRIER = {"eps_v": 1e-3, "mu": MU}, {"dhat": 2e-3, "stiffness": 1e8}
ANCHORS = {"outputs": ["collisions"], "collision_outputs": ["anchor"], "terms": ["friction"]}


def springs(rest, stiffness=1e4):
    """Every two vertices are joined by a spring: an elastic body without a mesh inside."""
    a, b = np.triu_indices(len(rest), 1)
    length = np.linalg.norm(rest[a] - rest[b], axis=1)

    def energy(x):
        d = x[a] - x[b]
        now = np.linalg.norm(d, axis=1)
        pull = (stiffness * (now - length) / now)[:, None] * d
        gradient, hessian = np.zeros_like(x), np.zeros((x.size, x.size))
        np.add.at(gradient, a, pull)
        np.add.at(gradient, b, -pull)
        for i, j, unit in zip(a, b, d / now[:, None]):
            block = stiffness * np.outer(unit, unit)
            for p, q, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                hessian[3 * p:3 * p + 3, 3 * q:3 * q + 3] += sign * block
        return stiffness / 2 * ((now - length)**2).sum(), gradient, hessian

    return energy


def body(client, **more):
    mesh = {"faces": FACES, "planes": FLOOR}
    return client.scene(TETRAHEDRON, mesh, LAW, BARRIER, H, **more)


@pytest.mark.parametrize("share", [0.5, 0.8] if integration.ONE_IN == 1 else [0.8])
def test_a_body_that_friction_can_hold_rests(connect, share):
    """A steady push below the static limit: with anchors nothing moves, without them the body creeps."""
    shape = springs(TETRAHEDRON)
    for anchors in (True, False):
        with body(connect(), anchors=anchors) as scene:
            for _ in range(60):
                after = scene.step(1.0, [share * MU * G, 0, -G], shape)
            speed = abs(after.velocities[:, 0].mean())
            if anchors:
                assert abs(after.velocities).max() < 1e-7
            else:
                creep = LAW["eps_v"] * (1 - math.sqrt(1 - share))
                assert speed == pytest.approx(creep, rel=0.05)
            np.testing.assert_allclose(after.forces.sum(axis=0), [-4 * share * MU * G, 0, 4 * G], atol=1e-4)


def test_a_body_slides_with_coulombs_acceleration(connect):
    with body(connect()) as scene:
        shape, before = springs(TETRAHEDRON), 0.0
        for i in range(60):
            after = scene.step(1.0, [2 * MU * G, 0, -G], shape)
            if i == 39:
                before = after.velocities[:, 0].mean()
    assert (after.velocities[:, 0].mean() - before) / (20 * H) == pytest.approx(MU * G, rel=1e-3)


def test_steps_survive_a_service_that_forgets(connect):
    """After every loss the set is put again with its anchors: the same bits."""
    def run(losses):
        with body(connect()) as scene:
            for i in range(40):
                if i in losses:
                    scene.contacts._client._send("DELETE", f"/v1/sets/{scene.contacts.name}")
                after = scene.step(1.0, [2.0, 0, -G])
            answer = scene.contacts.evaluate(np.zeros((4, 3)), **ANCHORS)
            return after.positions, answer["collisions"]["plane_vertex"]["anchor"]

    kept, lost = run(()), run((3, 16, 17, 18, 19, 33, 39))
    assert abs(kept[1]).max() > 1e-5
    np.testing.assert_array_equal(kept[0], lost[0])
    np.testing.assert_array_equal(kept[1], lost[1])


def test_the_margin_grows_with_the_motion(connect):
    """A body that falls far in one step is stopped by the floor, whatever the margin."""
    with body(connect(), velocities=[0, 0, -20.0], margin=1e-6) as scene:
        scene.step(1.0, [0, 0, -G], springs(TETRAHEDRON))
        assert scene.positions[:, 2].min() > 0
        assert scene.contacts.info["margin"] > 1e-6


def test_fixed_vertices_stay_and_hold_others(connect):
    """A particle on a fixed triangle. Fixed vertices have no mass and no load that matter."""
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 1.5e-3]])
    mesh = {"faces": [[0, 1, 2]], "vertices": [3], "fixed": [0, 1, 2]}
    with connect().scene(x, mesh, LAW, BARRIER, H) as scene:
        for _ in range(50):
            after = scene.step(1.0, [0.3 * G, 0, -G])
        np.testing.assert_array_equal(after.positions[:3], x[:3])
        assert abs(after.velocities).max() < 1e-9
        np.testing.assert_allclose(after.forces.sum(axis=0), 0, atol=1e-9)
        np.testing.assert_allclose(after.forces[3], [-0.3 * G, 0, G], atol=1e-6)


def test_in_two_dimensions(connect):
    x = np.array([[0, 0.0], [1, 0], [0.4, 1.5e-3]])
    with connect().scene(x, {"edges": [[0, 1]], "vertices": [2], "fixed": [0, 1]}, LAW, BARRIER, H) as scene:
        for _ in range(40):
            after = scene.step(1.0, [0.3 * G, -G])
        assert abs(after.velocities).max() < 1e-9
        assert scene.contacts.contacts()["n_collisions"] == 1


def test_a_step_that_fails_changes_nothing(connect):
    with body(connect()) as scene:
        x, version = scene.positions, scene.contacts.info["version"]
        with pytest.raises(frictiond.NotConverged):
            scene.step(1.0, [0, 0, -G], iterations=0)
        assert scene.positions is x and scene.contacts.info["version"] == version
        scene.step(1.0, [0, 0, -G])


def test_surfaces_that_touch_are_refused(connect):
    with pytest.raises(frictiond.Error, match="/positions/") as refused:
        connect().scene(TETRAHEDRON - [0, 0, 1e-3], {"faces": FACES, "planes": FLOOR}, LAW, BARRIER, H)
    assert refused.value.code == "penetration"
    with pytest.raises(ValueError, match="h is 0"):
        connect().scene(TETRAHEDRON, {"faces": FACES}, LAW, BARRIER, 0)


def test_scenes_print_well(connect):
    with body(connect()) as scene:
        assert "4 vertices" in repr(scene) and "0.01 s" in repr(scene)
        assert repr(scene.step(1.0)).startswith("Motion(positions=")
        assert 0 < scene.seconds and scene.requests >= 3
