#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A tile on the floor with a pin on top: posts the contacts, builds the sparse Hessian.

usage: first_batch.py [URL]      URL of the service, default http://127.0.0.1:8080
Needs only Python; with SciPy (Debian: python3-scipy) the Hessian becomes a sparse matrix.
"""
import json
import sys
import urllib.error
import urllib.request

url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
batch = {
    "dim": 3,
    "positions": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.025, 0.05, 0.001]],        # m; three corners, a pin
    "velocities": [[0.002, 0, 0], [0.002, 0, 0], [0.002, 0.0004, 0], [0.01, 0, 0]],  # m/s
    "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},                           # eps_v in m/s
    "collisions": {
        "face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0},            # N; the pin on the tile
        "plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": [3.0, 2.5, 4.0]},
    },
    "hessian": {"format": "csr", "projection": "clamp"},
}
request = urllib.request.Request(url + "/v1/evaluate", json.dumps(batch).encode(), {"Content-Type": "application/json"})
try:
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())  # names the field that is wrong
except urllib.error.URLError as error:
    hint = "; is it running?" if isinstance(error.reason, ConnectionRefusedError) else ""
    sys.exit(f"{url}: {error.reason}{hint}")

print(f"{answer['n_collisions']} contacts, potential {answer['potential']:.6f} N m/s")
for i in range(answer["n_vertices"]):
    print("friction on vertex", i, *(f"{0 - g:9.5f}" for g in answer["gradient"][3 * i:3 * i + 3]), "N")

try:
    from scipy.sparse import csr_matrix
except ImportError:
    print("for the sparse matrix: apt-get install python3-scipy, and /usr/bin/python3", file=sys.stderr)
    sys.exit()
h = answer["hessian"]
H = csr_matrix((h["data"], h["indices"], h["indptr"]), shape=h["shape"])
print(f"Hessian {H.shape[0]} x {H.shape[1]}, {H.nnz} entries, asymmetry {abs(H - H.T).max():.1e} N s/m")
print("H[4, 4] =", round(H[4, 4], 4), "N s/m")
