"""The headers of the library compile as C and as C++, with all warnings as errors, and a program in each of them
prepares, evaluates and raises the stop flag."""
import shutil
import subprocess

import pytest

from conftest import ROOT

LIBRARY = ROOT / "build/release/libfric.a"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast", "-Werror"]
# clang's own OpenMP library would do as well, but need not be there.
COMPILERS = {"c": {"gcc": ["-fopenmp"], "clang": ["-fopenmp=libgomp"]},
             "c++": {"g++": ["-fopenmp"], "clang++": ["-fopenmp=libgomp"]}}
STANDARDS = {"c": ["c11", "c17"], "c++": ["c++11", "c++14", "c++17", "c++20"]}

C = """
#include "api/frictiond.h"
#include "core/fric.h"
#include "core/fric_mollifier.h"
#include <stdio.h>
static atomic_bool stop;
int main(void)
{
	const fric_flag *const flag = &stop; /* the same type */
	const struct frictiond_request request = {.size = sizeof(struct frictiond_request), .stop = flag};
	if (request.size == 0)
		return 3;
	const int32_t stencil[2] = {0, 1};
	const double positions[6] = {0, 0, 0, 0, 0, 1}, velocities[6] = {1}, force = 2;
	const struct fric_context context = {.n_threads = 1, .stop = flag};
	const struct fric_query query = {.velocities = velocities};
	struct fric_contacts *contacts;
	struct fric_error error;
	double gradient[6];
	struct fric_batch batch = {.dim = 3, .n_vertices = 2, .positions = positions};
"""
CPP = """
#include "api/frictiond.h"
#include "core/fric.h"
#include "core/fric_mollifier.h"
#include <cstdio>
#include <type_traits>
static fric_flag stop;
static_assert(std::is_same<fric_flag, std::atomic<bool>>::value, "what C++ has");
static_assert(std::is_standard_layout<fric_batch>::value, "as C lays it out");
static_assert(std::is_standard_layout<frictiond_answer>::value, "as C lays it out");
static_assert(std::is_same<frictiond_flag, fric_flag>::value, "one flag for both libraries");
int main()
{
	const int32_t stencil[2] = {0, 1};
	const double positions[6] = {0, 0, 0, 0, 0, 1}, velocities[6] = {1}, force = 2;
	fric_context context = fric_context();
	context.n_threads = 1;
	context.stop = &stop;
	fric_query query = fric_query();
	query.velocities = velocities;
	fric_contacts *contacts;
	fric_error error;
	double gradient[6];
	fric_batch batch = fric_batch();
	batch.dim = 3;
	batch.n_vertices = 2;
	batch.positions = positions;
"""
BOTH = """
	batch.friction.eps_v = 0.1;
	batch.friction.source = FRIC_MU_SCALAR;
	batch.friction.mu_s = batch.friction.mu_k = 0.5;
	batch.groups[FRIC_VERTEX_VERTEX].n = 1;
	batch.groups[FRIC_VERTEX_VERTEX].vertices = stencil;
	batch.groups[FRIC_VERTEX_VERTEX].normal_force.data = &force;
	stop = true;
	const fric_code stopped = fric_prepare(&context, &batch, &contacts, &error);
	stop = false;
	if (fric_prepare(&context, &batch, &contacts, &error) ||
	    fric_evaluate(&context, contacts, &query, %s, gradient, &error))
		return 1;
	printf("%%d %%g %%g\\n", stopped == FRIC_E_STOPPED, gradient[0], fric_smooth_friction_f1(0.05, 0.1));
	fric_contacts_free(contacts);
	return 0;
}
"""
SOURCES = {"c": C + BOTH.replace("const fric_code", "const enum fric_code") % "NULL", "c++": CPP + BOTH % "nullptr"}
WAYS = [(language, compiler, standard) for language in COMPILERS for compiler in COMPILERS[language]
        for standard in STANDARDS[language]]


@pytest.mark.parametrize("language,compiler,standard", WAYS)
def test_a_program(language, compiler, standard, tmp_path):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source, program = tmp_path / f"program.{language.replace('+', 'p')}", tmp_path / "program"
    source.write_text(SOURCES[language])
    warnings = [flag for flag in WARNINGS if language == "c++" or flag != "-Wold-style-cast"]
    subprocess.run([compiler, f"-std={standard}", *warnings, "-I", ROOT, source, LIBRARY,
                    *COMPILERS[language][compiler], "-lm", "-o", program], check=True)
    assert subprocess.run([program], text=True, capture_output=True, check=True).stdout == "1 1 0.75\n"
