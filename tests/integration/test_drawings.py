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
