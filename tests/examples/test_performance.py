"""docs/performance.md, "What a client sees" and "In process": the programs that measure run, and print what the tables
show."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from snippets import ROOT, command  # noqa: E402


def tables(text):
    """The first cells and the numbers of columns of all tables."""
    rows = re.findall(r"^\|(.*)\|$", text, re.M)
    return [(row.split("|")[0].strip(), row.count("|")) for row in rows]


def test_tables(server):
    printed = tables(command("/usr/bin/python3", "tests/bench/clients.py", server, "100"))
    section = (ROOT / "docs/performance.md").read_text().split("## What a client sees\n")[1].split("\n## ")[0]
    assert [row for row in tables(section) if row[0] not in ("1000", "10000", "100000")] == printed


def test_in_process():
    text = command("/usr/bin/python3", "tests/bench/in_process.py", "1", "1000")
    assert [row[0] for row in tables(text) if row[0].isdigit()] == ["1000", "1000"]
    assert len(tables(text)) == 9 and text.endswith("copied bytes: 0\n")
