"""The programs in C++ and Python in docs/library.md work with the installed library, and so does one that unloads it."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import snippets  # noqa: E402

RELEASE = ROOT / "build/release"
[CPP, PYTHON] = [block for block in snippets.blocks(ROOT / "docs/library.md") if block.language in ("cpp", "python")]
ABI = (ROOT / "core/fric.abi").read_text()


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Installs the library: include/ and lib/ below a prefix."""
    prefix = tmp_path_factory.mktemp("prefix")
    for folder in ("include", "lib"):
        (prefix / folder).mkdir()
    (prefix / "include/fric.h").symlink_to(ROOT / "core/fric.h")
    for name in ("libfric.so", f"libfric.so.{re.match('FRIC_ABI (.*)', ABI)[1]}"):
        (prefix / "lib" / name).symlink_to(RELEASE / "libfric.so")
    text = (ROOT / "core/fric.pc.in").read_text()
    for name, value in (("PREFIX", prefix), ("LIBDIR", "lib"), ("VERSION", "0")):
        text = text.replace(f"@{name}@", str(value))
    (prefix / "lib/fric.pc").write_text(text)
    return {**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib"), "LD_LIBRARY_PATH": str(prefix / "lib")}


def run(*words, **more):
    return subprocess.run(words, capture_output=True, text=True, check=True, **more).stdout


def test_cpp(environment, tmp_path):
    command, file = re.match(r"// (c\+\+ -std=c\+\+11 (\w+\.cpp) .*)\n", CPP.source).groups()
    (tmp_path / file).write_text(CPP.source)
    strict = command.replace("c++ ", "c++ -Wall -Wextra -Wpedantic -Werror ", 1)
    snippets.compare(run("bash", "-euc", strict, cwd=tmp_path, env=environment), CPP)


def test_python(environment):
    snippets.compare(run(sys.executable, "-c", PYTHON.source, env=environment), PYTHON)


def test_structs_in_python_are_those_of_the_library(environment):
    """Sizes of structs and offsets of all members."""
    show = """
for kind in c.Structure.__subclasses__():
    if kind.__name__.startswith("fric_"):
        print("struct", kind.__name__, c.sizeof(kind))
        for name, *_ in kind._fields_:
            print(f"  {name} at {getattr(kind, name).offset}, {getattr(kind, name).size} bytes")
"""
    shown = re.split(r"^(?=struct)", run(sys.executable, "-c", PYTHON.source + show, env=environment), flags=re.M)[1:]
    assert len(shown) == 10
    for layout in shown:
        assert layout in ABI


def test_both_programs_print_the_same():
    assert CPP.output.source == PYTHON.output.source


UNLOADS = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <fric.h>

enum { N = 50000 };
static double velocities[N][3], gradient[3 * N];
static int32_t vertices[N];

static int evaluate(void *library)
{
	static const double normal[3] = {0, 0, 1}, force = 1, mu = 0.5;
	__typeof__(fric_prepare) *prepare = dlsym(library, "fric_prepare");
	__typeof__(fric_evaluate) *compute = dlsym(library, "fric_evaluate");
	__typeof__(fric_contacts_free) *release = dlsym(library, "fric_contacts_free");
	const struct fric_context context = {.n_threads = 3, .parallel_from = 1};
	const struct fric_query query = {.velocities = velocities[0]};
	struct fric_batch batch = {.dim = 3, .n_vertices = N, .friction.eps_v = 1e-3};
	struct fric_contacts *contacts;
	struct fric_error error;
	double potential;
	batch.groups[FRIC_PLANE_VERTEX] = (struct fric_group){.n = N, .vertices = vertices, .plane_normal = {normal, 0},
		.normal_force = {&force, 0}, .mu_s = {&mu, 0}, .mu_k = {&mu, 0}};
	if (prepare(&context, &batch, &contacts, &error) || compute(&context, contacts, &query, &potential, gradient, &error))
		return 1;
	release(contacts);
	return !(potential > 0);
}

int main(int argc, char **argv)
{
	for (int v = 0; v < N; v++) {
		vertices[v] = v;
		velocities[v][0] = 0.01;
	}
	for (int i = 0; i < 20; i++) {
		void *library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
		if (!library || evaluate(library) || dlclose(library))
			return 1;
	}
	puts("over");
	return 0;
}
"""


def test_it_is_unloaded_again_and_again(environment, tmp_path):
    """libgomp's threads outlive dlclose, so libgomp has to stay loaded, and the library with it."""
    (tmp_path / "unloads.c").write_text(UNLOADS)
    include = pathlib.Path(environment["PKG_CONFIG_PATH"]).parent / "include"
    run("cc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", include, "unloads.c", "-o", "unloads", "-ldl", cwd=tmp_path)
    for _ in range(5):
        assert run(tmp_path / "unloads", RELEASE / "libfric.so") == "over\n"


@pytest.mark.parametrize("library", ["libfric.so", "libfrictiond.so"])
def test_it_is_marked_to_stay_loaded(library):
    """Whether the code of a thread is still mapped is a matter of luck without it."""
    assert "NODELETE" in run("readelf", "--dynamic", RELEASE / library)
