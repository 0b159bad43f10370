"""frictiond.local, the service in process: the bytes are those of the service over HTTP, arrays are not copied, and
forks, threads, Ctrl-C and the end of a process do no harm."""
import gc
import json
import os
import pathlib
import re
import subprocess
import textwrap
import threading
import weakref

import numpy as np
import pytest
from carried import SCRIPTS, steps
from conftest import INSTALLED, PYTHON, Compared
from derived import SCRIPTS as DERIVED
from derived import requests

import frictiond
from frictiond import _local, _native
from frictiond._document import body_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENE = json.loads((ROOT / "examples" / "scene" / "scene.json").read_text())  # 16 vertices, all types of contacts
N = 20000


def plane(n=N, **more):
    """n vertices on a floor."""
    rng = np.random.default_rng(1)
    return {"dim": 3, "velocities": rng.normal(size=(n, 3)), "friction": {"eps_v": 1e-3, "mu_s": 0.5, "mu_k": 0.3},
            "collisions": {"plane_vertex": {"vertices": np.arange(n, dtype=np.int32), "plane_normal": [0.0, 0.0, 1.0],
                                            "normal_force": rng.uniform(1, 2, n)}},
            "outputs": ["potential", "gradient"], **more}


def lagged(batch):
    """The document of a set."""
    return {name: value for name, value in batch.items() if name not in ("velocities", "outputs")} | {
        "n_vertices": len(batch["velocities"])}


@pytest.fixture
def client():
    return frictiond.local(threads=2)


def memory_of(client):
    gc.collect()
    return client._transport.memory()


def test_this_is_the_package_to_test():
    native = pathlib.Path(_native.library()._name)
    if INSTALLED:
        assert ROOT not in pathlib.Path(frictiond.__file__).parents
        assert native.parent == pathlib.Path(frictiond.__file__).parent / "native"
        assert pathlib.Path(_native.program()).parent == native.parent
    else:
        assert pathlib.Path(frictiond.__file__).parent == ROOT / "clients/python/frictiond"


# Bytes

def everything():
    """(method, path, document) of requests of all kinds."""
    yield "POST", "/v1/evaluate", SCENE
    yield "POST", "/v1/check", SCENE
    yield "POST", "/v1/evaluate", {**SCENE, "hessian": {"format": "csr"}}
    yield "POST", "/v1/evaluate", plane(1000)
    yield "POST", "/v1/evaluate", plane(1000, outputs=["hessian"])
    for script in SCRIPTS.values():
        yield "POST", "/v1/evaluate", next(steps(script, 1))
    for script in DERIVED.values():
        down, up = requests(script)
        yield "POST", "/v1/jvp", down
        yield "POST", "/v1/vjp", up
    yield "POST", "/v1/functions/smooth_mu", {"y": np.linspace(0, 1, 100), "mu_s": 1, "mu_k": 0.5, "eps_v": 0.5}
    yield "PUT", "/v1/sets/bytes", lagged(plane(1000))
    yield "GET", "/v1/sets/bytes/pattern?format=bsr", None
    yield "POST", "/v1/sets/bytes/evaluate", {"velocities": plane(1000)["velocities"]}
    yield "PATCH", "/v1/sets/bytes", {"friction": {"eps_v": 2e-3}}
    yield "DELETE", "/v1/sets/bytes", None
    yield "POST", "/v1/evaluate", {**SCENE, "friction": {"eps_v": 0, "mu": 1}}
    yield "POST", "/v1/sets/bytes/evaluate", {"velocities": [0]}
    yield "POST", "/v1/nothing", {}
    yield "GET", "/v1/functions", None


@pytest.mark.parametrize("frames", [False, True])
def test_bodies_are_the_same_bytes(server, client, frames):
    http, statuses = frictiond.Client(server), set()
    for method, path, document in everything():
        pieces, kind = body_of(document, frames) if document is not None else ((), "")
        headers = {"Accept": frictiond.FRAME if frames else frictiond.JSON} | ({"Content-Type": kind} if kind else {})
        answers = []
        for transport in (http._transport, client._transport):
            status, found, body = transport.send(method, path, headers, pieces)
            text = b"".join(body)
            if status >= 400:
                text = re.sub(rb',?"(request_id|instance)":"[^"]*"', b"", text)
            answers.append((status, found.get("Content-Type") or "", text))
        assert answers[0] == answers[1], (method, path)
        statuses.add(answers[0][0])
    assert statuses >= {200, 201, 204, 404, 422}


@pytest.mark.parametrize("spoil", [lambda text: text.replace(b"1", b"2", 1), lambda text: text + b" ", lambda text: text])
def test_the_comparison_of_transports_notices_one_byte(client, spoil):
    """The fixture `connect` makes it for every test."""
    class Spoilt:
        def send(self, *request):
            status, headers, body = client._transport.send(*request)
            return status, headers, [spoil(b"".join(body))]

    both = Compared(client._transport, Spoilt())
    request = "POST", "/v1/evaluate", {"Accept": frictiond.JSON, "Content-Type": frictiond.JSON}, body_of(plane(3), False)[0]
    if spoil(b"1") == b"1":
        assert both.send(*request)[0] == 200 and both.n_compared == 1
    else:
        with pytest.raises(AssertionError, match="/v1/evaluate"):
            both.send(*request)


# Arrays

def test_no_array_of_a_request_is_copied(client):
    batch = plane()
    client.evaluate(batch)
    with client.set(lagged(batch)) as contacts:
        contacts.evaluate(batch["velocities"])
        contacts.jvp(batch["velocities"], {"/velocities": batch["velocities"]})
    client.vjp({name: value for name, value in batch.items() if name != "outputs"},
               {"gradient": np.ones(3 * N)}, ["/velocities"])
    assert client._transport.copied_bytes == 0


def test_an_array_that_is_not_aligned_is_copied(client):
    """So the count counts."""
    batch = plane()
    memory = np.zeros(batch["velocities"].nbytes + 1, np.uint8)
    moved = memory[1:].view(float).reshape(-1, 3)
    moved[:] = batch["velocities"]
    expected = client.evaluate(batch)["gradient"]
    assert np.array_equal(client.evaluate({**batch, "velocities": moved})["gradient"], expected)
    assert client._transport.copied_bytes == moved.nbytes


def test_memory_of_an_answer_is_freed_with_its_last_array(client):
    before = memory_of(client)
    answer = client.evaluate(plane(outputs=["gradient", "hessian"]))
    held = memory_of(client)
    assert held > before + answer["gradient"].nbytes
    part = answer["gradient"][5:10][::2]
    expected = part.copy()
    del answer
    assert before < memory_of(client) <= held and np.array_equal(part, expected)
    assert not part.flags.writeable
    del part
    assert memory_of(client) == before


def test_answers_outlive_the_service(client):
    answer = client.evaluate(plane())
    expected = answer["gradient"].copy()
    client.close()
    del client
    gc.collect()
    assert np.array_equal(answer["gradient"], expected)


def test_a_closed_service_starts_again(client):
    with client, client.set(lagged(plane())) as contacts:
        before = contacts.evaluate(plane()["velocities"])
        client.close()
        assert client._transport.memory() == 0
        assert np.array_equal(contacts.evaluate(plane()["velocities"])["gradient"], before["gradient"])


# Sets

@pytest.mark.parametrize("spoil", [
    lambda client, name: client._send("DELETE", f"/v1/sets/{name}"),
    lambda client, name: client.set({**SCENE, "friction": {"eps_v": 1, "mu": 1}}, name=name)],
    ids=["forgotten", "replaced"])
@pytest.mark.parametrize("frames", [False, True])
def test_what_happens_to_a_set_is_mended(frames, spoil):
    client = frictiond.local(frames=frames)
    contacts = client.set(SCENE)
    expected = contacts.evaluate(outputs=["gradient"])["gradient"]
    spoil(client, contacts.name)
    assert np.array_equal(contacts.evaluate(outputs=["gradient"])["gradient"], expected)
    spoil(client, contacts.name)
    contacts.patch(friction={"eps_v": 2e-3})
    assert not np.array_equal(contacts.evaluate(outputs=["gradient"])["gradient"], expected)
    contacts.close()
    assert client._ask("GET", "/v1/sets", convert=False)["sets"] == []


# Options and errors

@pytest.mark.parametrize("options,message", [
    ({"threads": 0}, "threads is 0"), ({"threads": -1}, "threads is -1"), ({"threads": "2"}, "threads is '2'"),
    ({"threads": 100000}, "threads=100000"), ({"kernels": "fast"}, "no such kernels: kernels='fast'"),
    ({"memory_bytes": 1}, "memory_bytes=1")])
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        frictiond.local(**options)


def test_every_option_has_its_place():
    """The struct is that of the header."""
    header = (ROOT / "api/frictiond.h").read_text()

    def names(struct):
        body = re.search(rf"^struct {struct} {{(.*?)^}};", header, re.M | re.S)[1]
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
        return [name for line in body.split(";") for name in re.findall(r"(\w+)\s*(?=,|$)", line.strip())]

    for struct, fields in (("frictiond_options", _native.Options), ("frictiond_request", _native.Request),
                           ("frictiond_answer", _native.Answer), ("frictiond_piece", _native.Piece),
                           ("frictiond_header", _native.Header)):
        assert [name for name, _ in fields._fields_] == names(struct)
    for k, name in enumerate(("OK", "E_MEMORY", "E_ARGUMENT", "E_KERNELS", "E_FORKED")):
        assert re.findall(r"FRICTIOND_(OK|E_\w+)\b(?=.*,)", header)[k] == name and getattr(_native, name) == k
    assert f"#define FRICTIOND_ABI {_native.ABI} " in header


def test_memory_has_a_limit():
    client = frictiond.local(memory_bytes=16 << 20)
    with pytest.raises(frictiond.Error, match="more memory than the limit of 16777216 bytes") as caught:
        client.evaluate(plane(500000))
    assert caught.value.status == 413
    assert client.evaluate(plane(10))["n_vertices"] == 10


def test_requests_have_limits():
    with pytest.raises(frictiond.Error) as caught:
        frictiond.local(max_contacts=10).evaluate(plane(11))
    assert caught.value.status in (413, 422)


def run(code, *words, status=0, **environment):
    """The output of a Python program."""
    done = subprocess.run([PYTHON, "-c", textwrap.dedent(code), *words], text=True, capture_output=True,
                          env={**os.environ, **environment})
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    assert status or not done.stderr, done.stderr
    return done.stdout + (done.stderr if status else "")


def test_a_library_that_is_missing_is_explained(tmp_path):
    code = "import frictiond; frictiond.local()"
    for path in (tmp_path / "no.so", "/usr/lib/x86_64-linux-gnu/libm.so.6"):
        text = run(code, status=1, FRICTIOND_LIBRARY=str(path)).splitlines()[-1]
        assert str(path) in text and "ImportError: frictiond.local needs the library libfrictiond.so.1" in text
        assert "libfrictiond1" in text and "wheel" in text
    assert run("import frictiond; print(frictiond.Client('http://127.0.0.1'))", FRICTIOND_LIBRARY="/nothing") == (
        "frictiond.Client('http://127.0.0.1')\n")


def test_importing_costs_no_libraries():
    run("""
        import sys, frictiond
        assert not {"torch", "scipy", "ssl"} & {*sys.modules}, sys.modules
        assert frictiond._native.library.cache_info().currsize == 0
    """)


# What is printed

def test_texts_of_objects(client, server):
    assert repr(frictiond.Client(server)) == f"frictiond.Client('{server}')"
    assert repr(client) == "frictiond.local(threads=2)"
    scene = {name: value for name, value in SCENE.items() if name != "collision_outputs"}
    answer = client.evaluate({**scene, "outputs": ["potential", "gradient", "hessian"]})
    assert isinstance(answer, dict) and json.loads(json.dumps({"n": answer["n_vertices"]})) == {"n": 16}
    assert "'gradient': float64[48]" in repr(answer) and "'hessian': {'format': 'triplets'" in repr(answer)
    table = answer._repr_html_()
    assert table.count("<tr>") == table.count("</tr>") == 9
    assert "<th style='text-align:left'>hessian / values</th>" in table
    assert "&lt;b&gt;" in frictiond.Answer({"<b>": 1})._repr_html_()
    assert repr(frictiond.Answer({"a": np.zeros((2, 2)), "b": [1] * 20})) == (
        "{'a': [[0, 0], [0, 0]], 'b': [1, 1, 1, 1, 1, 1, ... 20 in all]}")
    with client.set(SCENE, name="run-17") as contacts:
        assert repr(contacts) == "<frictiond.Set 'run-17': 16 vertices, 19 contacts, in frictiond.local(threads=2)>"
        assert "iterations=0, energy=" in repr(contacts.step(np.zeros((16, 3)), 1.0, 0.01))
    assert repr(contacts) == "<frictiond.Set 'run-17': closed>"


def test_help_names_the_public_things():
    text = run("import frictiond; help(frictiond)")
    assert "frictiond.local()" in text and "[n_vertices, dim]" in text
    assert "class Client" in text and "local(*, threads: int | None = None" in text
    text = re.sub(r"PACKAGE CONTENTS\n.*?\n\n", "", text, flags=re.S)
    assert not re.search(r"\b_(client|document|local)\b", text), text


def test_public_objects_say_where_they_are():
    for name in frictiond.__all__:
        value = getattr(frictiond, name)
        assert getattr(value, "__module__", "frictiond") in ("frictiond", "builtins"), name
    version = subprocess.run([ROOT / "scripts/version"], capture_output=True, text=True).stdout
    assert frictiond.__version__ == version.strip()


# Threads

def test_threads_share_a_service(client):
    batch, results = plane(5000), {}
    with client.set(lagged(batch)) as contacts:
        expected = [(client.evaluate({**batch, "velocities": batch["velocities"] * k})["potential"]) for k in range(4)]

        def work(k):
            v = batch["velocities"] * k
            results[k] = [source["potential"] for _ in range(10)
                          for source in (contacts.evaluate(v), client.evaluate({**batch, "velocities": v}))]

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {k: [expected[k]] * 20 for k in range(4)}


def test_a_service_is_closed_while_threads_use_it(client):
    batch, failures = plane(5000), []
    expected = client.evaluate(batch)["potential"]

    def work():
        for _ in range(30):
            if client.evaluate(batch)["potential"] != expected:
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        client.close()
    assert not failures


# Forks

def in_child(work):
    """What a fork of this process returns as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, str(work()).encode())
        except BaseException as error:
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    assert os.waitpid(child, 0)[1] == 0
    return text


def test_a_fork_has_a_service_of_its_own(client):
    batch = plane()
    with client.set(lagged(batch)) as contacts:
        answer = contacts.evaluate(batch["velocities"])
        client.evaluate(batch)
        version, expected = contacts.info["version"], answer["potential"]

        def work():
            contacts.patch(friction={"eps_v": 1.0})
            other = contacts.evaluate(batch["velocities"])["potential"]
            held = answer["gradient"].sum()
            return client.evaluate(batch)["potential"] == expected != other and np.isfinite(held)

        assert in_child(work) == "True"
        assert in_child(lambda: contacts.evaluate(batch["velocities"])["potential"]) == str(expected)
        assert contacts.info["version"] == version
        assert contacts.evaluate(batch["velocities"])["potential"] == expected


def test_a_fork_while_other_threads_compute(client):
    batch, stop = plane(), threading.Event()
    contacts = client.set(lagged(batch))
    expected = contacts.evaluate(batch["velocities"])["potential"]

    def work():
        while not stop.is_set():
            contacts.evaluate(batch["velocities"])
            client._send("DELETE", f"/v1/sets/{contacts.name}")

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            assert in_child(lambda: contacts.evaluate(batch["velocities"])["potential"]) == str(expected)
    finally:
        stop.set()
        thread.join()


def test_multiprocessing(client):
    text = run("""
        import multiprocessing, numpy as np, frictiond
        client = frictiond.local(threads=2)
        floor = {"vertices": np.arange(20000), "plane_normal": [0, 0, 1], "normal_force": 1.0}
        batch = {"dim": 3, "velocities": np.full((20000, 3), 0.1), "friction": {"eps_v": 1.0, "mu": 0.5},
                 "collisions": {"plane_vertex": floor}}
        def potential(k):
            return client.evaluate({**batch, "velocities": batch["velocities"] * k})["potential"]
        expected = [potential(k) for k in range(8)]
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(potential, range(8)) == expected
        print("same")
    """)
    assert text == "same\n"


# Ctrl-C

LONG_CALL = """
    import os, signal, sys, threading, numpy as np, frictiond
    n = 300000
    rng = np.random.default_rng(1)
    client = frictiond.local(threads=1)
    batch = {"dim": 3, "positions": rng.normal(size=(n, 3)), "velocities": rng.normal(size=(n, 3)),
             "friction": {"eps_v": 1e-3, "mu": 0.5}, "collisions": {"vertex_vertex": {
                 "vertices": rng.permutation(n).reshape(-1, 2), "normal_force": 1.0}}}
    small = {**batch, "positions": batch["positions"][:2], "velocities": batch["velocities"][:2],
             "collisions": {"vertex_vertex": {"vertices": [[0, 1]], "normal_force": 1.0}}}
    def begun():
        return client._transport.memory() > 0
    def interrupt():
        while not begun():
            pass
        os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.mark.parametrize("method", ["check", "set"])
def test_ctrl_c_ends_a_long_call(method):
    """Without the stop flag, check would compute for minutes."""
    text = run(LONG_CALL + """
    contacts = None
    if sys.argv[1] == "set":
        contacts = client.set(batch)
        used = client._transport.memory()
        begun = lambda: client._transport.memory() > used
    threading.Thread(target=interrupt).start()
    try:
        contacts.check(batch["velocities"]) if contacts else client.check(batch)
    except KeyboardInterrupt:
        print("interrupted")
    assert client.evaluate(small)["n_vertices"] == 2
    assert client.evaluate({**batch, "outputs": ["potential"]})["n_vertices"] == n
    """, method)
    assert text == "interrupted\n"


def test_ctrl_c_without_a_handler_ends_the_program():
    text = run(LONG_CALL + """
    threading.Thread(target=interrupt).start()
    client.check(batch)
    """, status=-2)
    assert "KeyboardInterrupt" in text


def test_an_exception_of_another_signal_handler():
    text = run(LONG_CALL + """
    def handler(*_):
        raise TimeoutError("too long")
    signal.signal(signal.SIGINT, handler)
    threading.Thread(target=interrupt).start()
    try:
        client.check(batch)
    except TimeoutError as error:
        print(error)
    """)
    assert text == "too long\n"


def test_a_signal_that_comes_when_the_call_has_ended():
    """The handler may run after the main thread has learned that the call has ended: it must not wait once more."""
    assert run("""
    import os, signal
    from frictiond import _local
    class Call:
        def __init__(self):
            self.stop = _local._Call().stop
        def run(self):
            os.kill(os.getpid(), signal.SIGINT)
            return "ended"
    worker, n_raised = _local._Worker(), 0
    for i in range(300):
        try:
            worker.run(Call())
            while True:
                pass
        except KeyboardInterrupt:
            n_raised += 1
    print(n_raised)
    """) == "300\n"


# The end of a process

@pytest.mark.parametrize("end", ["", "del client, answer", "sys.exit()", "client.close()", "os._exit(0)"])
def test_a_process_ends_without_closing(end):
    assert run(LONG_CALL + f"""
    contacts = client.set({{**batch, "velocities": batch["velocities"]}})
    answer = client.evaluate({{**batch, "outputs": ["gradient"]}})
    kept = answer["gradient"]
    sys.modules["kept"] = kept
    print("end", flush=True)
    {end}
    """) == "end\n"


def test_a_process_ends_while_a_daemon_thread_computes():
    assert run(LONG_CALL + """
    threading.Thread(target=lambda: client.check(batch), daemon=True).start()
    while not begun():
        pass
    print("end", flush=True)
    """) == "end\n"


def test_services_that_nobody_refers_to_are_destroyed():
    transport = frictiond.local()._transport
    service = weakref.ref(transport._service)
    assert service() is not None and transport in _local._all
    del transport
    gc.collect()
    assert service() is None


# The command

@pytest.mark.parametrize("words", [["--version"], ["serve", "--version"]])
def test_the_command_runs_the_program(words):
    program = {} if INSTALLED else {"FRICTIOND_PROGRAM": os.environ.get("FRICTIOND", str(ROOT / "build/frictiond"))}
    done = subprocess.run([PYTHON, "-m", "frictiond", *words], capture_output=True, text=True, env={**os.environ, **program})
    assert (done.returncode, done.stdout, done.stderr) == (0, f"frictiond {frictiond.__version__}\n", "")


def test_the_command_without_a_program():
    done = subprocess.run([PYTHON, "-m", "frictiond", "serve"], capture_output=True, text=True,
                          env={**os.environ, "FRICTIOND_PROGRAM": "/nothing"})
    assert done.returncode == 1 and "Install a wheel of frictiond" in done.stderr and "Traceback" not in done.stderr
    done = subprocess.run([PYTHON, "-m", "frictiond", "--help"], capture_output=True, text=True)
    assert done.returncode == 0 and "frictiond serve" in done.stdout

