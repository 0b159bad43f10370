"""Scenes for the tests of the clients: bodies with and without vertices, anchors that a set carries from step to step,
and laws with parameters.
"""
import copy

from asking import evaluate

N = 6
LAW = {"eps_v": 1e-3, "mu_s": 0.6, "mu_k": 0.4, "law": "stribeck", "stribeck_speed": 0.01, "viscous": 0.5}
CURVE = {"eps_v": 1e-3, "mu": 0.5, "law": "curve", "curve": {"speeds": [0, 0.01, 0.03], "factors": [1, 0.7, 0.8]}}
SMALL = 2.0**-14  # multiples of it are short in JSON; readers of some languages do not read long numbers to the last
                  # bit
FLOOR = {"vertices": list(range(N)), "plane_normal": [0, 0, 1], "normal_force": [1 + 0.5 * k for k in range(N)],
         "surface_velocity": [[3 * k * SMALL, -2 * SMALL, 0] for k in range(N)],
         "anchor": [[2 * SMALL, k * SMALL, 0] for k in range(N)], "grain": [[1, 0.5, 0.25]] * N,
         "mu_aniso": [[1, 0.75]] * N}
VELOCITIES = [[6 * k * SMALL, (5 - 2 * k) * SMALL, 32 * SMALL] for k in range(N)]
BODIES = {"body_positions": [[0, 0, 0.125], [0.25, 0, 0.125], [0.125, 0.25, 0.125]]}
TWISTS = [[6 * SMALL, 2 * SMALL, 0, 32 * SMALL, 16 * b * SMALL, -48 * SMALL] for b in range(3)]
WORLD = {"bodies": [0, 1, 2, 0, 1, 2], "point": [[k / 64, 0.0625, 0] for k in range(N)], "normal": [[0, 0, 2]] * N,
         "normal_force": [2 + 0.25 * k for k in range(N)], "spin_radius": 0.03125, "roll_radius": [0.015625] * N}
PAIRS = {"bodies": [[0, 1], [1, 2]], "point": [[0.125, 0, 0.125], [0.1875, 0.125, 0.125]],
         "normal": [[1, 0, 0], [0.5, -1, 0]], "normal_force": [4, 3], "spin_radius": [0.03125, 0.0625]}
OF_BODIES = ["anchor", "friction_force", "spin", "rolling"]


def asked(*outputs):
    return {"outputs": ["gradient", "collisions"], "collision_outputs": ["anchor", "friction_force", *outputs]}


def pointers(group, names):
    return [f"/collisions/{group}/{name}" for name in names]


SCRIPTS = {
    "no bodies": {
        "set": {"dim": 3, "friction": LAW, "n_vertices": N, "collisions": {"plane_vertex": FLOOR}},
        "query": {"velocities": VELOCITIES, **asked()},
        "read": ["/gradient", *pointers("plane_vertex", ["anchor", "friction_force"])]},
    "bodies alone": {
        "set": {"dim": 3, "friction": CURVE, **BODIES, "collisions": {"body_body": PAIRS, "body_world": WORLD}},
        "query": {"body_velocities": TWISTS, **asked("spin", "rolling")},
        "read": ["/body_gradient", *pointers("body_body", OF_BODIES), *pointers("body_world", OF_BODIES)]},
    "both": {
        "set": {"dim": 3, "friction": LAW, **BODIES, "n_vertices": N,
                "collisions": {"plane_vertex": FLOOR, "body_world": WORLD}},
        "query": {"velocities": VELOCITIES, "body_velocities": TWISTS, **asked("spin", "rolling")},
        "read": ["/gradient", "/body_gradient", *pointers("plane_vertex", ["anchor", "friction_force"]),
                 *pointers("body_world", OF_BODIES)]},
}
LAWS = {
    "curve": {"name": "law_force", "parameters": {"y": [0, 5e-4, 1e-3, 0.011, 0.5], "mu_s": 0.5, "mu_k": 0.5, **{
        name: CURVE[name] for name in ("eps_v", "law", "curve")}}},
    "stribeck": {"name": "law_potential", "parameters": {"y": [1e-4 * 2**k for k in range(20)], **LAW}},
}


def flat(value):
    return [number for entry in value for number in flat(entry)] if isinstance(value, list) else [value]


def at(document, pointer):
    for name in pointer.split("/")[1:]:
        document = document[name]
    return document


def steps(script, ratio):
    """The whole requests for both steps: a generator that is sent the response to the first one."""
    batch = {**copy.deepcopy(script["set"]), **script["query"]}
    if batch.get("velocities"):
        batch.pop("n_vertices", None)
    answer = yield batch
    for name, group in batch["collisions"].items():
        group["anchor"] = [[ratio * x for x in row] for row in answer["collisions"][name]["anchor"]]
    yield batch


def both_steps(server, script, ratio):
    """The responses to the whole requests of both steps."""
    following = steps(script, ratio)
    first = evaluate(server, next(following))
    return [first, evaluate(server, following.send(first))]
