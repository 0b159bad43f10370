"""How everything looks to all readers. Marks that have to be told apart, in every view and in every picture of the documentation, on light and on dark pages:
for readers with three forms of colour-blindness their colours differ by at least 10 (CIEDE2000), unless they differ in
shape, dash or letter. Pages on paper, as Chromium prints them, and in forced colours, by their pixels."""
import itertools
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import colours
from conftest import Page, servers
from test_views import view  # noqa: F401

sys.path.insert(0, str(servers.ROOT / "scripts"))
import plots  # noqa: E402

LEAST = 10
SCHEMES = ["light", "dark"]
PICTURES = sorted((servers.ROOT / "docs/pictures").glob("*.svg"))


def rgb(text):
    """Of "rgb(1, 2, 3)" or "#010203"."""
    return [int(text[i:i + 2], 16) for i in (1, 3, 5)] if text.startswith("#") else [float(v) for v in re.findall(r"[\d.]+", text)[:3]]


def confused(marks):
    """Pairs of marks [kind, form, colour] of different kinds and of one form whose colours are alike for somebody."""
    kinds = {tuple(mark) for mark in marks}
    found = []
    for one, other in itertools.combinations(sorted(kinds), 2):
        if one[0] == other[0] or one[1] != other[1]:
            continue
        difference, blindness = colours.least(rgb(one[2]), rgb(other[2]))
        if difference < LEAST:
            found.append((one, other, round(difference, 1), blindness))
    return found


# ---- the measure ----

def test_differences_are_those_that_are_published():
    """Sharma, Wu and Dalal 2005."""
    for one, other, expected in (((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425), ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
                                 ((50, 2.5, 0), (73, 25, -18), 27.1492), ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082)):
        assert colours.difference(one, other) == pytest.approx(expected, abs=1e-4)


def test_alike_colours_are_found():
    red, green = "#b05030", "#707000"
    assert colours.difference(colours.lab(rgb(red)), colours.lab(rgb(green))) > 20
    assert [each[3] for each in confused([["a", "line", red], ["b", "line", green]])] == ["deutan"]
    assert confused([["a", "line", red], ["b", "dashed", green]]) == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_palette(scheme):
    palette = [plots.BLUE, plots.ORANGE, plots.GREEN, plots.YELLOW, plots.SKY, plots.PINK, plots.SOFT, plots.INK]
    assert confused([[k, "line", plots.IN_THE_DARK[color] if scheme == "dark" else color] for k, color in enumerate(palette)]) == []


def test_styles_have_the_palette():
    """The explorer's and the documentation's style sheets have colours of the palette for what they mark."""
    for file, names in (("web/explorer.css", {"curve": plots.BLUE, "slip": plots.BLUE, "force": plots.ORANGE, "static": plots.PINK, "kinetic": plots.GREEN,
                                              "normal": plots.GREEN, "moving": plots.YELLOW, "gravity": plots.SOFT, "soft": plots.SOFT}),
                        ("docs/site/site.css", {"blue": plots.BLUE, "orange": plots.ORANGE, "soft": plots.SOFT})):
        text = (servers.ROOT / file).read_text()
        for name, color in names.items():
            found = re.findall(rf"--{name}: (#\w+)", text)
            assert len(found) >= 2 and {found[0], *found[1:]} <= {color, plots.IN_THE_DARK[color], "#333"} and found[0] == color, (file, name)


# ---- views ----

# All marks in visible pictures: what it is, by its class; its form; its colour. What only supports others (axes, floors) is
# left out. An arrow is one mark.
MARKS = """() => {
    const support = "grid zero kink guide floor track rim ground mass corner spring spoke handle cell hair rect block".split(" ");
    const isShown = (colour) => colour !== "none" && !/^rgba.*, 0\\)$/.test(colour);
    return [...document.querySelectorAll("main svg")].filter((svg) => svg.getClientRects().length).map((svg) => {
        const marks = [];
        for (const arrow of svg.querySelectorAll(".arrow"))
            marks.push([arrow.getAttribute("class"), ["arrow", arrow.querySelectorAll("polygon").length, arrow.querySelectorAll("polyline").length,
                getComputedStyle(arrow.firstChild).strokeDasharray, arrow.querySelector("text")?.textContent ?? ""].join(" "), getComputedStyle(arrow).color]);
        for (const shape of svg.querySelectorAll("line, path, polyline, polygon, ellipse, circle, rect")) {
            const kind = shape.getAttribute("class") ?? "", style = getComputedStyle(shape);
            if (shape.closest(".arrow") || !shape.getClientRects().length || kind.split(" ").some((name) => support.includes(name))) continue;
            const isFilled = isShown(style.fill) && !/^(line|polyline)$/.test(shape.tagName);
            const colour = isFilled ? style.fill : style.stroke;
            if (!isShown(colour)) continue;
            const size = shape.tagName === "circle" ? Math.round(shape.r.baseVal.value) : Math.round(parseFloat(style.strokeWidth));
            marks.push([kind, [shape.tagName, isFilled ? "filled" : style.strokeDasharray, size, isFilled && isShown(style.stroke)].join(" "), colour]);
        }
        return [svg.id || svg.dataset.function || svg.dataset.chart || svg.parentElement.textContent.trim(), marks];
    }); }"""
STATES = {
    "start": ["await state.page.fill('#start-angle', '44'); await state.page.fill('#start-mu_s', '0.3')"],
    "laws": ["", "await state.page.selectOption('#friction-law', 'curve'); await state.page.fill('#angle', '30'); await state.page.fill('#speed', '0.5')"],
    "motion": ["await state.page.selectOption('#motion-kind', 'oscillator')", "await state.page.selectOption('#motion-kind', 'ball')"],
    "fit": [""],
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", STATES)
def test_marks_of_a_view(view, name, scheme):  # noqa: F811
    page = view(name, reducedMotion="reduce", colorScheme=scheme)
    seen = 0
    for act in STATES[name]:
        page.run(act)
        page.idle()
        for picture, marks in page.see(MARKS):
            seen += len(marks)
            assert confused(marks) == [], picture
    assert seen > 5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_marks_of_a_batch(view, scheme):  # noqa: F811
    """On the canvas, by their colours in web/batch_scene.js; each of the legend's entries has a sample."""
    page = view("batch", colorScheme=scheme)
    style = page.see("""() => Object.fromEntries("soft ink normal static kinetic slip force moving accent curve raised".split(" ").map((name) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(--${name})`;
        const colour = getComputedStyle(probe).color;
        probe.remove();
        return [name, colour]; }))""")
    marks = [("stencil", "line", "soft"), ("first tangent", "line", "ink"), ("kinetic limit", "line", "kinetic"),
             ("body", "dashed", "soft"), ("second tangent", "dashed", "ink"), ("static limit", "dashed", "static"), ("F along slip", "dashed", "force"),
             ("F", "solid head", "force"), ("u", "open head", "slip"), ("N", "double head", "normal"),
             ("sticks", "ring", "normal"), ("skipped", "ring", "soft"), ("slides", "disc", "moving"),
             ("chosen", "large ring", "moving"), ("selected", "large ring", "accent"),
             ("bar", "bar", "curve"), ("background", "bar", "raised"), ("chosen bar", "outlined bar", "moving")]
    assert confused([(kind, form, style[name]) for kind, form, name in marks]) == []
    source = (servers.ROOT / "web/batch_scene.js").read_text()
    assert re.search(r"const COLOURS = \[(.*)\]", source)[1].replace('"--', "").replace('"', "").split(", ") == [
        "soft", "ink", "normal", "static", "kinetic", "slip", "force", "moving", "accent"]


# ---- the documentation ----

# Shapes of a picture by their colour: those of ink, paper and greys support others. A mark of a drawing is named by its
# class, and arrows by the shape of their heads.
DRAWN = """() => [...document.querySelectorAll("path, line, circle, rect, use, polygon, ellipse")].map((shape) => {
    const style = getComputedStyle(shape), kind = shape.getAttribute("class") ?? shape.parentElement.getAttribute("class") ?? "";
    const head = shape.parentElement.querySelector(`.${kind}-head`) ? kind : "";
    const isFilled = style.fill !== "none" && !/^rgba.*, 0\\)$/.test(style.fill) && !shape.matches("line");
    const shadow = shape.tagName === "use" ? shape.getAttribute("href") : "";
    return [isFilled ? style.fill : style.stroke, [shape.tagName, shadow, isFilled, isFilled ? "" : style.strokeDasharray,
        Math.round(parseFloat(style.strokeWidth)), head].join(" ")]; })"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_marks_of_pictures(browser, scheme):
    page = Page(browser, "")
    support = {tuple(rgb(color)) for light in (plots.INK, plots.PAPER, plots.SOFT, plots.GRID, plots.BODY)
               for color in (light, plots.IN_THE_DARK[light])}
    for file in PICTURES[::servers.ONE_IN]:
        page.open(file.as_uri(), settled=False, colorScheme=scheme)
        marks = [[color, form, color] for color, form in page.see(DRAWN) if color != "none" and tuple(rgb(color)) not in support]
        assert confused(marks) == [], file.name
        if plots.MARK in file.read_text():
            known = {plots.IN_THE_DARK.get(color, color) if scheme == "dark" else color for color in (
                plots.BLUE, plots.ORANGE, plots.GREEN, plots.YELLOW, plots.SKY, plots.PINK)}
            odd = {tuple(rgb(color)) for color, _, _ in marks} - {tuple(rgb(color)) for color in known}
            assert len(odd) <= (3 if pathlib.Path(file).stem in ("features",) else 0), (file.name, odd)


# ---- on paper, and in forced colours ----

PAGES = ["/#v1/start", "/#v1/laws", "/#v1/batch", "/#v1/motion", "/#v1/fit", "/errors/unknown_field", "/docs/index.html", "/docs/laws.html",
         "/docs/friction.html", "/docs/explorer.html", "/docs/reference/evaluate.html", "/docs/validation.html"]


def ppm(data):
    """The pixels of a binary PPM, [height, width, 3]."""
    magic, width, height, depth = data.split(maxsplit=4)[:4]
    assert magic == b"P6" and depth == b"255"
    size = 3 * int(width) * int(height)
    return np.frombuffer(data[-size:], np.uint8).reshape(int(height), int(width), 3)


def sheets(file, folder, most=8):
    subprocess.run(["pdftoppm", "-r", "60", "-l", str(most), file, folder / "sheet"], check=True)
    return [ppm(path.read_bytes()) for path in sorted(folder.glob("sheet*.ppm"))]


@pytest.mark.parametrize("path", PAGES)
def test_print_is_dark_on_white(browser, server, page_of, tmp_path, path):
    """Also when the page is dark: white paper, and ink as dark as in the light. Screenshots are left out."""
    page = page_of(server)
    page.open(path, settled=False, colorScheme="dark", reducedMotion="reduce")
    page.idle()
    page.run("""await state.page.evaluate(() => Promise.all([...document.images].map((image) => { 
            image.loading = "eager";
            if (image.src.endsWith(".png")) image.style.visibility = "hidden";
            return image.decode(); })));
        await state.page.pdf({path: given.path})""", path=str(tmp_path / "page.pdf"))
    found = sheets(tmp_path / "page.pdf", tmp_path)
    assert found
    for sheet in found:
        light, ink = sheet.max(axis=2), sheet.min(axis=2) < 200
        assert np.mean(sheet.min(axis=2) >= 245) > 0.6 and np.mean(light < 100) < 0.1
        if np.mean(ink) > 0.002:  # not an empty sheet
            assert light.min() < 100 and np.mean(light < 110) > 0.1 * np.mean(light < 215)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["start", "laws", "batch", "motion", "fit"])
def test_forced_colours(view, name, scheme):  # noqa: F811
    """Text, lines and controls have colours of the system, with contrast against its canvas."""
    page = view(name, reducedMotion="reduce", forcedColors="active", colorScheme=scheme)
    seen = page.see(r"""() => {
        const probe = document.body.appendChild(document.createElement("i")), system = new Set();
        probe.style.forcedColorAdjust = "none";
        for (const name of ["Canvas", "CanvasText", "LinkText", "GrayText", "ButtonFace", "ButtonText"]) {
            probe.style.color = name;
            system.add(getComputedStyle(probe).color);
        }
        probe.style.color = "Canvas";
        const canvas = getComputedStyle(probe).color, odd = [];
        probe.remove();
        let n = 0;
        for (const shape of document.querySelectorAll("main svg :is(text, path, line, polyline, ellipse, circle, polygon, rect)")) {
            if (!shape.getClientRects().length || shape.closest(".marks")) continue;
            const {fill, stroke} = getComputedStyle(shape), own = [fill, stroke].filter((c) => c.startsWith("rgb") && !/^rgba.*, 0\)$/.test(c));
            n++;
            if (own.some((c) => !system.has(c.replace(/rgba\((.*), [.\d]+\)/, "rgb($1)")))) odd.push([shape.outerHTML.slice(0, 90), ...own]);
            const visible = shape.tagName === "text" ? fill !== canvas : own.some((c) => c !== canvas);
            if (!visible && own.length) odd.push(["invisible", shape.outerHTML.slice(0, 90), ...own]);
        }
        return {n, odd}; }""")
    assert seen["odd"][:5] == [] and (seen["n"] > 10 or name == "batch")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_batch_in_forced_colours(view, scheme):  # noqa: F811
    """The canvas has the system's background, and arrows that are visible on it."""
    page = view("batch", forcedColors="active", colorScheme=scheme)
    shades = page.see("""() => { const canvas = document.querySelector("#batch-scene"), to = canvas.getContext("2d");
        const bytes = to.getImageData(0, 0, canvas.width, canvas.height).data, counts = new Map();
        for (let i = 0; i < bytes.length; i += 4) {
            const shade = (bytes[i] + bytes[i + 1] + bytes[i + 2]) / 3 > 127;
            counts.set(shade, (counts.get(shade) ?? 0) + 1);
        }
        return [counts.get(true) ?? 0, counts.get(false) ?? 0]; }""")
    paper, ink = shades if scheme == "light" else shades[::-1]
    assert paper > 0.8 * sum(shades) and ink > 0.002 * sum(shades)
