"""The documentation as a site (make docs): every page exists and can be reached, nothing is loaded from elsewhere."""
import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from snippets import PAGES, ROOT, blocks, name_of  # noqa: E402

SITE = ROOT / "build/site"
LEFT = re.compile(r"^\s*(?:[-*|] |\d+\. |```|#+ )|```|\{#|\]\(|\*\*", re.M)


class Page(html.parser.HTMLParser):
    """Collects the files that a page loads, its links, its ids, and its text by paragraphs."""

    def __init__(self, path):
        super().__init__()
        self.path, self.loads, self.links, self.ids = path, [], [], set()
        self.paragraphs, self.inside, self.code = [], [], 0
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.ids |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])
        elif tag != "a":
            self.loads += [attributes[key] for key in ("src", "href", "data", "srcset", "poster", "action")
                           if attributes.get(key)]
        if tag in ("p", "li", "td"):
            self.paragraphs.append("")
        self.code += tag in ("pre", "code")

    def handle_endtag(self, tag):
        self.code -= tag in ("pre", "code")

    def handle_data(self, data):
        if self.paragraphs and not self.code:
            self.paragraphs[-1] += data


@pytest.fixture(scope="session")
def site():
    done = subprocess.run([ROOT / "scripts/site"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == ""
    return {path.relative_to(SITE): Page(path) for path in SITE.rglob("*.html")
            if path.name != "tile.html"}


def of(page):
    """The path on the site of a page of the repository."""
    path = page.relative_to(ROOT)
    return path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")


def test_every_page_is_in_the_navigation(site):
    linked = {urllib.parse.unquote(link.partition("#")[0]) for link in site[pathlib.Path("index.html")].links}
    assert [name_of(page) for page in PAGES if str(of(page)) not in linked and page != ROOT / "README.md"] == []


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
        assert text.count("<pre") >= len(blocks(page)), name_of(page)


def test_a_page_outside_the_navigation_is_a_fault():
    page = ROOT / "docs/not-in-the-navigation.md"
    page.write_text("# Nowhere\n")
    try:
        done = subprocess.run([ROOT / "scripts/site"], capture_output=True, text=True)
    finally:
        page.unlink()
    assert done.returncode == 1 and "docs/not-in-the-navigation.md" in done.stderr
