#include "api/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/evaluation.h"
#include "api/numbers.h"
#include "api/render.h"

/* Everything one request owns; given back at one place. */
struct job {
	const struct api_service *service;
	const struct api_request *request;
	struct api_response *response;
	struct fric_context context;
	struct api_arena arena;
	struct api_document document;
	struct api_evaluation evaluation;
	struct fric_contacts *contacts;
	struct api_render render;
	struct api_fault *fault;
	struct api_measure measure;
	int64_t step_began;
};

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool core(struct job *job, enum fric_code code, const struct fric_error *error)
{
	return code == FRIC_OK || api_fault_core(job->fault, error);
}

static void *allocate(struct job *job, size_t n, size_t size)
{
	void *array = api_arena_array(&job->arena, n, size);
	if (!array)
		api_fault_set(job->fault, 503, "not enough memory for this request now");
	return array;
}

static bool decode(struct job *job)
{
	struct api_check check = {&job->document, &job->arena, job->fault, job->service->max_contacts, job->service->max_vertices};
	return api_format_read(job->service, job->request, &job->arena, &job->document, job->fault) &&
	       api_check_evaluation(&check, &job->evaluation);
}

static bool check_skipped(struct job *job)
{
	const struct api_path root = {0}, on_degenerate = {&root, "on_degenerate", 0};
	const size_t n = fric_n_skipped(job->contacts);
	return n <= API_MAX_SKIPPED ||
	       api_fault_at(job->fault, 413, &on_degenerate, "%zu contacts would be skipped; an answer lists at most %d",
	                    n, API_MAX_SKIPPED);
}

static bool prepare(struct job *job)
{
	struct fric_error error;
	const struct api_evaluation *e = &job->evaluation;
	if (!core(job, fric_prepare(&job->context, &e->batch, &job->contacts, &error), &error) || !check_skipped(job))
		return false;
	return core(job, fric_choose_matchstick(&job->context, job->contacts, e->lagged_velocities, &error), &error);
}

static bool evaluate_sums(struct job *job)
{
	const struct api_evaluation *e = &job->evaluation;
	const size_t ndof = e->batch.n_vertices * (size_t)e->batch.dim;
	struct fric_error error;
	json_t *root = job->render.document.root;
	double potential = 0, *gradient = e->outputs[API_GRADIENT] ? allocate(job, ndof, sizeof(double)) : NULL;
	if (e->outputs[API_GRADIENT] && !gradient)
		return false;
	if (!core(job, fric_evaluate(&job->context, job->contacts, e->velocities, e->outputs[API_POTENTIAL] ? &potential : NULL,
	                             gradient, &error), &error))
		return false;
	if (e->outputs[API_POTENTIAL])
		api_render_number(&job->render, root, "potential", potential);
	if (gradient)
		api_render_add(&job->render, root, "gradient", api_render_array(&job->render, API_F64, gradient, ndof, 0, 0));
	return true;
}

/* Refused before anything is computed. A pointer leads to what is there, or to where it would be. */
static bool check_hessian_size(struct job *job, size_t bytes)
{
	const struct api_field root = {.node = job->document.root},
	                       hessian = api_ruled(&root, &api_request, API_REQUEST_HESSIAN),
	                       format = api_ruled(&hessian, &api_hessian, API_HESSIAN_FORMAT);
	if (bytes <= job->service->max_answer_bytes)
		return true;
	return api_fault_at(job->fault, 413, hessian.node ? &format.path : &hessian.path, "the Hessian would take %zu bytes, the limit is %zu:"
	                    " use \"factors\", or fewer contacts in a request", bytes, job->service->max_answer_bytes);
}

/* Of all contacts, in order; NULL after a fault. */
static double *inner_matrices(struct job *job)
{
	const struct api_evaluation *e = &job->evaluation;
	struct fric_error error;
	double *inner = allocate(job, fric_n_contacts(job->contacts) * (size_t)fric_inner_size(e->batch.dim), sizeof(*inner));
	if (!inner || !core(job, fric_hessian_inner(&job->context, job->contacts, e->velocities,
	                                            (enum fric_projection)e->projection, inner, &error), &error))
		return NULL;
	return inner;
}

static bool triplets(struct job *job, json_t *hessian)
{
	const enum fric_triangle triangle = (enum fric_triangle)job->evaluation.triangle;
	const size_t n = fric_n_triplets(job->contacts, triangle);
	struct fric_error error;
	if (!check_hessian_size(job, n * (2 * sizeof(int32_t) + sizeof(double))))
		return false;
	int32_t *rows = allocate(job, n, sizeof(*rows)), *cols = allocate(job, n, sizeof(*cols));
	double *values = allocate(job, n, sizeof(*values)), *inner = inner_matrices(job);
	if (!rows || !cols || !values || !inner ||
	    !core(job, fric_hessian_triplets(&job->context, job->contacts, inner, triangle, rows, cols, values, &error), &error))
		return false;
	api_render_add(&job->render, hessian, "rows", api_render_array(&job->render, API_I32, rows, n, 0, 0));
	api_render_add(&job->render, hessian, "cols", api_render_array(&job->render, API_I32, cols, n, 0, 0));
	api_render_add(&job->render, hessian, "values", api_render_array(&job->render, API_F64, values, n, 0, 0));
	return true;
}

static bool csr(struct job *job, json_t *hessian)
{
	const enum fric_triangle triangle = (enum fric_triangle)job->evaluation.triangle;
	struct api_render *r = &job->render;
	struct fric_error error;
	if (!core(job, fric_pattern_create(&job->context, job->contacts, triangle, &r->pattern, &error), &error))
		return false;
	const size_t n = fric_pattern_n_entries(r->pattern), n_rows = fric_pattern_n_rows(r->pattern);
	if (!check_hessian_size(job, n * (sizeof(int32_t) + sizeof(double)) + n_rows * sizeof(int64_t)))
		return false;
	double *data = allocate(job, n, sizeof(*data)), *inner = inner_matrices(job);
	if (!data || !inner || !core(job, fric_hessian_csr(&job->context, job->contacts, inner, r->pattern, data, &error), &error))
		return false;
	api_render_add(r, hessian, "indptr",
	               api_render_array(r, API_I64, fric_pattern_indptr(r->pattern), n_rows + 1, 0, 0));
	api_render_add(r, hessian, "indices", api_render_array(r, API_I32, fric_pattern_indices(r->pattern), n, 0, 0));
	api_render_add(r, hessian, "data", api_render_array(r, API_F64, data, n, 0, 0));
	return true;
}

/* An output of one group as an array of its documented shape; NULL after a fault. */
static json_t *group_output(struct job *job, enum fric_type type, enum fric_output output)
{
	const size_t n = fric_group_size(job->contacts, type), d = (size_t)job->evaluation.batch.dim;
	const size_t lengths[API_N_LENGTHS] = {[API_DIM] = d, [API_TANGENTS] = d - 1,
	                                       [API_POINT] = (size_t)fric_closest_point_size(type)};
	const enum api_length *shape = api_output_rules[output].shape;
	const size_t inner = lengths[shape[1]], innermost = lengths[shape[2]];
	struct fric_error error;
	double *out = allocate(job, n * (inner ? inner : 1) * (innermost ? innermost : 1), sizeof(*out));
	if (!out || !core(job, fric_contact_output(&job->context, job->contacts, job->evaluation.velocities, type, output, out,
	                                           &error), &error))
		return NULL;
	if (output != FRIC_OUT_STATUS)
		return api_render_array(&job->render, API_F64, out, n, inner, innermost);
	int32_t *status = allocate(job, n, sizeof(*status));
	for (size_t i = 0; i < n && status; i++)
		status[i] = (int32_t)out[i];
	return status ? api_render_array(&job->render, API_I32, status, n, 0, 0) : NULL;
}

static bool allocate_factors(struct job *job, struct fric_factors *factors)
{
	const int dim = job->evaluation.batch.dim;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t n = fric_group_size(job->contacts, type);
		factors->weights[type] = allocate(job, n * (size_t)fric_stencil_size(type), sizeof(double));
		factors->tangent_basis[type] = allocate(job, n * (size_t)(dim * (dim - 1)), sizeof(double));
		factors->inner[type] = allocate(job, n * (size_t)fric_inner_size(dim), sizeof(double));
		if (!factors->weights[type] || !factors->tangent_basis[type] || !factors->inner[type])
			return false;
	}
	return true;
}

static void add_factors(struct job *job, enum fric_type type, const struct fric_factors *factors, json_t *hessian)
{
	const size_t n = fric_group_size(job->contacts, type), k = (size_t)fric_stencil_size(type);
	const size_t d = (size_t)job->evaluation.batch.dim, m = (size_t)fric_inner_size((int)d);
	struct api_render *r = &job->render;
	json_t *group = api_render_add(r, hessian, fric_type_name(type), json_object());
	api_render_add(r, group, "weights", api_render_array(r, API_F64, factors->weights[type], n, k, 0));
	api_render_add(r, group, "tangent_basis", api_render_array(r, API_F64, factors->tangent_basis[type], n, d, d - 1));
	api_render_add(r, group, "inner", api_render_array(r, API_F64, factors->inner[type], n, m, 0));
}

static bool factors(struct job *job, json_t *hessian)
{
	const struct api_evaluation *e = &job->evaluation;
	struct fric_factors all;
	struct fric_error error;
	if (!allocate_factors(job, &all) ||
	    !core(job, fric_hessian_factors(&job->context, job->contacts, e->velocities,
	                                    (enum fric_projection)e->projection, &all, &error), &error))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (e->has_group[type])
			add_factors(job, type, &all, hessian);
	return true;
}

static bool evaluate_hessian(struct job *job)
{
	static bool (*const assemble[])(struct job *, json_t *) = {triplets, csr, factors};
	const struct api_evaluation *e = &job->evaluation;
	const size_t ndof = e->batch.n_vertices * (size_t)e->batch.dim;
	if (!e->outputs[API_HESSIAN])
		return true;
	json_t *hessian = api_render_add(&job->render, job->render.document.root, "hessian", json_object());
	int64_t *shape = allocate(job, 2, sizeof(*shape));
	if (!shape || !hessian)
		return false;
	shape[0] = shape[1] = (int64_t)ndof;
	api_render_add(&job->render, hessian, "format", json_string(api_hessian_formats[e->format]));
	api_render_add(&job->render, hessian, "shape", api_render_array(&job->render, API_I64, shape, 2, 0, 0));
	return assemble[e->format](job, hessian);
}

static bool evaluate_group(struct job *job, enum fric_type type, json_t *collisions)
{
	json_t *group = api_render_add(&job->render, collisions, fric_type_name(type), json_object());
	for (int output = 0; output < FRIC_N_OUTPUTS; output++) {
		const enum fric_output o = (enum fric_output)output;
		if (!job->evaluation.collision_outputs[o] || !fric_has_output(job->contacts, type, o))
			continue;
		json_t *values = group_output(job, type, o);
		if (!values)
			return false;
		api_render_add(&job->render, group, api_output_rules[o].name, values);
	}
	return true;
}

static bool evaluate_collisions(struct job *job)
{
	if (!job->evaluation.outputs[API_COLLISIONS])
		return true;
	json_t *collisions = api_render_add(&job->render, job->render.document.root, "collisions", json_object());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (job->evaluation.has_group[type] && !evaluate_group(job, type, collisions))
			return false;
	return true;
}

static void list_skipped_of(struct job *job, enum fric_type type, json_t *list)
{
	const size_t n = fric_n_skipped(job->contacts) ? fric_group_size(job->contacts, type) : 0;
	for (size_t i = 0; i < n; i++) {
		const char *reason = fric_reason(fric_skipped(job->contacts, type, i));
		if (!*reason)
			continue;
		json_t *entry = api_render_append(&job->render, list, json_object());
		api_render_add(&job->render, entry, "group", json_string(fric_type_name(type)));
		api_render_integer(&job->render, entry, "index", (int64_t)i);
		api_render_add(&job->render, entry, "reason", json_string(reason));
	}
}

static void list_skipped(struct job *job)
{
	if (!job->evaluation.batch.skip_degenerate)
		return;
	json_t *list = api_render_add(&job->render, job->render.document.root, "skipped", json_array());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		list_skipped_of(job, type, list);
}

static bool evaluate(struct job *job)
{
	if (!api_render_start(&job->render, &job->arena))
		return api_fault_set(job->fault, 503, "not enough memory for this request now");
	job->render.document.n_threads = job->service->n_threads;
	json_t *root = job->render.document.root;
	api_render_integer(&job->render, root, "n_vertices", (int64_t)fric_n_vertices(job->contacts));
	api_render_integer(&job->render, root, "n_collisions", (int64_t)fric_n_contacts(job->contacts));
	if (!evaluate_sums(job) || !evaluate_hessian(job) || !evaluate_collisions(job))
		return false;
	list_skipped(job);
	return true;
}

/* A step begins where the one before it ended: asking the clock costs as much as some of the work. */
static bool timed(struct job *job, enum api_phase phase, bool (*run)(struct job *))
{
	const bool ok = run(job);
	const int64_t ended = now();
	job->measure.phase_nanoseconds[phase] = ended - job->step_began;
	job->measure.n_phases = (int)phase + 1;
	job->step_began = ended;
	return ok;
}

static bool encode(struct job *job)
{
	enum api_format format;
	return api_format_of_answer(job->request, &format, job->fault) &&
	       api_render_finish(&job->render, format, job->service->max_answer_bytes, job->fault, job->response);
}

/* printf needs a microsecond for every number with a fraction. */
static char *print_milliseconds(int64_t nanoseconds, char *out)
{
	const int64_t microseconds = (nanoseconds + 500) / 1000;
	out += api_integer_write(microseconds / 1000, out);
	*out++ = '.';
	for (int64_t digits = microseconds % 1000, unit = 100; unit > 0; unit /= 10)
		*out++ = (char)('0' + digits / unit % 10);
	return out;
}

static void add_timing(const struct job *job, struct api_response *response)
{
	static const char *const names[API_N_PHASES] = {"decode;dur=", ", prepare;dur=", ", evaluate;dur=", ", encode;dur="};
	char text[API_N_PHASES * (16 + API_NUMBER_BYTES)], *end = text;
	for (int phase = 0; phase < API_N_PHASES; phase++)
		end = print_milliseconds(job->measure.phase_nanoseconds[phase], stpcpy(end, names[phase]));
	*end = '\0';
	api_response_add_header(response, "Server-Timing", text);
}

bool api_evaluate(const struct api_service *service, const struct api_request *request, struct api_fault *fault,
                  struct api_response *response)
{
	struct job job = {.service = service, .request = request, .response = response, .fault = fault,
	                  .step_began = now(), .arena = {.pool = service->pool},
	                  .context = {.n_threads = service->n_threads, .stop = request->stop,
	                              .kernels = service->kernels, .memory = api_pool_memory(service->pool)}};
	const bool ok = timed(&job, API_DECODE, decode) && timed(&job, API_PREPARE, prepare) &&
	                timed(&job, API_EVALUATE, evaluate) && timed(&job, API_ENCODE, encode);
	api_render_abandon(&job.render);
	add_timing(&job, response);
	job.measure.n_contacts = ok ? fric_n_contacts(job.contacts) : 0;
	response->measure = job.measure;
	fric_contacts_free(job.contacts);
	api_document_free(&job.document);
	api_arena_free(&job.arena);
	return ok;
}
