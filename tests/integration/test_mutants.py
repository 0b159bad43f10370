"""The faults of `make mutants` can still be put into the code, and the suites that should notice them exist."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def mutants(*words):
    return subprocess.run([ROOT / "scripts" / "mutants", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_fault_can_be_put_in():
    done = mutants("--check")
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith(" passed, 0 failed\n")


def test_there_are_faults_of_all_wings():
    listed = mutants("--list").stdout
    files = [line.rpartition("): ")[0].rpartition("(")[2] for line in listed.splitlines()]
    assert len(files) >= 150
    wings = {path.parent for hall in ("core", "api", "server") for path in (ROOT / hall).glob("*/*.c")}
    assert {str(wing.relative_to(ROOT)) for wing in wings} <= {name.rpartition("/")[0] for name in files}
