"""The programs in C++ and Python in docs/library.md work with the installed library."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import snippets  # noqa: E402

RELEASE = ROOT / "build/release"
[CPP, PYTHON] = [block for block in snippets.blocks(ROOT / "docs/library.md") if block.language in ("cpp", "python")]
ABI = (ROOT / "core/fric.abi").read_text()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Installs the library: include/ and lib/ below a prefix."""
    prefix = tmp_path_factory.mktemp("prefix")
    for folder in ("include", "lib"):
        (prefix / folder).mkdir()
    (prefix / "include/fric.h").symlink_to(ROOT / "core/fric.h")
    for name in ("libfric.so", f"libfric.so.{re.match('FRIC_ABI (.*)', ABI)[1]}"):
        (prefix / "lib" / name).symlink_to(RELEASE / "libfric.so")
    text = (ROOT / "core/fric.pc.in").read_text()
    for name, value in (("PREFIX", prefix), ("LIBDIR", "lib"), ("VERSION", "0")):
        text = text.replace(f"@{name}@", str(value))
    (prefix / "lib/fric.pc").write_text(text)
    return {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib"), "LD_LIBRARY_PATH": str(prefix / "lib")}


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=True, **more).stdout


def test_cpp(environment, tmp_path):
    command, file = re.match(r"// (c\+\+ -std=c\+\+11 (\w+\.cpp) .*)\n", CPP.source).groups()
    (tmp_path / file).write_text(CPP.source)
    strict = command.replace("c++ ", "c++ -Wall -Wextra -Wpedantic -Werror ", 1)
    snippets.compare(run("bash", "-euc", strict, cwd=tmp_path, env=environment), CPP)


def test_python(environment):
    snippets.compare(run(sys.executable, "-c", PYTHON.source, env=environment), PYTHON)


def test_structs_in_python_are_those_of_the_library(environment):
    """Sizes of structs and offsets of all members."""
    show = """
for kind in c.Structure.__subclasses__():
    if kind.__name__.startswith("fric_"):
        print("struct", kind.__name__, c.sizeof(kind))
        for name, *_ in kind._fields_:
            print(f"  {name} at {getattr(kind, name).offset}, {getattr(kind, name).size} bytes")
"""
    shown = re.split(r"^(?=struct)", run(sys.executable, "-c", PYTHON.source + show, env=environment), flags=re.M)[1:]
    assert len(shown) == 10
    for layout in shown:
        assert layout in ABI


def test_both_programs_print_the_same():
    assert CPP.output.source == PYTHON.output.source
