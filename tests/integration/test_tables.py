"""Tables of numbers are exact, and have the properties that the code relies on."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / os.environ.get("FRICTIOND", "build/frictiond")


def test_powers_of_ten_are_exact_and_enough_for_printing():
    done = subprocess.run([ROOT / "scripts" / "powers_of_ten", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
