"""The tables of reference values match the output of their generators."""
import os
import subprocess
import sys

import pytest

REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference")
GENERATORS = sorted(name for name in os.listdir(REFERENCE) if name.startswith("make_"))
# A share has every fourth: they change only with the generator or the table.
CHOSEN = GENERATORS[::4 if int(os.environ.get("SHARE", 1)) > 1 else 1]


def test_there_are_generators():
    assert {"make_barrier.py", "make_barriers.py", "make_peak.py", "make_scalars.py"} <= set(GENERATORS)


@pytest.mark.parametrize("generator", CHOSEN)
def test_a_table_is_what_its_generator_writes(generator, tmp_path):
    subprocess.run([sys.executable, os.path.join(REFERENCE, generator), tmp_path / "made"], check=True)
    table = generator.replace("make_", "").replace(".py", "_mp.txt")
    with open(os.path.join(REFERENCE, table), "rb") as stored:
        assert (tmp_path / "made").read_bytes() == stored.read()
