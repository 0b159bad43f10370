"""Requests and answers as binary frames: the same bits as in JSON, errors with pointers, limits, long answers."""
import http.client
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import threading
from urllib.parse import urlsplit

import numpy as np
import pytest

from conftest import ONE_IN

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "oracle"))
sys.path.insert(0, str(ROOT / "examples" / "python"))
import frame_client  # noqa: E402
import generate  # noqa: E402

FRAME, JSON, PROBLEM = frame_client.MEDIA_TYPE, "application/json", "application/problem+json"
INDICES = {"vertices", "vertex_material"}
SEEDS = range(int(os.environ.get("FRAME_SEEDS", 120 // min(ONE_IN, 3))))


def send(server, path, body, content_type=FRAME, accept=None, method="POST"):
    """(status, content type, body)"""
    address = urlsplit(server)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=300)
    headers = {"Content-Type": content_type} if content_type else {}
    if accept:
        headers["Accept"] = accept
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        assert len(data) == int(answer.headers["Content-Length"])
        return answer.status, answer.headers["Content-Type"], data
    finally:
        connection.close()


class Writer:
    """A frame assembled by hand, so that it can be malformed."""

    def __init__(self):
        self.tail = bytearray()

    def put(self, array, step=8):
        array = np.asarray(array)
        self.tail += b"\0" * (-len(self.tail) % step)
        offset = len(self.tail)
        self.tail += array.tobytes()
        kind = {"f": "f", "i": "i", "u": "u"}[array.dtype.kind]
        return {"dtype": f"{kind}{8 * array.dtype.itemsize}", "shape": list(array.shape), "offset": offset}

    def frame(self, document):
        text = json.dumps(document).encode()
        text += b" " * (-(8 + len(text)) % 64)
        return struct.pack("<Q", len(text)) + text + bytes(self.tail)


def regular(value):
    """Whether a value is a list of numbers, or a regularly nested one."""
    if not isinstance(value, list):
        return False
    try:
        array = np.array(value)
    except ValueError:
        return False
    return array.dtype.kind in "if"


def dtype_of(array, name, rng):
    """A dtype that represents all values exactly."""
    if name in INDICES or name == "plane_material":
        return rng.choice(["<i4", "<u4", "<i8"])
    fitting = ["<f8"]
    with np.errstate(all="ignore"):
        for dtype in ["<f4", "<i4", "<u4", "<i8"]:
            if np.all(np.abs(array) < 2**62) and np.all(array.astype(dtype).astype("<f8") == array):
                fitting.append(dtype)
    return rng.choice(fitting)


def to_frame(document, rng):
    """Arrays, and sometimes single numbers, go into the tail; the rest stays text."""
    writer = Writer()

    def convert(value, name):
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and name != "dim"
        if rng.random() < (0.9 if regular(value) else 0.2 if number else 0):
            array = np.array(value, dtype="<f8") if name not in INDICES else np.array(value, dtype="<i8")
            return writer.put(array.astype(dtype_of(array, name, rng)), rng.choice([8, 8, 64]))
        if isinstance(value, dict):
            return {key: convert(member, key) for key, member in value.items()}
        return value

    converted = convert(document, "")
    return writer.frame(converted)


def same(json_value, frame_value):
    """The bits are the same; arrays of 16 numbers or more are in binary, the rest is text."""
    if isinstance(frame_value, np.ndarray):
        assert frame_value.size >= 16
        expected = np.array(json_value)
        assert expected.shape == frame_value.shape
        assert frame_value.dtype in (np.dtype("<f8"), np.dtype("<i4"))
        assert (expected.dtype.kind == "f") == (frame_value.dtype.kind == "f")
        assert expected.astype(frame_value.dtype).tobytes() == frame_value.tobytes()
    elif isinstance(json_value, dict):
        assert list(json_value) == list(frame_value)
        for key in json_value:
            same(json_value[key], frame_value[key])
    elif isinstance(json_value, list):
        assert not regular(json_value) or np.array(json_value).size < 16
        assert len(json_value) == len(frame_value)
        for a, b in zip(json_value, frame_value):
            same(a, b)
    else:
        assert repr(json_value) == repr(frame_value)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_requests(server, seed):
    document = generate.request(f"frame/{seed}")
    frame = to_frame(document, random.Random(seed))
    text = json.dumps(document).encode()
    answers = {}
    for content_type, body in [(JSON, text), (FRAME, frame)]:
        for accept in [None, JSON, FRAME]:
            status, answered, data = send(server, "/v1/evaluate", body, content_type, accept)
            assert (status, answered) == (200, accept or content_type), data
            answers[content_type, accept] = data
    assert answers[JSON, None] == answers[JSON, JSON] == answers[FRAME, JSON]
    assert answers[FRAME, None] == answers[FRAME, FRAME] == answers[JSON, FRAME]
    same(json.loads(answers[JSON, None]), frame_client.read_frame(answers[FRAME, None]))


def test_functions(server):
    y = np.linspace(-2, 2, 101)
    for first, dtype in [(y, "<f8"), (y, "<f4"), (np.arange(20), "<i8"), (np.arange(5), "<u4")]:
        array = first.astype(dtype)
        writer = Writer()
        body = writer.frame({"y": writer.put(array), "mu_s": writer.put(np.float64(1)), "mu_k": 0.25, "eps_v": 0.5})
        status, content_type, data = send(server, "/v1/functions/smooth_mu_f1", body)
        assert (status, content_type) == (200, FRAME)
        text = json.dumps({"y": array.astype(float).tolist(), "mu_s": 1, "mu_k": 0.25, "eps_v": 0.5}).encode()
        status, content_type, expected = send(server, "/v1/functions/smooth_mu_f1", text, JSON)
        assert (status, content_type) == (200, JSON)
        same(json.loads(expected), frame_client.read_frame(data))


def test_functions_in_a_bundle(server):
    y, pairs = np.linspace(-2, 2, 101), np.array([[3.0, 4.0], [0, 1]])
    writer = Writer()
    put = {"smooth_mu_f1": {"y": writer.put(y), "mu_s": 1, "mu_k": writer.put(np.float64(0.25)), "eps_v": 0.5},
           "anisotropic_x_from_tau_aniso": {"tau_aniso": writer.put(pairs)}}
    status, content_type, data = send(server, "/v1/functions", writer.frame({"functions": put}))
    assert (status, content_type) == (200, FRAME)
    put["smooth_mu_f1"].update(y=y.tolist(), mu_k=0.25)
    put["anisotropic_x_from_tau_aniso"]["tau_aniso"] = pairs.tolist()
    status, content_type, expected = send(server, "/v1/functions", json.dumps({"functions": put}).encode(), JSON)
    assert (status, content_type) == (200, JSON)
    same(json.loads(expected), frame_client.read_frame(data))


def test_get_as_frame(server):
    points = ",".join(map(str, range(40)))
    for path in ["/v1/functions", "/v1/info", f"/v1/functions/smooth_friction_f1?eps_v=1&y={points}"]:
        status, content_type, data = send(server, path, None, None, FRAME, "GET")
        assert (status, content_type) == (200, FRAME)
        status, content_type, expected = send(server, path, None, None, None, "GET")
        assert (status, content_type) == (200, JSON)
        same(json.loads(expected), frame_client.read_frame(data))
    assert send(server, "/healthz", None, None, FRAME, "GET")[:2] == (200, JSON)
    assert send(server, "/v1/info", None, None, "text/html", "GET")[:2] == (406, PROBLEM)


def test_info(server):
    info = json.loads(send(server, "/v1/info", None, None, None, "GET")[2])
    assert info["formats"] == [JSON, FRAME]
    assert info["limits"]["frame_body_bytes"] == 2**30


# --- values that do not suit their field -----------------------------------------------------------------------------

N = 20


def batch(writer, **changes):
    """Vertices in pairs; changes replaces fields, where "a.b" is the field b of a."""
    positions = np.array([[i // 2, i % 2, 0.5] for i in range(2 * N)])
    document = {
        "dim": 3, "positions": positions, "velocities": positions / 7, "friction": {"eps_v": 1e-2, "mu": 0.3},
        "collisions": {"vertex_vertex": {"vertices": np.arange(2 * N, dtype="<i4").reshape(N, 2),
                                         "normal_force": np.linspace(1, 2, N)}},
        "outputs": ["potential"],
    }
    for path, value in changes.items():
        *groups, name = path.replace("__", ".").replace("pairs", "collisions.vertex_vertex").split(".")
        place = document
        for group in groups:
            place = place.setdefault(group, {})
        place[name] = value

    def convert(value):
        if isinstance(value, np.ndarray):
            return writer.put(value)
        return {k: convert(v) for k, v in value.items()} if isinstance(value, dict) else value

    return writer.frame(convert(document))


def changed(array, place, value):
    array = np.array(array)
    array[place] = value
    return array


V = np.zeros((2 * N, 3))
PAIRS = np.arange(2 * N).reshape(N, 2)
FORCE = np.ones(N)
AT = "/collisions/vertex_vertex"
UNSUITABLE = [
    # not finite
    ("velocities", changed(V, (17, 2), np.nan), "/velocities/17/2", "NaN"),
    ("velocities", changed(V, (39, 2), np.inf), "/velocities/39/2", "infinity"),
    ("velocities", changed(V, (0, 0), -np.inf), "/velocities/0/0", "-infinity"),
    ("velocities", changed(V.astype("<f4"), (3, 1), np.nan), "/velocities/3/1", "NaN"),
    ("velocities", changed(V.ravel(), 50, np.nan), "/velocities/50", "NaN"),
    ("pairs__weight", changed(FORCE, 7, np.inf), AT + "/weight/7", "infinity"),
    ("pairs__weight", np.float64(np.nan), AT + "/weight", "NaN"),
    ("pairs__weight", np.array([np.nan]), AT + "/weight/0", "NaN"),
    ("friction__eps_v", np.array(np.inf), "/friction/eps_v", "infinity"),
    ("pairs__tangent_basis", changed(np.zeros((N, 3, 2)), (4, 2, 1), np.nan), AT + "/tangent_basis/4/2/1", "NaN"),
    # out of range
    ("pairs__normal_force", changed(FORCE, 5, -1), AT + "/normal_force/5", "-1 is out of range"),
    ("pairs__normal_force", changed(FORCE, 5, -5e-324), AT + "/normal_force/5", ">= 0"),
    ("pairs__normal_force", changed(FORCE.astype("<i8"), 5, -1), AT + "/normal_force/5", ">= 0"),
    ("pairs__normal_force", changed(FORCE, 19, np.nan), AT + "/normal_force/19", "NaN"),
    ("pairs__eps_v", changed(FORCE, 19, 0), AT + "/eps_v/19", "> 0"),
    ("pairs__eps_v", changed(FORCE.astype("<u4"), 19, 0), AT + "/eps_v/19", "> 0"),
    ("friction__mu", np.array(-1, dtype="<i4"), "/friction/mu", ">= 0"),
    # dtype
    ("pairs__vertices", PAIRS.astype("<f8"), AT + "/vertices", "f64"),
    ("pairs__vertices", PAIRS.astype("<f4"), AT + "/vertices", "f32"),
    ("pairs__vertices", np.zeros((0, 2)), AT + "/vertices", "f64"),
    ("dim", np.array(3.0), "/dim", "integer"),
    # shape
    ("velocities", np.zeros((2 * N, 2)), "/velocities", "[40, 2]"),
    ("positions", np.zeros((2 * N - 1, 3)), "/positions", "[39, 3]"),
    ("positions", np.array(1.0), "/positions", "got a number"),
    ("pairs__vertices", np.zeros((N, 3), "<i4"), AT + "/vertices", "[20, 3]"),
    ("pairs__normal_force", np.ones((N, 1)), AT + "/normal_force", "[20, 1]"),
    ("pairs__normal_force", np.ones((1, 1, 1, 1, N)), AT + "/normal_force", "[1, 1, 1, 1, ...]"),
    ("pairs__normal_force", np.ones((1, 1, 1, 1, 1)), AT + "/normal_force", "..."),
    ("friction__eps_v", np.ones(1), "/friction/eps_v", "a number"),
    # kind
    ("outputs", np.zeros(0), "/outputs", "strings"),
    ("outputs", np.zeros(2), "/outputs/0", "string"),
    ("friction", np.zeros(2), "/friction", "an object"),
    ("friction__mu_transition", np.zeros(2), "/friction/mu_transition", "cubic"),
    ("on_degenerate", np.array(1.0), "/on_degenerate", "error"),
    ("nonsense", np.zeros(2), "/nonsense", "unknown"),
    # indices
    ("pairs__vertices", changed(PAIRS.astype("<i4"), (3, 1), 40), AT + "/vertices/3/1", "40 is not a vertex"),
    ("pairs__vertices", changed(PAIRS.astype("<i4"), (3, 1), -1), AT + "/vertices/3/1", "-1 is not"),
    ("pairs__vertices", changed(PAIRS.astype("<i4").ravel(), 11, -1), AT + "/vertices/11", "-1 is not"),
    ("pairs__vertices", changed(PAIRS.astype("<u4"), (19, 0), 2**31), AT + "/vertices/19/0", "2147483648"),
    ("pairs__vertices", changed(PAIRS.astype("<i8"), (19, 0), 2**32), AT + "/vertices/19/0", "4294967296"),
    ("pairs__vertices", changed(PAIRS.astype("<i8"), (0, 0), -2**63), AT + "/vertices/0/0", "is not a vertex"),
    ("pairs__vertices", changed(PAIRS.astype("<u4"), (13, 1), 26), AT + "/vertices/13", "26 appears twice"),
]


@pytest.mark.parametrize("field,value,pointer,word", UNSUITABLE)
def test_arrays_that_do_not_suit_their_field(server, field, value, pointer, word):
    status, content_type, data = send(server, "/v1/evaluate", batch(Writer(), **{field: np.asarray(value)}))
    problem = json.loads(data)
    assert (status, content_type) == (422, PROBLEM), data
    assert problem["errors"][0]["pointer"] == pointer
    assert word in problem["errors"][0]["detail"]


@pytest.mark.parametrize("bad", [[(99999, 2)], [(60000, 0), (99999, 2)], [(0, 0)]])
def test_numbers_that_threads_share(server, bad):
    """So many numbers are checked by several threads; the culprits are named in order all the same."""
    velocities = np.zeros((100000, 3))
    for place in bad:
        velocities[place] = np.nan
    status, _, data = send(server, "/v1/evaluate", batch(Writer(), positions=np.ones((100000, 3)), velocities=velocities))
    errors = [error["pointer"] for error in json.loads(data)["errors"]]
    assert (status, errors) == (422, [f"/velocities/{i}/{j}" for i, j in bad]), data


@pytest.mark.parametrize("shape", [(2, 1, 1, 1, 1), (1, 1, 1, 1, 2), (1, 1, 1, 1, 1, 1, 2)])
def test_too_deep_for_a_shape_that_is_not_known(server, shape):
    """Without dim there is no shape to compare with; the numbers are still checked, and the pointer of a wrong one
    leads to its array."""
    body = batch(Writer(), dim="none", velocities=np.full(shape, np.nan), pairs__vertices=np.full(shape, -1, "<i4"))
    status, _, data = send(server, "/v1/evaluate", body)
    errors = [error["pointer"] for error in json.loads(data)["errors"]]
    assert (status, errors[:2]) == (422, ["/dim", "/velocities"]), data


def test_unusual_but_valid_arrays(server):
    for changes in [{}, {"pairs__weight": np.array([2], dtype="<u4")}, {"friction__eps_v": np.array(1, dtype="<i4")},
                    {"dim": np.array(3, dtype="<i8")}, {"pairs__vertices": PAIRS.astype("<i8")},
                    {"pairs__vertices": PAIRS.tolist()}, {"velocities": np.ones(6 * N, dtype="<f4")},
                    {"pairs__vertices": np.zeros((0, 2), "<i4"), "pairs__normal_force": np.zeros(0)}]:
        status, content_type, data = send(server, "/v1/evaluate", batch(Writer(), **changes))
        assert (status, content_type) == (200, FRAME), data


def test_arrays_of_arrays(server):
    writer = Writer()
    rows = [writer.put(np.zeros(3)) for _ in range(2)]
    status, _, data = send(server, "/v1/evaluate", batch(writer, velocities=rows))
    assert (status, json.loads(data)["errors"][0]["pointer"]) == (422, "/velocities/0")


# --- the container ---------------------------------------------------------------------------------------------------

def refused(server, body, pointer, word):
    for path in ["/v1/evaluate", "/v1/functions/smooth_friction_f0"]:
        status, content_type, data = send(server, path, body)
        problem = json.loads(data)
        assert (status, content_type) == (400, PROBLEM)
        assert problem["errors"][0]["pointer"] == pointer
        assert word in problem["errors"][0]["detail"]


def test_container(server):
    whole = Writer().frame({"dim": 3})
    for n in [0, 1, 7]:
        refused(server, whole[:n], "", "8 bytes")
    for n in [8, 63]:
        refused(server, whole[:n], "", "only")
    refused(server, struct.pack("<Q", 2**64 - 8) + whole[8:], "", "only")
    refused(server, struct.pack("<Q", 55) + whole[8:], "", "multiple of 64")
    refused(server, whole[:8] + b"{" * 56, "", "line 1")
    refused(server, b'{"dim": 3}', "", "JSON text")
    writer = Writer()
    array = writer.put(np.zeros(4))
    for change, word in [({"offset": 4}, "multiple of 8"), ({"offset": 8}, "beyond the tail"), ({"dtype": "f16"}, "dtype"),
                         ({"shape": [2.0]}, "shape"), ({"shape": [2**32, 2**32]}, "beyond the tail"), ({"order": "C"}, "order")]:
        refused(server, writer.frame({"friction": {"x/y": [1, "", {**array, **change}]}}), "/friction/x~1y/2", word)
    refused(server, writer.frame({"a": array, "b": array}), "/b", "overlaps")


def test_references_exist_in_frames_only(server):
    writer = Writer()
    reference = writer.put(np.zeros((2, 3)))
    body = json.dumps({"dim": 3, "velocities": reference, "collisions": {"vertex_vertex": {"vertices": []}}}).encode()
    status, _, data = send(server, "/v1/evaluate", body, JSON)
    assert (status, json.loads(data)["errors"][0]["pointer"]) == (422, "/velocities")


def test_types(server):
    body = batch(Writer())
    assert send(server, "/v1/evaluate", body, JSON)[0] == 400
    assert send(server, "/v1/evaluate", body, "application/octet-stream")[:2] == (415, PROBLEM)
    assert send(server, "/v1/evaluate", body, FRAME, "text/html")[:2] == (406, PROBLEM)
    assert send(server, "/v1/evaluate", body, FRAME, JSON + ";q=0.5, */*")[:2] == (200, FRAME)
    assert send(server, "/v1/evaluate", body, FRAME, JSON + ", */*;q=0.5")[:2] == (200, JSON)


# --- limits and long answers -----------------------------------------------------------------------------------------

def test_limits(server_with):
    server = server_with("--max-json-bytes", "1K", "--max-frame-bytes", "8K")
    assert json.loads(send(server, "/v1/info", None, None, None, "GET")[2])["limits"]["frame_body_bytes"] == 8192
    body = batch(Writer())
    assert 1024 < len(body) < 8192
    assert send(server, "/v1/evaluate", body)[0] == 200
    assert send(server, "/v1/evaluate", body + bytes(8192 - len(body)))[0] == 200
    status, _, data = send(server, "/v1/evaluate", body + bytes(8193 - len(body)))
    assert status == 413 and "8192" in json.loads(data)["detail"]
    assert send(server, "/v1/evaluate", body, JSON)[0] == 413
    document = Writer().frame({"x": " " * 1100})
    status, _, data = send(server, "/v1/evaluate", document)
    assert status == 413 and "1024" in json.loads(data)["detail"]
    server = server_with("--max-answer-bytes", "2K")
    assert send(server, "/v1/evaluate", batch(Writer(), outputs=["gradient"]))[0] == 200
    assert send(server, "/v1/evaluate", batch(Writer(), outputs=["gradient", "collisions", "hessian"]))[0] == 413


def long_batch(n, **more):
    """n contacts of every type."""
    rng = np.random.default_rng(3)
    positions = rng.normal(size=(4 * n, 3))
    writer = Writer()

    def group(k):
        stencils = rng.permutation(4 * n).astype("<i4")[:k * n]
        return {"vertices": writer.put(stencils.reshape(n, k) if k > 1 else stencils),
                "normal_force": writer.put(rng.uniform(1, 2, size=n))}

    collisions = {name: group(k) for name, k in generate.STENCIL.items()}
    collisions["plane_vertex"].update(plane_normal=[0, 0, 1], plane_origin=[0, 0, 0])
    document = {
        "dim": 3, "positions": writer.put(positions), "velocities": writer.put(positions[::-1].copy()),
        "friction": {"eps_v": 1e-2, "mu": 0.3}, "outputs": generate.OUTPUTS, "collisions": collisions,
        "collision_outputs": generate.COLLISION_OUTPUTS, **more}
    return writer.frame(document)


def test_limit_of_what_is_skipped(server):
    """A skipped contact takes six bytes of a body, but a kilobyte in the tree of the answer."""
    most = 100000
    for n, status in ((most, 200), (most + 1, 413)):
        writer = Writer()
        body = writer.frame({
            "dim": 3, "velocities": [[0, 0, 0], [1, 0, 0]], "positions": [[0, 0, 0], [0, 0, 0]], "outputs": ["potential"],
            "friction": {"mu": 1, "eps_v": 1}, "on_degenerate": "skip", "collisions": {"vertex_vertex": {
                "vertices": writer.put(np.tile(np.array([0, 1], np.int32), (n, 1))), "normal_force": 1}}})
        answer = send(server, "/v1/evaluate", body, accept=JSON)
        assert answer[0] == status
        if status == 200:
            assert len(json.loads(answer[2])["skipped"]) == n
    problem = json.loads(answer[2])
    assert "100000" in problem["detail"] and problem["errors"][0]["pointer"] == "/on_degenerate"


@pytest.mark.parametrize("form", ["triplets", "csr", "factors"])
def test_long_answers_in_parts(server, form):
    """Some sixty arrays, read slowly by several clients at the same time: the same bytes as for a client that reads at
    once."""
    body = long_batch(701, hessian={"format": form})
    status, content_type, expected = send(server, "/v1/evaluate", body)
    assert (status, content_type) == (200, FRAME), expected
    assert len(expected) > 500000
    same(json.loads(send(server, "/v1/evaluate", body, FRAME, JSON)[2]), frame_client.read_frame(expected))
    answers = [None] * 4

    def read_slowly(k):
        answers[k] = slow_post(server, body, 8192 << k)
    threads = [threading.Thread(target=read_slowly, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answer == expected for answer in answers)


def slow_post(server, body, step):
    address = urlsplit(server)
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.settimeout(300)
        s.connect((address.hostname, address.port))
        s.sendall(f"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {FRAME}\r\n"
                  f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        received = bytearray()
        while more := s.recv(step):
            received += more
    return bytes(received.partition(b"\r\n\r\n")[2])


def test_a_client_disconnects_during_a_long_answer(server_with):
    """A client that disconnects in the middle of a response sent in parts costs the server only that response."""
    server = server_with()
    body = long_batch(3000)
    address = urlsplit(server)
    for _ in range(5):
        with socket.create_connection((address.hostname, address.port), timeout=300) as s:
            s.sendall(f"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Type: {FRAME}\r\n"
                      f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            assert s.recv(1000)
    assert send(server, "/v1/evaluate", body)[0] == 200


def test_example(server):
    done = subprocess.run([sys.executable, str(ROOT / "examples" / "python" / "frame_client.py"), server],
                          capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "4000 contacts" in done.stdout and "int32 indices" in done.stdout
    document = frame_client.sliding_blocks(50)
    answer = frame_client.post(server, document)
    text = json.dumps(document, default=lambda array: array.tolist()).encode()
    same(json.loads(send(server, "/v1/evaluate", text, JSON)[2]), answer)


def test_kernels_give_the_same_bytes(server, server_with):
    """The kernels for every instruction set return the same as those that the service chose."""
    requests = [json.dumps(generate.request(seed)).encode() for seed in range(60)]

    def answers(base):
        return [(answer[0], answer[2]) for answer in
                (send(base, "/v1/evaluate", body, "application/json") for body in requests)]

    expected = answers(server)
    for name in ("baseline", "scalar"):
        assert answers(server_with("--kernels", name)) == expected, name
