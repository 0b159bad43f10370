"""docs/pictures has the drawings of scripts/drawings as they are: small, with text as text, and readable in the dark."""
import pathlib
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = re.findall(r'"([\w-]+)": \w+', re.search(r"DRAWINGS = \{(.*?)\}", (ROOT / "scripts/drawings").read_text(), re.S)[1])
PAGES = "\n".join(page.read_text() for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")])


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawings")
    subprocess.run([ROOT / "scripts/drawings", folder], check=True)
    return folder


def luminance(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_drawing(drawn, name):
    text = (ROOT / f"docs/pictures/{name}.svg").read_text()
    assert text == (drawn / f"{name}.svg").read_text()
    assert len(text) < 40000 and re.search(rf"\(\S*pictures/{name}\.svg\)", PAGES)
    root = ElementTree.fromstring(text)
    assert len([one for one in root.iter() if one.tag.endswith("}text")]) > 3
    width, height = (float(number) for number in root.get("viewBox").split()[2:])
    for one in root.iter():
        if one.tag.endswith("}text"):
            assert 0 <= float(one.get("x")) <= width and 0 <= float(one.get("y")) <= height - 2, "".join(one.itertext())


def test_colours_stand_out(drawn):
    """Text by 4.5, lines and arrows by 3, on light and on dark paper."""
    style = re.search(r"<style>(.*?)</style>", (drawn / "contact.svg").read_text(), re.S)[1]
    for part in style.split("@media"):
        colors = {name.strip(): color for names, color in re.findall(r"([^{}]+)\{[^{}]*?(?:fill|stroke): (#[0-9a-f]{6})", part)
                  for name in names.split(",")}
        paper = colors[".paper"]
        for name in ("text", ".soft"):
            assert contrast(colors[name], paper) >= 4.5, name
        for name in (".force-head", ".velocity", ".normal", ".basis", ".line", ".curve"):
            if name in colors:
                assert contrast(colors[name], paper) >= 3, name


PLOTS = sorted(path.name for path in (ROOT / "docs/pictures").glob("*.svg") if path.stem not in NAMES)


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_small_and_change_with_the_page(name):
    file = ROOT / "docs/pictures" / name
    text = file.read_text()
    assert file.stat().st_size <= 40_000, f"run scripts/plots.py {file}"
    light, dark = text.split("@media (prefers-color-scheme: dark)")
    assert "fill: #ffffff" in light and "fill: #1b2027" in dark.split("</style>")[0]
    ElementTree.fromstring(text)


def test_plots_keep_what_is_seen(tmp_path):
    """Points of straight parts go; corners, text and markers stay. Once rewritten, a file stays as it is."""
    file = tmp_path / "plot.svg"
    line = "L".join(f"{x} {100 if x < 50 else 50} " for x in range(100))
    file.write_text(f'''<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 100 100">
        <metadata>none</metadata><g id="a"><path d="M{line}" style="fill: none; stroke: #0072b2; stroke-width: 1.8"/></g>
        <defs><path id="m" d="M0 -1.234 L 1 1 z" style="stroke: #000000"/></defs>
        <use xlink:href="#m" x="12.345" y="0.04" style="fill: #000000; stroke: #000000"/><text style="font: 9px x" transform="rotate(-0 1 2)">μ &lt; 1</text></svg>''')
    subprocess.run([ROOT / "scripts/plots.py", file], check=True)
    text = file.read_text()
    assert 'd="M0 100l49 0l1-50l49 0"' in text and "μ &lt; 1" in text and "metadata" not in text and "rotate" not in text
    assert 'href="#i0"' in text and 'x="12.3"' in text and 'y="0"' in text and "#5093e0" in text.split("@media")[1]
    subprocess.run([ROOT / "scripts/plots.py", file], check=True)
    assert file.read_text() == text
