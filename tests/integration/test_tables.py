"""Tables of numbers are as their scripts write them, and have the properties that the code relies on."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_powers_of_ten_are_exact_and_enough_for_printing():
    done = subprocess.run([ROOT / "scripts" / "powers_of_ten", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
