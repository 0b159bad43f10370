"""The documentation in Chromium: search, copying and themes from disk, the same pages from the service, and axe on every page."""
import itertools
import os
import pathlib
import subprocess

import pytest

from conftest import Page

ROOT = pathlib.Path(__file__).resolve().parents[2]
SITE = ROOT / "build/docs-site"
MODES = {"light": {}, "dark": {"colorScheme": "dark"}, "phone": {"viewport": {"width": 390, "height": 844}}}
AXE = """(rules) => axe.run(document, {preload: false, runOnly: rules}).then(({violations}) => violations.map(
    ({id, nodes}) => [id, nodes[0].html.slice(0, 200), nodes[0].failureSummary]))"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


def pages():
    """The pages that axe judges, each in all MODES. A share of them are short ones of every kind, in one mode each: they have
    the same parts."""
    subprocess.run([ROOT / "scripts/site", SITE], check=True)
    found = sorted(str(path.relative_to(SITE)) for path in SITE.rglob("*.html") if "files" not in path.parts)
    if os.environ.get("SHARE", "1") == "1":
        return list(itertools.product(found, MODES))
    return [("contents.html", "light"), ("frame.html", "dark"), ("conformance.html", "phone"), ("decisions/0002-double-double.html", "light")]


PAGES = pages()


@pytest.fixture(scope="module")
def disk(browser):
    return Page(browser, SITE.as_uri() + "/")


def test_search_from_disk_names_its_hits(disk):
    disk.open("sticking.html", settled=False)
    for text, hit, heading in (("μ_s", "μs", "slip below"), ("gzip", "gzip", "Troubleshooting › "), ("MU_S", "mu_s", "Choosing a friction law")):
        disk.run("await state.page.fill('#search', given.text)", text=text)
        disk.wait("(hit) => [...document.querySelectorAll('#results li p mark')].some((mark) => mark.textContent.toLowerCase() === hit)",
                  hit)
        hits = disk.see("() => [...document.querySelectorAll('#results li a')].map((link) => [link.textContent, link.href])")
        assert any(heading in title for title, _ in hits), (text, hits)
        assert all(link.startswith(SITE.as_uri()) and "#" in link for _, link in hits)
        assert disk.see("() => document.querySelector('#found').textContent").split()[1].startswith("section")
    disk.run("await state.page.click('#results li a')")
    disk.wait("() => location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))")
    disk.run("await state.page.fill('#search', 'zzzz')")
    disk.wait("() => document.querySelector('#found').textContent === 'Nothing has “zzzz”.'")
    assert disk.run("return state.messages") == []


def test_keys(disk):
    disk.open("frame.html", settled=False)
    disk.run("await state.page.keyboard.press('/')")
    assert disk.see("() => document.activeElement.id") == "search"
    disk.run("await state.page.keyboard.type('tail')")
    disk.wait("() => document.querySelector('#results li')")
    disk.run("await state.page.keyboard.press('Escape')")
    assert disk.see("() => document.querySelector('#results').hidden")


def test_code_is_copied(disk):
    disk.open("quickstart.html", settled=False, permissions=["clipboard-read", "clipboard-write"])
    disk.run("await state.page.locator('.code', {hasText: 'import numpy'}).locator('button').first().click()")
    disk.wait("() => document.querySelector('.copy') && [...document.querySelectorAll('.copy')].some((b) => b.textContent === 'Copied')")
    copied = disk.see("() => navigator.clipboard.readText()")
    assert copied in (ROOT / "docs/quickstart.md").read_text() and copied.startswith("import numpy as np\n")


def test_a_chosen_theme_is_kept(disk):
    color = "() => getComputedStyle(document.body).backgroundColor"
    disk.open("index.html", settled=False)
    light = disk.see(color)
    disk.run("await state.page.click('#theme')")
    dark = disk.see(color)
    assert dark != light
    disk.run("await state.page.goto(given.url)", url=disk.base + "frame.html")
    assert disk.see(color) == dark
    disk.open("index.html", settled=False, colorScheme="dark")
    assert disk.see(color) == dark
    disk.run("await state.page.click('#theme')")
    assert disk.see(color) == light


def test_without_scripts_everything_is_there(disk):
    disk.open("physics.html", settled=False, javaScriptEnabled=False)
    assert disk.run("return state.page.locator('.menu a').count()") > 40
    assert disk.run("return state.page.locator('math').count()") > 200
    assert disk.run("return state.page.locator('#theme').isVisible()") is False


def test_lines_of_text_are_short(disk):
    """70 characters: the width of a paragraph over the mean width of its letters."""
    disk.open("sticking.html", settled=False, viewport={"width": 1920, "height": 1000})
    longest = disk.see("""() => Math.max(...[...document.querySelectorAll('main > p')].map((p) => {
        const range = document.createRange();
        const text = [...p.childNodes].find((node) => node.nodeType === 3 && node.length > 200);
        if (!text) return 0;
        range.selectNodeContents(text);
        return text.length / new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
    }))""")
    assert 40 < longest < 85


def test_the_service_has_the_same_pages(page_of, server):
    page = page_of(server)
    page.open("/docs/", settled=False)
    page.run("await state.page.fill('#search', 'gzip')")
    page.wait("() => document.querySelector('#results li')")
    page.run("await state.page.click('#results li a')")
    page.wait("() => document.querySelector('math, h1')")
    page.run("await state.page.goto(given.url)", url=server + "/docs/physics.html")
    page.wait("() => [...document.images].every((image) => image.loading === 'lazy' || image.complete)")
    assert page.complaints() == []
    assert all(url.startswith(server + "/docs/") for url in page.run("return state.asked"))


def test_figures_live_before_they_are_touched(page_of, server):
    page = page_of(server)
    page.open("/docs/friction.html", settled=False)
    page.wait("() => document.querySelectorAll('[data-live]').length === 3")
    cone, law, anchor = (f"[data-figure={name}]" for name in ("cone", "law", "anchor"))
    assert page.text(f"{cone} figcaption") == "Slip 1.40 ε: friction is 1.00 μ λ, on the rim."
    assert page.text(f"{law} figcaption") == "Push 0.50 μ λ: creeps at 0.29 ε."
    assert page.text(f"{anchor} figcaption") == "With an anchor, friction reaches 1.00 μ λ and the contact slides."
    page.run("await state.page.fill('#figure-speed', '0.5')")
    page.wait("() => document.querySelector('[data-figure=cone] figcaption').textContent.includes('0.75 μ λ')")
    page.run("await state.page.fill('#figure-push', '1.2')")
    assert "accelerates" in page.text(f"{law} figcaption")
    page.run("await state.page.fill('#figure-way', '0.4')")
    page.wait("() => document.querySelector('[data-figure=anchor] figcaption').textContent.includes('0.64 μ λ: it sticks')")
    assert page.complaints() == []
    assert all(url.startswith(server) for url in page.run("return state.asked"))
    page.run("await state.page.evaluate(state.fs.readFileSync(state.axe, 'utf8'))")  # the policy forbids inline scripts
    assert page.see(AXE, RULES) == []


def test_figures_on_disk_are_still(disk):
    disk.open("friction.html", settled=False)
    assert disk.see("() => document.querySelectorAll('[data-figure] img').length") == 3
    assert disk.see("() => document.querySelectorAll('[data-live]').length") == 0
    assert disk.run("return state.messages") == []


def test_pages_are_accessible(disk):
    for name, mode in PAGES:
        disk.open(name, settled=False, **MODES[mode])
        disk.run("await state.page.addScriptTag({path: state.axe})")
        assert disk.see(AXE, RULES) == [], (name, mode)
        assert disk.see("() => document.documentElement.scrollWidth <= innerWidth"), f"{name} is too wide"
        assert disk.run("return state.messages") == [], name
