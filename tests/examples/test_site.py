"""The documentation as a site (make docs): every page exists and can be reached, nothing is loaded from elsewhere."""
import html.parser
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
from xml.etree import ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from snippets import PAGES, ROOT, blocks, name_of  # noqa: E402

SITE = ROOT / "build/site"
loader = importlib.machinery.SourceFileLoader("site_builder", str(ROOT / "scripts/site"))
builder = importlib.util.module_from_spec(importlib.util.spec_from_loader("site_builder", loader))
loader.exec_module(builder)
import formulas  # noqa: E402
LEFT = re.compile(r"^\s*(?:[-*|] |\d+\. |```|#+ )|```|\{#|\]\(|\*\*", re.M)


class Page(html.parser.HTMLParser):
    """Collects the files that a page loads, its links, its ids, and its text by paragraphs."""

    def __init__(self, path):
        super().__init__()
        self.path, self.loads, self.links, self.ids, self.words = path, [], [], set(), []
        self.paragraphs, self.code, self.link = [], 0, None
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
            self.words.append("")
        elif tag != "a":
            self.loads += [attributes[key] for key in ("src", "href", "data", "srcset", "poster", "action")
                           if attributes.get(key)]
        if tag in ("p", "li", "td"):
            self.paragraphs.append("")
        self.code += tag in ("pre", "code")
        self.link = tag == "a" or self.link and tag == "code"

    def handle_endtag(self, tag):
        self.code -= tag in ("pre", "code")
        self.link = self.link and tag != "a"

    def handle_data(self, data):
        if self.paragraphs and not self.code:
            self.paragraphs[-1] += data
        if self.link and self.words:
            self.words[-1] += data


@pytest.fixture(scope="session")
def site():
    done = subprocess.run([ROOT / "scripts/site"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == ""
    return {path.relative_to(SITE): Page(path) for path in SITE.rglob("*.html") if "files" not in path.parts}


def of(page):
    """The path on the site of a page of the repository."""
    return pathlib.Path(builder.place_of(page.relative_to(ROOT)))


def test_every_page_is_in_the_navigation(site):
    """Of the first page, or of a page that has others below it."""
    linked = set()
    for page in site.values():
        linked |= {(page.path.parent / urllib.parse.unquote(link.partition("#")[0])).resolve() for link in page.links}
    assert [name_of(page) for page in PAGES if SITE / of(page) not in linked] == []
    start = {urllib.parse.unquote(link.partition("#")[0]) for link in site[pathlib.Path("index.html")].links}
    assert {"quickstart.html", "physics.html", "project/changelog.html", "examples/index.html"} <= start


def test_links_say_where_they_go(site):
    """By a name, not by "here" or the name of a file."""
    for page in site.values():
        for link, words in zip(page.links, page.words):
            assert words.strip(), f"{page.path}: {link}"
            assert not re.fullmatch(r"(?i)here|this|link|see|below|above|more|[\w/.-]+\.md", words.strip()), f"{page.path}: {words}"


def test_search_knows_pages_headings_and_symbols():
    text = (SITE / "search-index.js").read_text()
    index = json.loads(text.removeprefix("searchIndex = ").removesuffix(";\n"))
    assert {entry[0] for entry in index} == {str(of(page)) for page in PAGES}
    for entry in index:
        place, page, anchor, heading, words = entry
        assert page and f'id="{anchor}"' in (SITE / place).read_text(), entry
        assert not re.search(r"</?\w+>|BLOCK\d|\x02", words) or "<" in (SITE / place).read_text(), entry
    assert any("μs" in entry[4] for entry in index) and any("gzip" in entry[4] for entry in index)


FORMULAS = [  # as written, and parts of the MathML
    ("G1 = μs (2z − z²)", ["<msub><mi>G</mi><mn>1</mn></msub>", "<msub><mi>μ</mi><mi>s</mi></msub>", "<msup><mi>z</mi><mn>2</mn></msup>"]),
    ("(G2 y − G1)/y³", ["<mfrac><mrow><msub><mi>G</mi><mn>2</mn></msub><mi>y</mi><mo>−</mo>", "<msup><mi>y</mi><mn>3</mn></msup></mfrac>"]),
    ("λ = −κ b'(σ; σ̂) 2d", ["<msup><mi>b</mi><mo>′</mo></msup>", "<mi>σ̂</mi>"]),
    ("f1 = f0′", ["<msubsup><mi>f</mi><mn>0</mn><mo>′</mo></msubsup>"]),
    ("½ ε", ["<mfrac><mn>1</mn><mn>2</mn></mfrac>"]),
    ("(√π/2) erf x", ["<mfrac><msqrt><mi>π</mi></msqrt><mn>2</mn></mfrac>", "<mi>erf</mi>"]),
    ("∇²D = T A Tᵀ", ["<msup><mo>∇</mo><mn>2</mn></msup>", "<msup><mi>T</mi><mi>T</mi></msup>"]),
    ("y = ε (1 − √(1 − push/(μN)))", ["<msqrt><mrow><mn>1</mn><mo>−</mo>"]),
    ("v_s > 0", ["<msub><mi>v</mi><mtext>s</mtext></msub>", "<mo>&gt;</mo>"])]


@pytest.mark.parametrize("text,parts", FORMULAS, ids=[text for text, _ in FORMULAS])
def test_formulas(text, parts):
    math = formulas.formula(text)
    ElementTree.fromstring(math)
    for part in parts:
        assert part in math
    assert formulas.runs(f"Here, {text}, as before.") == [
        ("Here,", False), (" ", False), (text, True), (",", False), (" ", False), ("as", False), (" ", False), ("before.", False)]


@pytest.mark.parametrize("prose", ["in N/m³ and m/s", "20 μs, 40 μs", "a block of 3 kg", "in 2D and 3D", "A solver (or two) · a page",
                                   "version 12 or later", "I, and a, and 5"])
def test_prose_is_no_formula(prose):
    assert not [part for part, is_math in formulas.runs(prose) if is_math]


def test_nothing_comes_from_elsewhere(site):
    for page in site.values():
        for load in page.loads:
            assert not re.match(r"[a-z]+:|//", load) or load.startswith("data:"), f"{page.path}: {load}"
    for path in SITE.rglob("*.css"):
        for load in re.findall(r"url\(([^)]*)\)|@import\s+(\S+)", path.read_text()):
            load = "".join(load).strip("'\"")
            if not load.startswith("data:"):
                assert not re.match(r"[a-z]+:|//", load), f"{path}: {load}"
                assert (path.parent / re.split(r"[?#]", load)[0]).is_file(), f"{path}: {load}"


def test_links(site):
    for page in site.values():
        for link in page.links + page.loads:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.path.parent / urllib.parse.unquote(path)).resolve() if path else page.path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{page.path}: {link}"
            if anchor and target.suffix == ".html":
                assert anchor in site[target.relative_to(SITE)].ids, f"{page.path}: {link}"


def test_no_markdown_is_left(site):
    """The Markdown has no lists, tables or blocks that the site reads differently from a repository browser."""
    for page in PAGES:
        for text in site[of(page)].paragraphs:
            assert not LEFT.search(text), f"{name_of(page)}: {text}"


def test_all_blocks_are_there(site):
    for page in PAGES:
        text = (SITE / of(page)).read_text()
        assert text.count("<pre") + text.count('class="formulas"') >= len(blocks(page)), name_of(page)


def test_a_page_outside_the_navigation_is_a_fault():
    page = ROOT / "docs/not-in-the-navigation.md"
    page.write_text("# Nowhere\n")
    try:
        done = subprocess.run([ROOT / "scripts/site"], capture_output=True, text=True)
    finally:
        page.unlink()
    assert done.returncode == 1 and "docs/not-in-the-navigation.md" in done.stderr
