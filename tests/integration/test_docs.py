"""What the documentation says is true: its examples are run against the server, its links resolve.

A block ```sh or ```python after the line `<!-- run -->` is run (from the repository's root), and what it prints is
compared with the block that follows: ```json by value, ```text by line, numbers with a tolerance.
`<!-- run, numbers vary -->` compares everything but the values of numbers. The Python blocks of a page continue
each other. A block after `<!-- same as FILE -->` is that file.
"""
import contextlib
import io
import json
import math
import os
import pathlib
import re
import shlex
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")
URL = "http://127.0.0.1:8080"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("deploy/*.md"), *ROOT.glob("examples/**/*.md")])
BLOCK = r"```(\w+)\n((?:(?!```).*\n)*)```$"
NUMBER = re.compile(r"(?<![\w.-])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")
TOLERANCE = 1e-9


def name_of(page):
    return str(page.relative_to(ROOT))


def examples(page):
    """(line, language, source, language of the output, output, whether numbers vary) of the marked blocks."""
    text = page.read_text()
    for mark in re.finditer(r"^<!-- run(, numbers vary)? -->\n", text, re.M):
        line = text.count("\n", 0, mark.start()) + 1
        blocks = re.compile(BLOCK + r"\n" + BLOCK, re.M).match(text, mark.end())
        assert blocks, f"{name_of(page)}:{line}: a block to run and a block with its output must follow"
        yield (line, *blocks.groups(), bool(mark[1]))


def of_language(language):
    return [pytest.param(*example[2:], id=f"{name_of(page)}:{example[0]}")
            for page in PAGES for example in examples(page) if example[1] == language]


SHELL = of_language("sh")
PYTHON = [page for page in PAGES if any(example[1] == "python" for example in examples(page))]


def same(a, b, vary):
    """Whether two JSON values are the same, numbers nearly so; 1 and 1.0 are different kinds of numbers."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], vary) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y, vary) for x, y in zip(a, b))
    if isinstance(a, float):
        return vary or math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=1e-12)
    return a == b or (vary and type(a) is int)


def compare(got, kind, expected, vary):
    if kind == "json":
        assert same(json.loads(got), json.loads(expected), vary), got
        return
    assert kind == "text"
    got, expected = ("\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (got, expected))
    assert NUMBER.sub("#", got) == NUMBER.sub("#", expected)
    assert same([float(x) for x in NUMBER.findall(got)], [float(x) for x in NUMBER.findall(expected)], vary), got


def shell(source, **more):
    environment = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "no_proxy": "127.0.0.1",
                   "NO_PROXY": "127.0.0.1"}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", source], cwd=ROOT, env=environment, capture_output=True,
                          text=True, **more)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_are_examples():
    languages = {name_of(page): [example[1] for example in examples(page)] for page in PAGES}
    assert languages["README.md"].count("sh") >= 2
    assert languages["docs/api.md"].count("sh") >= 8 and languages["docs/api.md"].count("python") >= 2


@pytest.mark.parametrize("source,kind,expected,vary", SHELL)
def test_shell(server, source, kind, expected, vary):
    assert URL in source or "build/frictiond " in source
    source = source.replace("build/frictiond ", f"{shlex.quote(str(PROGRAM))} ")
    compare(shell(source.replace(URL, server)), kind, expected, vary)


@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_python(server, page, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    names = {"__name__": "__main__"}
    for line, language, source, kind, expected, vary in examples(page):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + source.replace(URL, server), str(page), "exec"), names)
        compare(printed.getvalue(), kind, expected, vary)


def test_shown_files_are_the_files():
    shown = [(page, match) for page in PAGES
             for match in re.finditer(r"^<!-- same as (\S+) -->\n" + BLOCK, page.read_text(), re.M)]
    assert shown
    for page, match in shown:
        assert match[3] == (ROOT / match[1]).read_text(), f"{name_of(page)}: {match[1]}"


def test_table_of_options():
    table = subprocess.run([PROGRAM, "--print-options-markdown"], capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs/options.md").read_text()
    shown = re.search(r"^<!-- frictiond --print-options-markdown -->\n\n((?:\|.*\n)+)", page, re.M)
    assert shown and shown[1] == table


def test_c_example_prints_what_is_shown(tmp_path):
    shown = re.search(r"^prints\n" + BLOCK, (ROOT / "docs/library.md").read_text(), re.M)
    folder = PROGRAM.parent / "release" if (PROGRAM.parent / "release/libfric.a").exists() else PROGRAM.parent
    sanitizers = "-fsanitize=address,undefined" if os.environ.get("MODE") == "asan" else ""
    source = "examples/c/sliding_block.c"
    shell(f"cc {sanitizers} -Icore {source} '{folder}/libfric.a' -fopenmp -lm -o '{tmp_path}/example'")
    compare(shell(f"'{tmp_path}/example'"), "text", shown[2], False)


def anchors(page):
    """What GitHub calls the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in re.findall(r"^#+ (.*)$", text, re.M)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{name_of(page)}: {link}"
        assert not anchor or anchor in anchors(target), f"{name_of(page)}: {link}"
