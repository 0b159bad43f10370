"""docs/troubleshooting.md quotes messages of the service: every text there is provoked here, word for word.

CASES has the requests that any server refuses, OTHERS those that need a special server. Both are keyed by the text;
another test compares the texts of both with those of the page.
"""
import contextlib
import copy
import gzip
import html.parser
import http.client
import json
import pathlib
import re
import signal
import socket
import struct
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).parent))
from conftest import eventually, start, with_more_time  # noqa: E402
from snippets import ROOT  # noqa: E402

PAGE = (ROOT / "docs/troubleshooting.md").read_text()
JSON, FRAME = "application/json", "application/vnd.frictiond.frame"
BATCH = {"dim": 3, "positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 0.0005]],
         "velocities": [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.02, 0.01, 0]],
         "friction": {"eps_v": 1e-3, "mu": 0.3},
         "collisions": {"face_vertex": {"vertices": [[3, 0, 1, 2]], "normal_force": 2.0}}}
TEXT = json.dumps(BATCH)


def sections():
    """(statuses that the heading of its part names, code, text) of every section of a code."""
    found = []
    for heading, part in re.findall(r"^## (\d{3}.*)\n((?:(?!## ).*\n)*)", PAGE, re.M):
        statuses = [int(number) for number in re.findall(r"\d{3}", heading)]
        found += [(statuses, code, text) for code, text in re.findall(r"^### ([a-z_]+)\n((?:(?!### ).*\n)*)", part, re.M)]
    return found


def shown():
    """{text: (statuses, code)} of all tables with the heading `it says`."""
    found = {}
    for statuses, code, section in sections():
        for table in re.findall(r"^\| it says .*\n\|[-|]+\n((?:\|.*\n)+)", section, re.M):
            for row in table.splitlines():
                for text in re.findall(r"`(.*?)`(?!`)", row.split(" | ")[0]):
                    found[text] = statuses, code
    return found


def rows():
    """(code, cells) of all rows of all tables with the heading `it says`."""
    for _, code, section in sections():
        for table in re.findall(r"^\| it says .*\n\|[-|]+\n((?:\|.*\n)+)", section, re.M):
            for row in table.splitlines():
                yield code, row.strip("|").split("|")


def test_every_row_says_why_and_what_to_do():
    """Each section becomes a page of its own, so no cell may point to another section's."""
    for code, cells in rows():
        assert len(cells) == 3, (code, cells)
        for cell in cells:
            assert cell.strip() and not re.match(r" the same( |:|,|$)", cell), (code, cells)
            assert not re.fullmatch(r" \[[^]]*\]\([^)]*\) ", cell), f"{code}: {cell} is no link on the page of a code"


def changed(**edits):
    """BATCH with the member a__b__c set, or removed if None."""
    batch = copy.deepcopy(BATCH)
    for path, value in edits.items():
        *folders, name = path.split("__")
        parent = batch
        for folder in folders:
            parent = parent[folder]
        if value is None:
            del parent[name]
        else:
            parent[name] = value
    return batch


def given(group, positions=None, dim=3, **more):
    """A batch of one group, as a JSON document."""
    batch = {"dim": dim, "velocities": [[0] * dim] * 4, "friction": {"eps_v": 1, "mu": 1}, "collisions": group, **more}
    return {**batch, "positions": positions} if positions else batch


def one(kind, vertices, positions=None, **more):
    return given({kind: {"vertices": vertices, "normal_force": 1, **more}}, positions)


def framed(document, tail=b"", pad=True):
    text = json.dumps(document).encode()
    text += b" " * (-(8 + len(text)) % 64) if pad else b""
    return len(text).to_bytes(8, "little") + text + tail


def in_frame(field, dtype, shape, tail, offset=0):
    return framed(changed(**{field: {"dtype": dtype, "shape": shape, "offset": offset}}), tail)


def doubles(*numbers):
    return struct.pack(f"<{len(numbers)}d", *numbers)


def batch_with(material_table, vertex_material=(0, 0, 0, 1)):
    return changed(friction={"eps_v": 1, "materials": {"vertex_material": list(vertex_material), "mu": material_table}})


def put(document):
    return "PUT", "/v1/sets/run-17", document, {"Content-Type": JSON}


def evaluate(body, **headers):
    return "POST", "/v1/evaluate", body, {"Content-Type": JSON, **{k.replace("_", "-"): v for k, v in headers.items()}}


def vjp(*wrt, cotangent=1, **edits):
    _, _, body, headers = evaluate({**changed(**edits), "cotangents": {"potential": cotangent}, "wrt": wrt})
    return "POST", "/v1/vjp", body, headers


def frame(body):
    return evaluate(body, Content_Type=FRAME)


def function(name, body, query=""):
    return "POST", f"/v1/functions/{name}{query}", body, {"Content-Type": JSON}


def get(path, **headers):
    return "GET", path, None, headers


def raw(text):
    return text


V = "velocities"
BODIES = {"dim": 3, "body_positions": [[0, 0, 0], [0, 0, 2]], "body_velocities": [[0] * 6] * 2,
          "friction": {"eps_v": 1, "mu": 1},
          "collisions": {"body_body": {"bodies": [[0, 1]], "point": [0, 0, 1], "normal": [0, 0, 1], "normal_force": 1}}}
FLOOR = {"vertices": [0], "plane_normal": [0, 0, 1], "normal_force": 1}


def law(**friction):
    return evaluate(changed(friction={"eps_v": 1, "mu": 1, **friction}))


def curve(speeds, factors):
    return law(law="curve", curve={"speeds": speeds, "factors": factors})


GEOMETRY = {"closest_point": [[0.2, 0.2]], "tangent_basis": [[[1, 0], [0, 1], [0, 0]]]}
FACE = "collisions__face_vertex"
ENERGY = {"terms": ["barrier"], "barrier": {"dhat": 1, "stiffness": 1}}
CASES = {
    "line 1, column 25: NaN is not JSON: numbers must be finite; find out where it comes from (Python: "
    "json.dumps(batch, allow_nan=False) refuses it before it is sent)":
        evaluate('{"dim":3,"velocities":[[NaN,0,0]]}'),
    "line 1, column 9: malformed number; digits must follow the point: 1.0":
        function("smooth_mu", '{"y":[1.]}'),
    "line 1, column 25: number beyond the range of a double": evaluate('{"dim":3,"velocities":[[1e999,0,0]]}'),
    "line 1, column 8: ',' or ']' expected; numbers must not begin with 0":
        function("smooth_mu", '{"y":[01]}'),
    "line 1, column 8: invalid token near 'True'; in JSON, write true":
        evaluate('{"dim":True}'),
    "line 1, column 2: string or '}' expected near '''; JSON uses double quotes (in a shell: single quotes "
    "around the whole text)":
        evaluate("{'dim':3}"),
    "line 1, column 270: string or '}' expected near '}'; remove the comma before it":
        evaluate(TEXT[:-1] + ",}"),
    "line 1, column 10: duplicate object key near '\"dim\"'": evaluate('{"dim":3,"dim":3}'),
    "line 1, column 51: an array is not closed; the text ends too early: is it truncated?":
        evaluate(TEXT[:50]),
    "line 1, column 1: the body is empty": evaluate(""),
    "line 1, column 8: a string of more than 1048576 bytes": evaluate('{"dim":"' + "3" * 1048577 + '"}'),
    "line 1, column 5999999: more than 2000000 values outside arrays of numbers":
        evaluate("[" + '"",' * 2000000 + '""]'),
    "line 1, column 270: text follows the end of the value; a request must be a single document":
        evaluate(TEXT + TEXT),
    "line 1, column 1: the body is a frame; its Content-Type is application/vnd.frictiond.frame":
        evaluate(framed(BATCH)),
    "the body is JSON text; its Content-Type is application/json":
        frame(TEXT),
    "a frame starts with 8 bytes that state the length of its document": frame("12345"),
    "the document would take 1048576 bytes, but only 312 follow its length": frame((1 << 20).to_bytes(8, "little") + framed(BATCH)[8:]),
    "the document must be padded with spaces until its length plus 8 is a multiple of 64; the length is 269":
        frame(framed(BATCH, pad=False)),
    '"offset" must be a multiple of 8': frame(in_frame(V, "f64", [4, 3], doubles(*[0] * 13), 4)),
    "the array extends beyond the tail, which has 48 bytes": frame(in_frame(V, "f64", [4, 3], bytes(48))),
    "This is TLS, but the port serves plain http: use http:// instead of https://.":
        raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03xxxx\r\n\r\n"),
    "There is more than one Authorization.":
        raw(b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n"),
    "There is more than one Origin.":
        raw(b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a\r\nOrigin: http://a\r\n\r\n"),
    '"friction.example:8080" is not a host name of this service: localhost, 127.0.0.1, and those of --allow-host.':
        get("/v1/info", Host="friction.example:8080"),
    '"http://localhost:3000" is not an origin whose pages may use this service: its own, and those of --allow-origin.':
        get("/v1/info", Origin="http://localhost:3000"),
    '"null" is not an origin whose pages may use this service: its own, and those of --allow-origin.':
        get("/v1/info", Origin="null"),
    '"same-site" in Sec-Fetch-Site: the request comes from a page of another origin. Only origins of --allow-origin '
    'may use this service, by CORS.': get("/v1/info", **{"Sec-Fetch-Site": "same-site"}),
    "there is nothing at \"/v1/evaluate/\"; did you mean \"/v1/evaluate\"? Paths here: /v1/evaluate, /v1/jvp, "
    "/v1/vjp, /v1/contacts, /v1/check, /v1/sets, /v1/functions, /v1/info, /healthz, /readyz, /metrics, /openapi.json, /Info, /, /docs":
        ("POST", "/v1/evaluate/", TEXT, {"Content-Type": JSON}),
    "there is nothing at \"/v1/functions/smooth_f1\". GET /v1/functions lists the names":
        get("/v1/functions/smooth_f1"),
    'GET is not a method of "/v1/evaluate"; it supports POST': get("/v1/evaluate"),
    "\"application/x-www-form-urlencoded\" is not a media type that this service reads; send application/json (curl: -H "
    "'Content-Type: application/json') or application/vnd.frictiond.frame":
        evaluate(TEXT, Content_Type="application/x-www-form-urlencoded"),
    'no type in "text/html" can be returned by this service; it returns application/json and '
    'application/vnd.frictiond.frame': evaluate(TEXT, Accept="text/html"),
    "Content-Encoding can only be identity: send the body as it is.": evaluate(TEXT, Content_Encoding="gzip"),
    "The only expectation that can be met is 100-continue.": get("/v1/info", Expect="200-ok"),
    "a POST needs a Content-Length or Transfer-Encoding: chunked":
        raw(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "The request line is longer than 8 KiB.": get("/v1/functions/smooth_mu?y=" + "1," * 9000),
    "The head of the request is longer than 20 KiB.": get("/v1/info", Cookie="x" * 30000),
    "The target has more than 64 query parameters.": get("/v1/functions/smooth_mu?" + "&".join(["y=1"] * 65)),
    "A line of cookies is longer than 8 KiB.": get("/v1/info", Cookie="x" * 9000),
    "There are more than 280 header lines and query parameters.": get("/v1/info", **{f"X-{i}": "1" for i in range(300)}),
    "unknown field \"mu_static\"; did you mean \"mu_s\"? Fields here: eps_v, mu, mu_s, mu_k, vertex_mu, "
    "vertex_mu_s, vertex_mu_k, blend, materials, law, mu_transition, stribeck_speed, curve, viscous":
        evaluate(changed(friction__mu_static=0.3)),
    "unknown field \"eps_v\" here; it is a field of \"friction\". Fields here: dim, velocities, positions, "
    "lagged_velocities, body_positions, body_velocities, lagged_body_velocities, friction, barrier, collisions, outputs, "
    "hessian, collision_outputs, on_degenerate, line, vectors, position_jacobian, terms, current_positions, ...":
        evaluate(changed(eps_v=1)),
    "\"friction\" is missing: group \"face_vertex\" has no \"mu\" and no \"eps_v\" of its own; give, for example, "
    "{\"eps_v\": 0.001, \"mu\": 0.3}":
        evaluate(changed(friction=None)),
    '"mu_k" is missing: static and kinetic coefficients must be given together':
        evaluate(changed(friction={"eps_v": 1, "mu_s": 0.5})),
    'two sources of friction coefficients: "mu" and "mu_s"':
        evaluate(changed(friction__mu_s=0.5, friction__mu_k=0.3)),
    '"eps_v" is missing: group "face_vertex" needs it': evaluate(changed(friction__eps_v=None)),
    "group \"face_vertex\" has no \"normal_force\", and there is no \"barrier\" to derive it from: give one of them":
        evaluate(changed(**{FACE + "__normal_force": None})),
    '"positions" is missing: group "face_vertex" needs it': evaluate(changed(positions=None)),
    '"plane_normal" is missing: it determines the tangent plane of the contacts': evaluate(one("plane_vertex", [0])),
    '"tangent_basis" is missing: it must accompany "closest_point"':
        evaluate(changed(**{FACE + "__closest_point": GEOMETRY["closest_point"]})),
    '"normal_force" is missing: given geometry has no distance to derive it from':
        evaluate(changed(collisions={"face_vertex": {"vertices": [[3, 0, 1, 2]], **GEOMETRY}})),
    '"barrier" is missing: the term "barrier" needs it':
        evaluate(changed(terms=["barrier"], **{FACE + "__normal_force": None})),
    '"positions" is missing, and so is "current_positions": group "face_vertex" needs one of them':
        evaluate(changed(**ENERGY, positions=None, **{FACE + "__normal_force": None})),
    'the term "barrier" gives the normal forces: leave "normal_force" out': evaluate(changed(**ENERGY)),
    'the term "barrier" needs distances, which given geometry does not have: leave "tangent_basis" out':
        evaluate(changed(**ENERGY, collisions={"plane_vertex": {
            "vertices": [3], "plane_normal": [0, 0, 1], "plane_origin": [0, 0, 0], "tangent_basis": GEOMETRY["tangent_basis"]}})),
    'the term "barrier" is for contacts of vertices, not of bodies':
        evaluate(changed(**ENERGY, body_positions=[[0, 0, 0]], body_velocities=[[0] * 6], **{FACE + "__normal_force": None})),
    'the output "line" is for friction alone: leave "barrier" out of "terms"':
        evaluate(changed(**ENERGY, outputs=["line"], line={"direction": [[0] * 3] * 4, "steps": []},
                         **{FACE + "__normal_force": None})),
    'factors are of friction alone: use csr, bsr or triplets with the term "barrier"':
        evaluate(changed(**ENERGY, hessian={"format": "factors"}, **{FACE + "__normal_force": None})),
    'expected at least one of friction, barrier': evaluate(changed(terms=[])),
    '"longest_step" is missing: the output "longest_step" needs a direction':
        evaluate(changed(outputs=["longest_step"])),
    '"blend" has no effect without per-vertex coefficients': evaluate(changed(friction__blend="min")),
    'factors have no pattern to leave out': evaluate(changed(hessian={"format": "factors", "pattern": False})),
    '"triangle" is only for triplets, csr and bsr': evaluate(changed(hessian={"format": "factors", "triangle": "upper"})),
    '"edge_edge" exists in 3D only':
        evaluate(given({"edge_edge": {"vertices": [[0, 1, 2, 3]], "normal_force": 1}}, dim=2)),
    "peak is a curve of the force, not of mu: use law_potential, law_force, law_force_over_speed or law_force_derivative": get("/v1/functions/smooth_mu?y=0&mu_s=1&mu_k=0&eps_v=1&mu_transition=peak"),
    'expected triplets, csr, bsr or factors, got "coo"': evaluate(changed(hessian={"format": "coo"})),
    "expected an object, got an array of numbers. Fields here: vertices, normal_force, weight, mu, mu_s, mu_k, eps_v, "
    "mu_aniso, mu_s_aniso, mu_k_aniso, stribeck_speed, viscous, surface_velocity, anchor, closest_point, tangent_basis, "
    "grain": evaluate(changed(**{FACE: [[3, 0, 1, 2]]})),
    "expected a number, got a string": evaluate(changed(dim="3")),
    "expected an array of numbers, got a string": evaluate(changed(**{FACE + "__normal_force": "2"})),
    'expected a number, got an array of numbers; per vertex use "vertex_mu", per contact "mu" of a group':
        evaluate(changed(friction__mu=[0.3] * 4)),
    "expected a number, got null": evaluate(TEXT.replace("0.02", "null")),
    "expected an array of numbers, got an object":
        evaluate(changed(velocities={"dtype": "f64", "shape": [4, 3], "offset": 0})),
    "expected shape [n, 3] (nested or flat), got [3, 4]; is it transposed?": evaluate(changed(velocities=[[0] * 4] * 3)),
    "expected shape [n, 3] (nested or flat), got [4, 2]": evaluate(changed(velocities=[[0] * 2] * 4)),
    "expected shape [4, 3] (nested or flat), got [3, 3]": evaluate(changed(positions=BATCH["positions"][:3])),
    "expected shape [n, 4] (nested or flat), got [1, 3]": evaluate(changed(**{FACE + "__vertices": [[3, 0, 1]]})),
    "expected shape [1] or one value for all, got [2]": evaluate(changed(**{FACE + "__normal_force": [1, 2]})),
    "expected shape [1, 2] (nested or flat) or [2] for all, got [1]": evaluate(changed(**{FACE + "__mu_aniso": [1]})),
    "expected an array of shape [m, m] (nested or flat), got a number": evaluate(batch_with(1)),
    "expected an array of shape [n], got a number": evaluate(one("plane_vertex", 0, plane_normal=[0, 0, 1])),
    "ragged array: this entry's shape differs from those before it":
        evaluate(changed(velocities=[[0, 0, 0], [0, 0]])),
    '0 is out of range: "eps_v" must be > 0': evaluate(changed(friction__eps_v=0)),
    '-2 is out of range: "normal_force" must be >= 0': evaluate(changed(**{FACE + "__normal_force": -2})),
    "NaN is not a finite number": frame(in_frame(V, "f64", [4, 3], doubles(*[float("nan")] * 12))),
    "infinity is not a finite number": frame(in_frame(V, "f64", [4, 3], doubles(*[float("inf")] * 12))),
    "contact 0 of face_vertex: a result does not fit a double":
        evaluate(changed(friction__mu=1e10, **{FACE + "__normal_force": 1e308})),
    "smooth_mu_f2_x_minus_mu_f1_over_x3 at entry 1 does not fit a double":
        function("smooth_mu_f2_x_minus_mu_f1_over_x3", '{"y": [0.5, 0], "mu_s": 1, "mu_k": 0.1, "eps_v": 1}'),
    "4 is not a vertex: there are 4, and indices start at 0":
        evaluate(changed(**{FACE + "__vertices": [[4, 1, 2, 3]]})),
    "expected an integer, written without point or exponent":
        evaluate(changed(**{FACE + "__vertices": [[3.0, 0.0, 1.0, 2.0]]})),
    "dtype f64 is not allowed for indices: use i32, u32 or i64":
        frame(in_frame(FACE + "__vertices", "f64", [1, 4], doubles(3, 0, 1, 2))),
    "contact 0 of face_vertex: vertex 1 appears twice": evaluate(changed(**{FACE + "__vertices": [[3, 0, 1, 1]]})),
    "2 is not a material: there are 2, and indices start at 0":
        evaluate(batch_with([[1, 2], [2, 4]], (0, 0, 0, 2))),
    "the pair table is not symmetric: 3 here, 2 for the same materials in the other order":
        evaluate(batch_with([[1, 2], [3, 4]])),
    "\"/velocites\" is not a JSON Pointer to a field with derivatives; did you mean "
    "\"/velocities\"?": vjp("/velocites"),
    "\"/friction/law\" is not a JSON Pointer to a field with derivatives; there are /velocities, "
    "/positions, /friction/eps_v, /friction/mu, /collisions/face_vertex/normal_force": vjp("/friction/law"),
    "the request does not have a field \"/barrier/dhat\"; there are /velocities, /positions, /friction/eps_v, "
    "/friction/mu, /collisions/face_vertex/normal_force": vjp("/barrier/dhat"),
    "\"/velocities\" appears twice": vjp("/velocities", "/positions", "/velocities"),
    "contact 0 of vertex_vertex: the derivative with respect to \"/friction/vertex_mu\" is infinite, or too large for a "
    "double": vjp("/friction/vertex_mu", dim=3, positions=[[0, 0, 0], [0, 0, 1]], velocities=[[1, 0, 0], [0, 0, 0]],
                  friction={"eps_v": 1, "vertex_mu": [0, 0.5], "blend": "geometric_mean"},
                  collisions={"vertex_vertex": {"vertices": [[0, 1]], "normal_force": 1}}),
    "a derivative with respect to \"/friction/mu\" does not fit a double":
        vjp("/friction/mu", cotangent=3e307, velocities=[[0, 0, 0], [0, 0, 0], [0, 0, 0], [2, 1, 0]],
            **{FACE + "__vertices": [[3, 0, 1, 2], [3, 1, 2, 0]]}),
    "contact 0 of edge_edge: parallel_edges: the edges are parallel, so their closest points are not unique":
        evaluate(one("edge_edge", [[0, 1, 2, 3]], [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]])),
    "contact 0 of edge_vertex: vertex_on_edge: the vertex is on the edge's line, so the contact has no tangent plane":
        evaluate(one("edge_vertex", [[0, 1, 2]], [[0.5, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]])),
    "contact 0 of face_vertex: collapsed_triangle: the triangle has no area":
        evaluate(one("face_vertex", [[3, 0, 1, 2]], [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 1]])),
    "contact 0 of edge_vertex: zero_length_edge: the ends of an edge coincide":
        evaluate(one("edge_vertex", [[0, 1, 2]], [[0.5, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 0]])),
    "contact 0 of vertex_vertex: coincident_vertices: the two vertices coincide, so the contact has no tangent plane": evaluate(one("vertex_vertex", [[0, 1]], [[0, 0, 0]] * 4)),
    "contact 0 of face_vertex: penetration: the distance is not larger than the barrier's dmin":
        evaluate(changed(barrier={"dhat": 1e-3, "stiffness": 1e8, "dmin": 1e-3}, **{FACE + "__normal_force": None})),
    "contact 0 of face_vertex: negative_coefficient: the blended coefficient is negative (closest point outside its primitive)": evaluate(changed(friction={"eps_v": 1, "vertex_mu": [1, 0, 0, 0]},
                                   positions=[[0, 0, 0], [1, 0, 0], [0, 1, 0], [3, 0.25, 0.0005]])),
    "line 1, column 1: the body is compressed with gzip; send it uncompressed": evaluate(gzip.compress(TEXT.encode())),
    "line 1, column 1: the body begins with a byte order mark; JSON is UTF-8 without one":
        evaluate(b"\xef\xbb\xbf" + TEXT.encode()),
    "line 1, column 1: the body is the name of a file; curl sends the contents with --data-binary @FILE":
        evaluate("@batch.json"),
    "broken %-escape in the URL's query": get("/v1/functions/smooth_mu?y=%zz"),
    "this route takes no parameters in the URL; send them in the body":
        ("POST", "/v1/evaluate?dim=3", TEXT, {"Content-Type": JSON}),
    "This server supports HTTP/1.1 and HTTP/1.0.": raw(b"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n"),
    "a grain is zero: it has no direction": evaluate(one("plane_vertex", [0], plane_normal=[0, 0, 1], grain=[0, 0, 0])),
    "contact 0 of plane_vertex: grain_along_normal: the grain is parallel to the contact's normal, so it has no direction in the tangent plane": evaluate(one("plane_vertex", [0], plane_normal=[0, 0, 1], grain=[0, 0, 2])),
    '"stribeck_speed" is missing: group "face_vertex" needs it': law(law="stribeck"),
    '"curve" is missing: the law curve needs its points': law(law="curve"),
    "1 is out of range: speeds must be strictly ascending, and the previous one is 1": curve([0, 1, 1], [1, 0.5, 0.25]),
    "0.9 is out of range: the first factor of a curve must be 1, as friction is continuous at eps_v": curve([0, 1], [0.9, 0.5]),
    '"collision_outputs" has no effect without "collisions" in "outputs"': evaluate(
        changed(outputs=["gradient"], collision_outputs=["status"])),
    '"stribeck_speed" belongs to the law stribeck or exponential: it has no effect with the law smooth':
        law(stribeck_speed=1),
    "the law adhesion takes one coefficient, but the static one is 0.5 and the kinetic one 0.3":
        evaluate(changed(friction={"eps_v": 1, "mu_s": 0.5, "mu_k": 0.3, "law": "adhesion"})),
    '"grain" and "tangent_basis" both determine the tangents: leave one out':
        evaluate(one("plane_vertex", [0], plane_normal=[0, 0, 1], grain=[1, 0, 0], tangent_basis=GEOMETRY["tangent_basis"][0])),
    '"body_positions" is missing: the points that twists refer to, [n_bodies, dim]':
        evaluate({key: value for key, value in BODIES.items() if key != "body_positions"}),
    '"mu" is missing: the only coefficients given are per vertex, and bodies have no vertices':
        evaluate({**BODIES, "friction": {"eps_v": 1, "vertex_mu": []}}),
    "bsr has blocks per vertex, but there are bodies: use csr, triplets or factors":
        evaluate({**BODIES, "hessian": {"format": "bsr"}}),
    "contact 0 of body_body: body 1 appears twice":
        evaluate({**BODIES, "collisions": {"body_body": {**BODIES["collisions"]["body_body"], "bodies": [[1, 1]]}}}),
    "2 is not a body: there are 2, and indices start at 0":
        evaluate({**BODIES, "collisions": {"body_body": {**BODIES["collisions"]["body_body"], "bodies": [[0, 2]]}}}),
    "a plane's normal is zero": evaluate(one("plane_vertex", [0], plane_normal=[0, 0, 0])),
    'expected triplets, csr, bsr or factors, got "CSR"; did you mean "csr"?': evaluate(changed(hessian={"format": "CSR"})),
    "line 1, column 25: a value expected; a digit must precede the point: 0.5":
        evaluate('{"dim":3,"velocities":[[.5,0,0]]}'),
    "line 1, column 26: ',' or ']' expected; write exponents with e: 1e-3":
        evaluate('{"dim":3,"velocities":[[1d-3,0,0]]}'),
    "line 1, column 2: string or '}' expected near 'dim'; names need double quotes": evaluate("{dim:3}"),
    "line 1, column 10: '}' expected near '/'; JSON has no comments": evaluate('{"dim":3 /* 3D */}'),
    "There is a control character.": raw(b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\nX: a\x01b\r\n\r\n"),
    "the length at the start is big-endian; it must be little-endian":
        frame(len(TEXT).to_bytes(8, "big") + TEXT.encode()),
    'unknown field "vel"; did you mean "velocities"? Fields here: dim, velocities, positions, lagged_velocities, '
    "body_positions, body_velocities, lagged_body_velocities, friction, barrier, collisions, outputs, hessian, "
    "collision_outputs, on_degenerate, line, vectors, position_jacobian, terms, current_positions, ...":
        evaluate(changed(vel=[])),
    "expected an object, got a string: JSON in a string has been encoded twice": evaluate(json.dumps(TEXT)),
    'there is no set "run-17" (any more): PUT it as a whole. Sets are forgotten when they have not been used for a '
    "while, or to make room": get("/v1/sets/run-17"),
    '"n_vertices" is 5, but "positions" has 4 rows': put(changed(velocities=None, n_vertices=5)),
    'unknown field "velocities" here; it is a field of requests about a set: POST it to evaluate. Fields here: dim, n_vertices, '
    "positions, lagged_velocities, body_positions, lagged_body_velocities, friction, barrier, collisions, on_degenerate, "
    "closest_features, mesh, margin, anchors, previous":
        put(BATCH),
    '3 is not a vertex ("positions" or "n_vertices" determines their number): there are 0, and indices start at 0':
        put({"dim": 3, "friction": {"eps_v": 1, "mu": 1},
             "collisions": {"plane_vertex": {"vertices": [3], "plane_normal": [0, 0, 1], "normal_force": 1}}}),
    "a set's name consists of 1 to 64 characters out of A-Z a-z 0-9 . _ ~ -, but is not \".\" or \"..\"": get("/v1/sets/run:17"),
}


def address(base):
    return "127.0.0.1", int(base.rsplit(":", 1)[1])


def ask(base, case):
    """(status, problem) of a case."""
    if isinstance(case, bytes):
        with socket.create_connection(address(base)) as connection:
            connection.sendall(case)
            response = http.client.HTTPResponse(connection)
            response.begin()
            return response.status, json.loads(response.read())
    method, path, body, headers = case
    connection = http.client.HTTPConnection(*address(base))
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # refused in the middle of a long body
        connection.request(method, path, json.dumps(body) if isinstance(body, dict) else body, headers)
    response = connection.getresponse()
    data = response.read()
    connection.close()
    return response.status, json.loads(data) if response.status >= 400 else None


def ask_for(base, path):
    connection = http.client.HTTPConnection(*address(base))
    connection.request("GET", path)
    document = json.loads(connection.getresponse().read())
    connection.close()
    return document


def page_of(base, code, method="GET", **headers):
    connection = http.client.HTTPConnection(*address(base))
    connection.request(method, f"/errors/{code}", headers=headers)
    response = connection.getresponse()
    page = response.read().decode()
    connection.close()
    return response.status, response.getheader("Content-Type"), response.getheader("Content-Length"), page


class Words(html.parser.HTMLParser):
    """The text of a page, and whether its elements are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.words, self.links, self.codes = [], "", [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "link"):
            self.open.append(tag)
        self.links += [value for name, value in attrs if name == "href" and tag == "a"]
        if tag == "code":
            self.codes.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data
        if "code" in self.open:
            self.codes[-1] += data


@pytest.mark.parametrize("code,section", [(code, section) for _, code, section in sections()])
def test_the_service_shows_the_section(server, code, section):
    status, media, length, page = page_of(server, code)
    assert (status, media) == (200, "text/html; charset=utf-8")
    assert page_of(server, code, "HEAD") == (200, media, length, "")
    words = Words(page)
    assert {text for text, (_, of) in shown().items() if of == code} <= set(words.codes)
    assert code in words.words and "`" not in words.words and "](" not in words.words
    plain = re.sub(r"\[([^]]*)\]\((?:#|https:|\w+\.md)[^)]*\)|[`*|]", r"\1", section.replace("|---", ""))
    assert re.sub(r"\s", "", plain) in re.sub(r"\s", "", words.words)
    for link in words.links:
        assert link.startswith(("https://", "/")) or page_of(server, link)[0] == 200, link


def test_pages_need_no_token(server_with, tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text("lab " + "a" * 32 + "\n")
    tokens.chmod(0o600)
    base = server_with("--tokens", str(tokens))
    assert page_of(base, "unknown_field")[0] == 200
    assert page_of(base, "unknown")[0] == 404
    assert page_of(base, "unknown_field", Origin="http://elsewhere.example")[0] == 403


@pytest.mark.parametrize("text", CASES)
def test_the_service_returns_the_text(server, text):
    status, problem = ask(server, CASES[text])
    check(text, status, problem)
    assert all(error["detail"] == text for error in problem["errors"])


THREE = {"dim": 3, "velocities": [[0.02, 0.01, 0], [0, 0, 0], [0, 0, 0]], "friction": {"eps_v": 1e-3, "mu": 0.3},
         "collisions": {"plane_vertex": {"vertices": [0, 1, 2], "plane_normal": [0, 0, 1], "normal_force": 2.0}}}
MANY = {"dim": 3, "velocities": [[0.1, 0, 0]] * 60000, "friction": {"eps_v": 1e-3, "mu": 0.3},
        "collisions": {"plane_vertex": {"vertices": list(range(60000)), "plane_normal": [0, 0, 1], "normal_force": 2}}}
CLOSE = {"dim": 3, "positions": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], "distance": 9, "mesh": {"vertices": [0, 1, 2]}}
OPTIONS = {
    "a body of 211 bytes is longer than the limit of 100 bytes": (["--max-json-bytes", "100"], THREE),
    "3 contacts exceed the limit of 2": (["--max-contacts", "2"], THREE),
    "3 vertices exceed the limit of 2": (["--max-vertices", "2"], THREE),
    "more pairs lie within reach than the limit of 2 contacts": (["--max-contacts", "2"], CLOSE),
    "the answer would be longer than the limit of 500 bytes": (["--max-answer-bytes", "500"], THREE),
    "the request takes more memory than the limit of 16777216 bytes for all requests together (--memory-bytes)":
        (["--memory-bytes", "16777216"], MANY),
    "The body is longer than the memory of all requests together, 16777216 bytes.":
        (["--memory-bytes", "16777216"], " " * 30_000_000),
}
CONNECTIONS = {
    "The server has as many connections as it allows; try again soon.": "--connections",
    "This address has as many connections as the server allows.": "--connections-per-address",
}
TOKENS = {
    "This needs a bearer token: Authorization: Bearer TOKEN.": {},
    "The bearer token is unknown.": {"Authorization": "Bearer " + "b" * 32},
}
SET = {name: value for name, value in BATCH.items() if name != "velocities"}
SETS = {
    'the set is version 5f0c0000000000000000000000000000, not "00000000000000000000000000000000"':
        ([], {"If-Collision-Set-Version": "0" * 32}),
    'a set "run-17" exists already': ([], {"If-None-Match": "*"}),
    "the set would take 20480 bytes; all sets of a caller may take 10240 (--set-bytes-per-caller), all together 10240 "
    "(--set-bytes)": (["--set-bytes", "1K"], {}),
    "there is no room for the set at the moment: the others are in use (--set-bytes, --sets; of one caller --set-bytes-per-caller, "
    "--sets-per-caller)": (["--sets", "1"], {}),
    "If-Match has no effect on a set: send If-Collision-Set-Version, with the version that the set must have":
        ([], {"If-Match": "*"}),
    "If-Unmodified-Since has no effect on a set: send If-Collision-Set-Version, with the version that the set must have":
        ([], {"If-Unmodified-Since": "Sat, 29 Oct 1994 19:43:31 GMT"}),
}
MOVED = "vertex 3 has moved by 0.75 from the set's positions, more than half of the margin of 1: PATCH positions"
OTHERS = ["The request did not arrive in time.", "The deadline of 1 seconds has passed.",
          "The server is draining: it finishes what is under way and stops.", "The queue is full; try again soon.",
          "not enough memory for this request now",
          "The memory for large requests is in use; try again soon.",
          "This user has as many connections as the server allows."]


def test_the_page_quotes_what_is_provoked_here():
    assert sorted(shown()) == sorted([*CASES, *OPTIONS, *CONNECTIONS, *TOKENS, *SETS, *OTHERS, MOVED])


def check(text, status, problem):
    statuses, code = shown()[text]
    assert problem["detail"] == text
    assert status in statuses and problem["code"] == code and problem["type"] == f"/errors/{code}"


# No input causes the first one; the second one needs a request that waits or is computed when the server has to stop.
UNSEEN = {"internal_error", "stopped"}


def test_every_code_has_a_section_and_is_provoked(server):
    schemas = ask_for(server, "/openapi.json")["components"]["schemas"]
    codes = schemas["Problem"]["properties"]["code"]["enum"]
    assert sorted(codes) == sorted(code for _, code, _ in sections())
    assert set(codes) - {code for _, code in shown().values()} == UNSEEN


@pytest.mark.parametrize("text", OPTIONS)
def test_limits(server_with, text):
    options, body = OPTIONS[text]
    find = ("POST", "/v1/contacts", body, {"Content-Type": JSON})
    check(text, *ask(server_with(*options), find if body is CLOSE else evaluate(body)))


@pytest.mark.parametrize("text", SETS)
def test_sets(server_with, text):
    """Messages may differ in versions and numbers of bytes."""
    options, headers = SETS[text]
    base = server_with(*options)
    first = "other" if "--sets" in options else "run-17"
    if "--set-bytes" not in options:
        assert ask(base, ("PUT", f"/v1/sets/{first}", SET, {"Content-Type": JSON}))[0] == 201
    status, problem = ask(base, ("PUT", "/v1/sets/run-17", SET, {"Content-Type": JSON, **headers}))
    same = re.sub(r"\d+ bytes|may take \d+|together \d+|version [0-9a-f]{32}", "#", problem["detail"])
    assert same == re.sub(r"\d+ bytes|may take \d+|together \d+|version [0-9a-f]{32}", "#", text)
    check(text, status, {**problem, "detail": text})


def test_a_set_from_a_mesh(server):
    lagged = {"dim": 3, "positions": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.25, 0.25, 1]], "margin": 1,
              "mesh": {"faces": [[0, 1, 2]], "vertices": [3]}, "barrier": {"dhat": 0.5, "stiffness": 1},
              "friction": {"eps_v": 1, "mu": 1}}
    moved = [*lagged["positions"][:3], [0.25, 0.25, 0.25]]
    headers = {"Content-Type": JSON}
    assert ask(server, ("PUT", "/v1/sets/moved", lagged, headers))[0] in (200, 201)
    check(MOVED, *ask(server, ("POST", "/v1/sets/moved/evaluate", {"terms": ["barrier"], "current_positions": moved}, headers)))


@pytest.mark.parametrize("text", CONNECTIONS)
def test_connections(server_with, text):
    base = server_with(CONNECTIONS[text], "1")
    with socket.create_connection(address(base)) as kept:
        kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert kept.recv(4096)
        check(text, *ask(base, get("/v1/info")))


@pytest.mark.parametrize("text", TOKENS)
def test_tokens(server_with, tmp_path, text):
    tokens = tmp_path / "tokens"
    tokens.write_text("lab " + "a" * 32 + "\n")
    tokens.chmod(0o600)
    check(text, *ask(server_with("--tokens", str(tokens)), get("/v1/info", **TOKENS[text])))


def late(base, seconds, first, rest=b""):
    """Sends a request in two parts with a pause between them; returns (status, problem)."""
    with socket.create_connection(address(base)) as connection:
        connection.sendall(first)
        time.sleep(seconds)
        connection.sendall(rest)
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, json.loads(response.read())


def test_a_body_that_does_not_arrive(server_with):
    def attempt(seconds):
        base = server_with("--receive-seconds", str(seconds))
        check(OTHERS[0], *late(base, 0, b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"))

    with_more_time(attempt)


def test_deadline(server_with):
    body = json.dumps(MANY).encode()
    head = f"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    check(OTHERS[1], *late(server_with("--deadline-seconds", "1"), 1.2, head + body[:9], body[9:]))


def test_draining():
    """The server has confirmed that it waits for a body, so one request is under way."""
    process, base = start("--drain-seconds", "3600")
    try:
        with socket.create_connection(address(base)) as under_way:
            under_way.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                              b"Expect: 100-continue\r\n\r\n")
            assert under_way.recv(100).startswith(b"HTTP/1.1 100 ")
            process.send_signal(signal.SIGTERM)
            while ask(base, get("/readyz"))[0] == 200:
                time.sleep(0.01)
            check(OTHERS[2], *ask(base, evaluate(TEXT)))
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_memory_is_taken(server_with):
    base, tree = server_with("--memory-bytes", "64M"), "[" + "{}," * 150000 + "{}]"
    assert ask(base, evaluate(tree))[0] == 422
    with socket.create_connection(address(base)) as holder:
        holder.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40000000\r\n\r\n" + b" " * 30000000)
        answer = eventually(lambda: (answer := ask(base, evaluate(tree)))[0] == 503 and answer)
    check(OTHERS[4], *answer)


def test_memory_is_taken_by_another_body(server_with):
    base, body = server_with("--memory-bytes", "64M"), " " * 30_000_000
    assert ask(base, evaluate(body))[0] == 400
    with socket.create_connection(address(base)) as holder:
        holder.sendall(b"POST /v1/evaluate HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40000000\r\n\r\n" + b" " * 39000000)
        answer = eventually(lambda: (answer := ask(base, evaluate(body)))[0] == 503 and answer)
    check(OTHERS[5], *answer)


def test_full_queue(server_with):
    base, body, seen = server_with("--queue-requests", "1", "--threads", "1"), json.dumps(MANY), []

    def post():
        status, problem = ask(base, evaluate(body))
        if status != 200:
            seen.append((status, problem))

    while not seen:
        threads = [threading.Thread(target=post) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check(OTHERS[3], *seen[0])
