"""The types that the clients for Python and JavaScript declare are complete, and the compilers accept right programs
and refuse wrong ones."""
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "python"))
import frictiond  # noqa: E402

TYPESCRIPT = ROOT / "build/openapi"
COMMON = ["--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--lib", "es2022,dom"]


def members(owner):
    """Every public function of a module or class, and __init__."""
    for name, value in vars(owner).items():
        if inspect.isfunction(value) and value.__module__ == "frictiond" and (name == "__init__" or name[0] != "_"):
            yield value
        elif inspect.ismodule(owner) and inspect.isclass(value) and value.__module__ == "frictiond" and name[0] != "_":
            yield from members(value)


def test_every_parameter_and_result_has_a_type():
    assert len(list(members(frictiond))) > 25
    for function in members(frictiond):
        signature = inspect.signature(function)
        assert signature.return_annotation is not inspect.Signature.empty, function
        assert all(parameter.annotation is not inspect.Parameter.empty for name, parameter in signature.parameters.items()
                   if name not in ("self", "_")), function


PYTHON = """
import numpy as np
from numpy.typing import NDArray
import frictiond

client = frictiond.Client("http://127.0.0.1:8080", token=None, timeout=1.5)
batch: frictiond.Batch = {"dim": 3, "velocities": np.zeros((4, 3))}
answer = client.evaluate(batch)
force: NDArray[np.float64] = -answer["gradient"]
client.vjp(batch, {"gradient": force}, ["/positions"])
with client.set(batch, name="run-17") as contacts:
    after = contacts.step(np.zeros((4, 3)), 1.0, 0.01)
    speed: float = after.energy + len(after.velocities)
values: NDArray[np.float64] = client.function("smooth_mu", y=force)
major: str = frictiond.__version__.split(".")[0]
"""
PYTHON_MISTAKES = [
    ('client = frictiond.Client(8080)', "arg-type"), ('client.evaluate()', "call-arg"), ('client.evaluate([1])', "arg-type"),
    ('client.jvp({}, ["/positions"])', "arg-type"), ('client.set({}, name=17)', "arg-type"),
    ('client.set({}).step([0], 1.0, "0.01")', "arg-type"), ('client.info().version', "attr-defined"),
    ('client.evaluation({})', "attr-defined"), ('client.step({}, [0], 1.0, 0.1).speed', "attr-defined")]


def mypy(path):
    return subprocess.run(["/usr/bin/mypy", "--strict", "--follow-imports=silent", "--cache-dir", path.parent / "cache", path],
                          env={**os.environ, "MYPYPATH": str(ROOT / "examples/python")}, capture_output=True, text=True)


def test_a_python_program(tmp_path):
    (tmp_path / "program.py").write_text(PYTHON)
    done = mypy(tmp_path / "program.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_in_a_python_program(tmp_path):
    lines = ["import frictiond", "client = frictiond.Client()", *(line for line, _ in PYTHON_MISTAKES)]
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n")
    found = re.findall(r":(\d+): error: .*\[([\w-]+)\]", mypy(tmp_path / "program.py").stdout)
    assert found == [(str(3 + k), code) for k, (_, code) in enumerate(PYTHON_MISTAKES)]


JAVASCRIPT = """
import { Client, CollisionSet, FrictiondError, VERSION, decodeFrame, encodeFrame } from "./frictiond.mjs";
const client = new Client("http://127.0.0.1:8080", { token: null, timeout: 1.5 });
const answer = await client.evaluate({ dim: 3, velocities: new Float64Array(3) }, { signal: new AbortController().signal });
const contacts: CollisionSet = await client.set(answer, { name: "run-17" });
await contacts.evaluate(null, { body_velocities: [[0, 0, 0]] });
await contacts.evaluate(new Float64Array(3));
const rows: number = await client.withSet({}, async (set) => (await set.pattern({ format: "bsr" })).indptr.length);
const values: Float64Array = await client.function("smooth_mu", { y: [0] });
const code: string | null = new FrictiondError(422, "", "").code;
const bytes: Uint8Array = encodeFrame(decodeFrame(new ArrayBuffer(8)));
const major: string = VERSION.split(".")[0]!;
"""
JAVASCRIPT_MISTAKES = ["new Client(8080);", "client.evaluate();", 'client.evaluate("batch");', "client.jvp({});",
                       "client.set({}, { name: 17 });", "client.vjp({}, {}, 3);", 'contacts.pattern({ format: "dense" });',
                       "contacts.evaluate(3);", "client.evaluation({});", 'contacts.carry({}, "1");']


@pytest.fixture(scope="module")
def tsc(tmp_path_factory):
    """tsc(lines): the numbers of the lines that the compiler refuses in a module next to the client's declarations"""
    subprocess.run([ROOT / "scripts/npm_packages", ROOT / "tests/examples/openapi", TYPESCRIPT], check=True)
    folder = tmp_path_factory.mktemp("types")

    def compile_one(*words):
        return subprocess.run(["node", TYPESCRIPT / "node_modules/typescript/bin/tsc", *COMMON, *words], cwd=folder,
                              stdout=subprocess.PIPE, text=True)

    made = compile_one("--allowJs", "--declaration", "--emitDeclarationOnly", "--outDir", folder,
                       ROOT / "examples/javascript/frictiond.mjs")
    assert made.returncode == 0, made.stdout
    assert not re.search(r"^(?!.*Record).*: any\b", (folder / "frictiond.d.mts").read_text(), re.M)

    def refused(text):
        (folder / "program.mts").write_text(text)
        return [int(line) for line in re.findall(r"program\.mts\((\d+),", compile_one("--noEmit", "program.mts").stdout)]

    return refused


def test_a_program_in_typescript(tsc):
    assert tsc(JAVASCRIPT) == []


def test_mistakes_in_a_program_in_typescript(tsc):
    lines = ['import { Client } from "./frictiond.mjs";', "const client = new Client(), contacts = await client.set({});"]
    assert tsc("\n".join([*lines, *JAVASCRIPT_MISTAKES])) == [3 + k for k in range(len(JAVASCRIPT_MISTAKES))]
