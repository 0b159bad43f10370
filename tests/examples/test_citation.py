"""CITATION.cff: valid by version 1.2.0 of the Citation File Format, and true of the project."""
import pathlib
import re
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
REQUIRED = {"cff-version", "message", "title", "authors"}
KNOWN = REQUIRED | {"abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license", "license-url",
                    "preferred-citation", "references", "repository", "repository-artifact", "repository-code", "type", "url",
                    "version"}


def faults(citation):
    """Of the keys that the file has; others would have to be checked, too."""
    yield from (f"{key} is missing" for key in REQUIRED - citation.keys())
    yield from (f"{key} is not known" for key in citation.keys() - KNOWN)
    yield from (f"{key} is not checked" for key in citation.keys() & KNOWN - REQUIRED - {
        "abstract", "keywords", "license", "type", "version"})
    texts = [(key, value) for key, value in citation.items() if key not in ("authors", "keywords")]
    texts += [("keywords", word) for word in citation.get("keywords", [])]
    texts += [("authors", author.get("name")) for author in citation.get("authors", [])]
    yield from (f"{key} is not a text: {text!r}" for key, text in texts if not isinstance(text, str) or not text)
    yield from (f"author with {author.keys()}" for author in citation.get("authors", []) if author.keys() != {"name"})
    for key in ("authors", "keywords"):
        if key in citation and (not citation[key] or len({str(item) for item in citation[key]}) < len(citation[key])):
            yield f"{key} is empty, or has something twice"
    if citation.get("type", "software") not in ("software", "dataset"):
        yield f"type is {citation['type']}"
    if citation.get("cff-version") != "1.2.0":
        yield "not version 1.2.0"


def test_it_is_valid():
    assert list(faults(CITATION)) == []


@pytest.mark.parametrize("key,value", [
    ("title", None), ("authors", []), ("authors", [{"name": ""}]), ("authors", [{"family": "A"}]), ("version", 0.1),
    ("keywords", ["a", "a"]), ("type", "program"), ("licence", "MIT"), ("cff-version", "1.0.0")])
def test_faults_are_noticed(key, value):
    spoilt = {**CITATION, key: value}
    if value is None:
        del spoilt[key]
    assert list(faults(spoilt)) != []


def test_it_is_true():
    version = subprocess.run([ROOT / "scripts/version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    licence = (ROOT / "LICENSE").read_text()
    assert CITATION["version"] == version
    assert licence.startswith(f"{CITATION['license']} License\n")
    assert re.search(r"^Copyright \(c\) \d+ (.*)$", licence, re.M)[1] in {author["name"] for author in CITATION["authors"]}
    assert (ROOT / re.search(r"\S+\.md", CITATION["message"])[0]).exists()
