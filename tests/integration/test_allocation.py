"""The library's calls allocate as fric.h documents: a program counts what each call takes from the context's memory and
from malloc, and what it keeps."""
import re
import subprocess

import pytest

from conftest import ROOT

LIBRARY = ROOT / "build/release/libfric.a"
HEADER = (ROOT / "core/fric.h").read_text()
PROGRAM = """
#include "core/fric.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void *__real_realloc(void *block, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *block);

static long taken, held, n_malloc, n_free; /* no call that is counted allocates on two threads at once */
static long *counted(long *n)
{
	__atomic_add_fetch(n, 1, __ATOMIC_RELAXED);
	return n;
}
void *__wrap_malloc(size_t bytes) { return counted(&n_malloc), __real_malloc(bytes); }
void *__wrap_calloc(size_t n, size_t bytes) { return counted(&n_malloc), __real_calloc(n, bytes); }
void *__wrap_realloc(void *block, size_t bytes) { return counted(&n_malloc), __real_realloc(block, bytes); }
void *__wrap_aligned_alloc(size_t a, size_t bytes) { return counted(&n_malloc), __real_aligned_alloc(a, bytes); }
void __wrap_free(void *block)
{
	n_free += block != NULL;
	__real_free(block);
}

static void *take(void *pool, size_t bytes)
{
	(void)pool;
	taken++, held++;
	return __real_aligned_alloc(64, (bytes / 64 + 1) * 64);
}
static void give(void *pool, void *block, size_t bytes)
{
	(void)pool, (void)bytes;
	held -= block != NULL;
	__real_free(block);
}

static int failed;
static void report(const char *name, int code)
{
	failed |= code;
	printf("%s %ld %ld %ld %ld\\n", name, taken, n_malloc, held, n_malloc - n_free);
	taken = n_malloc = n_free = held = 0;
}
#define REPORT(call) report(#call, call) /* the name ends at the bracket */

enum { N = 20000, N_VERTICES = 1 << 15 };
static int32_t stencils[2 * N], rows[36 * N], cols[36 * N];
static double positions[3 * N_VERTICES], velocities[3 * N_VERTICES], gradient[3 * N_VERTICES], values[36 * N];
static double inner[3 * N], weights[2 * N], basis[6 * N], output[2 * N];

/* Most contacts are between vertices far apart, so that no order of them keeps to one part of the vertices. */
static void fill(void)
{
	for (int v = 0; v < 3 * N_VERTICES; v++)
		positions[v] = v % 1013 * 0.1 + v * 1e-4, velocities[v] = v % 7 * 0.1;
	for (int i = 0; i < N; i++)
		stencils[2 * i] = (int32_t)(i * 13LL % N_VERTICES), stencils[2 * i + 1] = (int32_t)((i * 7919LL + 1) % N_VERTICES);
	for (int i = 0; i < N; i++)
		if (stencils[2 * i] == stencils[2 * i + 1])
			stencils[2 * i + 1]++;
}

int main(void)
{
	static const double force = 2, ellipse[2] = {0.5, 0.3};
	const struct fric_memory memory = {take, give, NULL};
	const struct fric_context context = {.n_threads = 2, .memory = &memory, .parallel_from = 1};
	struct fric_batch batch = {.dim = 3, .n_vertices = N_VERTICES, .positions = positions,
		.friction = {.eps_v = 0.1, .source = FRIC_MU_SCALAR, .mu_s = 0.5, .mu_k = 0.5},
		.groups[FRIC_VERTEX_VERTEX] = {.n = N, .vertices = stencils, .normal_force = {&force, 0},
			.mu_s_aniso = {ellipse, 0}}};
	struct fric_factors factors = {.weights = {weights}, .tangent_basis = {basis}, .inner = {inner}};
	struct fric_contacts *contacts;
	struct fric_state *state;
	struct fric_schedule *schedule;
	struct fric_pattern *pattern;
	struct fric_comparison comparison;
	struct fric_error error;
	double potential;
	fill();
	REPORT(fric_prepare(&context, &batch, &contacts, &error));
	REPORT(fric_state_create(&context, contacts, velocities, &state, &error));
	REPORT(fric_schedule_create(&context, contacts, &schedule, &error));
	const struct fric_query query = {.velocities = velocities, .state = state};
	REPORT(fric_evaluate(&context, contacts, &query, &potential, gradient, &error));
	REPORT(fric_line(&context, contacts, &query, velocities, 3, (double[]){0, 0.5, 1}, output, output + 3, &error));
	REPORT(fric_hessian_products(&context, contacts, &query, FRIC_PROJECT_CLAMP, 1, velocities, gradient, &error));
	REPORT(fric_contact_output(&context, contacts, &query, 0, FRIC_OUT_TANGENTIAL_VELOCITY, output, &error));
	REPORT(fric_hessian_inner(&context, contacts, &query, FRIC_PROJECT_CLAMP, inner, &error));
	REPORT(fric_hessian_factors(&context, contacts, &query, FRIC_PROJECT_CLAMP, &factors, &error));
	REPORT(fric_stencil_weights(&context, contacts, 0, weights, &error));
	REPORT(fric_hessian_triplets(&context, contacts, inner, FRIC_FULL, rows, cols, values, &error));
	REPORT(fric_pattern_create(&context, contacts, FRIC_FULL, &pattern, &error));
	REPORT(fric_hessian_csr(&context, contacts, inner, pattern, values, &error));
	static int64_t block_rows[N_VERTICES + 1];
	REPORT(fric_pattern_blocks(&context, pattern, block_rows, cols, &error));
	REPORT(fric_hessian_bsr(&context, contacts, inner, pattern, block_rows, values, &error));
	REPORT(fric_compare(&context, contacts, &query, &comparison, &error));
	const struct fric_derivation derivation = {&batch, contacts, &query, velocities, false, false};
	static double force_number[1], by_force[1], by_positions[3 * N_VERTICES], tangent[3 * N_VERTICES];
	struct fric_differential numbers = {.rows[FRIC_VERTEX_VERTEX][FRIC_ROW_NORMAL_FORCE] = force_number};
	numbers.fields[FRIC_WRT_VELOCITIES] = tangent;
	REPORT(fric_second_derivative_product(&context, &derivation, &numbers, &(struct fric_differential){
		.rows[FRIC_VERTEX_VERTEX][FRIC_ROW_NORMAL_FORCE] = by_force}, &error));
	numbers.fields[FRIC_WRT_POSITIONS] = by_positions;
	REPORT(fric_jvp(&context, &derivation, &numbers, &potential, gradient, &potential, tangent, &error));
	REPORT(fric_vjp(&context, &derivation, 1, velocities, &potential, gradient, &numbers, &error));
	struct fric_pattern *jacobian;
	REPORT(fric_position_jacobian_triplets(&context, &derivation, rows, cols, values, &error));
	REPORT(fric_jacobian_pattern_create(&context, contacts, &jacobian, &error));
	REPORT(fric_position_jacobian_csr(&context, &derivation, jacobian, values, &error));
	fric_pattern_free(jacobian);
	struct fric_derivative_agreement agreement;
	struct fric_differential one = {.rows[FRIC_VERTEX_VERTEX][FRIC_ROW_NORMAL_FORCE] = force_number};
	REPORT(fric_compare_derivative(&context, &derivation, &one, &agreement, &error));
	struct fric_contacts *with_barrier;
	struct fric_current *current;
	struct fric_step step;
	batch.groups[FRIC_VERTEX_VERTEX].normal_force = (struct fric_values){0};
	batch.barrier = (struct fric_barrier){.dhat = 1, .stiffness = 1};
	batch.terms = FRIC_TERM_BARRIER;
	report("prepared(", fric_prepare(&context, &batch, &with_barrier, &error));
	REPORT(fric_current_create(&context, with_barrier, positions, &current, &error));
	REPORT(fric_longest_step(&context, with_barrier, positions, velocities, 0.1, &step, &error));
	REPORT(fric_carry_anchors(&context, 3, N_VERTICES, positions, batch.groups, batch.groups,
	                          (double *[FRIC_N_VERTEX_TYPES]){gradient, gradient, gradient, gradient, gradient}, &error));
	static const int32_t faces[] = {0, 1, 2, 100, 101, 102};
	const struct fric_surface surface = {.dim = 3, .n_vertices = N_VERTICES, .n_faces = 2, .faces = faces};
	const struct fric_finding finding = {.distance = 0.1, .merge = true};
	struct fric_mesh *mesh;
	struct fric_found *found, *among;
	struct fric_mesh_step mesh_step;
	memset(velocities, 0, sizeof(velocities));
	REPORT(fric_mesh_create(&context, &surface, &mesh, &error));
	REPORT(fric_find(&context, mesh, positions, &finding, &found, &error));
	REPORT(fric_find_candidates(&context, 3, N_VERTICES, positions, batch.groups, &finding, &among, &error));
	REPORT(fric_mesh_longest_step(&context, mesh, positions, velocities, 0, 0.1, &mesh_step, &error));
	fric_found_free(among);
	fric_found_free(found);
	fric_mesh_free(mesh);
	fric_current_free(current);
	fric_contacts_free(with_barrier);
	fric_pattern_free(pattern);
	fric_schedule_free(schedule);
	fric_state_free(state);
	fric_contacts_free(contacts);
	report("freed(", 0);
	return failed;
}
"""
WRAPPED = ["malloc", "calloc", "realloc", "aligned_alloc", "free"]
# Functions whose result stays allocated until it is freed.
KEPT = {"fric_prepare", "fric_state_create", "fric_schedule_create", "fric_pattern_create", "fric_jacobian_pattern_create",
        "fric_current_create", "fric_mesh_create", "fric_find", "fric_find_candidates"}
CALLS = {name: comment for comment, name in re.findall(
    r"/\*((?:(?!\*/).)*)\*/\s*enum fric_code (fric_\w+)\((?=const struct fric_context)", HEADER, re.S)}


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("allocation")
    source, program = folder / "program.c", folder / "program"
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-std=gnu11", "-I", ROOT, source, LIBRARY, "-fopenmp", "-lm", "-o", program,
                    *(f"-Wl,--wrap={name}" for name in WRAPPED)], check=True)
    printed = subprocess.run([program], text=True, capture_output=True, check=True).stdout
    lines = re.findall(r"^(\w+)\(.*?((?: -?\d+)+)$", printed, re.M)
    return {name: [int(n) for n in numbers.split()] for name, numbers in lines}


def test_every_call_is_counted(counts):
    assert set(CALLS) == counts.keys() - {"prepared", "freed"}
    assert len(CALLS) == len(re.findall(r"\(const struct fric_context \*", HEADER))


@pytest.mark.parametrize("name", CALLS)
def test_a_call_says_what_it_allocates(name, counts):
    taken, n_malloc, held, kept = counts[name]
    said = re.findall(r"Allocates [^.]*\.", re.sub(r"[\s*]+", " ", CALLS[name]))
    assert len(said) == 1, f"{name} does not say what it allocates"
    assert ("memory" in said[0], "malloc" in said[0]) == (taken > 0, n_malloc > 0), said[0]
    assert ("nothing" in said[0]) == (taken + n_malloc == 0)
    keeps = name in KEPT
    assert (held > 0, kept > 0) == (keeps, keeps and "malloc" in said[0]), f"{name} keeps something, or does not"


def test_everything_is_given_back(counts):
    held = [sum(counts[name][2 + kind] for name in counts) for kind in (0, 1)]
    assert held == [0, 0]
