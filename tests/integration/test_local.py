"""libfrictiond.so gives the same status, headers and bytes as the server: for all cases, as JSON and as frames, in one
piece and in several, and for everything that sets have. Programs that load it, unload it, and end in the midst of it."""
import http.client
import json
import subprocess
import sys
import urllib.parse

import pytest

from conftest import ROOT, start, stop
from local import CONDITIONS, LIBRARY, Service, load as load_library
from test_cases import CASES, FOLDER, curl, load, request_of, server_options

sys.path.insert(0, str(ROOT / "clients/python"))
import frictiond  # noqa: E402

MEMORY = 1 << 30  # so that limits derived from it agree
OWN = {"x-request-id", "date", "connection", "server-timing", "vary"}  # the server's, or times
# Errors of requests that the server refuses by itself. They do not reach api, the only part that the library contains.
REFUSED = {"malformed_http", "length_required", "target_too_long", "unsupported_encoding", "expectation_failed",
           "unknown_host", "foreign_origin"}


@pytest.fixture(scope="module")
def base():
    process, url = start("--memory-bytes", str(MEMORY))
    yield url
    assert stop(process) == 0


@pytest.fixture(scope="module")
def service():
    created = Service(memory_bytes=MEMORY)
    yield created
    created.close()


def post(base, method, path, body, headers):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content


def without_own(headers):
    return {name: value for name, value in headers.items() if name not in OWN}


def same(local, remote):
    status, headers, content = local[:3]
    assert (status, content) == (remote[0], remote[2])
    headers, others = without_own(headers), without_own(remote[1])
    if "content-length" not in others:  # 204, 304
        assert headers.pop("content-length") == "0"
    assert headers == others


def code_of(answer):
    try:
        return json.loads(answer[2])["code"]
    except (ValueError, KeyError, TypeError):
        return None


# --- the cases -----------------------------------------------------------------------------------------------------

NAMES = [name for name in CASES if server_options(name) is None]


@pytest.fixture(scope="module")
def answers(base, tmp_path_factory):
    return curl(base, NAMES, tmp_path_factory.mktemp("answers"))


def headers_of(meta, body):
    """The headers as curl sends them: repeated ones are joined, those without a value are removed."""
    headers = {} if body is None else {"content-type": "application/json"}
    sent = {}
    for line in meta.get("headers", []):
        name, _, value = line.partition(":")
        sent.setdefault(name.strip().lower(), []).append(value.strip())
    return {**headers, **{name: ", ".join(values) for name, values in sent.items()}}


def test_cases(service, answers):
    different, compared = {}, 0
    for name, answer in answers.items():
        meta = load(FOLDER / name, "meta.json", {})
        method, path, file = request_of(FOLDER / name, meta)
        body = None if file is None else file.read_bytes()
        headers = {name: value for name, value in headers_of(meta, body).items() if value}
        if code_of(answer) in REFUSED or path.startswith("/metrics"):
            continue
        known = {name: value for name, value in headers.items() if name in CONDITIONS}
        got = service.call(method, path, body, known)
        compared += 1
        try:
            same(got, (answer[0], answer[1], b"") if method == "HEAD" else answer)  # curl writes headers there
        except AssertionError as difference:
            different[name] = str(difference)
    assert not different
    assert compared > 0.9 * len(answers)


# --- frames --------------------------------------------------------------------------------------------------------

FRAME = {"content-type": "application/vnd.frictiond.frame"}


def arrays_of(value):
    """The document with NumPy arrays in the place of lists of numbers, so that the frame has them in its tail."""
    import numpy as np
    if isinstance(value, dict):
        return {name: arrays_of(member) for name, member in value.items()}
    if isinstance(value, list) and value:
        try:
            array = np.array(value)
        except ValueError:
            return value
        if array.dtype.kind == "i" and abs(array).max() < 2**31:
            return array.astype(np.int32)
        if array.dtype.kind in "fi":
            return array.astype(float)
    return value


def frames():
    for name in NAMES:
        folder = FOLDER / name
        meta = load(folder, "meta.json", {})
        method, path, file = request_of(folder, meta)
        if file is None or file.name != "request.json" or meta.get("headers") or method != "POST" or "um" in name:
            continue
        try:
            document = json.loads(file.read_text())
            yield name, path, frictiond.encode_frame(arrays_of(document))
        except (TypeError, ValueError, OverflowError):
            continue


def test_frames(base, service):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(base).netloc)
    n = 0
    for name, path, frame in frames():
        n += 1
        connection.request("POST", path, frame, FRAME)
        answer = connection.getresponse()
        remote = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        local = service.call("POST", path, frame, FRAME)
        same(local, remote)
        head = 8 + int.from_bytes(frame[:8], "little")
        tail = [frame[head:][i:i + 40] for i in range(0, len(frame) - head, 40)]
        same(service.call("POST", path, headers=FRAME, pieces=[frame[:head], *tail]), remote)
        same(service.call("POST", path, headers=FRAME, pieces=[frame[:5], frame[5:]]), remote)
    connection.close()
    assert n > 200


# --- sets, pages ---------------------------------------------------------------------------------------------------

LAGGED = {"dim": 3, "n_vertices": 4, "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3}, "collisions": {
    "plane_vertex": {"vertices": [0, 2], "plane_normal": [0, 0, 1], "normal_force": [1.5, 2]},
    "edge_vertex": {"vertices": [[3, 0, 1]], "closest_point": [[0.25]], "tangent_basis": [[[1, 0], [0, 1], [0, 0]]],
                    "normal_force": 3}}}
QUERY = {"velocities": [[1e-3, 2e-4, 0], [0, 0, 0], [5e-3, 0, 1], [0, 1e-4, 0]]}
JSON = {"content-type": "application/json"}
TALK = [
    ("GET", "/v1/sets", None, {}),
    ("GET", "/v1/sets/a", None, {}),
    ("PUT", "/v1/sets/a", LAGGED, JSON),
    ("PUT", "/v1/sets/a", LAGGED, JSON),
    ("PUT", "/v1/sets/a", LAGGED, {**JSON, "if-none-match": "*"}),
    ("PUT", "/v1/sets/b%20c", LAGGED, JSON),
    ("PUT", "/v1/sets/b", {**LAGGED, "velocities": []}, JSON),
    ("GET", "/v1/sets/a", None, {}),
    ("POST", "/v1/sets/a/evaluate", QUERY, JSON),
    ("POST", "/v1/sets/a/evaluate", {**QUERY, "outputs": ["hessian"], "hessian": {"format": "csr"}}, JSON),
    ("POST", "/v1/sets/a/evaluate", {**QUERY, "outputs": ["gradient"]},
     {**JSON, "accept": "application/vnd.frictiond.frame"}),
    ("POST", "/v1/sets/a/evaluate", QUERY, {**JSON, "if-collision-set-version": "0" * 32}),
    ("POST", "/v1/sets/a/check", QUERY, JSON),
    ("POST", "/v1/sets/a/jvp", {**QUERY, "tangents": {"/friction/mu_k": 1}}, JSON),
    ("POST", "/v1/sets/a/vjp", {**QUERY, "cotangents": {"potential": 1}, "wrt": ["/friction/mu_s"]}, JSON),
    ("GET", "/v1/sets/a/pattern?format=csr", None, {}),
    ("GET", "/v1/sets/a/pattern?format=csr", None, {"if-none-match": "*"}),
    ("GET", "/v1/sets/a/pattern?format=none", None, {}),
    ("PATCH", "/v1/sets/a", {"friction": {"mu_k": 0.2}}, {"content-type": "application/merge-patch+json"}),
    ("PATCH", "/v1/sets/a", {"friction": {"mu_k": -1}}, JSON),
    ("PATCH", "/v1/sets/a", {}, {"content-type": "text/plain"}),
    ("PATCH", "/v1/sets/z", {}, JSON),
    ("POST", "/v1/sets/a/evaluate", QUERY, JSON),
    ("PUT", "/v1/sets/d", LAGGED, {**JSON, "if-match": "x"}),
    ("GET", "/v1/sets", None, {}),
    ("HEAD", "/v1/sets", None, {}),
    ("DELETE", "/v1/sets/a", None, {}),
    ("DELETE", "/v1/sets/a", None, {}),
    ("GET", "/v1/sets", None, {}),
    ("GET", "/v1/info", None, {}),
    ("GET", "/openapi.json", None, {}),
    ("GET", "/healthz", None, {}),
    ("GET", "/readyz", None, {}),
    ("GET", "/", None, {}),
    ("GET", "/errors/stopped", None, {}),
    ("GET", "/errors/none", None, {}),
    ("GET", "/v1/functions", None, {}),
    ("GET", "/v1/functions/smooth_mu?y=0.5&mu_s=1&mu_k=0.5&eps_v=1", None, {}),
    ("GET", "/Info", None, {}),
    ("POST", "/InputSizes", {"name": "potential", "config": {}}, JSON),
    ("POST", "/Evaluate", {"name": "nothing", "input": [[1]], "config": {}}, JSON),
]


def test_sets_and_pages(base, service):
    for method, path, document, headers in TALK:
        body = None if document is None else json.dumps(document).encode()
        try:
            same(service.call(method, path, body, headers), post(base, method, path, body, headers))
        except AssertionError as difference:
            raise AssertionError(f"{method} {path}: {difference}") from difference


def test_defaults_are_the_servers(tmp_path):
    """All limits, except those that follow from the memory, of which the server needs some for its connections."""
    service = Service()
    process, base = start()
    local, remote = (json.loads(answer[2]) for answer in (service.call("GET", "/v1/info"), post(base, "GET", "/v1/info", None, {})))
    service.close()
    assert stop(process) == 0
    for name in ("set_bytes", "set_bytes_per_caller"):
        ratio = local["limits"].pop(name) / remote["limits"].pop(name)
        assert 1 <= ratio < 1.2
    assert local == remote


# --- programs ------------------------------------------------------------------------------------------------------

PROGRAM = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/frictiond.h"

static enum frictiond_code (*create)(const struct frictiond_options *, struct frictiond **);
static void (*destroy)(struct frictiond *);
static enum frictiond_code (*call)(struct frictiond *, const struct frictiond_request *, struct frictiond_answer **);
static void (*answer_free)(struct frictiond_answer *);
static struct frictiond *service;
static struct frictiond_piece body;

static void *open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		puts(dlerror());
		exit(2);
	}
	*(void **)&create = dlsym(library, "frictiond_create");
	*(void **)&destroy = dlsym(library, "frictiond_destroy");
	*(void **)&call = dlsym(library, "frictiond_call");
	*(void **)&answer_free = dlsym(library, "frictiond_answer_free");
	return library;
}

static int ask(void)
{
	struct frictiond_request request = {.size = sizeof(request), .method = "POST", .target = "/v1/evaluate",
		.content_type = "application/vnd.frictiond.frame", .pieces = &body, .n_pieces = 1};
	struct frictiond_answer *answer;
	if (call(service, &request, &answer))
		return 0;
	const int status = answer->status;
	answer_free(answer);
	return status;
}

static void *ask_forever(void *unused)
{
	(void)unused;
	while (ask() == 200)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct frictiond_options options = {.size = sizeof(options), .threads = 3};
	static char bytes[4 << 20];
	FILE *file = fopen(argv[2], "rb");
	body = (struct frictiond_piece){bytes, fread(bytes, 1, sizeof(bytes), file)};
	fclose(file);
	for (int i = 0; i < (argc > 3 ? 1 : 20); i++) {
		void *library = open_library(argv[1]);
		if (create(&options, &service) || ask() != 200)
			return 1;
		if (argc > 3)
			break;
		destroy(service);
		if (dlclose(library))
			return 3;
	}
	for (int i = 0; argc > 3 && i < 4; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, ask_forever, NULL);
	}
	if (argc > 3)
		usleep(50000);
	puts("over");
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    import numpy as np
    folder = tmp_path_factory.mktemp("program")
    (folder / "program.c").write_text(PROGRAM)
    subprocess.run(["cc", "-std=gnu11", "-Wall", "-Werror", "-I", ROOT, folder / "program.c", "-o", folder / "program",
                    "-ldl", "-lpthread"], check=True)
    n = 20000
    (folder / "frame").write_bytes(frictiond.encode_frame({
        "dim": 3, "velocities": np.full((n, 3), 1e-3), "friction": {"eps_v": 1e-3, "mu": 0.5},
        "collisions": {"plane_vertex": {"vertices": np.arange(n, dtype=np.int32), "plane_normal": [0, 0, 1],
                                        "normal_force": np.ones(n)}}}))
    return [folder / "program", LIBRARY, folder / "frame"]


@pytest.mark.parametrize("ending", [[], ["in the midst"]], ids=["unloaded again and again", "ends in the midst of calls"])
def test_programs_end(program, ending):
    for _ in range(5):
        done = subprocess.run([*program, *ending], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")


def test_header_matches_ctypes():
    """The structs here are those of the header: api/frictiond.abi has their sizes."""
    import ctypes
    import local
    record = (ROOT / "api/frictiond.abi").read_text()
    for name, struct in {"frictiond_options": local.Options, "frictiond_request": local.Request,
                         "frictiond_answer": local.Answer, "frictiond_piece": local.Piece,
                         "frictiond_header": local.Header}.items():
        lines = record.split(f"struct {name} ")[1].split("\nstruct")[0].split("\nenum")[0].splitlines()
        assert int(lines[0]) == ctypes.sizeof(struct)
        members = [(field, getattr(struct, field).offset) for field, *_ in struct._fields_]
        assert [(line.split()[0], int(line.split()[2].rstrip(","))) for line in lines[1:] if line.startswith("  ")] == members


def test_version():
    library = load_library()
    library.frictiond_version.restype = __import__("ctypes").c_char_p
    said = subprocess.run([ROOT / "scripts/version"], capture_output=True, text=True, check=True).stdout.strip()
    assert library.frictiond_version().decode() == said
