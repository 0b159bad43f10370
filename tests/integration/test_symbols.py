"""libfric.so and libfrictiond.so export only the names of their headers; libfric.a also has fricp_..., which its files
share. A program can use all other names."""
import os
import re
import subprocess

import pytest

from conftest import ROOT

LIBRARY = ROOT / "build/release/libfric.a"
SHARED = ROOT / "build/release/libfric.so"
LOCAL = ROOT / "build/release/libfrictiond.so"
LOCAL_HEADER = ROOT / "api/frictiond.h"
HEADERS = (ROOT / "core/fric.h", ROOT / "core/fric_mollifier.h")

# Names that functions of programs with meshes and threads are likely to have.
USUAL = """team_size block_run run_span sweep_run sweep_make scatter_block scatter_rows report_fault report_code stop_raised
next_span parallel_chunks schedule_make kernels_of differences_at""".split()

PROGRAM = """
#include "core/fric.h"
#include <stdio.h>
%s
int main(void)
{
	const int32_t stencil[2] = {0, 1};
	const double positions[6] = {0, 0, 0, 0, 0, 1}, velocities[6] = {1}, force = 2;
	const struct fric_context context = {.n_threads = 1};
	const struct fric_batch batch = {.dim = 3, .n_vertices = 2, .positions = positions,
		.friction = {.eps_v = 0.1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5},
		.groups[FRIC_VERTEX_VERTEX] = {.n = 1, .vertices = stencil, .normal_force = {&force, 0}}};
	const struct fric_query query = {.velocities = velocities};
	struct fric_contacts *contacts;
	struct fric_error error;
	double gradient[6];
	if (fric_prepare(&context, &batch, &contacts, &error) ||
	    fric_evaluate(&context, contacts, &query, NULL, gradient, &error))
		return 1;
	printf("%%g\\n", gradient[0]);
	fric_contacts_free(contacts);
	return 0;
}
"""


def exported():
    """Names of functions and data of the library; the compiler's own begin with a dot or two underscores."""
    lines = subprocess.run(["nm", "--extern-only", "--defined-only", LIBRARY], text=True, capture_output=True, check=True)
    names = re.findall(r"^\w+ [A-Z] (\S+)$", lines.stdout, re.M)
    return {name for name in names if not name.startswith((".", "__"))}


def declared():
    text = "".join(header.read_text() for header in HEADERS)
    return set(re.findall(r"\b(fric_\w+)\(", text))


def abi(library=SHARED):
    header = LOCAL_HEADER if library == LOCAL else HEADERS[0]
    return re.search(r"^#define FRIC\w*_ABI (\d+)", header.read_text(), re.M)[1]


def readelf(library, *what):
    return subprocess.run(["readelf", "--wide", *what, library], text=True, capture_output=True, check=True).stdout


def dynamic_names(library, *which):
    lines = subprocess.run(["nm", "--dynamic", *which, library], text=True, capture_output=True, check=True).stdout
    return set(re.findall(r"^ *(?:\w+ )?[A-Za-z] ([^\s@]+)", lines, re.M))


def test_every_name_has_the_prefix():
    assert "fric_prepare" in exported()
    assert not [name for name in exported() if not name.startswith(("fric_", "fricp_"))]


def test_what_is_public_is_declared():
    assert {name for name in exported() if name.startswith("fric_")} == declared()


def test_the_shared_library_exports_what_is_declared():
    assert dynamic_names(SHARED, "--defined-only") == declared()


def test_the_service_as_a_library_exports_what_is_declared():
    names = dynamic_names(LOCAL, "--defined-only")
    assert names == set(re.findall(r"\b(frictiond_\w+)\(", LOCAL_HEADER.read_text())) and len(names) == 8


def test_the_service_as_a_library_brings_what_it_uses():
    """Only the C library, libm, OpenMP and zlib are found when it is loaded. It neither prints nor ends the process, has no
    locale and no signal handlers; __assert_fail is in a function of jansson that nothing calls."""
    needed = re.findall(r"\(NEEDED\).*\[([\w-]+)\.so", readelf(LOCAL, "--dynamic"))
    assert set(needed) - {"ld-linux-x86-64", "ld-linux-aarch64"} == {"libm", "libgomp", "libc", "libz"}
    used = dynamic_names(LOCAL, "--undefined-only")
    assert not [name for name in used if name.startswith(("json_", "XXH", "_ZS", "_ZNS", "fric", "api_"))]
    assert not used & {"setlocale", "signal", "sigaction", "stdout", "stdin", "printf", "puts", "system", "environ"}


def test_it_stays_loaded():
    """OpenMP's threads run code of libgomp after a call."""
    assert "NODELETE" in readelf(LOCAL, "--dynamic")


def test_the_shared_library_calls_itself_directly():
    """No internal call goes through a table that the dynamic linker fills in, so loops are the same as in libfric.a."""
    for library in (SHARED, LOCAL):
        lines = readelf(library, "--relocs")
        assert "GOMP_parallel" in lines and not re.findall(r"\b(?:fric|api|json)\w*_\w+", lines)


def test_the_name_to_load_it_by():
    for library in (SHARED, LOCAL):
        lines = readelf(library, "--dynamic")
        assert re.findall(r"\(SONAME\).*\[(.+)\]", lines) == [f"{library.name}.{abi(library)}"]
        assert "TEXTREL" not in lines


@pytest.mark.parametrize("library", [SHARED, LOCAL], ids=lambda library: library.stem)
def test_debian_packages_list_what_is_exported(library):
    """The package of a shared library is named after the library's number, and its symbols file lists every name with
    the version that added it. `make deb` fails otherwise."""
    folder, package = ROOT / "packaging/debian", library.stem + abi(library)
    assert f"\nPackage: {package}\n" in (folder / "control").read_text()
    assert (folder / f"{package}.install").read_text() == f"usr/lib/*/{library.name}.*\n"
    head, _, *names = (folder / f"{package}.symbols").read_text().splitlines()
    assert head == f"{library.name}.{abi(library)} {package} #MINVER#"
    assert [name.split("@Base ")[0] for name in names] == [" " + name for name in sorted(dynamic_names(library, "--defined-only"))]


# The whole library is linked, so that each of its names can conflict with the program's.
WHOLE = {"static": ["-Wl,--whole-archive", LIBRARY, "-Wl,--no-whole-archive"], "shared": [SHARED]}


@pytest.mark.parametrize("kind", WHOLE)
def test_a_program_has_its_own_names(kind, tmp_path):
    """The program's functions have the names of internal ones: without fricp_, and for the shared library also with
    it."""
    inner = {name for name in exported() if name.startswith("fricp_")}
    own = set(USUAL) | {name.removeprefix("fricp_") for name in inner} | (inner if kind == "shared" else set())
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM % "\n".join(f"int {name}(void) {{ return 1; }}" for name in sorted(own)))
    subprocess.run(["gcc", "-std=gnu11", "-fopenmp", "-rdynamic", "-I", ROOT, source, *WHOLE[kind], "-lm", "-o", program],
                   check=True)
    (tmp_path / f"{SHARED.name}.{abi()}").symlink_to(SHARED)
    run = subprocess.run([program], text=True, capture_output=True, check=True,
                         env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "LD_BIND_NOW": "1"})
    assert run.stdout == "1\n"
