/* Benchmarks JSON numbers against jansson, and frames, in one run.
 * usage: codec [N]   default 1000000 doubles; one JSON object per line on standard output
 * Both sides read and write their text in turn, five times after two warm-up rounds; reports medians. Exits with 1 if
 * bits differ. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/codec/document.h"
#include "api/codec/document_write.h"
#include "api/codec/frame.h"
#include "api/base/json_memory.h"
#include "tests/bench/warm.h"

enum { REPEATS = 5, JANSSON_FLAGS = JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES };

struct setup {
	size_t n;
	double *numbers; /* [n] */
	char *text;      /* {"values":[...]}, numbers as jansson writes them: 17 digits */
	size_t text_bytes;
	struct api_pool *pool;
	struct api_buffer frame;
	json_t *tree;                 /* jansson's */
	struct api_document document; /* ours */
	size_t bytes;                 /* read or written by the last run */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "codec: %s\n", what);
	exit(1);
}

static void same_as(const struct setup *s, const json_t *tree)
{
	const json_t *values = json_object_get(tree, "values");
	must(json_array_size(values) == s->n, "jansson reads another number of numbers");
	for (size_t i = 0; i < s->n; i++)
		must(json_real_value(json_array_get(values, i)) == s->numbers[i], "jansson reads other bits");
}

static void jansson_decode(struct setup *s)
{
	json_t *tree = json_loads(s->text, JANSSON_FLAGS, NULL);
	must(tree, "jansson does not read the text");
	s->bytes = s->text_bytes;
	json_decref(tree);
}

static void jansson_encode(struct setup *s)
{
	char *text = json_dumps(s->tree, JSON_COMPACT);
	must(text, "jansson does not write");
	s->bytes = strlen(text);
	api_json_memory_give(text);
}

static void json_decode(struct setup *s)
{
	struct api_document document;
	struct api_text_fault fault;
	must(api_document_read_pooled(NULL, s->text, s->text_bytes, &document, &fault), "the text is refused");
	s->bytes = s->text_bytes;
	api_document_free(&document);
}

static void json_encode(struct setup *s)
{
	struct api_buffer text = {.pool = s->pool};
	must(api_document_write_json(&s->document, SIZE_MAX / 2, &text) == API_WRITTEN, "the document is not written");
	s->bytes = text.bytes;
	api_buffer_free(&text);
}

/* Reads only the document, whatever the size of the tail: the numbers are validated later. */
static void frame_decode(struct setup *s)
{
	struct api_arena arena = {.pool = s->pool};
	struct api_document document;
	struct api_fault fault;
	must(
		api_frame_read(&(struct api_part){s->frame.data, s->frame.bytes}, 1, s->frame.bytes, &arena, &document, &fault),
		"the frame is refused");
	s->bytes = s->frame.bytes;
	api_document_free(&document);
	api_arena_free(&arena);
}

/* Our reader must yield the same bits as jansson's, also for text that our writer wrote. */
static void verify(struct setup *s)
{
	const struct api_array *array = api_document_array(&s->document, json_object_get(s->document.root, "values"));
	must(array && array->n == s->n && !memcmp(array->data, s->numbers, s->n * sizeof(double)), "other bits are read");
	struct api_buffer text = {.pool = s->pool};
	must(api_document_write_json(&s->document, SIZE_MAX / 2, &text) == API_WRITTEN, "the document is not written");
	json_t *back = json_loadb(text.data, text.bytes, JANSSON_FLAGS, NULL);
	must(back, "jansson does not read what was written");
	same_as(s, back);
	json_decref(back);
	api_buffer_free(&text);
}

static void make_frame(struct setup *s)
{
	char head[256] = {0};
	int length = snprintf(head + 8, sizeof(head) - 8,
	                      "{\"values\": {\"dtype\": \"f64\", \"shape\": [%zu], \"offset\": 0}}", s->n);
	while ((length + 8) % 64)
		head[8 + length++] = ' ';
	for (int i = 0; i < 8; i++)
		head[i] = (char)((uint64_t)length >> 8 * i & 255);
	s->frame = (struct api_buffer){.pool = s->pool, .limit = SIZE_MAX / 2};
	must(api_buffer_append(&s->frame, head, (size_t)length + 8) &&
	         api_buffer_append(&s->frame, (const char *)s->numbers, s->n * sizeof(double)),
	     "not enough memory");
}

static void set_up(struct setup *s, size_t n)
{
	uint64_t state = 88172645463325252u;
	struct api_text_fault fault;
	*s = (struct setup){
		.n = n, .numbers = malloc((n + 1) * sizeof(double)), .pool = api_pool_create(SIZE_MAX / 2, NULL)};
	json_t *values = json_array();
	s->tree = json_object();
	must(s->numbers && s->pool && values && !json_object_set_new(s->tree, "values", values), "not enough memory");
	for (size_t i = 0; i < n; i++) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		s->numbers[i] = ((double)(state >> 11) * 0x1p-53 - 0.5) * (i % 2 ? 1e-3 : 10);
		must(!json_array_append_new(values, json_real(s->numbers[i])), "not enough memory");
	}
	s->text = json_dumps(s->tree, JSON_COMPACT);
	must(s->text, "not enough memory");
	s->text_bytes = strlen(s->text);
	must(api_document_read_pooled(NULL, s->text, s->text_bytes, &s->document, &fault), "the text is refused");
	make_frame(s);
}

static void tear_down(struct setup *s)
{
	api_document_free(&s->document);
	api_buffer_free(&s->frame);
	api_pool_free(s->pool);
	json_decref(s->tree);
	api_json_memory_give(s->text);
	free(s->numbers);
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct series {
	const char *name;
	void (*run)(struct setup *);
	size_t bytes;
	double times[REPEATS];
};

static void measure(struct setup *s, struct series *series, int round)
{
	const double start = now();
	series->run(s);
	series->bytes = s->bytes;
	if (round >= 0)
		series->times[round] = now() - start;
}

static void print(const struct setup *s, struct series *series)
{
	qsort(series->times, REPEATS, sizeof(*series->times), ascending);
	const double ns = series->times[REPEATS / 2];
	printf("{\"n\": %zu, \"what\": \"%s\", \"ns_per_number\": %.4f, \"mb_per_s\": %.1f, \"bytes\": %zu}\n", s->n,
	       series->name, ns / (double)s->n, (double)series->bytes / ns * 1e3, series->bytes);
}

static struct series all[] = {
	{"jansson_decode", jansson_decode, 0, {0}}, {"json_decode", json_decode, 0, {0}},
	{"jansson_encode", jansson_encode, 0, {0}}, {"json_encode", json_encode, 0, {0}},
	{"frame_decode", frame_decode, 0, {0}},
};
enum { N_SERIES = sizeof(all) / sizeof(all[0]) };

int main(int argc, char **argv)
{
	struct setup s;
	keep_memory_warm();
	const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	must(n > 0, "N must be a positive number");
	set_up(&s, n);
	verify(&s);
	for (int round = -2; round < REPEATS; round++)
		for (size_t i = 0; i < N_SERIES; i++)
			measure(&s, &all[i], round);
	for (size_t i = 0; i < N_SERIES; i++)
		print(&s, &all[i]);
	tear_down(&s);
	return 0;
}
