#include "tests/fuzz/parts.h"

#include "api/validate/query.h"
#include "core/derive/fields.h"
#include "tests/fuzz/fuzz.h"

/* ---- batches ---- */

static void same_bits(const char *what, const void *a, const void *b, size_t bytes)
{
	FUZZ_CHECK(!a == !b, "%s", what);
	FUZZ_CHECK(!a || !bytes || !memcmp(a, b, bytes), "%s", what);
}

static void same_rows(enum fric_row row, const struct fric_values *a, const struct fric_values *b, size_t n,
                      size_t width)
{
	FUZZ_CHECK(a->stride == b->stride && !a->data == !b->data, "row %d", row);
	FUZZ_CHECK(!a->data || !memcmp(a->data, b->data, (a->stride ? n * a->stride : width) * sizeof(double)), "row %d",
	           row);
}

static void same_groups(enum fric_type type, const struct fric_group *a, const struct fric_group *b, size_t dim)
{
	const size_t n = a->n;
	FUZZ_CHECK(a->n == b->n, "%zu", n);
	same_bits("vertices", a->vertices, b->vertices, n * (size_t)fric_stencil_size(type) * sizeof(*a->vertices));
	for (enum fric_row row = 0; row < FRIC_N_ROWS; row++)
		same_rows(row, fricp_group_row(a, row), fricp_group_row(b, row), n,
		          (size_t)fricp_row_width(type, (int)dim, row));
	same_rows(FRIC_N_ROWS, &a->mollifier, &b->mollifier, n, 1);
}

static void same_laws(const struct fric_law *a, const struct fric_law *b)
{
	FUZZ_CHECK(a->type == b->type && a->transition == b->transition && a->curve.n == b->curve.n, "law");
	same_bits("stribeck_speed", &a->stribeck_speed, &b->stribeck_speed, sizeof(double));
	same_bits("viscous", &a->viscous, &b->viscous, sizeof(double));
	same_bits("speeds", a->curve.speeds, b->curve.speeds, a->curve.n * sizeof(double));
	same_bits("factors", a->curve.factors, b->curve.factors, a->curve.n * sizeof(double));
}

static void same_friction(const struct fric_friction *a, const struct fric_friction *b, size_t n_vertices,
                          size_t n_bodies)
{
	const size_t reals = n_vertices * sizeof(double), table = a->n_materials * a->n_materials * sizeof(double);
	FUZZ_CHECK(a->source == b->source && a->blend == b->blend && a->n_materials == b->n_materials &&
	               a->plane_material == b->plane_material,
	           "friction");
	same_laws(&a->law, &b->law);
	same_bits("body_material", a->body_material, b->body_material, n_bodies * sizeof(int32_t));
	same_bits("eps_v", &a->eps_v, &b->eps_v, sizeof(double));
	same_bits("mu_s", &a->mu_s, &b->mu_s, sizeof(double));
	same_bits("mu_k", &a->mu_k, &b->mu_k, sizeof(double));
	same_bits("vertex_mu_s", a->vertex_mu_s, b->vertex_mu_s, reals);
	same_bits("vertex_mu_k", a->vertex_mu_k, b->vertex_mu_k, reals);
	same_bits("vertex_material", a->vertex_material, b->vertex_material, n_vertices * sizeof(int32_t));
	same_bits("material_mu_s", a->material_mu_s, b->material_mu_s, table);
	same_bits("material_mu_k", a->material_mu_k, b->material_mu_k, table);
}

void fuzz_same_batches(const struct fric_batch *a, const struct fric_batch *b)
{
	const size_t dim = (size_t)a->dim;
	FUZZ_CHECK(a->dim == b->dim && a->n_vertices == b->n_vertices && a->skip_degenerate == b->skip_degenerate,
	           "%d %d %zu %zu", a->dim, b->dim, a->n_vertices, b->n_vertices);
	FUZZ_CHECK(a->closest_features == b->closest_features, "%d %d", a->closest_features, b->closest_features);
	same_bits("positions", a->positions, b->positions, a->n_vertices * dim * sizeof(double));
	FUZZ_CHECK(a->n_bodies == b->n_bodies, "%zu %zu", a->n_bodies, b->n_bodies);
	same_bits("body_positions", a->body_positions, b->body_positions, a->n_bodies * dim * sizeof(double));
	same_bits("barrier", &a->barrier, &b->barrier, sizeof(a->barrier));
	same_friction(&a->friction, &b->friction, a->n_vertices, a->n_bodies);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		same_groups(type, &a->groups[type], &b->groups[type], dim);
}

/* ---- parts ---- */

/* An empty document that shares the arrays of another one and has room for one more. */
static struct api_document view_of(const struct api_document *document)
{
	struct api_document view = {.root = json_object(), .n_arrays = document->n_arrays};
	view.arrays = malloc((document->n_arrays + 1) * sizeof(*view.arrays));
	FUZZ_CHECK(view.root && view.arrays, "out of memory");
	if (document->n_arrays)
		memcpy(view.arrays, document->arrays, document->n_arrays * sizeof(*view.arrays));
	return view;
}

static void forget(struct api_document *view)
{
	json_decref(view->root);
	free(view->arrays);
}

/* Lagged velocities may belong to either document; `asked` selects the query. */
static bool belongs_to_query(const char *name, bool asked)
{
	for (int i = 0; i < api_set_query.n_rules; i++)
		if (!strcmp(name, api_set_query.rules[i].name))
			return api_rule_applies(&api_set_query.rules[i], &api_set_query) &&
			       (asked || (i != API_REQUEST_LAGGED_VELOCITIES && i != API_REQUEST_LAGGED_BODY_VELOCITIES));
	return false;
}

static void split(const struct api_document *whole, bool asked, struct api_document *set, struct api_document *query)
{
	const char *name;
	json_t *value;
	*set = view_of(whole);
	*query = view_of(whole);
	json_object_foreach(whole->root, name, value)
		json_object_set((belongs_to_query(name, asked) ? query : set)->root, name, value);
}

static void add_n_vertices(struct api_document *set, double *n)
{
	set->arrays[set->n_arrays] = (struct api_array){.n = 1, .data = n, .first_non_integer = 1};
	json_object_set_new(set->root, "n_vertices", json_integer((json_int_t)set->n_arrays++));
}

/* ---- comparison ---- */

/* The result of checking a document. */
struct checked {
	bool ok;
	struct api_fault fault;
	struct api_lagged lagged;
	struct api_query query;
	struct api_lagged_velocities lagged_velocities; /* set documents only */
	struct api_set_facts facts;
};

static struct api_check check_of(const struct api_document *document, struct api_arena *arena, struct checked *c)
{
	api_fault_clear(&c->fault);
	return (struct api_check){.document = document, .arena = arena, .fault = &c->fault};
}

static void same_queries(const struct checked *whole, const struct checked *set, const struct checked *asked)
{
	const struct api_query *a = &whole->query, *b = &asked->query;
	const size_t dim = (size_t)whole->lagged.batch.dim, bytes = whole->lagged.batch.n_vertices * dim * sizeof(double),
				 of_bodies = whole->lagged.batch.n_bodies * api_twist(dim) * sizeof(double);
	const double *lagged = b->lagged_velocities ? b->lagged_velocities : set->lagged_velocities.vertices,
				 *bodies = b->lagged_body_velocities ? b->lagged_body_velocities : set->lagged_velocities.bodies;
	same_bits("velocities", a->velocities, b->velocities, bytes);
	same_bits("lagged_velocities", a->lagged_velocities, lagged ? lagged : b->velocities, bytes);
	same_bits("body_velocities", a->body_velocities, b->body_velocities, of_bodies);
	same_bits("lagged_body_velocities", a->lagged_body_velocities, bodies ? bodies : b->body_velocities, of_bodies);
	FUZZ_CHECK(!memcmp(a->outputs, b->outputs, sizeof(a->outputs)) &&
	               !memcmp(a->collision_outputs, b->collision_outputs, sizeof(a->collision_outputs)) &&
	               a->format == b->format && a->triangle == b->triangle && a->projection == b->projection,
	           "options");
	same_bits("current_positions", a->current_positions, b->current_positions, bytes);
	same_bits("direction of the longest step", a->step_direction, b->step_direction, bytes);
	FUZZ_CHECK(a->terms == b->terms && a->time_step == b->time_step && a->keep == b->keep, "terms");
}

static bool leads_to_query(const char *pointer, bool asked)
{
	char name[64];
	snprintf(name, sizeof(name), "%.*s", *pointer ? (int)strcspn(pointer + 1, "/") : 0, pointer + (*pointer != 0));
	return belongs_to_query(name, asked);
}

/* A missing /positions may be needed for the output "distance" alone, which a set's document does not mention. */
static bool may_be_for_distance(const struct api_fault *whole, int i, const struct api_fault *set, int j)
{
	return !strcmp(whole->errors[i].pointer, "/positions") && strstr(whole->errors[i].detail, "is missing") &&
	       (j == set->n_errors || strcmp(set->errors[j].pointer, "/positions") != 0);
}

/* The set's faults must be the whole's faults that lead into its document. */
static void same_faults_of_set(const struct api_fault *whole, const struct api_fault *set, bool asked)
{
	int j = 0;
	for (int i = 0; i < whole->n_errors; i++)
		if (!leads_to_query(whole->errors[i].pointer, asked) && !may_be_for_distance(whole, i, set, j)) {
			FUZZ_CHECK(j < set->n_errors && !strcmp(whole->errors[i].pointer, set->errors[j].pointer), "%d: %s, not %s",
			           j, j < set->n_errors ? set->errors[j].pointer : "nothing", whole->errors[i].pointer);
			j++;
		}
	FUZZ_CHECK(j == set->n_errors, "%s", set->errors[j].pointer);
}

static void same_faults(const struct api_fault *whole, const struct api_fault *query)
{
	FUZZ_CHECK(whole->n_errors == query->n_errors, "%d %d", whole->n_errors, query->n_errors);
	for (int i = 0; i < whole->n_errors; i++)
		FUZZ_CHECK(!strcmp(whole->errors[i].pointer, query->errors[i].pointer), "%s %s", whole->errors[i].pointer,
		           query->errors[i].pointer);
}

/* Whether the comparison is meaningful: the number of vertices is known, and no fault concerns a misplaced field, which
 * exists in one form only. */
static bool is_clear(const struct checked *whole)
{
	bool clear = whole->lagged.batch.dim && whole->fault.status == 422 && whole->fault.n_errors < API_MAX_ERRORS;
	for (int i = 0; i < whole->fault.n_errors; i++)
		clear = clear && strncmp(whole->fault.errors[i].pointer, "/velocities", 11) != 0 &&
		        strncmp(whole->fault.errors[i].pointer, "/body_positions", 15) != 0 &&
		        whole->fault.code != API_E_UNKNOWN_FIELD;
	return clear;
}

/* If positions and velocities differ in number, the set reports its number of vertices instead. */
static bool counts_differ(const struct api_fault *set)
{
	return !strcmp(set->errors[0].pointer, "/n_vertices");
}

/* Whether the query determines what is required of the lagged part; a set's document needs friction. */
static bool asks_for_more(const struct checked *whole)
{
	return whole->query.terms != FRIC_TERM_FRICTION || whole->query.outputs[API_LONGEST_STEP];
}

static void compare(const struct checked *whole, const struct checked *set, const struct checked *query, bool asked)
{
	if (asks_for_more(whole) && !set->ok)
		return;
	FUZZ_CHECK(whole->ok == (set->ok && query->ok), "%d: %d and %d: %s%s%s", whole->ok, set->ok, query->ok,
	           whole->ok ? "" : whole->fault.errors[0].detail, set->ok ? "" : set->fault.errors[0].detail,
	           query->ok ? "" : query->fault.errors[0].detail);
	if (whole->ok) {
		fuzz_same_batches(&whole->lagged.batch, &set->lagged.batch);
		FUZZ_CHECK(!memcmp(whole->lagged.has_group, set->facts.has_group, sizeof(set->facts.has_group)), "groups");
		same_queries(whole, set, query);
	} else if (is_clear(whole) && set->ok) {
		same_faults(&whole->fault, &query->fault);
	} else if (is_clear(whole) && !counts_differ(&set->fault)) {
		same_faults_of_set(&whole->fault, &set->fault, asked);
	}
}

static void check_split(const struct api_document *document, const struct checked *whole, bool asked)
{
	static struct checked set, query; /* too large for the stack */
	struct api_arena arena = {0};
	struct api_document first, second;
	double n = (double)whole->lagged.batch.n_vertices;
	split(document, asked, &first, &second);
	add_n_vertices(&first, &n);
	struct api_check a = check_of(&first, &arena, &set), b = check_of(&second, &arena, &query);
	set.ok = api_check_set(&a, &set.lagged, &set.lagged_velocities, &set.facts);
	query.ok = set.ok && api_check_request(&b, API_SET_QUERY, &set.facts, NULL, &query.query, NULL);
	compare(whole, &set, &query, asked);
	forget(&first);
	forget(&second);
	api_arena_free(&arena);
}

void fuzz_check_parts(const struct api_document *document)
{
	static struct checked whole; /* too large for the stack */
	struct api_arena arena = {0};
	struct api_check check = check_of(document, &arena, &whole);
	if (!json_is_object(document->root) || json_object_get(document->root, "n_vertices"))
		return;
	whole.ok = api_check_request(&check, API_WHOLE, NULL, &whole.lagged, &whole.query, NULL);
	check_split(document, &whole, false);
	if (json_object_get(document->root, "lagged_velocities") ||
	    json_object_get(document->root, "lagged_body_velocities"))
		check_split(document, &whole, true);
	api_arena_free(&arena);
}
