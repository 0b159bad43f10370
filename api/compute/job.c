#include "api/compute/job.h"

#include <string.h>
#include <time.h>

#include "api/base/account.h"
#include "api/dispatch/answer.h"
#include "api/dispatch/format.h"
#include "api/numbers/print_double.h"
#include "api/problem.h"
#include "api/validate/url_query.h"

enum { SKIPPED_NODES = 4 }; /* nodes of JSON per skipped contact in an answer */

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool api_job_core(struct api_job *job, enum fric_code code)
{
	const struct api_neighbours *neighbours = job->set ? job->set->neighbours : job->own_neighbours;
	return code == FRIC_OK || api_neighbours_fault(neighbours, &job->error, job->fault);
}

size_t api_job_most_pairs(const struct api_job *job)
{
	enum { MOST = INT32_MAX / 4 };
	return job->service->max_contacts ? job->service->max_contacts : (size_t)MOST;
}

void *api_job_array(struct api_job *job, size_t n, size_t size)
{
	void *array = api_arena_array(&job->arena, n, size);
	if (!array)
		api_fault_no_memory(job->fault);
	return array;
}

size_t api_job_n_dofs(const struct api_job *job)
{
	return api_n_dofs(job->facts.dim, job->facts.n_vertices, job->facts.n_bodies);
}

const double *api_job_join(struct api_job *job, const double *vertices, const double *bodies)
{
	const size_t n = job->facts.n_vertices * job->facts.dim, all = api_job_n_dofs(job);
	if (n == all)
		return vertices;
	if (n == 0)
		return bodies;
	double *joined = api_job_array(job, all, sizeof(*joined));
	if (!joined)
		return NULL;
	if (api_account_copy(joined, vertices, n * sizeof(*joined)) &&
	    api_account_copy(joined + n, bodies, (all - n) * sizeof(*joined)))
		return joined;
	api_fault_no_memory(job->fault);
	return NULL;
}

bool api_job_read(struct api_job *job)
{
	return api_format_read(job->service, job->request, &job->arena, &job->document, job->fault);
}

struct api_check api_job_check(struct api_job *job)
{
	return (struct api_check){
		.document = &job->document, .arena = &job->arena, .fault = job->fault, .service = job->service};
}

bool api_job_url_query(struct api_job *job, const struct api_object *rules,
                       void (*check)(struct api_job *job, struct api_check *check, const struct api_field *url_query))
{
	struct api_document url_query = {0};
	const char *text = job->request->match ? job->request->match->url_query : "";
	const bool is_read = api_url_query_document(text, rules, &job->arena, &url_query, job->fault);
	if (is_read) {
		struct api_check of_url_query = api_job_check(job);
		struct api_field root = {.node = url_query.root};
		of_url_query.document = &url_query;
		api_check_object(&of_url_query, &root, rules);
		check(job, &of_url_query, &root);
	}
	json_decref(url_query.root);
	return is_read && !job->fault->status;
}

bool api_job_check_document(struct api_job *job, enum api_request_kind whole, enum api_request_kind of_set)
{
	struct api_check check = api_job_check(job);
	if (job->set)
		job->facts = job->set->facts;
	return api_check_request(&check, job->set ? of_set : whole, job->set ? &job->facts : NULL, &job->lagged,
	                         &job->query, NULL);
}

bool api_job_decode(struct api_job *job)
{
	return api_job_read(job) && api_job_check_document(job, API_WHOLE, API_SET_QUERY);
}

bool api_job_admit_document(const struct api_job *job, const struct api_set *set)
{
	struct api_work work = {0};
	api_work_add_document(&work, set);
	return api_cost_admit(job->service, &work, job->fault);
}

bool api_job_open_set(struct api_job *job)
{
	struct api_set_facts facts;
	struct api_check check = {.document = &job->set_document, .arena = &job->arena, .fault = job->fault};
	if (job->set_document.root)
		return true;
	return api_job_admit_document(job, job->set) &&
	       api_archive_read(&job->set->document, &job->arena, &job->set_document, job->fault) &&
	       api_check_set(&check, &job->lagged, &job->set_velocities, &facts) &&
	       (!job->set->neighbours || api_fill_groups(&job->arena, job->set->neighbours, &job->lagged, job->fault));
}

static size_t n_skipped(const struct api_job *job)
{
	return fric_n_skipped(job->contacts) + (job->own_current ? fric_current_n_skipped(job->own_current) : 0);
}

bool api_job_may_skip(struct api_job *job)
{
	const struct api_path root = {0}, on_degenerate = {&root, "on_degenerate", 0};
	const size_t n = n_skipped(job);
	return n <= API_MAX_SKIPPED ||
	       api_fault_at(job->fault, API_E_TOO_MANY_ENTRIES, &on_degenerate,
	                    "%zu contacts would be skipped; an answer lists at most %d", n, API_MAX_SKIPPED);
}

bool api_job_fits(struct api_job *job, const char *field, const char *what, size_t bytes)
{
	const struct api_path root = {0}, path = {&root, field, 0};
	return bytes <= job->service->max_answer_bytes ||
	       api_fault_at(job->fault, API_E_ANSWER_TOO_LONG, &path,
	                    "the %s would take %zu bytes, more than the limit of %zu", what, bytes,
	                    job->service->max_answer_bytes);
}

/* Creates the state: coefficients along the directions of the lagged velocities. */
static bool choose(struct api_job *job, const double *vertices, const double *bodies)
{
	const double *lagged_velocities = api_job_join(job, vertices, bodies);
	job->slip_velocities = lagged_velocities;
	return !job->fault->status && api_job_core(job, fric_state_create(&job->context, job->contacts, lagged_velocities,
	                                                                  &job->own_state, &job->error));
}

const double *api_job_current_positions(struct api_job *job)
{
	const size_t n = job->facts.n_vertices * job->facts.dim;
	if (job->query.current_positions)
		return job->query.current_positions;
	if (job->set && job->set->neighbours)
		return job->set->neighbours->positions;
	if (job->set && !api_job_open_set(job))
		return NULL;
	if (job->lagged.batch.positions)
		return job->lagged.batch.positions;
	double *anywhere = api_job_array(job, n, sizeof(*anywhere)); /* there are no contacts */
	return anywhere && api_account_zero(anywhere, n * sizeof(*anywhere)) ? anywhere : NULL;
}

/* Evaluates the barrier at the current positions, if the query has that term. */
static bool find_current(struct api_job *job)
{
	if (!(job->query.terms & FRIC_TERM_BARRIER))
		return true;
	const double *positions = api_job_current_positions(job);
	return positions &&
	       api_job_core(job,
	                    fric_current_create(&job->context, job->contacts, positions, &job->own_current, &job->error)) &&
	       api_job_may_skip(job);
}

/* Completes the preparation: terms, velocities and current positions. */
static bool ask(struct api_job *job, const struct fric_state *state, const struct fric_schedule *schedule)
{
	const struct api_query *q = &job->query;
	const bool friction = q->terms & FRIC_TERM_FRICTION;
	if (!find_current(job))
		return false;
	job->of_friction = (struct fric_query){
		.velocities = friction ? api_job_join(job, q->velocities, q->body_velocities) : NULL,
		.state = state,
		.schedule = schedule,
	};
	job->asked = job->of_friction;
	job->asked.terms = q->terms;
	job->asked.current = job->own_current;
	job->asked.time_step = q->time_step;
	return !job->fault->status;
}

/* Takes contacts that are prepared for what the query asks for, and perhaps for the barrier. */
static void take_contacts(struct api_job *job, const struct fric_contacts *contacts, bool barrier)
{
	job->contacts = job->query.terms & FRIC_TERM_BARRIER ? contacts : fric_friction_contacts(contacts);
	job->pairs = barrier ? contacts : NULL;
}

/* Finds the contacts of a lagged part that has a mesh. */
static bool find_contacts(struct api_job *job)
{
	if (!job->lagged.has_mesh)
		return true;
	job->own_neighbours =
		api_neighbours_create(&job->context, job->service->pool, &job->lagged, api_job_most_pairs(job), job->fault);
	return job->own_neighbours && api_fill_groups(&job->arena, job->own_neighbours, &job->lagged, job->fault);
}

static bool prepare_whole(struct api_job *job)
{
	const struct api_query *q = &job->query;
	if (!find_contacts(job))
		return false;
	const bool barrier = (q->terms & FRIC_TERM_BARRIER) ||
	                     (q->outputs[API_LONGEST_STEP] && api_allows_barrier(&job->lagged.obstacles));
	job->lagged.batch.terms = q->terms | (barrier ? FRIC_TERM_BARRIER : 0);
	if (!api_job_core(job, fric_prepare(&job->context, &job->lagged.batch, &job->own_contacts, &job->error)))
		return false;
	take_contacts(job, job->own_contacts, barrier);
	api_state_facts(&job->lagged, &job->facts);
	if (!api_job_may_skip(job) ||
	    ((q->terms & FRIC_TERM_FRICTION) && !choose(job, q->lagged_velocities, q->lagged_body_velocities)))
		return false;
	return ask(job, job->own_state, NULL);
}

static const double *first_of(const double *a, const double *b, const double *c)
{
	return a ? a : b ? b : c;
}

/* Whether contacts are prepared for the barrier alone, which does not skip those that have no friction. */
static bool is_without_friction(const struct api_job *job)
{
	return !(job->query.terms & FRIC_TERM_FRICTION) && fric_n_skipped(job->set->contacts);
}

bool api_job_opens_set(const struct api_job *job)
{
	const struct api_query *q = &job->query;
	if (!job->set)
		return false;
	const bool needs_positions = !q->current_positions && !job->set->neighbours;
	return (q->outputs[API_LONGEST_STEP] && !job->set->neighbours) ||
	       ((q->terms & FRIC_TERM_BARRIER) && (needs_positions || is_without_friction(job)));
}

static bool prepare_without_friction(struct api_job *job)
{
	if (!api_job_open_set(job))
		return false;
	job->lagged.batch.terms = FRIC_TERM_BARRIER;
	if (!api_job_core(job, fric_prepare(&job->context, &job->lagged.batch, &job->own_contacts, &job->error)))
		return false;
	take_contacts(job, job->own_contacts, true);
	return ask(job, NULL, NULL);
}

/* The directions of matchsticks follow the query's lagged velocities, else the set's, else the velocities. */
static bool prepare_query(struct api_job *job)
{
	const struct api_query *q = &job->query;
	struct api_set *set = job->set;
	const bool friction = q->terms & FRIC_TERM_FRICTION,
			   has_own = friction && !q->lagged_velocities && !q->lagged_body_velocities && set->has_lagged_velocities;
	take_contacts(job, set->contacts, api_allows_barrier(&set->facts.obstacles));
	if (is_without_friction(job))
		return prepare_without_friction(job);
	if (friction && !has_own &&
	    !choose(job, first_of(q->lagged_velocities, set->lagged_velocities, q->velocities),
	            first_of(q->lagged_body_velocities, set->lagged_body_velocities, q->body_velocities)))
		return false;
	return ask(job, has_own ? set->state : job->own_state,
	           q->outputs[API_GRADIENT] ? api_set_schedule(set, &job->context) : NULL);
}

bool api_job_prepare(struct api_job *job)
{
	return job->set ? prepare_query(job) : prepare_whole(job);
}

static void free_pattern(void *pattern)
{
	fric_pattern_free(pattern);
}

static void release_pattern(void *shared)
{
	api_pattern_release(shared);
}

const struct fric_pattern *api_job_pattern(struct api_job *job, int places)
{
	struct fric_pattern *pattern;
	if (job->set) {
		struct api_shared_pattern *shared = api_set_pattern(job->set, &job->context, places, job->fault);
		if (shared)
			api_render_lend(&job->render, shared, release_pattern);
		return shared ? shared->pattern : NULL;
	}
	if (!api_job_core(job, api_places_create(&job->context, job->contacts, places, &pattern, &job->error)))
		return NULL;
	api_render_lend(&job->render, pattern, free_pattern);
	return pattern;
}

void api_render_one_skipped(struct api_render *render, json_t *list, const struct api_skipped *skipped)
{
	json_t *entry = api_render_append(render, list, json_object());
	api_render_add(render, entry, "group", json_string(fric_type_name(skipped->type)));
	api_render_integer(render, entry, "index", (int64_t)skipped->index);
	api_render_add(render, entry, "reason", json_string(fric_reason(skipped->code)));
}

/* The reason why a contact is skipped at the lagged or at the current positions; FRIC_OK if it is not. */
static enum fric_code reason_of(const struct api_job *job, enum fric_type type, size_t i)
{
	const enum fric_code code = fric_skipped(job->contacts, type, i);
	return code == FRIC_OK && job->own_current ? fric_current_skipped(job->own_current, type, i) : code;
}

static void list_skipped_of(struct api_job *job, enum fric_type type, json_t *list)
{
	const size_t n = n_skipped(job) ? fric_group_size(job->contacts, type) : 0;
	for (size_t i = 0; i < n && !job->render.failed; i++) {
		if (i % API_SPAN == 0 && api_account_is_stopped())
			job->render.failed = true; /* the list is incomplete, so it is not sent */
		const struct api_skipped skipped = {type, i, reason_of(job, type, i)};
		if (*fric_reason(skipped.code))
			api_render_one_skipped(&job->render, list, &skipped);
	}
}

bool api_render_worst(struct api_job *job, json_t *object, enum fric_type type, int64_t index,
                      const int32_t stencil[FRIC_MAX_STENCIL], json_t **worst)
{
	struct api_render *r = &job->render;
	const size_t k = (size_t)fric_stencil_size(type);
	*worst = api_render_add(r, object, "worst", index < 0 ? json_null() : json_object());
	int32_t *members = index < 0 ? NULL : api_job_array(job, k, sizeof(*members));
	if (!members)
		return index < 0;
	memcpy(members, stencil, k * sizeof(*members));
	api_render_add(r, *worst, "group", json_string(fric_type_name(type)));
	api_render_integer(r, *worst, "index", index);
	api_render_add(r, *worst, type < FRIC_N_VERTEX_TYPES ? "vertices" : "bodies",
	               api_render_array(r, API_I32, members, k, 0, 0));
	return true;
}

bool api_job_output(struct api_job *job, enum fric_type type, enum fric_output output, double *values)
{
	return api_job_core(
		job, fric_contact_output(&job->context, job->contacts, &job->asked, type, output, values, &job->error));
}

void api_job_skipped(struct api_job *job)
{
	if (!job->facts.skip_degenerate)
		return;
	json_t *list = api_render_add(&job->render, job->render.document.root, "skipped", json_array());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		list_skipped_of(job, type, list);
}

void api_render_bodies(struct api_render *render, json_t *object, const struct api_set_facts *facts)
{
	if (facts->has_bodies)
		api_render_integer(render, object, "n_bodies", (int64_t)facts->n_bodies);
}

void api_job_counts(struct api_job *job)
{
	json_t *root = job->render.document.root;
	api_render_integer(&job->render, root, "n_vertices", (int64_t)fric_n_vertices(job->contacts));
	api_render_bodies(&job->render, root, &job->facts);
	api_render_integer(&job->render, root, "n_collisions", (int64_t)fric_n_contacts(job->contacts));
}

void api_render_gradient(struct api_job *job, json_t *object, const double *gradient)
{
	const size_t dim = job->facts.dim, n = job->facts.n_vertices * dim;
	struct api_render *r = &job->render;
	api_render_add(r, object, "gradient", api_render_finite(r, api_render_array(r, API_F64, gradient, n, 0, 0)));
	if (job->facts.has_bodies)
		api_render_add(
			r, object, "body_gradient",
			api_render_finite(r, api_render_array(r, API_F64, gradient + n, job->facts.n_bodies, api_twist(dim), 0)));
}

static bool start_answer(struct api_job *job)
{
	if (!api_render_start(&job->render, &job->arena))
		return api_fault_no_memory(job->fault);
	job->render.document.n_threads = job->service->n_threads;
	return true;
}

/* Runs a step and measures it. A step begins when the previous one ends, because reading the clock again would cost as
 * much as some steps. */
static bool timed(struct api_job *job, enum api_phase phase, bool (*run)(struct api_job *))
{
	const bool ok = !run || run(job);
	const int64_t ended = now();
	job->measure.phase_nanoseconds[phase] = ended - job->step_began;
	job->measure.n_phases = (int)phase + 1;
	job->step_began = ended;
	return ok;
}

size_t api_job_dim(const struct api_job *job)
{
	return job->set ? job->set->facts.dim : (size_t)job->lagged.batch.dim;
}

void api_job_weigh(const struct api_job *job, struct api_work *work)
{
	work->contact_ns += API_COST_SUMS;
	if (job->set)
		api_work_add_set(work, job->set);
	else {
		api_work_add_batch(work, &job->lagged.batch);
		api_work_add_mesh(work, &job->lagged.surface, API_COST_PAIR + work->contact_ns);
	}
	work->n_numbers += api_n_dofs(api_job_dim(job), work->n_vertices, work->n_bodies);
	if (job->set ? job->set->facts.skip_degenerate : job->lagged.batch.skip_degenerate)
		work->n_nodes += SKIPPED_NODES * api_work_contacts(work);
}

/* Called after decoding, when the amount of work is known. */
static bool admit(struct api_job *job, const struct api_steps *steps)
{
	struct api_work work = {.prints_text = job->request->formats->answer == API_JSON};
	if (!job->service->defers || !steps->weigh)
		return true;
	steps->weigh(job, &work);
	return api_cost_admit(job->service, &work, job->fault);
}

static bool encode(struct api_job *job)
{
	return api_answer_finish(job->call, &job->render, true);
}

/* Used instead of printf, which takes a microsecond per number with a fraction. */
static char *print_milliseconds(int64_t nanoseconds, char *out)
{
	const int64_t microseconds = (nanoseconds + 500) / 1000;
	out += api_integer_write(microseconds / 1000, out);
	*out++ = '.';
	for (int64_t digits = microseconds % 1000, unit = 100; unit > 0; unit /= 10)
		*out++ = (char)('0' + digits / unit % 10);
	return out;
}

static void add_timing(const struct api_job *job, struct api_response *response)
{
	static const char *const names[API_N_PHASES] = {
		"decode;dur=", ", prepare;dur=", ", evaluate;dur=", ", encode;dur="};
	char text[API_N_PHASES * (16 + API_NUMBER_BYTES)], *end = text;
	for (int phase = 0; phase < API_N_PHASES; phase++)
		end = print_milliseconds(job->measure.phase_nanoseconds[phase], stpcpy(end, names[phase]));
	*end = '\0';
	api_response_add_header(response, "Server-Timing", text);
}

bool api_job_run(const struct api_call *call, const struct api_steps *steps, struct api_set *set, void *more)
{
	const struct api_service *service = call->service;
	struct api_job job = {.call = call,
	                      .service = service,
	                      .request = call->request,
	                      .set = set,
	                      .fault = call->fault,
	                      .more = more,
	                      .step_began = now(),
	                      .arena = {.pool = service->pool},
	                      .context = {.n_threads = service->n_threads,
	                                  .stop = call->request->stop,
	                                  .kernels = service->kernels,
	                                  .memory = api_pool_memory(service->pool)}};
	const bool ok = timed(&job, API_DECODE, steps->decode) && admit(&job, steps) &&
	                timed(&job, API_PREPARE, steps->prepare) && start_answer(&job) &&
	                timed(&job, API_EVALUATE, steps->compute) && timed(&job, API_ENCODE, encode);
	api_render_abandon(&job.render);
	add_timing(&job, call->response);
	job.measure.n_contacts = ok && job.contacts ? fric_n_contacts(job.contacts) : 0;
	if (steps->is_measured)
		call->response->measure = job.measure;
	fric_current_free(job.own_current);
	fric_state_free(job.own_state);
	fric_contacts_free(job.own_pairs);
	api_neighbours_release(job.own_neighbours);
	fric_contacts_free(job.own_contacts);
	api_document_free(&job.document);
	api_document_free(&job.set_document);
	api_arena_free(&job.arena);
	return ok;
}
