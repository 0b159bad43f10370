/* fric_compare with the barrier: correct results agree, wrong ones are detected and located. */
#include "core/gradcheck/results.h"

#include <stdio.h>

#include "core/assemble/blocks.h"
#include "tests/property/barrier_scene.h"
#include "tests/share.h"

static struct scene s;

struct subject {
	struct fric_contacts *contacts;
	struct fric_current *current;
	struct fric_query query;
};

static void open_subject(unsigned terms, struct subject *t)
{
	struct fric_error error;
	assert_ok(fric_prepare(&serial, &s.batch, &t->contacts, &error));
	assert_ok(fric_current_create(&serial, t->contacts, s.current, &t->current, &error));
	t->query =
		(struct fric_query){.velocities = s.velocities, .terms = terms, .current = t->current, .time_step = 0.25};
}

static void close_subject(struct subject *t)
{
	fric_current_free(t->current);
	fric_contacts_free(t->contacts);
}

static void correct_results_agree(void **unused)
{
	(void)unused;
	const int step = step_in_share(3, 3); /* 3 meets both dimensions, all types of barriers, and friction */
	for (int i = step / 2; i < 2 * 2 * 5; i += step) {
		const int dim = 2 + i % 2, kind = i / 2;
		struct fric_comparison comparison;
		struct fric_error error;
		struct subject t;
		make_scene(dim, kind % 2 ? FRIC_FEATURES_SEARCH : FRIC_FEATURES_GIVEN, &s);
		s.batch.barrier.type = (enum fric_barrier_type)(kind / 2);
		s.batch.barrier.scaling = kind % 3 ? FRIC_SCALING_PHYSICAL : FRIC_SCALING_NONE;
		s.batch.barrier.dmin = kind % 4 ? 0 : 1e-3;
		open_subject(kind % 3 ? FRIC_TERM_BARRIER : FRIC_TERM_BARRIER | FRIC_TERM_FRICTION, &t);
		assert_ok(fric_compare(&serial, t.contacts, &t.query, &comparison, &error));
		if (!comparison.agrees)
			print_error("dim %d kind %d: group %d contact %d quantity %d difference %g\n", dim, kind, comparison.group,
			            (int)comparison.worst, comparison.quantity, comparison.relative_difference);
		assert_true(comparison.agrees);
		assert_true(comparison.of[FRIC_HESSIAN].largest_entry > 0);
		close_subject(&t);
	}
}

/* Results of the barrier agree, and a wrong one is detected. */
static void check_barrier(const struct fric_batch *batch, const char *what)
{
	static const double zero[12];
	struct fric_comparison comparison;
	struct fric_error error;
	struct results results;
	struct subject t;
	assert_ok(fric_prepare(&serial, batch, &t.contacts, &error));
	assert_ok(fric_current_create(&serial, t.contacts, batch->positions, &t.current, &error));
	t.query =
		(struct fric_query){.velocities = zero, .terms = FRIC_TERM_BARRIER, .current = t.current, .time_step = 0.25};
	assert_ok(fric_compare(&serial, t.contacts, &t.query, &comparison, &error));
	if (!comparison.agrees)
		fail_msg("barrier %d, %s: quantity %d difference %g", batch->barrier.type, what, comparison.quantity,
		         comparison.relative_difference);
	assert_true(comparison.of[FRIC_HESSIAN].largest_entry > 0);
	assert_ok(fricp_results_make(&serial, t.contacts, &t.query, &results, &error));
	results.members[4] += 1e-6 * comparison.of[FRIC_HESSIAN].largest_entry;
	assert_ok(fricp_results_compare(&serial, t.contacts, &t.query, &results, &comparison, &error));
	assert_false(comparison.agrees);
	fricp_results_free(&serial, &results);
	close_subject(&t);
}

/* Parallel edges, and edges at angles at which the mollifier acts. */
static void mollified_edges_agree(void **unused)
{
	static const int32_t edges[] = {0, 1, 2, 3};
	const double mollifier = 1e-3;
	(void)unused;
	for (int kind = 0; kind < 5 * 3 * 8; kind++) {
		const double height = (double[]){0.02, 0.1, 0.24}[kind / 5 % 3];
		const double angle = (double[]){0, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2, 0.02, 0.0316}[kind / 15];
		const double positions[] = {0, 0, 0, 1, 0, 0, 0.2, -0.1 * angle, height, 1.2, 0.9 * angle, height};
		const struct fric_batch batch = {
			.dim = 3,
			.n_vertices = 4,
			.positions = positions,
			.closest_features = FRIC_FEATURES_SEARCH,
			.terms = FRIC_TERM_BARRIER,
			.barrier = {.type = (enum fric_barrier_type)(kind % 5), .dhat = 0.25, .stiffness = 4},
			.groups[FRIC_EDGE_EDGE] = {.n = 1, .vertices = edges, .mollifier = {&mollifier, 0}}};
		char what[64];
		snprintf(what, sizeof(what), "height %g angle %g", height, angle);
		check_barrier(&batch, what);
	}
}

/* Gaps so far below dhat that the cubic barrier's energy does not change in its first 34 digits. */
static void deep_contacts_agree(void **unused)
{
	static const int32_t vertices[] = {0, 1, 2, 3};
	static const double positions[] = {-1e-5, 11.125, -6.125, -7.5, -7.5, -7.5, 1, 2, 3, 4, 2, 3.5};
	static const double edges[] = {0, 0, 0, 1, 0, 0, 0.2, -1e-4, 0.02, 1.2, 9e-4, 0.02};
	const double mollifier = 1e-3;
	(void)unused;
	for (int kind = 0; kind < 2 * 5 * 4; kind++) {
		const bool mollified = kind % 2;
		const double dhat = (double[]){1e3, 1e12, 1e20, 8.6e56}[kind / 10];
		struct fric_batch batch = {
			.dim = 3,
			.n_vertices = 4,
			.positions = mollified ? edges : positions,
			.closest_features = FRIC_FEATURES_SEARCH,
			.terms = FRIC_TERM_BARRIER,
			.barrier = {.type = (enum fric_barrier_type)(kind / 2 % 5), .dhat = dhat, .stiffness = 1.75}};
		batch.groups[mollified ? FRIC_EDGE_EDGE : FRIC_VERTEX_VERTEX] = (struct fric_group){
			.n = mollified ? 1 : 2, .vertices = vertices, .mollifier = {mollified ? &mollifier : NULL, 0}};
		char what[64];
		snprintf(what, sizeof(what), "dhat %g, %s", dhat, mollified ? "mollified" : "vertices");
		check_barrier(&batch, what);
	}
}

/* One end of an edge is far away: the distance must not be computed from there, not even where the closest feature is
 * searched, and changes of the closest point whose squares underflow are negligible. */
static void distant_ends_agree(void **unused)
{
	static const int32_t vertices[] = {0, 1, 2, 3};
	static const double ends[][2] = {{-1e25, 0}, {-1e40, 0}, {-1e132, 0}, {-1e250, 0}, {-1e237, 1e218}};
	const double mollifier = 14;
	(void)unused;
	for (int kind = 0; kind < 3 * 4 * 5; kind++) {
		const enum fric_type type = kind % 3 ? FRIC_EDGE_EDGE : FRIC_EDGE_VERTEX;
		const int far = kind / 3 % 4;
		const double *end = ends[kind / 12];
		double positions[] = {9.375, 13.125, 16.875, 11.375, -1.625, 2.75, -3, -4, -3.25, 2.625, -4, 16.125};
		struct fric_batch batch = {.dim = 3,
		                           .n_vertices = 4,
		                           .positions = positions,
		                           .terms = FRIC_TERM_BARRIER,
		                           .barrier = {.dhat = 30, .stiffness = 7}};
		char what[64];
		if (type == FRIC_EDGE_VERTEX && (far == 0 || far == 3)) /* not an end */
			continue;
		batch.groups[type] =
			(struct fric_group){.n = 1, .vertices = vertices, .mollifier = {kind % 3 == 2 ? &mollifier : NULL, 0}};
		positions[3 * far] = end[0];
		positions[3 * far + 1] += end[1];
		snprintf(what, sizeof(what), "%s, vertex %d at %g %g", fric_type_name(type), far, end[0], end[1]);
		check_barrier(&batch, what);
	}
}

/* What is falsified in the results of one contact. */
enum fault_in { IN_POTENTIAL, IN_MEMBERS, IN_BLOCK, IN_GRADIENT, IN_CSR, N_FAULTS };

static void falsify(struct results *r, enum fault_in fault, const struct fric_contacts *c, size_t i)
{
	switch (fault) {
	case IN_POTENTIAL: r->potentials[i] *= 1 + 1e-6; break;
	case IN_MEMBERS: r->members[MOST_MEMBER_DOFS * i + 4] += 1e-4; break;
	case IN_BLOCK: r->inner[block_at(c, contact_type(c, i), i)] += 1e-3; break;
	case IN_GRADIENT: r->gradient[5] += 1e-3; break;
	default: r->csr[7] += 1e-2;
	}
}

static void wrong_results_are_detected(void **unused)
{
	(void)unused;
	make_scene(3, FRIC_FEATURES_SEARCH, &s);
	for (enum fault_in fault = 0; fault < N_FAULTS; fault++) {
		struct fric_comparison comparison;
		struct fric_error error;
		struct results results;
		struct subject t;
		open_subject(FRIC_TERM_BARRIER, &t);
		size_t i = t.contacts->start[FRIC_FACE_VERTEX];
		while (t.current->energy[i] == 0)
			i++;
		assert_ok(fricp_results_make(&serial, t.contacts, &t.query, &results, &error));
		falsify(&results, fault, t.contacts, i);
		assert_ok(fricp_results_compare(&serial, t.contacts, &t.query, &results, &comparison, &error));
		assert_false(comparison.agrees);
		if (fault <= IN_BLOCK) {
			assert_int_equal(comparison.group, FRIC_FACE_VERTEX);
			assert_int_equal(comparison.worst, i - t.contacts->start[FRIC_FACE_VERTEX]);
			assert_int_equal(comparison.quantity, (int)fault);
		}
		fricp_results_free(&serial, &results);
		close_subject(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(correct_results_agree), cmocka_unit_test(mollified_edges_agree),
	                                   cmocka_unit_test(deep_contacts_agree), cmocka_unit_test(distant_ends_agree),
	                                   cmocka_unit_test(wrong_results_are_detected)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
