"""Blocks of the documentation in the languages whose tools `make examples-test` installs (tests/snippets.py)."""
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import snippets  # noqa: E402
from snippets import ROOT, URL, compare  # noqa: E402

HERE = snippets.to_run(with_examples=True)
# Commands that run a file from the repository's root. Files in C and C++ name their command in their first line.
COMMANDS = {"python": ["/usr/bin/python3", "FILE"], "sh": ["bash", "-eu", "FILE"]}
NAMES = {"python": "block.py", "sh": "block.sh"}


def of(*languages):
    return [block for block in HERE if block.language in languages]


def test_every_language_has_a_block():
    assert {block.language for block in HERE} >= {"python", "javascript", "c"}


@pytest.mark.parametrize("block", of(*COMMANDS), ids=str)
def test_interpreted(server, block, tmp_path):
    path, source = tmp_path / NAMES[block.language], block.source.replace(URL, server)
    path.write_text(source)
    compare(snippets.command(*(str(path) if word == "FILE" else word for word in COMMANDS[block.language])), block)


@pytest.mark.parametrize("block", of("javascript"), ids=str)
def test_javascript(server, block, npm_project):
    """In a project in which the npm package is installed."""
    (npm_project / "block.mjs").write_text(block.source.replace(URL, server))
    compare(snippets.command("node", npm_project / "block.mjs"), block)


@pytest.mark.parametrize("block", of("c", "cpp"), ids=str)
def test_compiled(server, block, tmp_path):
    """The first line is a comment with the command that compiles and runs the block, under the file names in it."""
    match = re.match(r"// (\S+ (\w+\.\w+) .* -o (\w+) && \./\3)\n", block.source)
    assert match, f"{block}: the first line does not say how to compile it"
    command, file, program = match.groups()
    (tmp_path / file).write_text(block.source.replace(URL, server))
    command = command.replace(f" {file} ", f" -Wall -Wextra -Werror '{tmp_path}/{file}' ", 1)
    command = command.replace(f"-o {program} && ./{program}", f"-o '{tmp_path}/{program}' && '{tmp_path}/{program}'")
    compare(snippets.shell(command), block)


def test_blocks_that_make_test_could_run_are_not_here():
    """Blocks that `make test` can run belong there."""
    for block in of("sh", "python"):
        assert re.search(r"matplotlib|torch|node|cc |c\+\+ |examples/solvers", block.source), str(block)


def test_all_languages_of_the_quick_start_say_the_same():
    blocks = snippets.blocks(ROOT / "docs/quickstart.md")
    outputs = {block.output.source for block in blocks if block.runs() and block.language not in ("sh", "text")}
    assert len(outputs) == 1
