#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tile and pin of first_batch.py, with NumPy arrays, which are sent in binary.

usage: tile.py [URL]             URL of the service, default http://127.0.0.1:8080
Needs the package frictiond, NumPy and SciPy (Debian: python3-numpy python3-scipy).
"""
import sys

try:
    import numpy as np
    import scipy.sparse  # noqa: F401, of the matrix

    import frictiond
except ImportError as missing:
    sys.exit(f"{sys.executable}: {missing}. Debian's python3-numpy and python3-scipy work with /usr/bin/python3; "
             "for another Python: pip install numpy scipy. The package frictiond: pip install its wheel "
             "(README.md, \"From Python\")")

batch = {
    "dim": 3,
    "positions": np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]]),        # m
    "velocities": np.array([[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]]),  # m/s
    "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},                                     # eps_v in m/s
    "collisions": {
        "face_vertex": {"vertices": np.array([[3, 0, 1, 2]]), "normal_force": 2.0},            # N
        "plane_vertex": {"vertices": np.arange(3), "plane_normal": [0, 0, 1],
                         "normal_force": np.array([3.0, 2.5, 4.0])},
    },
    "hessian": {"format": "csr", "projection": "clamp"},
}
try:
    client = frictiond.Client(*sys.argv[1:2])
    answer = client.evaluate(batch)
except (frictiond.Error, ValueError) as error:  # ValueError: invalid URL
    sys.exit(str(error))

force = 0 - answer["gradient"].reshape(-1, 3)
H = frictiond.hessian_matrix(answer)
print(f"{answer['n_collisions']} contacts, potential {answer['potential']:.6f} N m/s")
for i, f in enumerate(force):
    print("friction on vertex", i, *(f"{component:9.5f}" for component in f), "N")
print(f"Hessian {H.shape[0]} x {H.shape[1]}, {H.nnz} entries, asymmetry {abs(H - H.T).max():.1e} N s/m")
print("H[4, 4] =", round(H[4, 4], 4), "N s/m")
