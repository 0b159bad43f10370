#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Posts a batch as a binary frame with curl and reads the answer into NumPy arrays: no number becomes text.

usage: frame_client.py [URL]     URL of the service, default http://127.0.0.1:8080
Needs NumPy (Debian: python3-numpy) and curl. write_frame and read_frame may be copied into your own program.
"""
import json
import math
import subprocess
import sys
import tempfile

import numpy as np

MEDIA_TYPE = "application/vnd.frictiond.frame"
DTYPES = {"f64": "<f8", "f32": "<f4", "i32": "<i4", "u32": "<u4", "i64": "<i8"}


def write_frame(file, document):
    """Writes a document whose numeric arrays are NumPy arrays of one of the DTYPES."""
    names = {np.dtype(numpy_name): name for name, numpy_name in DTYPES.items()}
    arrays, end = [], 0

    def reference(array):
        nonlocal end
        array = np.ascontiguousarray(array).reshape(array.shape)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype not in names:
            raise TypeError(f"a frame holds {', '.join(DTYPES)}, not {array.dtype}")
        offset = (end + 63) // 64 * 64  # 8 is required; 64 is a cache line
        arrays.append((offset, array))
        end = offset + array.nbytes
        return {"dtype": names[array.dtype], "shape": list(array.shape), "offset": offset}

    def convert(value):
        if isinstance(value, np.ndarray):
            return reference(value)
        if isinstance(value, dict):
            return {key: convert(member) for key, member in value.items()}
        return value

    text = json.dumps(convert(document)).encode()
    text += b" " * (-(8 + len(text)) % 64)
    file.write(len(text).to_bytes(8, "little") + text)
    written = 0
    for offset, array in arrays:
        file.write(b"\0" * (offset - written))
        file.write(array.data if array.size else b"")
        written = offset + array.nbytes


def read_frame(data):
    """The document, with arrays that are views of data (bytes, or any other buffer with a frame)."""
    head = 8 + int.from_bytes(data[:8], "little")

    def convert(value):
        if isinstance(value, list):
            return [convert(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        if "dtype" not in value:
            return {key: convert(member) for key, member in value.items()}
        array = np.frombuffer(data, DTYPES[value["dtype"]], math.prod(value["shape"]), head + value["offset"])
        return array.reshape(value["shape"])

    return convert(json.loads(bytes(data[8:head])))


def sliding_blocks(n):
    """n tetrahedra, each with three corners on the plane z = 0 and its tip on an edge of a neighbour."""
    rng = np.random.default_rng(7)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 1]], dtype=np.float64)
    positions = (np.arange(n)[:, None, None] * [3.0, 0, 0] + corners).reshape(-1, 3)
    velocities = np.repeat(rng.normal(size=(n, 3)) * [1e-2, 1e-2, 0], 4, axis=0)
    first = 4 * np.arange(n, dtype=np.int32)
    return {
        "dim": 3, "positions": positions, "velocities": velocities,
        "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
        "collisions": {
            "plane_vertex": {"vertices": (first[:, None] + np.arange(3, dtype=np.int32)).ravel(),
                             "plane_normal": [0, 0, 1], "normal_force": rng.uniform(1, 2, size=3 * n)},
            "face_vertex": {"vertices": np.stack([first + 3, *(np.roll(first, 1) + k for k in range(3))], axis=1),
                            "normal_force": 0.5},
        },
        "outputs": ["potential", "gradient", "hessian"],
        "hessian": {"format": "csr", "projection": "clamp"},
    }


def post(url, document):
    """Returns the answer; if it is not a frame, prints it and exits."""
    with tempfile.NamedTemporaryFile(suffix=".frame") as file:
        write_frame(file, document)
        file.flush()
        answer = subprocess.run(["curl", "-sS", "--data-binary", "@" + file.name, "-H", "Content-Type: " + MEDIA_TYPE,
                                 "-H", "Expect:", "-w", "%{stderr}%{content_type}", url + "/v1/evaluate"],
                                capture_output=True)
    if answer.stderr.decode() != MEDIA_TYPE:
        hint = f"\n{url}: is it running?" if answer.returncode == 7 else ""  # curl could not connect
        sys.exit((answer.stdout + answer.stderr).decode().rstrip() + hint)
    return read_frame(answer.stdout)


def main():
    url = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080"
    answer = post(url, sliding_blocks(1000))
    gradient, hessian = answer["gradient"].reshape(-1, 3), answer["hessian"]
    print(f"{answer['n_collisions']} contacts, potential {answer['potential']:.4f}")
    print(f"sum of the friction on all vertices: {np.round(-gradient.sum(axis=0), 4)}")
    print(f"Hessian {hessian['shape'][0]} x {hessian['shape'][1]}: {hessian['data'].size} entries, "
          f"{hessian['data'].dtype} values, {hessian['indices'].dtype} indices")


if __name__ == "__main__":
    main()
