"""core/fric.abi and api/frictiond.abi (scripts/abi) record everything in the libraries' headers that compiled programs
depend on."""
import re
import shutil
import struct
import subprocess

import pytest

from conftest import ONE_IN, ROOT

HEADERS = ("core/fric.h", "core/fric_mollifier.h", "api/frictiond.h")
pytestmark = pytest.mark.skipif(struct.calcsize("P") != 8, reason="the record is that of 64-bit systems")


def run(root, *options):
    done = subprocess.run([ROOT / "scripts/abi", "--root", root, *options], capture_output=True, text=True)
    assert not done.stderr
    return done.returncode, done.stdout


def test_the_record_is_true():
    assert run(ROOT) == (0, "")


@pytest.mark.parametrize("record,header,least", [("core/fric.abi", "core/fric.h", 11), ("api/frictiond.abi", "api/frictiond.h", 5)])
def test_the_record_has_every_member(record, header, least):
    """Members follow one another with gaps smaller than a pointer, up to the end of their struct."""
    structs = re.findall(r"^struct \w+ (\d+)\n((?:  .*\n)+)", (ROOT / record).read_text(), re.M)
    assert len(structs) == len(re.findall(r"^struct \w+ \{", (ROOT / header).read_text(), re.M)) >= least
    for size, members in structs:
        places = [tuple(map(int, place)) for place in re.findall(r" at (\d+), (\d+) bytes$", members, re.M)]
        ends = [0] + [at + n for at, n in places]
        assert all(0 <= begin - end < 8 for end, begin in zip(ends, [at for at, _ in places] + [int(size)])), members


CHANGES = {  # text in the headers, its replacement, whether it affects compiled programs
    "a member": ("	double dmin; ", "	double dmin, dmax; ", True),
    "a member in padding": ("	int64_t contact;\n", "	int64_t contact;\n	char note;\n", True),
    "a struct within another": ("	enum fric_law_type type;\n",
                                "	enum fric_law_type type;\n	double speed;\n", True),
    "two members change places": ("	const double *data;\n	size_t stride;\n",
                                  "	size_t stride;\n	const double *data;\n", True),
    "a type": ("	int n_threads; ", "	int64_t n_threads; ", True),
    "a parameter": ("const double *inner, enum fric_triangle", "const float *inner, enum fric_triangle", True),
    "a call is gone": ("int fric_dim(const struct fric_contacts *contacts);", "", True),
    "a word in front": ("{ FRIC_FULL,", "{ FRIC_NEITHER, FRIC_FULL,", True),
    "a word at the end": ("FRIC_LOWER }", "FRIC_LOWER, FRIC_NEITHER }", False),
    "a call": ("int fric_dim(", "int fric_new(void);\nint fric_dim(", False),
    "a comment": ("/* 2 or 3 */", "/* 3 or 2 */", None),
}
SIZED_CHANGES = {  # of a header in which some structs begin with their size
    "a member at the end": ("frictiond_flag *stop;", "frictiond_flag *stop; void *later;", False),
    "members at the ends": ("	const char *kernels;", "	const char *kernels; uint64_t more, still_more;", False),
    "a member in padding": ("	int32_t status;", "	int32_t status, reason;", True),
    "a member beyond padding": ("	int32_t status;", "	int32_t status; uint64_t reason;", False),
    "a member in between": ("	size_t n_headers;", "	size_t n_headers, more;", True),
    "a member less": ("	const frictiond_flag *stop;", "	", True),
    "a struct without its size": ("	const char *name, *value;", "	const char *name, *value, *more;", True),
    "a word": ("	FRICTIOND_E_FORKED, ", "	FRICTIOND_E_FORKED, FRICTIOND_E_MORE, ", False),
    "a word in between": ("	FRICTIOND_E_FORKED, ", "	FRICTIOND_E_MORE, FRICTIOND_E_FORKED, ", True),
    "a call": ("void frictiond_destroy(", "void frictiond_more(void);\nvoid frictiond_destroy(", False),
}
CHANGES = {**{("core/fric.h", name): change for name, change in CHANGES.items()},
           **{("api/frictiond.h", name): change for name, change in SIZED_CHANGES.items()}}


@pytest.mark.parametrize("change", list(CHANGES)[::3 if ONE_IN > 1 else 1], ids=" ".join)
def test_changes_are_noticed(change, tmp_path):
    before, after, noticed = CHANGES[change]
    for folder in ("core", "api"):
        (tmp_path / folder).mkdir()
    for file in HEADERS:
        shutil.copy(ROOT / file, tmp_path / file)
    assert run(tmp_path, "--write") == (0, "")
    header = tmp_path / change[0]
    text = header.read_text()
    assert before in text
    header.write_text(text.replace(before, after, 1))
    code, said = run(tmp_path)
    assert (code != 0, "raise FRIC" in said) == (noticed is not None, noticed is True), said
