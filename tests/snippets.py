"""The fenced blocks of the documentation, and how the line before each block marks it.

    <!-- run -->                        run from the repository's root; its output is compared with the block that
                                        follows: json by value, text by line, numbers with a tolerance
    <!-- run, numbers vary -->          compares everything but the values of numbers
    <!-- run by tests/examples -->      the same, with the tools of `make examples-test` (also with `, numbers vary`)
    <!-- run by tests/.../test_x.py --> that test reads the page and runs it; so does <!-- run by tests/.../run -->
    <!-- same as FILE -->               the block is that file
    <!-- not run: REASON -->            nothing runs it

A suite that has its own system or environment runs the blocks of a section in turn, as a reader would:

    tests/snippets.py script PAGE HEADING SUITE [PORT]      prints a script of sh: the blocks of the section that are marked
                                                            `run`, or for the suite; the service has this port, not 8080
    tests/snippets.py compare PAGE HEADING SUITE PRINTED    compares what the script has printed with the outputs shown

tests/integration/test_docs.py runs `sh` and `python` blocks; tests/examples/test_docs_languages.py runs all other
languages, and blocks marked with tests/examples. The Python blocks of a page continue each other, and the shell blocks
of docs/sets.md find the sets that earlier blocks have put; all other blocks stand alone.
"""
import dataclasses
import functools
import json
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
# With INSTALLED in the environment, the Python package is the one installed for this Python; otherwise that of the
# repository, as if it were installed.
PACKAGE = {} if os.environ.get("INSTALLED") else {
    "PYTHONPATH": str(ROOT / "clients/python"), "FRICTIOND_LIBRARY": str(ROOT / "build/release/libfrictiond.so")}
URL = "http://127.0.0.1:8080"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md"),
                *(page for folder in ("clients", "examples") for page in ROOT.glob(f"{folder}/**/*.md")
                  if "node_modules" not in page.parts)])
RUN = re.compile(r"run( by tests/examples)?(, numbers vary)?")
KNOWN = re.compile(RUN.pattern + r"|run by (?P<test>tests/\w+/(?:run|test_\w+\.(?:py|sh)))|same as (?P<file>\S+)|not run: \S.*")
# Pages written by a program, and the test that runs the blocks in them.
GENERATED = {f"docs/reference/{page.name}": "tests/integration/test_openapi.py" for page in PAGES if page.parent.name == "reference"}
NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
TOLERANCE = 1e-9


def name_of(page):
    return str(page.relative_to(ROOT))


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int
    mark: str
    language: str
    source: str
    output: "Block" = None     # the block that follows immediately
    follows: bool = False      # whether this block immediately follows another one
    heading: str = ""          # of the section that the block is in

    def __str__(self):
        return f"{name_of(self.page)}:{self.line}"

    def runs(self):
        return RUN.fullmatch(self.mark) is not None

    def with_examples(self):
        return self.language not in ("sh", "python") or "tests/examples" in self.mark

    def vary(self):
        return self.mark.endswith(", numbers vary")


@functools.lru_cache(maxsize=None)
def blocks(page):
    """All fenced blocks of a page, in order."""
    found, lines, at, heading = [], page.read_text().splitlines(), 0, ""
    while at < len(lines):
        if not lines[at].startswith("```"):
            heading = lines[at].lstrip("#").strip() if re.match("#+ ", lines[at]) else heading
            at += 1
            continue
        end = lines.index("```", at + 1)
        before = lines[at - 1] if at else ""
        mark = re.fullmatch(r"<!-- (.*) -->", before)
        written = GENERATED.get(name_of(page))
        said = mark[1] if mark else f"run by {written}" if written else ""
        block = Block(page, at + 1, said, lines[at][3:], "\n".join([*lines[at + 1:end], ""]), heading=heading)
        if before == "```":
            block.follows, found[-1].output = True, block
        found.append(block)
        at = end + 1
    return found


def to_run(with_examples):
    """The marked blocks to be run here, or with the examples."""
    return [block for page in PAGES for block in blocks(page)
            if block.runs() and block.with_examples() == with_examples]


def without_blocks(page):
    """A page's text without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)


def same(a, b, vary, tolerance=TOLERANCE):
    """Whether two JSON values are equal, with a tolerance for numbers; 1 and 1.0 are different types."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], vary, tolerance) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y, vary, tolerance) for x, y in zip(a, b))
    if isinstance(a, float):
        return vary or math.isclose(a, b, rel_tol=tolerance, abs_tol=1e-12)
    return a == b or (vary and type(a) is int)


def compare(got, block):
    """Asserts that `got` matches the block that follows `block`."""
    expected, vary = block.output.source, block.vary()
    if block.output.language == "json":
        assert same(json.loads(got), json.loads(expected), vary), got
        return
    got, expected = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (got, expected))
    assert NUMBER.sub("#", got) == NUMBER.sub("#", expected)
    assert same([float(x) for x in NUMBER.findall(got)], [float(x) for x in NUMBER.findall(expected)], vary), got


def environment():
    return {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ["PATH"],
            "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1", **PACKAGE}


def command(*words, **more):
    """Runs a command from the root, which must succeed; returns its output."""
    done = subprocess.run([str(word) for word in words], cwd=ROOT, env=environment(), capture_output=True, text=True,
                          **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell(source):
    return command("bash", "-euo", "pipefail", "-c", source, stdin=subprocess.DEVNULL)


# Sections that suites run in turn

MARK = "@@ block"


def in_turn(page, heading, suite):
    """The blocks of a section that are run, or whose text is a file for the next one."""
    found = [block for block in blocks(ROOT / page) if block.heading == heading and
             (block.runs() or block.mark == f"run by {suite}")]
    assert found, f"{page} has no block for {suite} under {heading!r}"
    return found


def words_of(block):
    """A block as commands of sh. The first line of a program in a compiled language is its command."""
    here = f"<<'END_OF_BLOCK'\n{block.source}END_OF_BLOCK\n"
    if block.language == "sh":
        # A reader is not fast enough to be there before the service.
        return block.source + ("until frictiond health; do sleep 0.1; done\n" if block.source.endswith("&\n") else "")
    if block.language == "python":
        return f"python3 - {here}"
    if block.language == "javascript":
        return f"node --input-type=module - {here}"
    name = re.match(r"(?://|#) .*?([\w.]+\.(?:c|cpp|txt))\b", block.source)
    assert name, f"{block}: the first line does not name a file"
    command = re.match(r"// (cc .*)\n", block.source)
    return f"cat >{name[1]} {here}" + (f"{command[1]}\n" if command else "")


def script_of(page, heading, suite, port="8080"):
    """The script prints a line before the output of each block that has one; everything else goes to standard error."""
    lines = ["set -eu", f"export FRICTIOND_PORT={port}", "exec 3>&1 >&2", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", ""]
    for n, block in enumerate(in_turn(page, heading, suite)):
        lines.append(f"echo '{MARK} {n}' >&3")
        # Not in a subshell: later blocks use variables and folders of earlier ones.
        lines.append(f"exec {'>&3' if block.output else '>&2'}")
        lines.append(words_of(block).replace(URL, f"http://127.0.0.1:{port}"))
    return "\n".join(lines)


def compare_in_turn(page, heading, suite, printed):
    parts = re.split(rf"^{MARK} (\d+)\n", printed, flags=re.M)[1:]
    outputs = dict(zip(map(int, parts[::2]), parts[1::2]))
    for n, block in enumerate(in_turn(page, heading, suite)):
        assert n in outputs, f"{block}: was not run"
        if block.output:
            compare(outputs[n], block)


if __name__ == "__main__":
    what, page, heading, suite, *rest = sys.argv[1:]
    if what == "script":
        print(script_of(page, heading, suite, *rest), end="")
    else:
        compare_in_turn(page, heading, suite, pathlib.Path(rest[0]).read_text())
