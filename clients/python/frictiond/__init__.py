# SPDX-License-Identifier: MIT
"""frictiond: contact friction for solvers, in this process or as a service.

    import frictiond
    client = frictiond.local()                   # in this process; frictiond.Client("http://127.0.0.1:8080"): a service
    answer = client.evaluate(batch)              # batch: the document of docs/api.md, lists or NumPy arrays
    force = -answer["gradient"]                  # unit of normal_force
    H = frictiond.hessian_matrix(answer)         # scipy.sparse.csr_matrix
    with client.set(lagged) as contacts:         # a batch without velocities, which the service keeps prepared
        answer = contacts.evaluate(velocities)   # with bodies: contacts.evaluate(body_velocities=twists)
        after = contacts.step(velocities, mass, h, load)   # implicit Euler; sticking contacts stay at rest
    back = client.vjp(batch, {"gradient": g}, ["/positions", "/friction/mu_s"])   # derivatives; forward: client.jvp

Both have the same methods, errors and numbers, to the last bit. A batch is a dict:

    dim           2 or 3
    positions     [n_vertices, dim] m
    velocities    [n_vertices, dim] m/s; or displacements of a step, m, with eps_v in m
    friction      {"eps_v": m/s, "mu": ...} or {"eps_v", "mu_s", "mu_k"}: numbers. Groups may have their own
    collisions    {"plane_vertex": {"vertices": [n], "plane_normal": [n, dim] or [dim], "normal_force": [n] or one, N},
                   "face_vertex": {"vertices": [n, 4]: the vertex, then the face, ...}, ...}
    outputs       any of "potential" (N m/s), "gradient" [n_vertices * dim] (N), "hessian" (N s/m), "collisions", ...

Arrays of answers are read-only. Needs Python 3.10 or later and NumPy; hessian_matrix and steps also need SciPy, and
frictiond.torch needs PyTorch. `python -m frictiond serve` runs the service.
"""
from ._answer import Answer
from ._client import Client, Set
from ._document import FRAME, JSON, Batch, decode_frame, encode_frame
from ._errors import Error, NotConverged, Unavailable
from ._local import local
from ._matrix import hessian_matrix
from ._scene import Motion, Scene
from ._steps import Step

__version__ = "0.1.0"
__all__ = ["FRAME", "JSON", "Answer", "Batch", "Client", "Error", "Motion", "NotConverged", "Scene", "Set", "Step",
           "Unavailable",
           "decode_frame", "encode_frame", "hessian_matrix", "local"]

for _public in (Answer, Client, Error, Motion, NotConverged, Scene, Set, Step, Unavailable, decode_frame, encode_frame,
                hessian_matrix, local):
    _public.__module__ = __name__  # for help, pickle and tracebacks: the modules are internal
del _public
