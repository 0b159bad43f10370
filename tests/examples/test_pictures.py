"""docs/pictures are the pictures that scripts/pictures draws."""
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from snippets import ROOT, environment  # noqa: E402

NAMES = sorted(re.findall(r'save\(figure, folder, "([\w-]+)"\)', (ROOT / "scripts/pictures").read_text()))
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


@pytest.fixture(scope="session")
def drawn(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    subprocess.run([ROOT / "scripts/pictures", folder, server], check=True, env=environment())
    return folder


def shapes(path):
    """The texts in a picture, and the coordinates of its lines."""
    root = ElementTree.parse(path).getroot()
    words = [element.text for element in root.iter() if element.tag.endswith("}text")]
    lines = [[float(x) for x in NUMBER.findall(element.get("d"))] for element in root.iter() if element.get("d")]
    return words, lines


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_up_to_date(drawn, name):
    words, lines = shapes(ROOT / f"docs/pictures/{name}.svg")
    new_words, new_lines = shapes(drawn / f"{name}.svg")
    assert words == new_words
    assert len(lines) == len(new_lines)
    for one, other in zip(lines, new_lines):
        assert one == pytest.approx(other, abs=0.15)  # written with one decimal


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_in_a_page(name):
    pages = {"docs/physics.md": "pictures", "docs/contacts.md": "pictures", "docs/laws.md": "pictures",
             "docs/sticking.md": "pictures", "README.md": "docs/pictures"}
    assert any(f"({folder}/{name}.svg)" in (ROOT / page).read_text() for page, folder in pages.items())
