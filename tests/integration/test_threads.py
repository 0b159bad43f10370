"""The bytes of an answer do not depend on the number of threads: every output and format, in JSON and in frames."""
import http.client
import json
import random
from urllib.parse import urlsplit

from conftest import ONE_IN

JSON, FRAME = "application/json", "application/vnd.frictiond.frame"
THREADS = (1, 2, 3, 8) if ONE_IN == 1 else (1, 3)
N = 3000  # contacts per type, so that the arrays of answers are long enough for threads to print them
COLLISION_OUTPUTS = ["potential", "tangential_velocity", "mu_s", "mu_k", "normal_force", "distance", "closest_point",
                     "tangent_basis", "status", "slip_ratio"]


def stencils(rng, n_vertices, size):
    return [rng.sample(range(first, first + 8), size)
            for first in (rng.randrange(n_vertices - 8) for _ in range(N))]


def scene():
    rng = random.Random(3)
    n_vertices = 6000
    def forces():
        return [rng.random() for _ in range(N)]
    def vectors(scale):
        return [[rng.uniform(-scale, scale) for _ in range(3)] for _ in range(n_vertices)]
    return {
        "dim": 3, "velocities": vectors(1e-3), "positions": vectors(1),
        "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
        "collisions": {kind: {"vertices": stencils(rng, n_vertices, size), "normal_force": forces()}
                       for kind, size in (("vertex_vertex", 2), ("edge_vertex", 3), ("edge_edge", 4), ("face_vertex", 4))},
        "on_degenerate": "skip",
    }


def answer(server, path, request, media):
    address = urlsplit(server)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
    try:
        connection.request("POST", path, json.dumps(request), {"Content-Type": JSON, "Accept": media})
        got = connection.getresponse()
        body = got.read()
        assert got.status == 200, body[:500]
        return body
    finally:
        connection.close()


def requests():
    base = scene()
    yield "/v1/evaluate", base | {"outputs": ["potential", "gradient", "collisions"], "collision_outputs": COLLISION_OUTPUTS}
    for hessian in ({"format": "triplets"}, {"format": "csr", "triangle": "upper"}, {"format": "factors"}):
        yield "/v1/evaluate", base | {"outputs": ["hessian"], "hessian": hessian | {"projection": "clamp"}}
    pairs = [[random.Random(k).uniform(-1, 1), 0.5] for k in range(20000)]
    yield "/v1/functions/anisotropic_x_from_tau_aniso", {"tau_aniso": pairs}


def test_any_number_of_threads_gives_the_same_bytes(server_with):
    servers = [server_with("--threads", str(n)) for n in THREADS]
    for path, request in requests():
        for media in (JSON, FRAME):
            expected = answer(servers[0], path, request, media)
            assert len(expected) > 100000
            for n, server in zip(THREADS[1:], servers[1:]):
                assert answer(server, path, request, media) == expected, (path, media, n)
