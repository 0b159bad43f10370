/* Scenes on both sides of the library's branches (boundaries.h), in pairs. Results in every form are compared with sums
 * in long double and with the comparison in 113 bits, and must have properties that reveal a fault common to all forms.
 * `make test` runs a share of a covering array; `make boundaries` runs whole ones, BOUNDARIES=N of them. */
#include <stdio.h>

#include "core/bodies/twist.h"
#include "tests/property/boundaries.h"
#include "tests/property/counted_memory.h"
#include "tests/property/homogeneous.h"
#include "tests/property/published.h"
#include "tests/share.h"

enum { FIRST_SEED = 7001, MOST_SECTIONS = 80, SMALL = 700 };

/* ---- everything that the library computes, in one array ---- */

struct section {
	const char *name;
	size_t begin, n;
	enum fric_code code;
};

struct results {
	double *x;
	size_t n, room;
	int n_sections;
	struct section section[MOST_SECTIONS];
};

/* A scene and a query at its velocities. */
struct inquiry {
	struct scene scene;
	struct row row;
	uint64_t seed;
	size_t n_dofs, n_vectors, n_steps;
	double *vectors, *steps, *cotangents;
	struct number_fields fields;
	struct fric_differential tangents;  /* for all fields */
	struct fric_differential second_of; /* for fields that have second derivatives */
	enum fric_projection projection;
	enum fric_triangle triangle;
};

/* Room for n numbers, filled with NaN; the pointer is valid until the next section begins. */
static double *begin_section(struct results *r, const char *name, size_t n)
{
	assert_true(r->n_sections < MOST_SECTIONS);
	if (r->n + n > r->room) {
		r->room = 2 * (r->n + n) + 1000;
		r->x = realloc(r->x, r->room * sizeof(double));
		assert_non_null(r->x);
	}
	memset(r->x + r->n, 0xff, n * sizeof(double));
	r->section[r->n_sections++] = (struct section){name, r->n, n, FRIC_OK};
	r->n += n;
	return r->x + r->n - n;
}

/* A failed call leaves its outputs unspecified, but names the same contact in every form. */
static void end_section(struct results *r, enum fric_code code, const struct fric_error *error)
{
	struct section *s = &r->section[r->n_sections - 1];
	s->code = code;
	if (code == FRIC_OK)
		return;
	assert_int_equal(error->code, code);
	for (size_t i = 0; i < s->n; i++)
		r->x[s->begin + i] = (double)(i == 0                          ? error->contact
		                              : i == 1 && error->contact >= 0 ? (int64_t)error->group
		                                                              : 0);
}

static const struct section *find_section(const struct results *r, const char *name)
{
	for (int i = 0; i < r->n_sections; i++)
		if (!strcmp(r->section[i].name, name))
			return &r->section[i];
	return NULL;
}

static double *section_of(const struct results *r, const char *name)
{
	const struct section *s = find_section(r, name);
	return s && s->code == FRIC_OK ? r->x + s->begin : NULL;
}

/* ---- the calls ---- */

struct asked {
	const struct fric_context *context;
	const struct inquiry *q;
	struct fric_contacts *contacts;
	struct fric_state *state;
	struct fric_schedule *schedule;
	struct fric_query query;
	struct fric_derivation derivation;
	struct results *r;
	struct fric_error error;
};

static void ask_potentials(struct asked *a)
{
	const struct inquiry *q = a->q;
	double *both = begin_section(a->r, "evaluate", 1 + q->n_dofs);
	end_section(a->r, fric_evaluate(a->context, a->contacts, &a->query, both, both + 1, &a->error), &a->error);
	double *potential = begin_section(a->r, "potential", 1);
	end_section(a->r, fric_evaluate(a->context, a->contacts, &a->query, potential, NULL, &a->error), &a->error);
	double *gradient = begin_section(a->r, "gradient", q->n_dofs);
	end_section(a->r, fric_evaluate(a->context, a->contacts, &a->query, NULL, gradient, &a->error), &a->error);
	double *line = begin_section(a->r, "line", 2 * q->n_steps);
	end_section(a->r,
	            fric_line(a->context, a->contacts, &a->query, q->vectors, q->n_steps, q->steps, line, line + q->n_steps,
	                      &a->error),
	            &a->error);
	double *products = begin_section(a->r, "products", q->n_vectors * q->n_dofs);
	end_section(a->r,
	            fric_hessian_products(a->context, a->contacts, &a->query, q->projection, q->n_vectors, q->vectors,
	                                  products, &a->error),
	            &a->error);
}

static void ask_outputs(struct asked *a)
{
	static char names[FRIC_N_OUTPUTS][16];
	for (enum fric_output output = 0; output < FRIC_N_OUTPUTS; output++) {
		size_t n = 0;
		snprintf(names[output], sizeof(names[output]), "output %d", (int)output);
		double *out = begin_section(a->r, names[output], 6 * fric_n_contacts(a->contacts));
		enum fric_code code = FRIC_OK;
		memset(out, 0, 6 * fric_n_contacts(a->contacts) * sizeof(double));
		for (enum fric_type type = 0; type < FRIC_N_TYPES && code == FRIC_OK; type++) {
			if (fric_has_output(a->contacts, type, output))
				code = fric_contact_output(a->context, a->contacts, &a->query, type, output, out + 6 * n, &a->error);
			n += fric_group_size(a->contacts, type);
		}
		end_section(a->r, code, &a->error);
	}
}

static void store_numbers(const int32_t *x, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = x[i];
}

static void ask_triplets(struct asked *a, enum fric_triangle triangle, const double *inner, const char *const names[3])
{
	const size_t n = fric_n_triplets(a->contacts, triangle);
	int32_t *rows = calloc(2 * n + 1, sizeof(*rows));
	double *values = begin_section(a->r, names[0], n);
	end_section(a->r,
	            fric_hessian_triplets(a->context, a->contacts, inner, triangle, rows, rows + n, values, &a->error),
	            &a->error);
	store_numbers(rows, 2 * n, begin_section(a->r, names[1], 2 * n));
	double *alone = begin_section(a->r, names[2], n);
	end_section(a->r, fric_hessian_triplets(a->context, a->contacts, inner, triangle, NULL, NULL, alone, &a->error),
	            &a->error);
	free(rows);
}

static void store_pattern(struct results *r, const char *name, const struct fric_pattern *p)
{
	const size_t rows = fric_pattern_n_rows(p), n = fric_pattern_n_entries(p);
	double *out = begin_section(r, name, rows + 1 + n);
	for (size_t i = 0; i <= rows; i++)
		out[i] = (double)fric_pattern_indptr(p)[i];
	store_numbers(fric_pattern_indices(p), n, out + rows + 1);
}

static void ask_blocks(struct asked *a, const struct fric_pattern *p, const double *inner)
{
	const size_t rows = fric_n_vertices(a->contacts), n = fric_pattern_n_blocks(p), dim = (size_t)a->q->scene.batch.dim;
	int64_t *indptr = calloc(rows + 1, sizeof(*indptr));
	int32_t *indices = calloc(n + 1, sizeof(*indices));
	double *data = begin_section(a->r, "bsr", n * dim * dim);
	enum fric_code code = fric_pattern_blocks(a->context, p, indptr, indices, &a->error);
	if (code == FRIC_OK)
		code = fric_hessian_bsr(a->context, a->contacts, inner, p, indptr, data, &a->error);
	end_section(a->r, code, &a->error);
	double *out = begin_section(a->r, "bsr pattern", rows + 1 + n);
	for (size_t i = 0; i <= rows; i++)
		out[i] = (double)indptr[i];
	store_numbers(indices, n, out + rows + 1);
	free(indptr);
	free(indices);
}

static void ask_rows(struct asked *a, enum fric_triangle triangle, const double *inner, const char *const names[2])
{
	struct fric_pattern *p = NULL;
	if (fric_pattern_create(a->context, a->contacts, triangle, &p, &a->error) != FRIC_OK) {
		assert_true(a->error.code == FRIC_E_MEMORY || a->error.code == FRIC_E_STOPPED);
		assert_null(p);
		return;
	}
	store_pattern(a->r, names[1], p);
	double *data = begin_section(a->r, names[0], fric_pattern_n_entries(p));
	end_section(a->r, fric_hessian_csr(a->context, a->contacts, inner, p, data, &a->error), &a->error);
	if (triangle == FRIC_FULL && a->q->scene.batch.n_bodies == 0)
		ask_blocks(a, p, inner);
	fric_pattern_free(p);
}

static void ask_factors(struct asked *a)
{
	const size_t dim = (size_t)a->q->scene.batch.dim, slip = dim == 3 ? 5 : 2, width = dim == 3 ? 6 : 3;
	struct fric_factors f = {.weights = {0}};
	size_t n = 0;
	for (int count = 0; count < 2; count++) {
		double *at = count ? begin_section(a->r, "factors", n) : NULL;
		size_t used = 0;
		for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
			const size_t m = fric_group_size(a->contacts, type), k = (size_t)fric_stencil_size(type);
			const bool bodies = type >= FRIC_BODY_BODY;
			const size_t sizes[] = {bodies ? 0 : m * k, bodies ? 0 : m * dim * (dim - 1),
			                        m * (size_t)(bodies ? fric_body_inner_size((int)dim) : fric_inner_size((int)dim)),
			                        bodies ? m * slip * k * width : 0};
			double **places[] = {&f.weights[type], &f.tangent_basis[type], &f.inner[type], &f.jacobian[type]};
			for (int i = 0; i < 4; i++) {
				*places[i] = count && sizes[i] ? at + used : NULL;
				used += sizes[i];
			}
		}
		n = used;
	}
	end_section(a->r, fric_hessian_factors(a->context, a->contacts, &a->query, a->q->projection, &f, &a->error),
	            &a->error);
}

static void ask_matrices(struct asked *a)
{
	static const char *const full[] = {"triplets", "triplets pattern", "triplets alone"},
							 *const some[] = {"triangle", "triangle pattern", "triangle alone"},
							 *const rows[] = {"csr", "csr pattern"},
							 *const some_rows[] = {"csr of triangle", "its pattern"};
	const size_t n = fric_n_inner(a->contacts);
	double *inner = calloc(n + 1, sizeof(double)), *kept = begin_section(a->r, "inner", n);
	const enum fric_code code =
		fric_hessian_inner(a->context, a->contacts, &a->query, a->q->projection, kept, &a->error);
	memcpy(inner, kept, n * sizeof(double));
	end_section(a->r, code, &a->error);
	if (code == FRIC_OK) {
		ask_triplets(a, FRIC_FULL, inner, full);
		ask_rows(a, FRIC_FULL, inner, rows);
	}
	if (code == FRIC_OK && a->q->triangle != FRIC_FULL) {
		ask_triplets(a, a->q->triangle, inner, some);
		ask_rows(a, a->q->triangle, inner, some_rows);
	}
	free(inner);
	ask_factors(a);
}

static size_t numbers_in(const struct number_fields *fields)
{
	size_t n = 0;
	for (size_t f = 0; f < fields->n; f++)
		n += fields->of[f].n;
	return n;
}

static bool has_second(const struct number_field *f)
{
	return f->type == FRIC_N_TYPES ? fric_has_second(f->field) : fric_row_has_second(f->row);
}

/* Places for all fields in `out`, one after the other; if `second`, only for fields that have second derivatives. */
static struct fric_differential places(const struct number_fields *fields, double *out, bool second)
{
	struct fric_differential d = {.fields = {0}};
	for (size_t f = 0; f < fields->n; f++) {
		if (!second || has_second(&fields->of[f]))
			*place_in(&d, &fields->of[f]) = out;
		out += fields->of[f].n;
	}
	return d;
}

static void ask_jvp(struct asked *a, const char *name, const struct fric_differential *tangents)
{
	const size_t n = 1 + a->q->n_dofs;
	double *out = begin_section(a->r, name, 2 * n);
	end_section(a->r, fric_jvp(a->context, &a->derivation, tangents, out, out + 1, out + n, out + n + 1, &a->error),
	            &a->error);
}

static void ask_derivatives(struct asked *a)
{
	const struct inquiry *q = a->q;
	const struct fric_differential by_velocities = {
		.fields = {[FRIC_WRT_VELOCITIES] = q->tangents.fields[FRIC_WRT_VELOCITIES]}};
	const size_t n = 1 + q->n_dofs, m = numbers_in(&q->fields);
	ask_jvp(a, "jvp", &q->tangents);
	ask_jvp(a, "jvp by velocities", &by_velocities);
	double *out = begin_section(a->r, "vjp", n + m);
	const struct fric_differential cotangents = places(&q->fields, out + n, false);
	end_section(
		a->r,
		fric_vjp(a->context, &a->derivation, q->cotangents[0], q->cotangents + 1, out, out + 1, &cotangents, &a->error),
		&a->error);
	double *second = begin_section(a->r, "second", m);
	const struct fric_differential seconds = places(&q->fields, second, true);
	end_section(a->r, fric_second_derivative_product(a->context, &a->derivation, &q->second_of, &seconds, &a->error),
	            &a->error);
}

static void ask_jacobian(struct asked *a)
{
	const size_t n = fric_n_jacobian_triplets(a->contacts);
	int32_t *rows = calloc(2 * n + 1, sizeof(*rows));
	struct fric_pattern *p = NULL;
	double *values = begin_section(a->r, "jacobian triplets", n);
	end_section(a->r, fric_position_jacobian_triplets(a->context, &a->derivation, rows, rows + n, values, &a->error),
	            &a->error);
	store_numbers(rows, 2 * n, begin_section(a->r, "jacobian triplets pattern", 2 * n));
	free(rows);
	if (fric_jacobian_pattern_create(a->context, a->contacts, &p, &a->error) != FRIC_OK) {
		assert_true(a->error.code == FRIC_E_MEMORY || a->error.code == FRIC_E_STOPPED);
		return;
	}
	store_pattern(a->r, "jacobian pattern", p);
	double *data = begin_section(a->r, "jacobian", fric_pattern_n_entries(p));
	end_section(a->r, fric_position_jacobian_csr(a->context, &a->derivation, p, data, &a->error), &a->error);
	fric_pattern_free(p);
}

static bool asks_jacobian(const struct inquiry *q)
{
	return q->scene.batch.positions && q->row.level[BY_TYPES] != 1;
}

static void begin_asking(struct asked *a, bool with_schedule)
{
	const struct scene *s = &a->q->scene;
	a->query = (struct fric_query){.velocities = s->velocities};
	if (fric_prepare(a->context, &s->batch, &a->contacts, &a->error) != FRIC_OK ||
	    fric_state_create(a->context, a->contacts, s->lagged, &a->state, &a->error) != FRIC_OK ||
	    (with_schedule && fric_schedule_create(a->context, a->contacts, &a->schedule, &a->error) != FRIC_OK))
		return;
	a->query.state = a->state;
	a->query.schedule = a->schedule;
	a->derivation = (struct fric_derivation){.batch = &s->batch,
	                                         .contacts = a->contacts,
	                                         .query = &a->query,
	                                         .slip_velocities = a->state ? s->lagged : NULL,
	                                         .vertices_follow = a->q->row.level[BY_FOLLOWING] % 2,
	                                         .bodies_follow = a->q->row.level[BY_FOLLOWING] / 2};
	a->error.code = FRIC_OK;
}

static void end_asking(struct asked *a)
{
	fric_schedule_free(a->schedule);
	fric_state_free(a->state);
	fric_contacts_free(a->contacts);
}

/* All results, or the code of the first call that fails. */
static enum fric_code ask_all(const struct fric_context *context, const struct inquiry *q, bool with_schedule,
                              struct results *r)
{
	struct asked a = {.context = context, .q = q, .r = r};
	r->n = 0;
	r->n_sections = 0;
	begin_asking(&a, with_schedule);
	const enum fric_code code = a.error.code;
	if (code == FRIC_OK) {
		ask_potentials(&a);
		ask_outputs(&a);
		ask_matrices(&a);
		ask_derivatives(&a);
		if (asks_jacobian(q))
			ask_jacobian(&a);
	}
	end_asking(&a);
	return code;
}

/* ---- scenes ---- */

static const char *current; /* name of the current comparison */
static const struct inquiry *current_inquiry;

static void say_where(const char *what)
{
	current = what;
}

/* Number i of n, as the level of tangents requires. */
static double tangent_level(const struct inquiry *q, size_t i, size_t n, double x)
{
	switch (q->row.level[BY_TANGENTS]) {
	case TANGENTS_SPARSE: return n < 20 || i % 17 == 5 || i + 1 == n ? x : 0;
	case TANGENTS_TINY: return ldexp(x, -200);
	case TANGENTS_HUGE: return ldexp(x, 200);
	default: return x;
	}
}

static void find_tangents(struct inquiry *q, struct rng *rng)
{
	q->tangents = (struct fric_differential){.fields = {0}};
	q->second_of = q->tangents;
	for (size_t f = 0; f < q->fields.n; f++) {
		double *tangent = random_tangent(&q->scene, rng, &q->fields.of[f]);
		for (size_t i = 0, n = q->fields.of[f].n; i < n; i++)
			tangent[i] = tangent_level(q, i, n, tangent[i]);
		*place_in(&q->tangents, &q->fields.of[f]) = tangent;
		if (has_second(&q->fields.of[f]))
			*place_in(&q->second_of, &q->fields.of[f]) = tangent;
	}
}

static void create_inquiry(struct inquiry *q, const struct row *row, uint64_t seed)
{
	static const size_t vectors[] = {1, 3, 4, 8, 11};
	struct rng rng = {seed + 17};
	*q = (struct inquiry){.row = *row, .seed = seed, .n_vectors = vectors[row->level[BY_VECTORS]], .n_steps = 7};
	boundary_scene(row, seed, &q->scene);
	q->n_dofs = scene_ndof(&q->scene);
	q->projection = (enum fric_projection)row->level[BY_PROJECTION];
	q->triangle = (enum fric_triangle)row->level[BY_TRIANGLE];
	q->vectors = random_reals(&q->scene, &rng, q->n_vectors * q->n_dofs, -1, 1);
	q->steps = random_reals(&q->scene, &rng, q->n_steps, -1e-3, 1e-3);
	q->steps[1] = 0;
	q->steps[3] = -0x1p+320;
	q->steps[5] = 0x1p-1040;
	q->steps[6] = -1;
	q->cotangents = random_cotangents(&q->scene, &rng);
	q->fields = scene_fields(&q->scene);
	find_tangents(q, &rng);
	current_inquiry = q;
}

static void free_inquiry(struct inquiry *q)
{
	scene_free(&q->scene);
	current_inquiry = NULL;
}

/* ---- the same bits in all forms ---- */

static void compare_results(const struct results *r, const struct results *expected, const char *form)
{
	assert_int_equal(r->n_sections, expected->n_sections);
	for (int i = 0; i < r->n_sections; i++) {
		const struct section *s = &r->section[i], *e = &expected->section[i];
		assert_int_equal(s->n, e->n);
		const double *x = r->x + s->begin, *y = expected->x + e->begin;
		size_t j = 0;
		while (j < s->n && memcmp(&x[j], &y[j], sizeof(double)) == 0)
			j++;
		if (s->code != e->code || j < s->n) {
			print_error("%s, %s: code %d, expected %d; [%zu] of %zu\n", form, s->name, s->code, e->code, j, s->n);
			if (j < s->n)
				print_error("%a, expected %a\n", x[j], y[j]);
			fail();
		}
	}
}

static void compare_forms(const struct inquiry *q, const struct results *expected)
{
	static const char *const names[] = {"scalar", "baseline", "avx2", "avx512"};
	struct results r = {0};
	for (int k = 0; k < 4; k++)
		for (int t = 1; t <= 3; t++) {
			/* every kernel on every number of threads, up to 8 in some scenes */
			const int n_threads = t == 3 && q->seed % 2 && q->row.level[BY_COUNT] >= 3 ? 8 : t;
			struct counted_memory counted = {.left = -1};
			const struct fric_memory memory = memory_of(&counted);
			const struct fric_context context = {.n_threads = n_threads,
			                                     .kernels = fric_kernels_find(names[k]),
			                                     .memory = &memory,
			                                     .parallel_from = 1,
			                                     .stream_from = (q->seed + (uint64_t)k) % 2 ? 1 : 0};
			if (!context.kernels || (q->seed + (uint64_t)(k + t)) % 3 == 0)
				continue;
			assert_ok(ask_all(&context, q, t == 2, &r));
			compare_results(&r, expected, names[k]);
			assert_all_given_back(&counted);
		}
	free(r.x);
}

/* ---- sums in long double ---- */

struct sums {
	long double *sum, *size; /* [n]: sums, and sums of absolute terms */
	size_t n;
};

static struct sums new_sums(size_t n)
{
	return (struct sums){calloc(n + 1, sizeof(long double)), calloc(n + 1, sizeof(long double)), n};
}

static void free_sums(struct sums *s)
{
	free(s->sum);
	free(s->size);
}

static void add_term(struct sums *s, size_t at, long double term)
{
	s->sum[at] += term;
	s->size[at] += fabsl(term);
}

/* Compares within a few roundings of the terms, or of `least`. */
static void compare_sums(const char *what, const double *x, const struct sums *s, long double relative,
                         long double least)
{
	for (size_t i = 0; i < s->n; i++) {
		const long double allowed = relative * (s->size[i] + least) + 0x1p-1060L;
		if (fabsl(x[i] - s->sum[i]) <= allowed)
			continue;
		print_error("%s[%zu] is %.17g, expected %.17Lg; off by %.3Lg, allowed %.3Lg\n", what, i, x[i], s->sum[i],
		            fabsl(x[i] - s->sum[i]), allowed);
		fail();
	}
}

static long double largest_size(const struct sums *s)
{
	long double most = 0;
	for (size_t i = 0; i < s->n; i++)
		most = fmaxl(most, s->size[i]);
	return most;
}

/* ---- patterns ---- */

/* Block rows of one kind of member, vertices or bodies. */
struct block_form {
	size_t first, n, width; /* number of DOFs before them, number of members, DOFs of each */
	enum fric_type begin, end;
};

static bool has_column(const double *columns, size_t n, double column)
{
	size_t low = 0;
	for (size_t left = n; left > 1; left -= left / 2)
		low += columns[low + left / 2] <= column ? left / 2 : 0;
	return n > 0 && columns[low] == column;
}

static bool is_entry(enum fric_triangle triangle, size_t row, size_t column)
{
	return triangle == FRIC_FULL || (triangle == FRIC_UPPER ? column >= row : column <= row);
}

/* Counts the entries of all blocks that contacts have, each block once. @param seen [members, members] */
static size_t entries_of(const struct scene *s, struct block_form form, enum fric_triangle triangle, char *seen,
                         const double *indptr, const double *columns)
{
	size_t n = 0;
	for (enum fric_type type = form.begin; type < form.end; type++) {
		const size_t k = (size_t)fric_stencil_size(type);
		for (size_t i = 0; i < s->batch.groups[type].n * k * k; i++) {
			const int32_t *v = s->batch.groups[type].vertices + i / (k * k) * k;
			const size_t a = (size_t)v[i % (k * k) / k], b = (size_t)v[i % k];
			for (size_t e = 0; e < form.width * form.width && !seen[a * form.n + b]; e++) {
				const size_t row = form.first + a * form.width + e / form.width,
							 column = form.first + b * form.width + e % form.width;
				if (!is_entry(triangle, row, column))
					continue;
				assert_true(
					has_column(columns + (size_t)indptr[row], (size_t)(indptr[row + 1] - indptr[row]), (double)column));
				n++;
			}
			seen[a * form.n + b] = 1;
		}
	}
	return n;
}

/* Columns are sorted, and entries are exactly those that two members of a contact share, each once. */
static void compare_pattern(const struct inquiry *q, const struct results *r, const char *name,
                            enum fric_triangle triangle, bool bodies)
{
	const struct fric_batch *b = &q->scene.batch;
	const struct block_form forms[] = {
		{0, b->n_vertices, (size_t)b->dim, 0, FRIC_N_VERTEX_TYPES},
		{first_twist(&q->scene), b->n_bodies, twist_size(&q->scene), FRIC_N_VERTEX_TYPES, FRIC_N_TYPES}};
	const double *indptr = section_of(r, name), *columns = indptr + q->n_dofs + 1;
	size_t n = 0;
	if (!indptr || b->n_vertices > 3000)
		return;
	assert_true(indptr[0] == 0);
	for (size_t row = 0; row < q->n_dofs; row++)
		for (size_t e = (size_t)indptr[row]; e < (size_t)indptr[row + 1]; e++)
			assert_true(e == (size_t)indptr[row] || columns[e] > columns[e - 1]);
	for (int f = 0; f < (bodies ? 2 : 1); f++) {
		char *seen = calloc(forms[f].n * forms[f].n + 1, 1);
		n += entries_of(&q->scene, forms[f], triangle, seen, indptr, columns);
		free(seen);
	}
	assert_int_equal(n, (size_t)indptr[q->n_dofs]);
}

static void compare_patterns(const struct inquiry *q, const struct results *r)
{
	compare_pattern(q, r, "csr pattern", FRIC_FULL, true);
	if (find_section(r, "its pattern"))
		compare_pattern(q, r, "its pattern", q->triangle, true);
	if (find_section(r, "jacobian pattern"))
		compare_pattern(q, r, "jacobian pattern", FRIC_FULL, false);
}

/* ---- products with matrices ---- */

static void times_triplets(const struct results *r, const char *values, const char *pattern, bool symmetric,
                           const double *x, struct sums *out)
{
	const double *v = section_of(r, values), *at = section_of(r, pattern);
	const size_t n = find_section(r, values)->n;
	for (size_t e = 0; e < n; e++) {
		const size_t row = (size_t)at[e], column = (size_t)at[n + e];
		add_term(out, row, (long double)v[e] * x[column]);
		if (symmetric && row != column)
			add_term(out, column, (long double)v[e] * x[row]);
	}
}

/* A matrix times a vector, in rows of entries or of blocks of `width`. */
static void times_rows(const struct results *r, const char *values, const char *pattern, size_t rows, size_t width,
                       bool symmetric, const double *x, struct sums *out)
{
	const double *v = section_of(r, values), *at = section_of(r, pattern), *columns = at + rows + 1;
	for (size_t row = 0; row < rows; row++)
		for (size_t e = (size_t)at[row]; e < (size_t)at[row + 1]; e++)
			for (size_t b = 0; b < width * width; b++) {
				const size_t i = row * width + b / width, j = (size_t)columns[e] * width + b % width;
				add_term(out, i, (long double)v[e * width * width + b] * x[j]);
				if (symmetric && i != j)
					add_term(out, j, (long double)v[e * width * width + b] * x[i]);
			}
}

/* B A B^T x, where B has the columns of a contact. @param dofs, b [n], [m][n] */
static void times_block(size_t n, size_t m, const size_t *dofs, const long double *b, const double *inner,
                        const double *x, struct sums *out)
{
	long double slip[5] = {0}, force[5] = {0}, size[5] = {0};
	for (size_t t = 0; t < m; t++)
		for (size_t d = 0; d < n; d++)
			slip[t] += b[t * n + d] * x[dofs[d]];
	for (size_t s = 0, e = 0; s < m; s++)
		for (size_t t = s; t < m; t++, e++) {
			force[s] += inner[e] * slip[t];
			size[s] += fabsl(inner[e] * slip[t]);
			force[t] += s == t ? 0 : inner[e] * slip[s];
		}
	for (size_t d = 0; d < n; d++)
		for (size_t t = 0; t < m; t++) {
			out->sum[dofs[d]] += b[t * n + d] * force[t];
			out->size[dofs[d]] += fabsl(b[t * n + d]) * (fabsl(force[t]) + size[t]);
		}
}

/* The columns of a contact of vertices, from weights and basis; for bodies they come from their Jacobian. */
static void columns_of(size_t dim, size_t k, const double *w, const double *basis, long double *b)
{
	for (size_t t = 0; t + 1 < dim; t++)
		for (size_t d = 0; d < k * dim; d++)
			b[t * k * dim + d] = (long double)w[d / dim] * basis[d % dim * (dim - 1) + t];
}

static void times_factors(const struct inquiry *q, const struct results *r, const double *x, struct sums *out)
{
	const size_t dim = (size_t)q->scene.batch.dim, slip = dim == 3 ? 5 : 2, width = dim == 3 ? 6 : 3;
	const double *at = section_of(r, "factors");
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const struct fric_group *g = &q->scene.batch.groups[type];
		const bool bodies = type >= FRIC_BODY_BODY;
		const size_t k = (size_t)fric_stencil_size(type), each = bodies ? width : dim, n = k * each;
		const size_t m = bodies ? slip : dim - 1, size = m * (m + 1) / 2;
		const double *w = at, *basis = w + (bodies ? 0 : g->n * k),
					 *inner = basis + (bodies ? 0 : g->n * dim * (dim - 1)), *jacobian = inner + g->n * size;
		for (size_t i = 0; i < g->n; i++) {
			size_t dofs[24];
			long double b[60];
			for (size_t d = 0; d < n; d++)
				dofs[d] = (bodies ? first_twist(&q->scene) : 0) + (size_t)g->vertices[i * k + d / each] * each +
				          d % each;
			if (bodies)
				for (size_t e = 0; e < m * n; e++)
					b[e] = jacobian[i * m * n + e];
			else
				columns_of(dim, k, w + i * k, basis + i * dim * (dim - 1), b);
			times_block(n, m, dofs, b, inner + i * size, x, out);
		}
		at = jacobian + (bodies ? g->n * m * n : 0);
	}
}

static void compare_products(const char *what, const struct sums *expected, struct sums *s)
{
	double *x = calloc(s->n + 1, sizeof(double));
	for (size_t i = 0; i < s->n; i++)
		x[i] = (double)s->sum[i];
	compare_sums(what, x, expected, 1e-12L, 1e-3L * largest_size(expected));
	free(x);
	free_sums(s);
	*s = new_sums(expected->n);
}

/* Every format of the Hessian, times a vector. */
static void compare_matrices(const struct inquiry *q, const struct results *r)
{
	const size_t dim = (size_t)q->scene.batch.dim;
	struct sums expected = new_sums(q->n_dofs), s = new_sums(q->n_dofs);
	if (!section_of(r, "triplets") || !section_of(r, "factors") || !section_of(r, "csr"))
		return;
	times_factors(q, r, q->vectors, &expected);
	times_triplets(r, "triplets", "triplets pattern", false, q->vectors, &s);
	compare_products("triplets", &expected, &s);
	times_rows(r, "csr", "csr pattern", q->n_dofs, 1, false, q->vectors, &s);
	compare_products("csr", &expected, &s);
	if (section_of(r, "bsr")) {
		times_rows(r, "bsr", "bsr pattern", q->scene.batch.n_vertices, dim, false, q->vectors, &s);
		compare_products("bsr", &expected, &s);
	}
	if (section_of(r, "triangle") && section_of(r, "csr of triangle")) {
		times_triplets(r, "triangle", "triangle pattern", true, q->vectors, &s);
		compare_products("triangle", &expected, &s);
		times_rows(r, "csr of triangle", "its pattern", q->n_dofs, 1, true, q->vectors, &s);
		compare_products("csr of triangle", &expected, &s);
	}
	for (size_t l = 0; l < q->n_vectors && section_of(r, "products"); l++) {
		struct sums one = new_sums(q->n_dofs);
		times_factors(q, r, q->vectors + l * q->n_dofs, &one);
		compare_sums("products", section_of(r, "products") + l * q->n_dofs, &one, 1e-12L, 1e-3L * largest_size(&one));
		free_sums(&one);
	}
	free_sums(&expected);
	free_sums(&s);
}

/* Potential and forces are sums over contacts; torques on bodies are not checked here. */
static void compare_outputs(const struct inquiry *q, const struct results *r)
{
	const double *potentials = section_of(r, "output 0"), *forces = section_of(r, "output 10"),
				 *factors = section_of(r, "factors"), *answer = section_of(r, "evaluate");
	const size_t dim = (size_t)q->scene.batch.dim, width = dim == 3 ? 6 : 3;
	struct sums s = new_sums(1 + q->n_dofs);
	size_t first = 0;
	if (!potentials || !forces || !factors || !answer)
		return;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const struct fric_group *g = &q->scene.batch.groups[type];
		const size_t k = (size_t)fric_stencil_size(type);
		const bool bodies = type >= FRIC_BODY_BODY;
		for (size_t i = 0; i < g->n; i++) {
			add_term(&s, 0, potentials[6 * first + i]);
			for (size_t d = 0; d < k * dim; d++) {
				const size_t v = (size_t)g->vertices[i * k + d / dim], j = d % dim;
				const size_t dof = bodies ? first_twist(&q->scene) + v * width + j : v * dim + j;
				const double weight = bodies ? (d < dim ? 1 : -1) : factors[i * k + d / dim];
				add_term(&s, 1 + dof, -(long double)weight * forces[6 * first + i * dim + j]);
			}
		}
		first += g->n;
		factors += bodies ? 0 : g->n * (k + dim * (dim - 1) + dim * (dim - 1) / 2);
	}
	double *x = calloc(1 + q->n_dofs, sizeof(double));
	memcpy(x, answer, (1 + q->n_dofs) * sizeof(double));
	for (size_t b = 0; b < q->scene.batch.n_bodies; b++)
		memset(x + 1 + first_twist(&q->scene) + b * width + dim, 0, (width - dim) * sizeof(double));
	compare_sums("sums of outputs", x, &s, 1e-13L, 0);
	free(x);
	free_sums(&s);
}

static const double *output_of(const struct results *r, enum fric_output output)
{
	char name[16];
	snprintf(name, sizeof(name), "output %d", (int)output);
	return section_of(r, name);
}

/* A contact's outputs. */
struct outputs {
	const double *basis, *closest_point, *distance, *velocity, *ratio, *status, *spin, *rolling, *mu[2], *normal_force;
};

static struct outputs outputs_of(const struct results *r, size_t first, size_t i, size_t dim, size_t m)
{
	static const enum fric_output which[] = {
		FRIC_OUT_TANGENT_BASIS, FRIC_OUT_CLOSEST_POINT, FRIC_OUT_DISTANCE,    FRIC_OUT_TANGENTIAL_VELOCITY,
		FRIC_OUT_SLIP_RATIO,    FRIC_OUT_STATUS,        FRIC_OUT_SPIN,        FRIC_OUT_ROLLING,
		FRIC_OUT_MU_S,          FRIC_OUT_MU_K,          FRIC_OUT_NORMAL_FORCE};
	enum { N_USED = sizeof(which) / sizeof(*which) };
	const size_t widths[N_USED] = {dim * (dim - 1), m, 1, dim - 1, 1, 1, 1, dim - 1, 1, 1, 1};
	const double *at[N_USED];
	for (int o = 0; o < N_USED; o++) {
		const double *all = output_of(r, which[o]);
		at[o] = all ? all + 6 * first + i * widths[o] : NULL;
	}
	return (struct outputs){at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], {at[8], at[9]}, at[10]};
}

/* |u| / eps_v agrees with the slip computed from its components. */
static void check_slip(const struct inquiry *q, enum fric_type type, size_t i, struct outputs o)
{
	const struct fric_group *g = &q->scene.batch.groups[type];
	const size_t dim = (size_t)q->scene.batch.dim;
	const double eps_v = field_or(g->eps_v, i, 0, q->scene.batch.friction.eps_v);
	long double squared = 0;
	for (size_t t = 0; t + 1 < dim; t++) {
		const long double u = (long double)o.velocity[t] * field_or(g->mu_aniso, i, t, 1);
		squared += u * u;
	}
	if (type >= FRIC_BODY_BODY) {
		const long double spin = dim == 3 ? (long double)*o.spin * field_or(g->spin_radius, i, 0, 0) : 0;
		squared += spin * spin;
		for (size_t t = 0; t + 1 < dim; t++) {
			const long double roll = (long double)o.rolling[t] * field_or(g->roll_radius, i, 0, 0);
			squared += roll * roll;
		}
	}
	const long double ratio = sqrtl(squared) / eps_v;
	assert_near(*o.ratio, ratio, 1e-13L * ratio + 0x1p-1060L);
	if (fabsl(ratio - 1) > 1e-12L && *o.status != 2)
		assert_true(*o.status == (ratio > 1));
}

/* The vector between both sides of a contact, of which the second may be fixed in space, and the size of its terms. */
static void sides_apart(const struct inquiry *q, enum fric_type type, size_t i, const double *weights,
                        long double apart[3], long double *size)
{
	const struct fric_batch *b = &q->scene.batch;
	const struct fric_group *g = &b->groups[type];
	const size_t k = (size_t)fric_stencil_size(type), dim = (size_t)b->dim;
	*size = 0;
	for (size_t d = 0; d < dim; d++) {
		apart[d] = faces_world(type) ? -(long double)field_or(g->plane_origin, i, d, 0) : 0;
		*size += fabsl(apart[d]);
		for (size_t j = 0; j < k; j++) {
			const long double x = (long double)weights[j] * b->positions[(size_t)g->vertices[i * k + j] * dim + d];
			apart[d] += x;
			*size += fabsl(x);
		}
	}
}

/* A derived basis is orthonormal, and perpendicular to the vector between both sides, whose length is the distance.
 * With a grain, the first column has its direction. */
static void check_geometry(const struct inquiry *q, enum fric_type type, size_t i, const double *weights,
                           struct outputs o)
{
	const struct fric_group *g = &q->scene.batch.groups[type];
	const size_t dim = (size_t)q->scene.batch.dim;
	long double apart[3] = {0}, size, along[2] = {0}, product[3] = {0}, grain[2] = {0}, length = 0;
	const bool plane = geometry_of(type) == POINT_PLANE;
	sides_apart(q, type, i, weights, apart, &size);
	for (size_t d = 0; d < dim; d++) {
		const double *p = o.basis + d * (dim - 1), s = dim == 3 ? p[1] : 0;
		along[0] += p[0] * (plane ? field_or(g->plane_normal, i, d, 0) : apart[d]);
		along[1] += s * (plane ? field_or(g->plane_normal, i, d, 0) : apart[d]);
		product[0] += (long double)p[0] * p[0];
		product[1] += (long double)s * s;
		product[2] += (long double)p[0] * s;
		grain[0] += p[0] * field_or(g->grain, i, d, 0);
		grain[1] += s * field_or(g->grain, i, d, 0);
		length += apart[d] * apart[d];
	}
	assert_near(product[0], 1, 1e-14L);
	assert_near(product[1], dim == 3, 1e-14L);
	assert_near(product[2], 0, 1e-14L);
	for (int t = 0; t < 2; t++)
		assert_near(along[t], 0, plane ? 1e-13L : 1e-11L * size);
	if (g->grain.data)
		assert_true(grain[0] > 0 && fabsl(grain[1]) <= 1e-9L * grain[0]);
	if (o.distance && q->scene.options.barrier && !plane)
		assert_near(*o.distance, sqrtl(length), 1e-11L * size);
}

/* @param lagged  the tangential velocity at the lagged velocities; @param weights  NULL for bodies */
static void check_lagged(const struct inquiry *q, enum fric_type type, size_t i, const double *weights,
                         const double *lagged, struct outputs o)
{
	const struct fric_batch *b = &q->scene.batch;
	const struct fric_group *g = &b->groups[type];
	const double eps_v = field_or(g->eps_v, i, 0, b->friction.eps_v);
	long double slip[2] = {0, 0};
	for (size_t t = 0; t + 1 < (size_t)b->dim; t++)
		slip[t] = (long double)lagged[t] * field_or(g->mu_aniso, i, t, 1);
	for (int kind = 0; kind < 2; kind++) {
		const struct published mu =
			along_axes(published_mu(b, type, i, kind, weights), kind ? g->mu_k_aniso : g->mu_s_aniso, i, slip, eps_v);
		if (mu.known)
			assert_near(*o.mu[kind], fmaxl(mu.value, 0), 1e-11L * mu.size);
	}
	if (g->normal_force.data) {
		assert_bits(*o.normal_force, field_or(g->normal_force, i, 0, 0));
		return;
	}
	const struct published force = published_force(&b->barrier, *o.distance);
	if (force.known)
		assert_near(*o.normal_force, force.value, 1e-4L * force.size);
}

static void compare_contacts(const struct inquiry *q, const struct results *r)
{
	const size_t dim = (size_t)q->scene.batch.dim;
	struct fric_contacts *c = scene_contacts(&serial, &q->scene);
	double *lagged = all_contacts(&serial, c, q->scene.lagged, FRIC_OUT_TANGENTIAL_VELOCITY, dim - 1);
	const double *factors = section_of(r, "factors");
	size_t first = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES && factors; type++) {
		const struct fric_group *g = &q->scene.batch.groups[type];
		const size_t k = (size_t)fric_stencil_size(type);
		const bool bodies = type >= FRIC_BODY_BODY;
		for (size_t i = 0; i < g->n; i++) {
			const struct outputs o = outputs_of(r, first, i, dim, (size_t)fric_closest_point_size(type));
			if (!o.basis || !o.velocity || !o.ratio || !o.status || *o.status == 2)
				continue;
			check_slip(q, type, i, o);
			check_lagged(q, type, i, bodies ? NULL : factors + i * k, lagged + (dim - 1) * (first + i), o);
			if (!bodies && !g->tangent_basis.data)
				check_geometry(q, type, i, factors + i * k, o);
		}
		first += g->n;
		factors += bodies ? 0 : g->n * (k + dim * (dim - 1) + dim * (dim - 1) / 2);
	}
	free(lagged);
	scene_contacts_free(c);
}

/* ---- against evaluations, and differences in 113 bits ---- */

static void compare_line(const struct inquiry *q, const struct results *r)
{
	const double *line = section_of(r, "line");
	struct fric_contacts *c = scene_contacts(&serial, &q->scene);
	double *v = calloc(q->n_dofs + 1, sizeof(double)), *g = calloc(q->n_dofs + 1, sizeof(double));
	for (size_t k = 0; k < q->n_steps && line; k++) {
		struct sums s = new_sums(2);
		struct fric_error error;
		double answer[2], potential;
		for (size_t i = 0; i < q->n_dofs; i++)
			v[i] = q->scene.velocities[i] + q->steps[k] * q->vectors[i];
		if (fric_evaluate(&serial, c, scene_query(c, v), &potential, g, &error) == FRIC_OK) {
			double *each = all_contacts(&serial, c, v, FRIC_OUT_POTENTIAL, 1);
			for (size_t i = 0; i < fric_n_contacts(c); i++)
				s.size[0] += fabs(each[i]);
			free(each);
			s.sum[0] = potential;
			for (size_t i = 0; i < q->n_dofs; i++)
				add_term(&s, 1, (long double)g[i] * q->vectors[i]);
			answer[0] = line[k];
			answer[1] = line[q->n_steps + k];
			compare_sums(q->steps[k] == 0 ? "line at 0" : "line", answer, &s, 1e-9L, 0);
			if (q->steps[k] == 0)
				assert_bits(line[k], potential);
		}
		free_sums(&s);
	}
	free(v);
	free(g);
	scene_contacts_free(c);
}

static void compare_differences(const struct inquiry *q)
{
	struct fric_contacts *c = scene_contacts(&serial, &q->scene);
	struct fric_comparison comparison;
	struct fric_error error;
	const enum fric_code code = fric_compare(&serial, c, scene_query(c, q->scene.velocities), &comparison, &error);
	if (code == FRIC_OK && !comparison.agrees) {
		print_error("%s %d: quantity %d is off by %g\n", fric_type_name(comparison.group), (int)comparison.worst,
		            (int)comparison.quantity, comparison.relative_difference);
		fail();
	}
	assert_true(code == FRIC_OK || q->row.level[BY_SLIP] == SLIP_FAR);
	scene_contacts_free(c);
}

/* ---- derivatives ---- */

static struct setting *setting_for(const struct inquiry *q)
{
	struct setting *t = setting_of(&q->scene, false);
	t->derivation.vertices_follow = q->row.level[BY_FOLLOWING] % 2;
	t->derivation.bodies_follow = q->row.level[BY_FOLLOWING] / 2;
	return t;
}

static enum fric_code tangent_of(const struct setting *t, const struct fric_differential *d, size_t n, double *out)
{
	struct fric_error error;
	return fric_jvp(&serial, &t->derivation, d, out, out + 1, out + n, out + n + 1, &error);
}

static void add_array(struct sums *s, const double *x, double factor)
{
	for (size_t i = 0; i < s->n; i++)
		add_term(s, i, (long double)factor * x[i]);
}

/* Adds a zero tangent for each field that kernels cannot differentiate, so that all contacts take the plain form. */
static struct fric_differential with_unknown(const struct inquiry *q, struct scene *s,
                                             const struct fric_differential *tangents)
{
	struct fric_differential d = *tangents;
	for (size_t f = 0; f < q->fields.n; f++) {
		const struct number_field *field = &q->fields.of[f];
		const bool unknown = field->type == FRIC_N_TYPES ? field->field == FRIC_WRT_VISCOUS
		                                                 : field->row == FRIC_ROW_VISCOUS;
		if (unknown && !*place_in(&d, field))
			*place_in(&d, field) = scene_memory(s, field->n, sizeof(double));
	}
	return d;
}

/* Derivatives along several fields at once are the sum of those along each field, by kernels and by the plain form. */
static void compare_together(const struct inquiry *q, struct scene *room, const struct setting *t, const size_t *which,
                             size_t n_which)
{
	const size_t n = 1 + q->n_dofs;
	struct fric_differential together = {.fields = {0}};
	struct sums s = new_sums(n);
	double *out = calloc(2 * n, sizeof(double));
	bool fits = true;
	for (size_t w = 0; w < n_which; w++) {
		const struct number_field *field = &q->fields.of[which[w]];
		struct fric_differential one = {.fields = {0}};
		*place_in(&one, field) = *place_in(&together, field) =
			*place_in((struct fric_differential *)&q->tangents, field);
		fits &= tangent_of(t, &one, n, out) == FRIC_OK;
		add_array(&s, out + n, 1);
	}
	fits &= tangent_of(t, &together, n, out) == FRIC_OK;
	if (fits) {
		const long double least = 1e-3L * largest_size(&s);
		say_where(field_name(&q->fields.of[which[n_which - 1]]));
		compare_sums("tangents together", out + n, &s, 1e-10L, least);
		const struct fric_differential plain = with_unknown(q, room, &together);
		assert_ok(tangent_of(t, &plain, n, out));
		compare_sums("plain tangents together", out + n, &s, 1e-10L, least);
	}
	free(out);
	free_sums(&s);
}

static void compare_pairs(const struct inquiry *q, struct scene *room, const struct setting *t)
{
	enum { N_PAIRS = 20 };
	struct rng rng = {q->seed + 5};
	const bool large = fric_n_contacts(t->contacts) > SMALL || q->n_dofs > 5000;
	size_t all[MOST_FIELDS];
	for (size_t f = 0; f < q->fields.n; f++)
		all[f] = f;
	for (size_t f = 1; f < q->fields.n && q->fields.of[f].type == FRIC_N_TYPES; f++)
		compare_together(q, room, t, (size_t[]){0, f}, 2); /* velocities are the first field, rows come last */
	for (int i = 0; i < (large ? 2 : N_PAIRS) && q->fields.n > 1; i++) {
		const size_t pair[2] = {i % 2 ? below(&rng, q->fields.n) : 0, below(&rng, q->fields.n)};
		if (pair[0] != pair[1])
			compare_together(q, room, t, pair, 2);
	}
	if (!large)
		compare_together(q, room, t, all, q->fields.n);
}

static void compare_transposed(const struct inquiry *q, const struct results *r)
{
	const double *forth = section_of(r, "jvp"), *back = section_of(r, "vjp");
	const size_t n = 1 + q->n_dofs;
	long double sums[2] = {0}, size = 0;
	if (!forth || !back)
		return;
	for (size_t i = 0; i < n; i++) {
		sums[0] += (long double)forth[n + i] * q->cotangents[i];
		size += fabsl((long double)forth[n + i] * q->cotangents[i]) + fabs(1e-4 * forth[i] * q->cotangents[i]);
	}
	const double *at = back + n;
	for (size_t f = 0; f < q->fields.n; f++) {
		const double *tangent = *place_in((struct fric_differential *)&q->tangents, &q->fields.of[f]);
		for (size_t i = 0; i < q->fields.of[f].n; i++) {
			sums[1] += (long double)at[i] * tangent[i];
			size += fabsl((long double)at[i] * tangent[i]);
		}
		at += q->fields.of[f].n;
	}
	if (!(fabsl(sums[0] - sums[1]) <= 1e-11L * size)) {
		print_error("%.17Lg forwards, %.17Lg backwards; allowed %.3Lg\n", sums[0], sums[1], 1e-11L * size);
		fail();
	}
}

/* Compares vjp for one field at a time with vjp for all fields, by kernels and by the plain form. */
static void compare_alone(const struct inquiry *q, struct scene *room, const struct setting *t, const struct results *r)
{
	const double *back = section_of(r, "vjp");
	const size_t n = 1 + q->n_dofs;
	double *answer = calloc(n, sizeof(double));
	size_t at = n;
	for (size_t f = 0; f < q->fields.n && back; f++) {
		const struct number_field *field = &q->fields.of[f];
		struct fric_differential one = {.fields = {0}};
		struct sums s = new_sums(field->n);
		struct fric_error error;
		double *out = *place_in(&one, field) = scene_memory(room, field->n, sizeof(double));
		memset(out, 0xff, field->n * sizeof(double));
		assert_ok(
			fric_vjp(&serial, &t->derivation, q->cotangents[0], q->cotangents + 1, answer, answer + 1, &one, &error));
		add_array(&s, back + at, 1);
		say_where(field_name(field));
		compare_sums("cotangents alone", out, &s, 1e-10L, largest_size(&s));
		free_sums(&s);
		at += field->n;
	}
	free(answer);
}

/* Compares results for some fields at once with those for all; also second derivatives, for which halves of the
 * tangents must add up. */
static void compare_some(struct inquiry *q, struct scene *room, const struct setting *t, const struct results *r)
{
	const size_t n = 1 + q->n_dofs, m = numbers_in(&q->fields);
	const double *back = section_of(r, "vjp"), *second = section_of(r, "second");
	double *out = scene_memory(room, 3 * m, sizeof(double)), *answer = scene_memory(room, n, sizeof(double));
	struct rng rng = {q->seed + 13};
	struct fric_error error;
	for (int i = 0; i < 4 && back && second; i++) {
		struct fric_differential some = places(&q->fields, out, false), seconds = places(&q->fields, out + m, true);
		struct fric_differential halves[2] = {q->second_of, q->second_of}, rest = places(&q->fields, out + 2 * m, true);
		for (size_t f = 0; f < q->fields.n; f++) {
			if (below(&rng, 3)) {
				*place_in(&some, &q->fields.of[f]) = NULL;
				*place_in(&seconds, &q->fields.of[f]) = *place_in(&rest, &q->fields.of[f]) = NULL;
			}
			*place_in(&halves[coin(&rng)], &q->fields.of[f]) = NULL;
		}
		assert_ok(
			fric_vjp(&serial, &t->derivation, q->cotangents[0], q->cotangents + 1, answer, answer + 1, &some, &error));
		assert_ok(fric_second_derivative_product(&serial, &t->derivation, &halves[0], &seconds, &error));
		assert_ok(fric_second_derivative_product(&serial, &t->derivation, &halves[1], &rest, &error));
		for (size_t f = 0, at = 0; f < q->fields.n; at += q->fields.of[f++].n) {
			struct sums s = new_sums(q->fields.of[f].n), both = new_sums(q->fields.of[f].n);
			say_where(field_name(&q->fields.of[f]));
			add_array(&s, back + n + at, 1);
			if (*place_in(&some, &q->fields.of[f]))
				compare_sums("some cotangents", out + at, &s, 1e-10L, largest_size(&s));
			add_array(&both, out + m + at, 1);
			add_array(&both, out + 2 * m + at, 1);
			if (*place_in(&seconds, &q->fields.of[f]))
				compare_sums("halves of second derivatives", second + at, &both, 1e-10L, largest_size(&both));
			free_sums(&both);
			free_sums(&s);
		}
	}
}

/* Cotangents of the potential alone and of the gradient alone add up to those of both. */
static void compare_cotangents(const struct inquiry *q, struct scene *room, const struct setting *t,
                               const struct results *r)
{
	const size_t n = 1 + q->n_dofs, m = numbers_in(&q->fields);
	const double *back = section_of(r, "vjp");
	double *out = scene_memory(room, 2 * m, sizeof(double)), *answer = scene_memory(room, n, sizeof(double));
	struct fric_error error;
	for (int part = 0; part < 2 && back; part++) {
		const struct fric_differential d = places(&q->fields, out + (size_t)part * m, false);
		assert_ok(fric_vjp(&serial, &t->derivation, part ? 0 : q->cotangents[0], part ? q->cotangents + 1 : NULL,
		                   answer, answer + 1, &d, &error));
	}
	for (size_t f = 0, at = 0; f < q->fields.n && back; at += q->fields.of[f++].n) {
		struct sums s = new_sums(q->fields.of[f].n);
		add_array(&s, out + at, 1);
		add_array(&s, out + m + at, 1);
		say_where(field_name(&q->fields.of[f]));
		compare_sums("cotangents of each", back + n + at, &s, 1e-10L, largest_size(&s));
		free_sums(&s);
	}
}

/* Multiplies a tangent of velocities by a power of two far from 1. */
static void compare_scaled(const struct inquiry *q, struct scene *room, const struct setting *t)
{
	static const int powers[] = {840, -900, 700};
	const size_t n = 1 + q->n_dofs;
	const double *tangent = q->tangents.fields[FRIC_WRT_VELOCITIES];
	double *scaled = scene_memory(room, n, sizeof(double)), *out = scene_memory(room, 4 * n, sizeof(double));
	struct fric_differential d = {.fields = {[FRIC_WRT_VELOCITIES] = (double *)tangent}};
	if (tangent_of(t, &d, n, out) != FRIC_OK)
		return;
	for (int p = 0; p < 3; p++) {
		struct sums s = new_sums(n);
		const double potential = ldexp(fabs(out[n]), powers[p]),
					 rest = ldexp(largest_of(out + n + 1, q->n_dofs), powers[p]);
		/* the tangent alone may overflow in kernels, which apply a contact's weight later */
		if (!(fmax(potential, rest) < 0x1p+960 && potential > 0x1p-900 && rest > 0x1p-900) ||
		    largest_of(tangent, q->n_dofs) > 0x1p+180) {
			free_sums(&s);
			continue;
		}
		for (size_t i = 0; i < q->n_dofs; i++)
			scaled[i] = ldexp(tangent[i], powers[p]);
		d.fields[FRIC_WRT_VELOCITIES] = scaled;
		assert_ok(tangent_of(t, &d, n, out + 2 * n));
		for (size_t i = 0; i < n; i++) {
			add_term(&s, i, out[n + i]);
			out[3 * n + i] = ldexp(out[3 * n + i], -powers[p]);
		}
		compare_sums("scaled tangents", out + 3 * n, &s, 1e-12L, largest_size(&s));
		free_sums(&s);
	}
}

/* Derivatives along scalings of whole scenes, forwards and backwards. */
static void compare_scalings(struct inquiry *q, struct scene *room, const struct setting *t, const struct results *r)
{
	const double *answer = section_of(r, "evaluate"), *back = section_of(r, "vjp"), *each = section_of(r, "output 0");
	const size_t n = 1 + q->n_dofs;
	double *out = scene_memory(room, 2 * n, sizeof(double)), sum = 0;
	for (size_t i = 0; i < fric_n_contacts(t->contacts) && each; i++)
		sum += fabs(each[i]); /* contacts follow each other, with 0 between groups */
	for (enum scaling scaling = 0; scaling < N_SCALINGS && answer && back && each; scaling++) {
		struct fric_differential tangents;
		if (!scales(scaling, &q->scene) || !scaling_tangents(scaling, &q->scene, &q->fields, room, &tangents) ||
		    tangent_of(t, &tangents, n, out) != FRIC_OK)
			continue;
		const double *factors = scaled_results[scaling];
		struct sums s = new_sums(n), product = new_sums(1);
		long double expected = 0;
		for (size_t i = 0; i < n; i++) {
			s.sum[i] = factors[i == 0 ? 0 : is_angular(&q->scene, i - 1) ? 2 : 1] * answer[i];
			s.size[i] = fabs(answer[i]);
			expected += s.sum[i] * q->cotangents[i];
		}
		for (size_t f = 0, at = n; f < q->fields.n; at += q->fields.of[f++].n) {
			const double *tangent = *place_in(&tangents, &q->fields.of[f]);
			for (size_t i = 0; i < q->fields.of[f].n && tangent; i++)
				add_term(&product, 0, (long double)back[at + i] * tangent[i]);
		}
		s.size[0] += sum;
		say_where(scaling_names[scaling]);
		compare_sums(scaling_names[scaling], out + n, &s, 1e-10L, largest_size(&s));
		out[0] = (double)expected;
		compare_sums(scaling_names[scaling], out, &product, 1e-10L, largest_size(&s));
		free_sums(&product);
		free_sums(&s);
	}
}

/* Products with second derivatives are symmetric. */
static void compare_symmetric(struct inquiry *q, struct scene *room, const struct setting *t, const struct results *r)
{
	const size_t m = numbers_in(&q->fields);
	const double *one = section_of(r, "second");
	struct rng rng = {q->seed + 11};
	struct fric_error error;
	struct fric_differential tangents = {.fields = {0}};
	double *other = scene_memory(room, m, sizeof(double));
	const struct fric_differential places_of_other = places(&q->fields, other, true);
	struct sums s = new_sums(1);
	double sum = 0;
	for (size_t f = 0; f < q->fields.n; f++)
		if (has_second(&q->fields.of[f]))
			*place_in(&tangents, &q->fields.of[f]) = random_tangent(&q->scene, &rng, &q->fields.of[f]);
	if (one &&
	    fric_second_derivative_product(&serial, &t->derivation, &tangents, &places_of_other, &error) == FRIC_OK) {
		for (size_t f = 0, at = 0; f < q->fields.n; at += q->fields.of[f++].n)
			for (size_t i = 0; i < q->fields.of[f].n && has_second(&q->fields.of[f]); i++) {
				add_term(&s, 0, (long double)other[at + i] * (*place_in(&q->second_of, &q->fields.of[f]))[i]);
				sum += one[at + i] * (*place_in(&tangents, &q->fields.of[f]))[i];
			}
		compare_sums("symmetric second derivatives", &sum, &s, 1e-10L, 0);
	}
	free_sums(&s);
}

/* Second derivatives with respect to velocities are the gradient's tangents. */
static void compare_second(const struct inquiry *q, const struct setting *t, const struct results *r)
{
	const double *second = section_of(r, "second");
	const size_t n = 1 + q->n_dofs;
	double *out = calloc(2 * n, sizeof(double));
	if (second && tangent_of(t, &q->second_of, n, out) == FRIC_OK) {
		struct sums s = new_sums(q->n_dofs);
		add_array(&s, out + n + 1, 1);
		compare_sums("second derivatives by velocities", second, &s, 1e-10L, largest_size(&s));
		free_sums(&s);
	}
	free(out);
}

/* The Jacobian with respect to positions times a tangent of positions. */
static void compare_jacobian(const struct inquiry *q, const struct setting *t, const struct results *r)
{
	const size_t n = 1 + q->n_dofs, n_at_vertices = first_twist(&q->scene);
	double *tangent = q->tangents.fields[FRIC_WRT_POSITIONS];
	const struct fric_differential by_positions = {.fields = {[FRIC_WRT_POSITIONS] = tangent}};
	double *out = calloc(2 * n, sizeof(double));
	if (asks_jacobian(q) && section_of(r, "jacobian triplets") && section_of(r, "jacobian") &&
	    tangent_of(t, &by_positions, n, out) == FRIC_OK) {
		struct sums s = new_sums(q->n_dofs);
		times_triplets(r, "jacobian triplets", "jacobian triplets pattern", false, tangent, &s);
		s.n = n_at_vertices;
		compare_sums("tangents by positions", out + n + 1, &s, 1e-10L, 1e-3L * largest_size(&s));
		const long double least = 1e-3L * largest_size(&s);
		struct sums rows = new_sums(q->n_dofs);
		times_rows(r, "jacobian", "jacobian pattern", q->n_dofs, 1, false, tangent, &rows);
		for (size_t i = 0; i < n_at_vertices; i++)
			out[i] = (double)rows.sum[i];
		compare_sums("rows of the Jacobian", out, &s, 1e-12L, least);
		free_sums(&rows);
		free_sums(&s);
	}
	free(out);
}

/* Compares with differences of prepared and evaluated batches. */
static void compare_derivative_differences(const struct inquiry *q, struct scene *room, const struct setting *t)
{
	struct rng rng = {q->seed + 9};
	for (int i = 0; i < 6; i++) {
		struct fric_differential direction = {.fields = {0}};
		struct fric_derivative_agreement agreement;
		struct fric_error error;
		for (size_t f = 0; f < q->fields.n; f++)
			if (below(&rng, (size_t)(i ? 6 : 1)) == 0)
				*place_in(&direction, &q->fields.of[f]) = random_reals(room, &rng, q->fields.of[f].n, 0, 1);
		assert_ok(fric_compare_derivative(&serial, &t->derivation, &direction, &agreement, &error));
		if (!agreement.agrees)
			print_error("off by %g, %g; transposed %g\n", agreement.potential, agreement.gradient,
			            agreement.transposed);
		assert_true(agreement.agrees);
	}
}

static bool is_smooth(const struct inquiry *q)
{
	const int slip = q->row.level[BY_SLIP];
	const bool turns = q->row.level[BY_LAGGED] > 0 && q->row.level[BY_FOLLOWING] > 0; /* directions may jump */
	/* far from the origin, steps are rounded */
	return (slip == SLIP_RANDOM || slip == SLIP_SLIDES || slip == SLIP_STICKS) && !turns && !q->row.level[BY_PLACE];
}

static void compare_derivatives(struct inquiry *q, const struct results *r)
{
	struct scene room = {.n_memory = 0};
	struct setting *t = setting_for(q);
	const size_t n = fric_n_contacts(t->contacts);
	if (q->row.level[BY_SLIP] != SLIP_FAR) {
		compare_transposed(q, r);
		compare_pairs(q, &room, t);
		compare_second(q, t, r);
		compare_symmetric(q, &room, t, r);
		compare_scalings(q, &room, t, r);
		compare_cotangents(q, &room, t, r);
		compare_scaled(q, &room, t);
		compare_jacobian(q, t, r);
		scene_free(&room);
	}
	if (q->row.level[BY_SLIP] != SLIP_FAR && n <= SMALL && q->n_dofs <= 5000) {
		compare_alone(q, &room, t, r);
		compare_some(q, &room, t, r);
	}
	if (is_smooth(q) && n <= 150 && q->n_dofs <= 5000)
		compare_derivative_differences(q, &room, t);
	scene_free(&room);
	setting_free(t);
}

/* ---- parts of batches ---- */

static struct choice new_choice(struct scene *s)
{
	struct choice c;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		c.n[type] = 0;
		c.of[type] = scene_memory(s, 2 * s->batch.groups[type].n + 1, sizeof(size_t));
	}
	return c;
}

static void choose(struct choice *c, enum fric_type type, size_t i)
{
	c->of[type][c->n[type]++] = i;
}

/* Potential, gradient, a product with the Hessian, and tangents with respect to fields without rows. */
static void add_part(const struct inquiry *q, const struct scene *part, double factor, struct sums *s)
{
	const size_t n = 1 + q->n_dofs;
	struct setting *t = setting_of(part, false);
	struct fric_differential tangents = {.fields = {0}};
	struct fric_error error;
	double *out = calloc(3 * n + q->n_dofs, sizeof(double));
	memcpy(tangents.fields, q->tangents.fields, sizeof(tangents.fields));
	t->derivation.vertices_follow = q->row.level[BY_FOLLOWING] % 2;
	t->derivation.bodies_follow = q->row.level[BY_FOLLOWING] / 2;
	assert_ok(tangent_of(t, &tangents, n, out));
	assert_ok(
		fric_hessian_products(&serial, t->contacts, &t->query, q->projection, 1, q->vectors, out + 2 * n, &error));
	for (size_t i = 0; i < 2 * n + q->n_dofs; i++)
		add_term(s, i, (long double)factor * out[i]);
	free(out);
	setting_free(t);
}

static void compare_parts(const struct inquiry *q, const char *what, const struct scene *parts, int n_parts,
                          const struct scene *whole)
{
	const size_t n = 2 * (1 + q->n_dofs) + q->n_dofs;
	struct sums sum = new_sums(n), expected = new_sums(n);
	double *x = calloc(n, sizeof(double));
	for (int p = 0; p < n_parts; p++)
		add_part(q, &parts[p], 1, &sum);
	add_part(q, whole, 1, &expected);
	for (size_t i = 0; i < n; i++)
		x[i] = (double)expected.sum[i];
	const size_t begins[] = {0, 1, 1 + q->n_dofs, 2 + q->n_dofs, 2 + 2 * q->n_dofs, n};
	for (int b = 0; b < 5; b++) { /* each result relative to its own size */
		struct sums some = {sum.sum + begins[b], sum.size + begins[b], begins[b + 1] - begins[b]};
		compare_sums(what, x + begins[b], &some, 1e-10L, largest_size(&some));
	}
	free(x);
	free_sums(&sum);
	free_sums(&expected);
}

/* Halves add up to the whole, and so do contacts in another order. A contact listed twice counts like one of twice the
 * weight, and one with zero weight does not count. */
static void compare_choices(struct inquiry *q)
{
	struct scene *s = &q->scene;
	struct rng rng = {q->seed + 3};
	struct choice halves[2] = {new_choice(s), new_choice(s)}, turned = new_choice(s), twice = new_choice(s),
				  some = new_choice(s);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (size_t i = 0, n = s->batch.groups[type].n; i < n; i++) {
			choose(&halves[coin(&rng)], type, i);
			choose(&turned, type, n - 1 - i);
			choose(&twice, type, i);
			choose(&twice, type, i);
			if (i % 3)
				choose(&some, type, i);
		}
	const struct scene parts[2] = {scene_of(s, &halves[0]), scene_of(s, &halves[1])};
	const struct scene reversed = scene_of(s, &turned), doubled = scene_of(s, &twice), fewer = scene_of(s, &some);
	compare_parts(q, "halves", parts, 2, s);
	compare_parts(q, "in another order", &reversed, 1, s);
	const struct scene again[2] = {*s, *s};
	compare_parts(q, "twice", again, 2, &doubled);
	struct scene weightless = *s;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		struct fric_group *g = &weightless.batch.groups[type];
		double *weight = scene_memory(s, g->n, sizeof(double));
		for (size_t i = 0; i < g->n; i++)
			weight[i] = i % 3 ? field_or(g->weight, i, 0, 1) : 0;
		g->weight = (struct fric_values){weight, 1};
	}
	compare_parts(q, "without weight", &fewer, 1, &weightless);
}

/* ---- memory ---- */

/* Each allocation fails in turn: nothing leaks, and nothing else fails. */
static void compare_scarce(const struct inquiry *q, const struct results *expected)
{
	struct results r = {0};
	struct counted_memory counted = {.left = -1};
	const struct fric_memory memory = memory_of(&counted);
	const struct fric_context context = {.n_threads = 2, .memory = &memory, .parallel_from = 1};
	assert_ok(ask_all(&context, q, true, &r));
	const size_t n = counted.taken;
	const size_t step = 1 + n / 15;
	for (size_t i = q->seed % step; i < n; i += step) {
		counted.left = (long)i;
		const enum fric_code code = ask_all(&context, q, true, &r);
		assert_true(code == FRIC_OK || code == FRIC_E_MEMORY);
		counted.left = -1;
		assert_all_given_back(&counted);
	}
	assert_ok(ask_all(&context, q, true, &r));
	compare_results(&r, expected, "after scarcity");
	assert_all_given_back(&counted);
	free(r.x);
}

/* The flag is raised at an allocation, or before the first one. Calls that succeed nevertheless return right
 * results. */
static void compare_stopped(const struct inquiry *q, const struct results *expected)
{
	struct results r = {0};
	struct counted_memory counted = {.left = -1};
	fric_flag stop = false;
	const struct fric_memory memory = memory_of(&counted);
	const struct fric_context context = {.n_threads = 2, .memory = &memory, .parallel_from = 1, .stop = &stop};
	assert_ok(ask_all(&context, q, true, &r));
	compare_results(&r, expected, "with a flag");
	const size_t n = counted.taken;
	counted.raised_by = &stop;
	for (size_t i = q->seed % 3; i < n; i += 1 + n / 12) {
		counted.left = (long)i;
		stop = false;
		ask_all(&context, q, true, &r);
		for (int k = 0; k < r.n_sections; k++) {
			const struct section *s = &r.section[k], *e = find_section(expected, s->name);
			assert_true(s->code == FRIC_E_STOPPED || s->code == e->code);
			if (s->code == FRIC_OK && !strstr(s->name, "pattern"))
				assert_all_bits(r.x + s->begin, expected->x + e->begin, s->n);
		}
		counted.left = -1;
		assert_all_given_back(&counted);
	}
	free(r.x);
}

/* ---- */

static void try_row(const struct row *row, uint64_t seed)
{
	static struct inquiry q;
	struct results expected = {0};
	const struct fric_context plain = {.n_threads = 1, .kernels = fric_kernels_find("scalar")};
	create_inquiry(&q, row, seed);
	say_where("all");
	assert_ok(ask_all(&plain, &q, false, &expected));
	say_where("forms");
	compare_forms(&q, &expected);
	say_where("matrices");
	compare_patterns(&q, &expected);
	compare_matrices(&q, &expected);
	compare_outputs(&q, &expected);
	say_where("contacts");
	compare_contacts(&q, &expected);
	say_where("line");
	compare_line(&q, &expected);
	say_where("differences");
	compare_differences(&q);
	say_where("derivatives");
	compare_derivatives(&q, &expected);
	say_where("parts");
	if (q.row.level[BY_SLIP] != SLIP_FAR)
		compare_choices(&q);
	say_where("memory");
	if (q.row.level[BY_COUNT] <= 1 && q.n_dofs < 1000)
		compare_scarce(&q, &expected);
	if (q.row.level[BY_COUNT] <= 1 && q.n_dofs < 1000)
		compare_stopped(&q, &expected);
	free(expected.x);
	free_inquiry(&q);
}

static int tell(void **state)
{
	(void)state;
	if (!current_inquiry)
		return 0;
	print_error("comparing %s; seed %llu, levels", current, (unsigned long long)current_inquiry->seed);
	for (int f = 0; f < N_FACTORS; f++)
		print_error(" %d", current_inquiry->row.level[f]);
	print_error("\n");
	current_inquiry = NULL;
	return 0;
}

/* Number of whole covering arrays to run; 0: a share of one. */
static int n_arrays(void)
{
	const char *wanted = getenv("BOUNDARIES");
	return wanted ? atoi(wanted) : 0;
}

/* Whether a scene belongs to the share: with SHARE=1 all small ones do, and others that are neither long nor large. */
static bool is_in_share(const struct row *row, int i)
{
	const int *l = row->level, n = one_in();
	const bool small = l[BY_COUNT] <= 1 && l[BY_LAYOUT] != LAYOUT_SHUFFLED, large = l[BY_COUNT] > 3;
	const int one_of = n > 4 ? (small ? n : 5 * n) : small ? 1 : large ? n : (n + 1) / 2;
	return i % one_of == 0 && l[BY_COUNT] < 5 && l[BY_LAYOUT] != LAYOUT_SOME_FAR && l[BY_LAYOUT] != LAYOUT_RING;
}

/* Combinations of three or more factors. The builds share them: that with sanitizers tries every third one, the other
 * build all others. */
/* clang-format off */
static const int special_rows[][N_FACTORS] = {
	/* many contacts of bodies with a curve, in chunks */
	{[BY_TYPES] = 1, [BY_BODIES] = 1, [BY_COUNT] = 5, [BY_LAW] = 5, [BY_SOURCE] = 1, [BY_SLIP] = SLIP_SLIDES},
	/* each body is in one contact, so that every chunk has bodies of its own */
	{[BY_TYPES] = 1, [BY_BODIES] = 3, [BY_COUNT] = 5, [BY_SOURCE] = 1, [BY_SLIP] = SLIP_EXACT},
	/* a vertex with exactly 64 neighbours */
	{[BY_TYPES] = 2, [BY_COUNT] = 2, [BY_LAYOUT] = LAYOUT_HUB, [BY_SOURCE] = 1, [BY_FORCE] = 2},
	/* skew columns, with everything else within what kernels can differentiate */
	{[BY_COUNT] = 3, [BY_GEOMETRY] = 2, [BY_SOURCE] = 1, [BY_WEIGHT] = 2, [BY_FORCE] = 1},
	{[BY_COUNT] = 3, [BY_GEOMETRY] = 3, [BY_SOURCE] = 1, [BY_LAYOUT] = LAYOUT_DISJOINT},
	/* several vectors in the ring buffer, with spans that just fit and spans that do not */
	{[BY_COUNT] = 5, [BY_LAYOUT] = LAYOUT_SOME_FAR, [BY_SOURCE] = 1, [BY_VECTORS] = 4},
	{[BY_COUNT] = 5, [BY_LAYOUT] = LAYOUT_RING, [BY_SOURCE] = 1, [BY_VECTORS] = 4, [BY_TYPES] = 3},
	/* fewer vectors than lanes, with deferred values */
	{[BY_COUNT] = 5, [BY_LAYOUT] = LAYOUT_NEAR, [BY_SOURCE] = 1, [BY_VECTORS] = 2, [BY_TYPES] = 3},
	/* curves whose first or last piece is steep */
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 2, [BY_LAW] = 5, [BY_SOURCE] = 1, [BY_OWN] = OWN_STEEP, [BY_BODIES] = 1},
	{[BY_COUNT] = 2, [BY_LAW] = 5, [BY_SOURCE] = 1, [BY_OWN] = LAW_STEEP, [BY_BODIES] = 1},
	/* directions that follow lagged velocities, and pair tables */
	{[BY_BODIES] = 1, [BY_ELLIPSES] = 2, [BY_FOLLOWING] = 3, [BY_SOURCE] = 3, [BY_ANCHOR_SET] = 1, [BY_GRAIN] = 1},
	{[BY_BODIES] = 1, [BY_SOURCE] = 3, [BY_DRAG] = 2, [BY_ANCHOR_SET] = 1, [BY_COUNT] = 3, [BY_FORCE] = 3},
	/* geometry near degenerate, planes in several spans */
	{[BY_COUNT] = 4, [BY_LAYOUT] = LAYOUT_DISJOINT, [BY_SOURCE] = 1, [BY_FORCE] = 2, [BY_DRAG] = 1, [BY_ANCHOR_SET] = 1},
	/* thresholds, with each law that has a corner there and each kind of drag */
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 5, [BY_SOURCE] = 1, [BY_BODIES] = 1, [BY_ANISO] = 1},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 6, [BY_SOURCE] = 1, [BY_BODIES] = 1},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 6, [BY_SOURCE] = 1, [BY_OWN] = 1, [BY_BODIES] = 1},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 3, [BY_LAW] = 4, [BY_SOURCE] = 1, [BY_DRAG] = 1, [BY_ANCHOR_SET] = 1},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 4, [BY_SOURCE] = 1, [BY_OWN] = 1},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 5, [BY_SOURCE] = 1, [BY_OWN] = 1},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 3, [BY_SOURCE] = 1, [BY_OWN] = 1, [BY_DRAG] = 2},
	{[BY_SLIP] = SLIP_EXACT, [BY_COUNT] = 4, [BY_LAW] = 0, [BY_SOURCE] = 1, [BY_OWN] = 1},
	{[BY_SLIP] = SLIP_FAR, [BY_COUNT] = 3, [BY_LAW] = 0, [BY_SOURCE] = 1, [BY_DRAG] = 1, [BY_ANCHOR_SET] = 1},
	/* a drag at slips so large that adding eps_v changes nothing in 113 bits */
	{[BY_SLIP] = SLIP_FAR, [BY_SOURCE] = 1, [BY_DRAG] = 1, [BY_BODIES] = 1},
};
/* clang-format on */

static void test_special_rows(void **state)
{
	const int n = (int)(sizeof(special_rows) / sizeof(*special_rows));
	const char *one = getenv("SEED");
	(void)state;
	for (int i = 0; i < n; i++) {
		struct row row = {{0}};
		if (one_in() > 1 && (i % 3 == 0) != IS_SANITIZED)
			continue;
		memcpy(row.level, special_rows[i], sizeof(special_rows[i]));
		repair_row(&row);
		if (!one || atoi(one) == i)
			try_row(&row, (uint64_t)i);
	}
}

/* Small scenes without corners, all of whose derivatives are compared with differences: each blend, barrier and law,
 * and all fields that affect them. */
static void test_smooth_rows(void **state)
{
	enum {
		N_BLENDS = 6,
		N_BARRIERS = 6,
		N_LAWS = 7,
		N_ROWS = N_BLENDS + N_BARRIERS + N_LAWS,
		N_PASSES = 3,
		FIRST = 500
	};
	const char *one = getenv("SEED");
	(void)state;
	for (int n = 0; n < N_PASSES * N_ROWS; n += step_in_share(3, 11)) { /* 3 meets all rows, 11 rows of every kind */
		const int i = n % N_ROWS, barrier = i - N_BLENDS, law = barrier - N_BARRIERS;
		struct row row = {{[BY_ANISO] = 1, [BY_OWN] = 1}};
		int *l = row.level;
		l[BY_DIM] = n >= 2 * N_ROWS;
		l[BY_GRAIN] = i % 2;
		l[BY_SOURCE] = i < N_BLENDS ? 2 : 1 + i % 3;
		l[BY_BLEND] = i % N_BLENDS;
		l[BY_MU] = i < N_BLENDS && i % 2 ? 2 : 0;
		l[BY_FORCE] = barrier >= 0 && barrier < N_BARRIERS ? 2 + barrier : 0;
		l[BY_LAW] = law >= 0 ? law : 0;
		l[BY_BODIES] = law >= 0 ? 1 : 0;
		l[BY_DRAG] = i % 3;
		l[BY_SURFACE] = l[BY_ANCHOR_SET] = i % 3 > 0;
		l[BY_ELLIPSES] = l[BY_FOLLOWING] = law >= 0 ? 3 : 0;
		repair_row(&row);
		if (!one || atoi(one) == FIRST + n)
			try_row(&row, (uint64_t)(FIRST + n));
	}
}

/* With SEED=N in the environment, only that scene is run. */
static void test_boundaries(void **state)
{
	struct factors factors = {.n = N_FACTORS, .repair = repair_row};
	static struct covering c;
	const char *one = getenv("SEED");
	(void)state;
	memcpy(factors.n_levels, factor_levels, sizeof(factor_levels));
	for (int a = 0; a < n_arrays() || a == 0; a++) {
		cover(&c, factors, (uint64_t)(FIRST_SEED + a));
		for (int i = 0; i < c.n_rows; i++) {
			const uint64_t seed = (uint64_t)(1000 * (FIRST_SEED + a) + i);
			if (one ? (uint64_t)atoll(one) == seed : n_arrays() > 0 || is_in_share(&c.rows[i], i))
				try_row(&c.rows[i], seed);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_smooth_rows, tell),
	                                   cmocka_unit_test_teardown(test_special_rows, tell),
	                                   cmocka_unit_test_teardown(test_boundaries, tell)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
