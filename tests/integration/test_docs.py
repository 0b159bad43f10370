"""The documentation is true: its blocks run against the server, and its links resolve. tests/snippets.py explains how
blocks are marked.
"""
import contextlib
import io
import math
import os
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import snippets  # noqa: E402
from snippets import KNOWN, PAGES, PROGRAM, ROOT, URL, blocks, compare, name_of, shell  # noqa: E402

LANGUAGES = {"sh", "python", "r", "javascript", "html", "c", "cpp", "make", "cmake", "json", "text", "ini", "yaml"}
HERE = snippets.to_run(with_examples=False)
SHELL = [block for block in HERE if block.language == "sh"]
PYTHON = [page for page in PAGES if any(block.page == page and block.language == "python" for block in HERE)]


def test_there_are_blocks_to_run():
    languages = {name_of(page): [block.language for block in HERE if block.page == page] for page in PAGES}
    assert languages["README.md"].count("sh") >= 1
    assert languages["docs/api.md"].count("sh") >= 8 and languages["docs/api.md"].count("python") >= 2


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_marked(page):
    """Every block that looks like code is read by a test, or states why none reads it."""
    for block in blocks(page):
        assert block.language in LANGUAGES, f"{block}: language {block.language!r}"
        is_output = block.follows and block.language in ("json", "text") and not block.mark
        assert is_output or KNOWN.fullmatch(block.mark), f"{block}: no mark"
        if block.runs():
            assert block.output and block.output.language in ("json", "text"), f"{block}: no output follows"
        if is_output:
            before = next(other for other in blocks(page) if other.output is block)
            assert KNOWN.fullmatch(before.mark), f"{block}: the output of something that is not run"


@pytest.mark.parametrize("spoil", [None, lambda text: text.replace("2.6323", "2.6324"), lambda text: "",
                                   lambda text: text.replace("N", "lbf")])
def test_a_door_that_shows_something_else_is_noticed(spoil):
    """The script's output: a line before each block, then what the block printed."""
    door = "README.md", "From Python", "tests/wheel/run"
    printed = "".join(f"{snippets.MARK} {n}\n" + (block.output.source if block.output else "")
                      for n, block in enumerate(snippets.in_turn(*door)))
    if spoil is None:
        snippets.compare_in_turn(*door, printed)
    else:
        with pytest.raises(AssertionError):
            snippets.compare_in_turn(*door, spoil(printed))


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent != ROOT], ids=name_of)
def test_no_code_is_indented(page):
    """Indented code cannot be marked."""
    found = re.search(r"(?<=\n\n)    \S.*", snippets.without_blocks(page))
    assert not found, f"{name_of(page)}: {found[0]}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_other_tests_read_the_page(page):
    for block in blocks(page):
        known = KNOWN.fullmatch(block.mark)
        if known and known["test"]:
            text = (ROOT / known["test"]).read_text()
            assert page.name in text or name_of(page) in snippets.GENERATED, f"{block}: {known['test']} does not read it"
            if known["test"] in SUITES:
                assert reads(known["test"], page, block.heading), f"{block}: {known['test']} does not run {block.heading!r}"


# Suites that run the sections of pages that they name, and the ways into the README: what runs each, and its languages.
SUITES = ("tests/wheel/run", "tests/deb/run", "tests/image/run", "tests/examples/test_npm.py")
DOORS = {"From Python": ("tests/wheel/run", {"sh", "python"}), "As a service": ("tests/deb/run", {"sh"}),
         "As a C library": ("tests/deb/run", {"sh", "c", "cmake"}), "In a container": ("tests/image/run", {"sh"}),
         "From JavaScript": ("tests/examples/test_npm.py", {"sh", "javascript"})}


def reads(suite, page, heading):
    return re.search(rf"""\b{re.escape(name_of(page))}["']?,? ["']{re.escape(heading)}["']""", (ROOT / suite).read_text())


def test_the_readme_leads_with_its_doors():
    before, *sections = re.split(r"^## ", (ROOT / "README.md").read_text(), flags=re.M)
    assert [section.partition("\n")[0] for section in sections[:len(DOORS)]] == list(DOORS)
    listed = set(re.findall(r"\]\(#([\w-]+)\)", before)) - {"from-your-language"}
    assert listed == {door.lower().replace(" ", "-") for door in DOORS}


@pytest.mark.parametrize("door", DOORS)
def test_doors_are_run_from_packages(door):
    """All blocks, as they stand, by the suite that builds or is given the packages, and the results are those shown."""
    suite, languages = DOORS[door]
    marked = [block for block in blocks(ROOT / "README.md") if block.heading == door and block.mark]
    by = {block.mark: block for block in marked if not block.runs()}
    assert by.keys() <= {f"run by {suite}", "run by tests/integration/test_install.sh"}, by
    of_suite = snippets.in_turn("README.md", door, suite)
    assert {block.language for block in of_suite} == languages
    assert door == "In a container" or of_suite[-1].output
    assert reads(suite, ROOT / "README.md", door)


@pytest.mark.parametrize("block", SHELL, ids=str)
def test_shell(server, block):
    assert "127.0.0.1" in block.source or "build/frictiond " in block.source
    source = block.source.replace("build/frictiond ", f"{shlex.quote(str(PROGRAM))} ")
    compare(shell(source.replace(URL, server)), block)


@pytest.mark.parametrize("page", PYTHON, ids=name_of)
def test_python(server, page, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    if snippets.PACKAGE:
        monkeypatch.setenv("FRICTIOND_LIBRARY", snippets.PACKAGE["FRICTIOND_LIBRARY"])
        monkeypatch.syspath_prepend(snippets.PACKAGE["PYTHONPATH"])
    names = {"__name__": "__main__"}
    for block in HERE:
        if block.page != page or block.language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * block.line + block.source.replace(URL, server), str(page), "exec"), names)
        compare(printed.getvalue(), block)


def test_shown_files_are_the_files():
    shown = [block for page in PAGES for block in blocks(page) if block.mark.startswith("same as ")]
    for block in shown:
        path = block.mark.removeprefix("same as ")
        assert block.source == (ROOT / path).read_text(), f"{block}: {path}"


def test_table_of_options():
    table = subprocess.run([PROGRAM, "--print-options-markdown"], capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs/options.md").read_text()
    shown = re.search(r"^<!-- frictiond --print-options-markdown -->\n\n((?:\|.*\n)+)", page, re.M)
    assert shown and shown[1] == table


def test_c_example_prints_what_is_shown(tmp_path):
    """docs/library.md, without installing the library."""
    page = next(block for block in blocks(ROOT / "docs/library.md") if block.language == "text")
    shown = snippets.Block(page.page, page.line, "run", "c", "", output=page)
    folder = PROGRAM.parent / "release" if (PROGRAM.parent / "release/libfric.a").exists() else PROGRAM.parent
    sanitizers = "-fsanitize=address,undefined" if os.environ.get("MODE") == "asan" else ""
    source = "examples/c/sliding_block.c"
    shell(f"cc {sanitizers} -Icore {source} '{folder}/libfric.a' -fopenmp -lm -o '{tmp_path}/example'")
    compare(shell(f"'{tmp_path}/example'"), shown)


def anchors(page):
    """The anchors that repository browsers give the headings of a page."""
    names = []
    for heading in re.findall(r"^#+ (.*)$", snippets.without_blocks(page), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        again = sum(re.fullmatch(re.escape(name) + r"(-\d+)?", other) is not None for other in names)
        names.append(f"{name}-{again}" if again else name)
    return names


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links(page):
    """Links and pictures: the file exists, and so does the heading."""
    for link in re.findall(r"\]\(([^)\s]+)\)", snippets.without_blocks(page)):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), f"{name_of(page)}: {link}"
        assert not anchor or anchor in anchors(target), f"{name_of(page)}: {link}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pictures_say_what_they_show(page):
    for text, path in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", page.read_text()):
        assert len(text) > 20, f"{name_of(page)}: {path}: a line for those who cannot see it"


# Symbols that once had a second meaning: eigenvalues, a squared distance, the dimension, a direction, a scaling.
SECOND_MEANINGS = r"λ[∥⊥]|D̂|D = d²|\bd ?[−×] ?\(?[d1]|[μ1] t[01₀₁]\)|diag\(a\)|direction t\b|u = x − x"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_symbols_have_one_meaning(page):
    assert not re.findall(SECOND_MEANINGS, page.read_text())


def test_speed_in_the_queries_is_the_measured_one():
    told = re.search(r"One core evaluates (\d+) to (\d+) million contacts a second \(`potential_gradient`",
                     (ROOT / "docs/faq.md").read_text())
    row = re.search(r"^\| `potential_gradient` \| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|",
                    (ROOT / "docs/performance.md").read_text(), re.M)
    measured = sorted(1e3 / float(ns) for ns in row.groups()[1:])  # from 1e4 contacts to 1e6, one thread
    assert [float(million) for million in told.groups()] == pytest.approx([measured[0], measured[-1]], rel=0.05)


PROMISES = re.findall(r"^\| (.+) \| (.+) \|$", (ROOT / "SECURITY.md").read_text(), re.M)[1:]


@pytest.mark.parametrize("promise,tested", PROMISES, ids=[promise[:40] for promise, _ in PROMISES])
def test_promises_name_what_tries_them(promise, tested):
    """The files and the tests in them exist, and so do the targets of make."""
    files, targets = re.findall(r"`([\w./]+/[\w./]+)(?:::([^`]+))?`", tested), re.findall(r"`make ([a-z-]+)`", tested)
    assert files or targets, promise
    for path, name in files:
        assert (ROOT / path).exists(), path
        word = rf"\b{name}\(" if name.isidentifier() else re.escape(name)
        assert not name or re.search(word, (ROOT / path).read_text()), f"{path}: {name}"
    for target in targets:
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.M), target


def test_demo():
    """The output of `make demo`, including a few lines of make's, fits two screens of 24 lines."""
    program = os.path.relpath(PROGRAM, ROOT)  # as people see it: without the path of this checkout
    shown = shell(f"FRICTIOND={shlex.quote(program)} scripts/demo")
    assert "exit code 0" in shown and "WRONG" not in shown
    assert sum(max(1, math.ceil(len(line) / 80)) for line in shown.splitlines()) + 4 <= 2 * 24


def test_the_table_of_suites():
    """CONTRIBUTING.md: every folder with suites, targets that exist, and parts that find something."""
    text = (ROOT / "CONTRIBUTING.md").read_text().split("| suite | where |")[1].split("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines()[2:]]
    folders = {path.parent.name for path in ROOT.glob("tests/*/*") if path.name == "run" or path.name.startswith("test_")}
    assert folders | {"unit", "mutants"} <= {cell.strip("`").removeprefix("tests/") for row in rows for cell in row}
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    assert {name for row in rows for name in re.findall(r"`make ([a-z-]+)", " ".join(row))} <= targets
    for command in (word for row in rows for word in re.findall(r"`(tests/[^`]+)`", row[-1]) if " " in word):
        program, *words = command.split()
        pattern = words[-1] if program == "tests/run" else pathlib.PurePath(program).parent.name + "/test_" + words[-1]
        assert (ROOT / program).exists() and list(ROOT.glob(f"tests/{pattern.removeprefix('tests/')}*")), command
