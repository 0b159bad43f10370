#include "api/routes/job.h"

#include <string.h>
#include <time.h>

#include "api/base/account.h"
#include "api/numbers/print_double.h"
#include "api/problem.h"
#include "api/routes/answer.h"
#include "api/routes/format.h"

static int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool api_job_core(struct api_job *job, enum fric_code code, const struct fric_error *error)
{
	return code == FRIC_OK || api_fault_core(job->fault, error);
}

void *api_job_array(struct api_job *job, size_t n, size_t size)
{
	void *array = api_arena_array(&job->arena, n, size);
	if (!array)
		api_fault_no_memory(job->fault);
	return array;
}

static bool decode(struct api_job *job)
{
	struct api_check check = {
		.document = &job->document, .arena = &job->arena, .fault = job->fault, .service = job->service};
	return api_format_read(job->service, job->request, &job->arena, &job->document, job->fault) &&
	       api_check_evaluation(&check, &job->lagged, &job->question);
}

static bool check_skipped(struct api_job *job)
{
	const struct api_path root = {0}, on_degenerate = {&root, "on_degenerate", 0};
	const size_t n = fric_n_skipped(job->contacts);
	return n <= API_MAX_SKIPPED ||
	       api_fault_at(job->fault, API_E_TOO_MANY_ENTRIES, &on_degenerate,
	                    "%zu contacts would be skipped; an answer lists at most %d", n, API_MAX_SKIPPED);
}

/* Turns the question into that of the contacts. */
static bool ask(struct api_job *job)
{
	const struct api_question *q = &job->question;
	struct fric_error error;
	if (!api_job_core(job, fric_state_create(&job->context, job->contacts, q->lagged_velocities, &job->state, &error),
	                  &error))
		return false;
	job->asked = (struct fric_question){.velocities = q->velocities, .state = job->state};
	return true;
}

static bool prepare(struct api_job *job)
{
	struct fric_error error;
	return api_job_core(job, fric_prepare(&job->context, &job->lagged.batch, &job->contacts, &error), &error) &&
	       check_skipped(job) && ask(job);
}

static void list_skipped_of(struct api_job *job, enum fric_type type, json_t *list)
{
	const size_t n = fric_n_skipped(job->contacts) ? fric_group_size(job->contacts, type) : 0;
	for (size_t i = 0; i < n && !job->render.failed; i++) {
		if (i % API_SPAN == 0 && api_account_is_stopped())
			job->render.failed = true; /* half a list must not be sent */
		const char *reason = fric_reason(fric_skipped(job->contacts, type, i));
		if (!*reason)
			continue;
		json_t *entry = api_render_append(&job->render, list, json_object());
		api_render_add(&job->render, entry, "group", json_string(fric_type_name(type)));
		api_render_integer(&job->render, entry, "index", (int64_t)i);
		api_render_add(&job->render, entry, "reason", json_string(reason));
	}
}

void api_job_skipped(struct api_job *job)
{
	if (!job->lagged.batch.skip_degenerate)
		return;
	json_t *list = api_render_add(&job->render, job->render.document.root, "skipped", json_array());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		list_skipped_of(job, type, list);
}

void api_job_counts(struct api_job *job)
{
	json_t *root = job->render.document.root;
	api_render_integer(&job->render, root, "n_vertices", (int64_t)fric_n_vertices(job->contacts));
	api_render_integer(&job->render, root, "n_collisions", (int64_t)fric_n_contacts(job->contacts));
}

static bool start_answer(struct api_job *job)
{
	if (!api_render_start(&job->render, &job->arena))
		return api_fault_no_memory(job->fault);
	job->render.document.n_threads = job->service->n_threads;
	return true;
}

/* A step begins when the one before it ends: reading the clock again would cost as much as some steps do. */
static bool timed(struct api_job *job, enum api_phase phase, bool (*run)(struct api_job *))
{
	const bool ok = run(job);
	const int64_t ended = now();
	job->measure.phase_nanoseconds[phase] = ended - job->step_began;
	job->measure.n_phases = (int)phase + 1;
	job->step_began = ended;
	return ok;
}

static bool encode(struct api_job *job)
{
	return api_answer_finish(job->service, job->request, &job->render, true, job->fault, job->response);
}

/* printf takes a microsecond for every number with a fraction. */
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

bool api_job_run(const struct api_service *service, const struct api_request *request, api_compute *compute, void *more,
                 struct api_fault *fault, struct api_response *response)
{
	struct api_job job = {.service = service,
	                      .request = request,
	                      .response = response,
	                      .fault = fault,
	                      .more = more,
	                      .step_began = now(),
	                      .arena = {.pool = service->pool},
	                      .context = {.n_threads = service->n_threads,
	                                  .stop = request->stop,
	                                  .kernels = service->kernels,
	                                  .memory = api_pool_memory(service->pool)}};
	const bool ok = timed(&job, API_DECODE, decode) && timed(&job, API_PREPARE, prepare) && start_answer(&job) &&
	                timed(&job, API_EVALUATE, compute) && timed(&job, API_ENCODE, encode);
	api_render_abandon(&job.render);
	add_timing(&job, response);
	job.measure.n_contacts = ok ? fric_n_contacts(job.contacts) : 0;
	response->measure = job.measure;
	fric_state_free(job.state);
	fric_contacts_free(job.contacts);
	api_document_free(&job.document);
	api_arena_free(&job.arena);
	return ok;
}
