"""README.md, "From your language": every command of the table prints the output shown, and the packages are right."""
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import CARGO, command_of, integration

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from snippets import ROOT, blocks, shell  # noqa: E402

SECTION = (ROOT / "README.md").read_text().split("## From your language\n")[1].split("\n## ")[0]
ROWS = re.findall(r"^\| ([^|`]+) \| `([^|`]+)` \| `(.+)` \|$", SECTION, re.M)
[SHOWN] = [block.source for block in blocks(ROOT / "README.md")
           if block.mark == "run by tests/examples/test_readme.py"]


def test_the_languages():
    assert {row[0] for row in ROWS} >= {"Python", "GNU Octave", "R", "JavaScript", "C", "Rust"}
    assert len(ROWS) == SECTION.count("\n| ") - 1


def test_the_command_of_cpp_is_that_of_its_example():
    """test_languages.py compiles the example with this command."""
    [command] = [row[2] for row in ROWS if row[0] == "C++"]
    assert command == " && ".join(command_of("examples/cpp/tile.cpp", "build"))


# With a share of the cases, C++ is compiled once, by test_languages.py.
COMMANDS = [row for row in ROWS if row[0] != "C++" or integration.ONE_IN == 1]


@pytest.mark.parametrize("language,packages,command", COMMANDS, ids=[row[0] for row in COMMANDS])
def test_command(server, same, language, packages, command):
    if language == "JavaScript":
        shell("scripts/npm")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CARGO.items():
            patch.setenv(name, value)
        same(shell(f"{command} {server}"), SHOWN)


@pytest.mark.parametrize("language,packages,command", ROWS, ids=[row[0] for row in ROWS])
def test_packages(language, packages, command):
    """The packages that the table names are those with which the tests run."""
    known = subprocess.run([ROOT / "scripts/packages", "--list", "examples"], check=True, capture_output=True,
                           text=True).stdout.split()
    from_elsewhere = ["nodejs", "npm", "cargo"]  # not listed if the command already exists
    assert [name for name in packages.split() if name not in known + from_elsewhere] == []


def test_examples_use_packages():
    """They import or find what is installed, and do not reach into the folders of the packages' sources."""
    listed = subprocess.run(["git", "ls-files", "examples", ":!*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        text = (ROOT / name).read_text()
        assert not re.search(r"\bclients/|\bPYTHONPATH\b|core/fric|api/frictiond", text), name
        if re.search(r"#include <fric(tiond)?\.h>", text):
            assert re.search(r"pkg-config --cflags --libs fric", text), name
