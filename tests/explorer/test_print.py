"""Pages on paper, as Chromium prints them, and in forced colours, by their pixels."""
import subprocess

import numpy as np
import pytest

from test_views import view  # noqa: F401

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
