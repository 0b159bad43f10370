"""Scenes for the tests of jvp and vjp, of batches and of sets, in the clients."""
from carried import SCRIPTS as CARRIED
from carried import SMALL

LAW = {"eps_v": 0.25, "mu_s": 0.5, "mu_k": 0.25, "law": "stribeck", "stribeck_speed": 0.5}
TILE = {"dim": 3, "positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.5, 0.125], [2, 0.125, 0]], "friction": LAW,
        "collisions": {"face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},
                       "edge_vertex": {"vertices": [[4, 1, 2]], "normal_force": [1.5]},
                       "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1],
                                        "normal_force": [3.0, 2.5, 4.0]}}}
VELOCITIES = [[0.5, 0, 0.125], [0.25, 0.125, 0], [0.125, 0.375, 0], [1, 0.25, 0], [0.5, -0.5, 0.25]]
N = len(VELOCITIES)
BODIES = {**CARRIED["both"]["set"], "positions": [[k / 8, 0, 0] for k in range(CARRIED["both"]["set"]["n_vertices"])]}
del BODIES["n_vertices"]  # which a whole request does not contain
SCRIPTS = {
    "vertices": {
        "set": TILE, "query": {"velocities": VELOCITIES},
        "along": ["/positions", "/friction/stribeck_speed", "/velocities", "/collisions/plane_vertex/normal_force"],
        "values": {"v0": [[k / 8, 0.25, -k / 16] for k in range(N)], "v1": 0.5,
                   "v2": [[k * SMALL, 0.5, 0] for k in range(N)], "v3": [1, 0, -2]},
        "cotangents": {"potential": 0.5, "gradient": [(k % 5 - 2) / 4 for k in range(3 * N)]},
        "wrt": ["/velocities", "/friction/stribeck_speed", "/collisions/face_vertex/normal_force", "/positions",
                "/collisions/plane_vertex/normal_force"]},
    "bodies": {
        "set": BODIES,
        "query": {name: CARRIED["both"]["query"][name] for name in ("velocities", "body_velocities")},
        "along": ["/body_velocities", "/friction/mu_k"],
        "values": {"v0": [[k * SMALL, 0, SMALL, 0, -SMALL, b * SMALL] for b, k in enumerate((3, 2, 1))], "v1": 0.25},
        "cotangents": {"potential": 1, "gradient": [k / 16 for k in range(18)],
                       "body_gradient": [(7 * k % 5) / 4 for k in range(18)]},
        "wrt": ["/collisions/body_world/spin_radius", "/body_velocities", "/friction/viscous",
                "/collisions/body_world/point"]},
}


def requests(script):
    """The documents of requests for a jvp and for a vjp."""
    whole = {**script["set"], **script["query"]}
    tangents = {field: script["values"][f"v{k}"] for k, field in enumerate(script["along"])}
    return {**whole, "tangents": tangents}, {**whole, "cotangents": script["cotangents"], "wrt": script["wrt"]}
