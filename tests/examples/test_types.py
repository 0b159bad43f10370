"""The types that the client for Python declares are complete, and mypy accepts right programs and refuses wrong ones.
test_npm.py does the same for JavaScript."""
import inspect
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
import frictiond


def members(owner):
    """Every public function of a module or class, and __init__."""
    for name, value in vars(owner).items():
        if inspect.isfunction(value) and value.__module__.startswith("frictiond") and (name == "__init__" or name[0] != "_"):
            yield value
        elif inspect.ismodule(owner) and inspect.isclass(value) and value.__module__.startswith("frictiond") and name[0] != "_":
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
inside: frictiond.Client = frictiond.local(threads=2)
answer: frictiond.Answer = inside.evaluate(batch)
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
    ('client.evaluation({})', "attr-defined"), ('frictiond.local(thread=2)', "call-arg"),
    ('client.step({}, [0], 1.0, 0.1).speed', "attr-defined")]


@pytest.fixture(scope="module")
def mypy(tmp_path_factory):
    """mypy(path): its verdict on a program. What it knows of NumPy and of the client is kept from one to the next."""
    cache = tmp_path_factory.mktemp("cache")

    def judge(path):
        return subprocess.run(["/usr/bin/mypy", "--strict", "--follow-imports=silent", "--cache-dir", cache, path],
                              env={**os.environ, "MYPYPATH": str(ROOT / "clients/python")}, capture_output=True, text=True)
    return judge


def test_a_python_program(mypy, tmp_path):
    (tmp_path / "program.py").write_text(PYTHON)
    done = mypy(tmp_path / "program.py")
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_in_a_python_program(mypy, tmp_path):
    lines = ["import frictiond", "client = frictiond.Client()", *(line for line, _ in PYTHON_MISTAKES)]
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n")
    found = re.findall(r":(\d+): error: .*\[([\w-]+)\]", mypy(tmp_path / "program.py").stdout)
    assert found == [(str(3 + k), code) for k, (_, code) in enumerate(PYTHON_MISTAKES)]
