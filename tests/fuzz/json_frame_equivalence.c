/* Sends a request generated from the input's bytes as JSON and as a frame: both must get the same status, the same
 * faults and the same values bit for bit. The input covers nearly all fields of the contract, mostly with valid
 * values. */
#include "tests/fuzz/json_frame.h"

#include <float.h>
#include <math.h>

#include "api/api.h"
#include "api/base/arena.h"
#include "api/codec/frame.h"
#include "api/codec/media.h"
#include "api/contract/fields.h"
#include "core/fric.h"
#include "tests/fuzz/compare.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/judge.h"
#include "tests/fuzz/parts.h"

enum {
	MOST_VERTICES = 24,
	MOST_CONTACTS = 4,
	MANY = 1100, /* enough to occupy two threads */
	MOST_NUMBERS = MANY * 6,
	MANY_CONTACTS = 0x5E, /* settings byte of a request with that many contacts in its first group */
};

/* A request under construction. */
struct request {
	struct fuzz_input *input;
	struct fuzz_json_frame *d;
	size_t dim, n_vertices;
	size_t accidents; /* one in that many choices is made invalid; 0: none */
	bool barrier;     /* asks for the barrier's energy */
	double values[MOST_NUMBERS];
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static size_t below(struct request *r, size_t n)
{
	return fuzz_below(r->input, n);
}

static bool accident(struct request *r)
{
	return r->accidents && below(r, r->accidents) == 1;
}

/* ---- numbers ---- */

enum kind { ANY, NON_NEGATIVE, POSITIVE };

static double raw_number(struct request *r)
{
	double value;
	uint8_t bytes[sizeof(value)];
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = fuzz_byte(r->input);
	memcpy(&value, bytes, sizeof(value));
	return isfinite(value) ? value : 1;
}

/* Most values have ordinary magnitudes and lie on a lattice, so that the geometry is sometimes degenerate. */
static double number(struct request *r, enum kind kind)
{
	static const double edges[] = {
		0,       -0.0,  1e-3, 1e-12,   5e-324, 2.2250738585072014e-308, 1e-310, 1e154, 1e-154,
		DBL_MAX, 1e300, 0.1,  1.0 / 3, 1e15,   4503599627370497.5,      -1e-5};
	const uint8_t c = fuzz_byte(r->input);
	double value = c < 200 ? (c - 60) / 8.0 : c < 232 ? edges[c - 200 < 16 ? c - 200 : c - 216] : raw_number(r);
	if (kind != ANY && !accident(r))
		value = fabs(value);
	return kind == POSITIVE && value == 0 && !accident(r) ? 0.5 : value;
}

/* A number rounded to a dtype. */
static double as_dtype(double value, enum api_dtype dtype)
{
	if (dtype == API_F64)
		return value;
	if (dtype == API_F32)
		return fabs(value) <= FLT_MAX ? (double)(float)value : 1;
	const double low = dtype == API_U32   ? 0
	                   : dtype == API_I32 ? INT32_MIN
	                                      : -9e18,
				 high = dtype == API_U32   ? UINT32_MAX
	                    : dtype == API_I32 ? INT32_MAX
	                                       : 9e18;
	value = value < low ? low : value > high ? high : value;
	return trunc(value) + 0.0; /* adding 0.0 removes -0, which integers lack */
}

/* Writes values[n] under a key, in a random form. */
static void put_values(struct request *r, const char *key, int rank, const size_t *shape, size_t n, enum kind kind)
{
	const uint8_t choice = fuzz_byte(r->input);
	const enum api_dtype dtype = choice < 160 ? API_F64 : (enum api_dtype)(choice % 5);
	const size_t flat[] = {n};
	for (size_t i = 0; i < n; i++)
		r->values[i] = as_dtype(number(r, kind), dtype);
	for (size_t i = 0; i < n && kind == POSITIVE; i++)
		r->values[i] = r->values[i] == 0 && !accident(r) ? 1 : r->values[i];
	const bool one_level = choice & 8 && rank > 1, integral = dtype > API_F32;
	fuzz_put_array(r->d, key, choice & 3, dtype, integral, one_level ? 1 : rank, one_level ? flat : shape, r->values);
}

/* Writes a field of shape [n, inner, innermost] (0: level absent), or one row for all. */
static void put_field(struct request *r, const char *key, size_t n, size_t inner, size_t innermost, bool one_for_all,
                      enum kind kind)
{
	size_t shape[3] = {n, inner, innermost};
	const size_t *from = shape;
	int rank = 1 + (inner > 0) + (innermost > 0);
	if (one_for_all && below(r, 3) == 0) {
		*shape = 1;
		const bool bare = below(r, 2);
		from += bare;
		rank -= bare;
	}
	if (accident(r))
		shape[below(r, 3)]++;
	size_t total = 1;
	for (int i = 0; i < rank; i++)
		total *= from[i];
	if (total <= MOST_NUMBERS)
		put_values(r, key, rank, from, total, kind);
}

static void put_scalar(struct request *r, const char *key, enum kind kind)
{
	static const size_t none[1];
	put_values(r, key, 0, none, 1, kind);
}

/* Writes any of the words that a field may have. */
static void put_word(struct request *r, const struct api_rule *rule)
{
	char text[64];
	size_t n = 0;
	while (rule->words[n])
		n++;
	snprintf(text, sizeof(text), "\"%s\"", rule->words[below(r, n)]);
	fuzz_put(r->d, rule->name, accident(r) ? "null" : text);
}

/* Writes a list of some of the words. */
/* @param always  a word that is always included, or NULL */
static void put_choices(struct request *r, const char *key, const char *const words[], size_t n, const char *always)
{
	char text[512] = "[", *end = text + 1;
	for (size_t i = 0; i < n; i++)
		if (below(r, 2) || words[i] == always)
			end += sprintf(end, "%s\"%s\"", end > text + 1 ? "," : "", words[i]);
	strcpy(end, "]");
	fuzz_put(r->d, key, text);
}

/* Writes integers [n, k] below limit, distinct within a row if possible. */
static void put_indices(struct request *r, const char *key, size_t n, size_t k, size_t limit)
{
	/* API_F64 and API_F32 are excluded: a frame with them is refused as a whole, JSON text at the first entry. */
	static const enum api_dtype dtypes[] = {API_I32, API_I32, API_U32, API_I64};
	const uint8_t choice = fuzz_byte(r->input);
	const size_t shape[] = {n, k}, flat[] = {n * k};
	const bool one_level = k == 1 || choice & 8, wrong = accident(r);
	for (size_t i = 0; i < n; i++) {
		size_t at = below(r, 256), step = 1 + below(r, 4);
		for (size_t j = 0; j < k; j++, at += step)
			r->values[i * k + j] = (double)(limit ? at % limit : at);
	}
	if (wrong && n)
		r->values[below(r, n * k)] = (double)limit + (double)below(r, 3) - 1;
	const enum api_dtype dtype = dtypes[choice >> 4 & 3];
	for (size_t i = 0; i < n * k; i++)
		r->values[i] = as_dtype(r->values[i], dtype);
	fuzz_put_array(r->d, key, choice & 3, dtype, true, one_level ? 1 : 2, one_level ? flat : shape, r->values);
}

/* ---- fields ---- */

static const char *const plain_mu[] = {"mu", "mu_s", "mu_k"};
static const char *const vertex_mu[] = {"vertex_mu", "vertex_mu_s", "vertex_mu_k"};

/* Writes either the single coefficient, or the static and the kinetic one; n = 0: bare numbers. */
static void put_mu(struct request *r, const char *const names[], size_t n, bool one_for_all)
{
	const bool two = below(r, 2);
	for (size_t i = two; i < (two ? 3 : 1); i++)
		if (names == plain_mu && !one_for_all)
			put_scalar(r, names[i], NON_NEGATIVE);
		else if (!accident(r))
			put_field(r, names[i], n, 0, 0, one_for_all, NON_NEGATIVE);
}

static void put_materials(struct request *r)
{
	const size_t m = 1 + below(r, 3);
	fuzz_open(r->d, "materials");
	put_indices(r, "vertex_material", r->n_vertices, 1, m);
	if (below(r, 4))
		fuzz_put(r->d, "plane_material", "0");
	/* Usually one number everywhere, because the matrix must be symmetric. */
	const size_t shape[] = {m, m};
	const double mu = number(r, NON_NEGATIVE);
	for (size_t i = 0; i < m * m; i++)
		r->values[i] = accident(r) ? number(r, NON_NEGATIVE) : mu;
	fuzz_put_array(r->d, "mu", below(r, 2), API_F64, false, 2, shape, r->values);
	fuzz_close(r->d);
}

static void put_friction(struct request *r)
{
	fuzz_open(r->d, "friction");
	if (!accident(r))
		put_scalar(r, "eps_v", POSITIVE);
	const size_t source = below(r, 8);
	if (source < 3 || accident(r))
		put_mu(r, plain_mu, 0, false);
	if (source >= 3 && source < 5)
		put_mu(r, vertex_mu, r->n_vertices, false);
	if ((source >= 3 && source < 5) || accident(r))
		put_word(r, &api_friction.rules[API_FRICTION_BLEND]);
	if (source >= 5 && source < 7)
		put_materials(r);
	if (below(r, 2))
		put_word(r, &api_friction.rules[API_FRICTION_TRANSITION]);
	fuzz_close(r->d);
}

static void put_barrier(struct request *r)
{
	fuzz_open(r->d, "barrier");
	put_scalar(r, "dhat", POSITIVE);
	put_scalar(r, "stiffness", POSITIVE);
	if (below(r, 2))
		put_scalar(r, "dmin", NON_NEGATIVE);
	if (below(r, 2))
		put_word(r, &api_barrier.rules[API_BARRIER_TYPE]);
	if (below(r, 2))
		put_word(r, &api_barrier.rules[API_BARRIER_SCALING]);
	fuzz_close(r->d);
}

static void put_group(struct request *r, enum fric_type type, bool many)
{
	const size_t n = many ? MANY : below(r, MOST_CONTACTS + 1), k = (size_t)fric_stencil_size(type), d = r->dim,
				 m = (size_t)fric_closest_point_size(type);
	const uint8_t fields = many ? 1 : fuzz_byte(r->input), more = many ? 8 : fuzz_byte(r->input);
	fuzz_open(r->d, fric_type_name(type));
	put_indices(r, "vertices", n, k, r->n_vertices);
	if (fields & 1 && (!r->barrier || accident(r)))
		put_field(r, "normal_force", n, 0, 0, true, NON_NEGATIVE);
	if (fields & 2)
		put_field(r, "weight", n, 0, 0, true, ANY);
	if (fields & 4)
		put_mu(r, plain_mu, n, true);
	if (fields & 8)
		put_field(r, "eps_v", n, 0, 0, true, POSITIVE);
	if (fields & 16)
		put_field(r, "mu_aniso", n, d - 1, 0, true, POSITIVE);
	if (fields & 32 && (d == 3 || accident(r)))
		put_field(r, "mu_s_aniso", n, 2, 0, true, NON_NEGATIVE);
	if (fields & 64 && (d == 3 || accident(r)))
		put_field(r, "mu_k_aniso", n, 2, 0, true, NON_NEGATIVE);
	const bool given = (more & 7) == 1 && (!r->barrier || accident(r));
	if (given && !accident(r))
		put_field(r, "tangent_basis", n, d, d - 1, true, ANY);
	if (given && (m || accident(r)))
		put_field(r, "closest_point", n, m, 0, true, ANY);
	if (type == FRIC_PLANE_VERTEX && (more & 56 || r->barrier))
		put_field(r, "plane_normal", n, d, 0, true, ANY);
	if (type == FRIC_PLANE_VERTEX && (more & 64 || r->barrier))
		put_field(r, "plane_origin", n, d, 0, true, ANY);
	if (more & 128 && (type == FRIC_EDGE_EDGE || accident(r)))
		put_field(r, "mollifier", n, 0, 0, true, NON_NEGATIVE);
	if (accident(r))
		fuzz_put(r->d, "normal_froce", "1");
	fuzz_close(r->d);
}

static void put_answer(struct request *r)
{
	enum { COLLISIONS = 3 };
	/* The last ones are chosen only with a barrier, or without it. */
	static const char *const outputs[] = {"potential", "gradient", "hessian", "collisions", "hessian_products", "line"};
	static const char *const collision_outputs[] = {
		"potential",        "tangential_velocity", "mu_s",         "mu_k",       "normal_force", "distance",
		"closest_point",    "tangent_basis",       "status",       "slip_ratio", "feature",      "current_feature",
		"current_distance", "barrier_potential",   "barrier_force"};
	const uint8_t fields = fuzz_byte(r->input);
	if (fields & 1)
		put_choices(r, "outputs", outputs, COUNT(outputs) - r->barrier, fields & 2 ? outputs[COLLISIONS] : NULL);
	if ((fields & 3) == 2)
		fuzz_put(r->d, "outputs", "[\"potential\",\"gradient\",\"hessian\",\"collisions\"]");
	if (fields & 2)
		put_choices(r, "collision_outputs", collision_outputs, r->barrier ? COUNT(collision_outputs) : 11, NULL);
	if (fields & 4) {
		fuzz_open(r->d, "hessian");
		put_word(r, &api_hessian.rules[API_HESSIAN_FORMAT]);
		if (fields & 16)
			put_word(r, &api_hessian.rules[API_HESSIAN_TRIANGLE]);
		put_word(r, &api_hessian.rules[API_HESSIAN_PROJECTION]);
		if (fields & 128)
			fuzz_put(r->d, "pattern", accident(r) ? "true" : "false");
		fuzz_close(r->d);
	}
	if (fields & 32 || (fields & 1 && !accident(r))) {
		fuzz_open(r->d, "line");
		put_field(r, "direction", r->n_vertices, r->dim, 0, false, ANY);
		put_field(r, "steps", below(r, 5), 0, 0, false, ANY);
		fuzz_close(r->d);
	}
	if (fields & 64 || (fields & 1 && !accident(r)))
		put_field(r, "vectors", below(r, 4), r->n_vertices * r->dim, 0, false, ANY);
	if (fields & 8)
		put_word(r, &api_request.rules[API_REQUEST_ON_DEGENERATE]);
}

static void put_groups(struct request *r, uint8_t groups, bool many)
{
	fuzz_open(r->d, "collisions");
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const bool flat = type != FRIC_EDGE_EDGE && type != FRIC_FACE_VERTEX;
		if (groups >> type & 1 && (r->dim == 3 || flat || accident(r))) {
			put_group(r, type, many);
			many = false;
		}
	}
	fuzz_close(r->d);
}

/* Writes what the barrier's energy depends on. */
static void put_terms(struct request *r)
{
	const uint8_t fields = fuzz_byte(r->input);
	fuzz_put(r->d, "terms", fields & 1 ? "[\"barrier\"]" : "[\"friction\",\"barrier\"]");
	if (fields & 2)
		put_field(r, "current_positions", r->n_vertices, r->dim, 0, false, ANY);
	if (fields & 4)
		put_scalar(r, "time_step", POSITIVE);
}

static void put_request(struct request *r, bool many)
{
	const uint8_t groups = fuzz_byte(r->input), parts = fuzz_byte(r->input);
	r->barrier = parts & 64 && !many;
	r->dim = groups & 128 || parts & 1 ? 3 : 2;
	r->n_vertices = 4 + below(r, MOST_VERTICES - 3);
	r->n_vertices = accident(r) ? below(r, 4) : r->n_vertices;
	fuzz_put(r->d, "dim", r->dim == 2 ? "2" : "3");
	put_field(r, "velocities", r->n_vertices, r->dim, 0, false, ANY);
	if (parts & 6 || r->barrier || accident(r))
		put_field(r, "positions", r->n_vertices, r->dim, 0, false, ANY);
	if (parts & 8)
		put_field(r, "lagged_velocities", r->n_vertices, r->dim, 0, false, ANY);
	put_friction(r);
	if (parts & 48 || r->barrier)
		put_barrier(r);
	if (r->barrier)
		put_terms(r);
	if (parts & 128)
		put_word(r, &api_request.rules[API_REQUEST_CLOSEST_FEATURES]);
	put_groups(r, groups, many);
	if (many) /* triplets would dominate the time of all runs */
		fuzz_put(r->d, "hessian", "{\"format\":\"csr\"}");
	else
		put_answer(r);
	fuzz_close(r->d);
}

static void put_function(struct request *r, const char **target)
{
	enum { MU = 1, EPS_V = 2, ANISO = 4, PAIRS = 8, NO_MU = 16 };
	static const struct {
		const char *target, *first;
		int parameters;
	} functions[] = {
		{"/v1/functions/smooth_mu_f2", "y", MU | EPS_V},
		{"/v1/functions/smooth_friction_f1_over_x", "y", EPS_V},
		{"/v1/functions/anisotropic_x_from_tau_aniso", "tau_aniso", PAIRS},
		{"/v1/functions/anisotropic_mu_eff_f", "tau_dir", ANISO | PAIRS},
		{"/v1/functions/anisotropic_mu_eff_from_tau_aniso", "tau_aniso", MU | ANISO | PAIRS | NO_MU},
	};
	const size_t f = below(r, COUNT(functions)), n = below(r, 20);
	const int parameters = functions[f].parameters;
	*target = functions[f].target;
	put_field(r, functions[f].first, n, parameters & PAIRS ? 2 : 0, 0, n == 1, ANY);
	for (int i = 1; i < 3 && parameters & MU; i++)
		put_field(r, plain_mu[i], n, 0, 0, true, NON_NEGATIVE);
	if (parameters & EPS_V)
		put_field(r, "eps_v", n, 0, 0, true, POSITIVE);
	for (int i = 0; i < 2 && parameters & ANISO; i++)
		put_field(r, i ? "mu_k_aniso" : "mu_s_aniso", n, 2, 0, true, NON_NEGATIVE);
	if (parameters & NO_MU && below(r, 2))
		fuzz_put(r->d, "no_mu", below(r, 2) ? "true" : "false");
	fuzz_close(r->d);
}

/* ---- sending both forms ---- */

/* Checks both forms of a request to /v1/evaluate. */
static void check_parts(const char *text, size_t text_bytes, const char *body, size_t bytes)
{
	struct api_arena arena = {0};
	struct api_document document;
	struct api_text_fault wrong;
	struct api_fault fault = {0};
	if (api_document_read_pooled(NULL, text, text_bytes, &document, &wrong)) {
		fuzz_check_parts(&document);
		api_document_free(&document);
	}
	if (api_frame_read(&(struct api_part){body, bytes}, 1, SIZE_MAX, &arena, &document, &fault)) {
		fuzz_check_parts(&document);
		api_document_free(&document);
	}
	api_arena_free(&arena);
}

struct answer {
	struct api_response response;
	char *body;
};

static void ask(const struct api_service *service, const char *target, const char *type, const char *accept,
                const char *body, size_t bytes, struct answer *answer)
{
	const struct api_request request = {.method = "POST",
	                                    .target = target,
	                                    .content_type = type,
	                                    .accept = accept,
	                                    .request_id = "id",
	                                    .body = body,
	                                    .body_bytes = bytes};
	memset(&answer->response, 0xAB, sizeof(answer->response));
	api_handle(service, &request, &answer->response);
	answer->body = fuzz_body(&answer->response);
	fuzz_judge(service, &request, &answer->response, answer->body);
}

static void forget(struct answer *answer)
{
	free(answer->body);
	api_response_free(&answer->response);
}

/* Compares pointers only, because messages may depend on the form of the offending value. */
static void same_faults(const struct answer *a, const struct answer *b)
{
	json_t *x = json_loads(a->body, 0, NULL), *y = json_loads(b->body, 0, NULL);
	const json_t *p = json_object_get(x, "errors"), *q = json_object_get(y, "errors");
	FUZZ_CHECK(json_array_size(p) == json_array_size(q), "\n%s\n%s", a->body, b->body);
	for (size_t i = 0; i < json_array_size(p); i++)
		FUZZ_CHECK(json_equal(json_object_get(json_array_get(p, i), "pointer"),
		                      json_object_get(json_array_get(q, i), "pointer")),
		           "\n%s\n%s", a->body, b->body);
	json_decref(x);
	json_decref(y);
}

static void same_answers(const struct answer *a, const struct answer *b)
{
	struct api_arena arena = {0};
	struct api_document x, y;
	FUZZ_CHECK(a->response.status == b->response.status, "\n%s\n%s", a->body, b->body);
	if (a->response.status != 200) {
		same_faults(a, b);
		return;
	}
	fuzz_read_body(&a->response, a->body, &arena, &x);
	fuzz_read_body(&b->response, b->body, &arena, &y);
	fuzz_same_documents(&x, &y);
	api_document_free(&x);
	api_document_free(&y);
	api_arena_free(&arena);
}

static void check(const struct fuzz_json_frame *d, const char *target, uint8_t settings)
{
	static const char *const kernels[] = {"scalar", "baseline", "avx2", "best"};
	struct api_service service = {
		.n_threads = 1, .max_json_bytes = 64 << 20, .max_frame_bytes = 64 << 20, .max_answer_bytes = 64 << 20};
	struct answer json, frame, again;
	size_t bytes;
	char *text = fuzz_copy(d->json.data, d->json.bytes), *body = fuzz_frame(d, &bytes);
	ask(&service, target, api_media_json, settings & 1 ? api_media_frame : NULL, text, d->json.bytes, &json);
	ask(&service, target, api_media_frame, settings & 2 ? api_media_json : NULL, body, bytes, &frame);
	if (getenv("FUZZ_SHOW"))
		fprintf(stderr, "%s %.*s\n%d %s\n", target, (int)d->json.bytes, text, json.response.status, json.body);
	same_answers(&json, &frame);
	if (!strcmp(target, "/v1/evaluate"))
		check_parts(text, d->json.bytes, body, bytes);
	if (settings & 4) { /* one build returns the same bytes with any threads and kernels */
		service.n_threads = 2;
		if (!api_choose_kernels(&service, kernels[settings >> 3 & 3]))
			service.kernels = NULL;
		ask(&service, target, api_media_frame, settings & 2 ? api_media_json : NULL, body, bytes, &again);
		fuzz_same_answers(&frame.response, frame.body, &again.response, again.body);
		forget(&again);
	}
	if (json.response.status == 200 &&
	    !strcmp(target, "/v1/evaluate")) { /* 422: an output absent from the first request overflows */
		ask(&service, "/v1/check", api_media_frame, NULL, body, bytes, &again);
		FUZZ_CHECK(again.response.status == 200 || again.response.status == 422, "%s", again.body);
		forget(&again);
	}
	forget(&json);
	forget(&frame);
	free(text);
	free(body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct request r; /* too large for the stack */
	struct fuzz_input input = {data, data + size};
	struct fuzz_json_frame d;
	const uint8_t settings = fuzz_byte(&input), accidents = fuzz_byte(&input);
	const char *target = "/v1/evaluate";
	fuzz_json_frame_start(&d);
	r = (struct request){.input = &input, .d = &d, .accidents = accidents < 128 ? 0 : 256 - accidents};
	if (settings >> 5 == 7)
		put_function(&r, &target);
	else
		put_request(&r, settings == MANY_CONTACTS);
	check(&d, target, settings);
	fuzz_json_frame_free(&d);
	return 0;
}
