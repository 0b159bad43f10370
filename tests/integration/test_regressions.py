"""The patches of `make regressions` still apply."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGRESSIONS = ROOT / "tests" / "simulator" / "regressions"


@pytest.mark.parametrize("patch", sorted(REGRESSIONS.glob("*.patch")), ids=lambda patch: patch.stem)
def test_patch_applies(patch):
    done = subprocess.run(["patch", "--dry-run", "--silent", "-p1", "-d", ROOT, "-i", patch], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout


def test_every_patch_is_described():
    table = (REGRESSIONS.parent / "README.md").read_text()
    assert {patch.stem for patch in REGRESSIONS.glob("*.patch")} == {
        line.split("`")[1] for line in table.partition("| regression |")[2].partition("\n\n")[0].splitlines()[2:]}
