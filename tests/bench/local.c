/* libfrictiond.so compared with calls of fric.h that do the same: what a request and an answer cost in process. One JSON
 * object per line on standard output: nanoseconds per contact, or of a call with one contact. Arguments: numbers of
 * contacts. Medians; each round runs everything once, so that a machine that is slow for a while slows down everything
 * alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/frictiond.h"
#include "tests/bench/mix.h"
#include "tests/bench/warm.h"

enum { N_ROUNDS = 5, MOST_RUNS = 9, ONE_CALLS = 2000, N_PIECES = 24, FRAME_HEAD = 4096 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(bool ok, const char *otherwise)
{
	if (ok)
		return;
	fprintf(stderr, "local: %s\n", otherwise);
	exit(1);
}

/* ---- requests ---- */

/* A frame whose arrays stay where they are. */
struct frame {
	char head[FRAME_HEAD];
	size_t at, tail;
	struct frictiond_piece pieces[N_PIECES];
	size_t n_pieces;
};

static void add_text(struct frame *frame, const char *text)
{
	const size_t n = strlen(text);
	must(frame->at + n < FRAME_HEAD, "the document is too long");
	memcpy(frame->head + frame->at, text, n + 1);
	frame->at += n;
}

static void add_piece(struct frame *frame, const void *bytes, size_t n)
{
	frame->pieces[frame->n_pieces++] = (struct frictiond_piece){bytes, n};
	frame->tail += n;
}

static void add_array(struct frame *frame, const char *dtype, const void *numbers, size_t rows, size_t columns)
{
	static const char zeros[8];
	char reference[128];
	const size_t bytes = rows * (columns ? columns : 1) * (strcmp(dtype, "i32") ? 8 : 4);
	int n = snprintf(reference, sizeof(reference), "{\"dtype\":\"%s\",\"shape\":[%zu", dtype, rows);
	if (columns)
		n += snprintf(reference + n, sizeof(reference) - (size_t)n, ",%zu", columns);
	snprintf(reference + n, sizeof(reference) - (size_t)n, "],\"offset\":%zu}", frame->tail);
	add_text(frame, reference);
	add_piece(frame, numbers, bytes);
	if (bytes % 8)
		add_piece(frame, zeros, 8 - bytes % 8);
}

static void begin_frame(struct frame *frame, const char *text)
{
	*frame = (struct frame){.at = 8, .n_pieces = 1};
	add_text(frame, text);
}

static void end_frame(struct frame *frame)
{
	add_text(frame, "}");
	while (frame->at % 64)
		frame->head[frame->at++] = ' ';
	const uint64_t length = frame->at - 8;
	memcpy(frame->head, &length, 8);
	frame->pieces[0] = (struct frictiond_piece){frame->head, frame->at};
}

static void add_velocities(struct frame *frame, const struct mix *mix)
{
	add_text(frame, "\"velocities\":");
	add_array(frame, "f64", mix->velocities, mix->n_vertices, 3);
	add_text(frame, ",\"outputs\":[\"gradient\"]");
}

static void add_lagged(struct frame *frame, const struct mix *mix)
{
	char friction[200];
	size_t at = 0;
	const struct fric_friction *f = &mix->batch.friction;
	snprintf(friction, sizeof(friction),
	         "\"dim\":3,\"friction\":{\"eps_v\":%.17g,\"mu_s\":%.17g,\"mu_k\":%.17g},\"positions\":", f->eps_v, f->mu_s,
	         f->mu_k);
	add_text(frame, friction);
	add_array(frame, "f64", mix->positions, mix->n_vertices, 3);
	add_text(frame, ",\"collisions\":{");
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const struct fric_group *group = &mix->batch.groups[type];
		if (group->n == 0)
			continue;
		add_text(frame, at ? ",\"" : "\"");
		add_text(frame, fric_type_name(type));
		add_text(frame, "\":{\"vertices\":");
		add_array(frame, "i32", group->vertices, group->n, (size_t)fric_stencil_size(type));
		add_text(frame, ",\"normal_force\":");
		add_array(frame, "f64", mix->normal_force + at, group->n, 0);
		add_text(frame, "}");
		at += group->n;
	}
	add_text(frame, "}");
}

/* ---- measurements ---- */

struct setup {
	struct mix mix;
	struct fric_context context;
	struct fric_contacts *contacts;
	struct fric_schedule *schedule;
	struct frictiond *service;
	struct frame whole, lagged, query;
	double *gradient;
};

static struct frictiond_answer *call(struct frictiond *service, const char *method, const char *target,
                                     const char *type, const struct frictiond_piece *pieces, size_t n_pieces)
{
	struct frictiond_answer *answer;
	const struct frictiond_request request = {.size = sizeof(request),
	                                          .method = method,
	                                          .target = target,
	                                          .content_type = type,
	                                          .pieces = pieces,
	                                          .n_pieces = n_pieces};
	must(frictiond_call(service, &request, &answer) == FRICTIOND_OK, "no answer");
	if (answer->status >= 300)
		must(false, answer->n_pieces ? answer->pieces[0].bytes : "an error");
	must(answer->copied_bytes == 0, "arrays are copied");
	return answer;
}

static struct frictiond_answer *call_frame(struct setup *s, const char *method, const char *target,
                                           const struct frame *frame)
{
	return call(s->service, method, target, "application/vnd.frictiond.frame", frame->pieces, frame->n_pieces);
}

static void core_set(struct setup *s)
{
	const struct fric_query query = {.velocities = s->mix.velocities, .schedule = s->schedule};
	struct fric_error error;
	must(!fric_evaluate(&s->context, s->contacts, &query, NULL, s->gradient, &error), "fric_evaluate");
}

static void core_whole(struct setup *s)
{
	const struct fric_query query = {.velocities = s->mix.velocities};
	struct fric_contacts *contacts;
	struct fric_error error;
	must(!fric_prepare(&s->context, &s->mix.batch, &contacts, &error), "fric_prepare");
	must(!fric_evaluate(&s->context, contacts, &query, NULL, s->gradient, &error), "fric_evaluate");
	fric_contacts_free(contacts);
}

static void local_set(struct setup *s)
{
	frictiond_answer_free(call_frame(s, "POST", "/v1/sets/mix/evaluate", &s->query));
}

static void local_whole(struct setup *s)
{
	frictiond_answer_free(call_frame(s, "POST", "/v1/evaluate", &s->whole));
}

static const char one[] =
	"{\"dim\":3,\"velocities\":[[0.02,0.01,0]],\"friction\":{\"eps_v\":1e-3,\"mu_s\":0.5,\"mu_k\":0.3},"
	"\"collisions\":{\"plane_vertex\":{\"vertices\":[0],\"plane_normal\":[0,0,1],\"normal_force\":9.81}},"
	"\"outputs\":[\"gradient\"]}";

static void local_one(struct setup *s)
{
	const struct frictiond_piece piece = {one, strlen(one)};
	for (int i = 0; i < ONE_CALLS; i++)
		frictiond_answer_free(call(s->service, "POST", "/v1/evaluate", NULL, &piece, 1));
}

static const struct measurement {
	const char *name;
	void (*run)(struct setup *);
} measurements[] = {
	{"core_gradient", core_set},           {"local_set_gradient", local_set},
	{"core_prepare_gradient", core_whole}, {"local_evaluate_gradient", local_whole},
	{"local_one_contact", local_one},
};
enum { N_MEASUREMENTS = sizeof(measurements) / sizeof(measurements[0]) };

static void set_up(struct setup *s, size_t n, int n_threads)
{
	const struct frictiond_options options = {.size = sizeof(options), .threads = (uint64_t)n_threads};
	struct fric_error error;
	*s = (struct setup){.context = {.n_threads = n_threads, .kernels = fric_kernels_best()}};
	mix_make(n, MESH_MIX, &s->mix);
	s->gradient = malloc(s->mix.n_vertices * 3 * sizeof(double));
	must(s->gradient && !fric_prepare(&s->context, &s->mix.batch, &s->contacts, &error) &&
	         !fric_schedule_create(&s->context, s->contacts, &s->schedule, &error) &&
	         !frictiond_create(&options, &s->service),
	     "not enough memory");
	begin_frame(&s->whole, "{");
	add_lagged(&s->whole, &s->mix);
	add_text(&s->whole, ",");
	add_velocities(&s->whole, &s->mix);
	end_frame(&s->whole);
	begin_frame(&s->lagged, "{");
	add_lagged(&s->lagged, &s->mix);
	end_frame(&s->lagged);
	begin_frame(&s->query, "{");
	add_velocities(&s->query, &s->mix);
	end_frame(&s->query);
	frictiond_answer_free(call_frame(s, "PUT", "/v1/sets/mix", &s->lagged));
}

static void tear_down(struct setup *s)
{
	frictiond_destroy(s->service);
	fric_schedule_free(s->schedule);
	fric_contacts_free(s->contacts);
	mix_free(&s->mix);
	free(s->gradient);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(size_t n, int n_threads)
{
	double times[N_MEASUREMENTS][N_ROUNDS * MOST_RUNS];
	int n_times = 0;
	struct setup s;
	set_up(&s, n, n_threads);
	for (int round = 0; round < N_ROUNDS; round++, n_times += MOST_RUNS)
		for (int m = 0; m < N_MEASUREMENTS; m++)
			for (int i = -1; i < MOST_RUNS; i++) {
				const double start = now();
				measurements[m].run(&s);
				if (i >= 0) /* the first run warms up */
					times[m][n_times + i] = now() - start;
			}
	for (int m = 0; m < N_MEASUREMENTS; m++) {
		qsort(times[m], (size_t)n_times, sizeof(double), ascending);
		const bool is_one = measurements[m].run == local_one;
		printf("{\"n\": %zu, \"threads\": %d, \"what\": \"%s\", \"%s\": %.3f}\n", is_one ? 1 : n, n_threads,
		       measurements[m].name, is_one ? "ns_per_call" : "ns_per_contact",
		       times[m][n_times / 2] / (double)(is_one ? ONE_CALLS : n));
	}
	tear_down(&s);
}

int main(int argc, char **argv)
{
	keep_memory_warm();
	for (int i = 1; i < argc; i++)
		for (int n_threads = 1; n_threads <= 2; n_threads++)
			measure(strtoul(argv[i], NULL, 10), n_threads);
	return 0;
}
