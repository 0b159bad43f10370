#include "server/commands/check.h"

#include "api/base/buffer.h"
#include "api/base/fault.h"
#include "api/compute/compare.h"
#include "api/dispatch/format.h"
#include "server/work/team.h"

#include <errno.h>
#include <string.h>

enum { READ_BYTES = 256 << 10 };

struct checking {
	const struct srv_options *options;
	FILE *err;
	struct api_budget budget;
	struct api_pool *pool;
	struct api_service service;
	struct api_buffer body, claims;
	struct api_response response;
	struct api_comparison found;
};

static bool refuse_file(const struct checking *c, const char *file, const char *pointer, const char *detail)
{
	fprintf(c->err, "frictiond: %s: %s%s%s\n", file, pointer, *pointer ? ": " : "", detail);
	return false;
}

static bool refuse(const struct checking *c, const char *pointer, const char *detail)
{
	return refuse_file(c, c->options->file, pointer, detail);
}

/* Room for one piece is reserved before each read, so the buffer's limit leaves two pieces beyond the longest body. */
static bool read_stream(struct checking *c, const char *file, FILE *in, struct api_buffer *body)
{
	size_t n = 0;
	do {
		if (!api_buffer_reserve(body, READ_BYTES))
			return refuse_file(c, file, "",
			                   "longer than --max-frame-bytes and --max-json-bytes, or than the memory that is left");
		n = fread(body->data + body->bytes, 1, READ_BYTES, in);
		body->bytes += n;
	} while (n == READ_BYTES);
	return !ferror(in) || refuse_file(c, file, "", strerror(errno));
}

static bool read_file(struct checking *c, const char *file, struct api_buffer *body)
{
	const struct srv_options *o = c->options;
	const long long most = o->max_json_bytes > o->max_frame_bytes ? o->max_json_bytes : o->max_frame_bytes;
	FILE *in = strcmp(file, "-") ? fopen(file, "rb") : stdin;
	*body = (struct api_buffer){.limit = (size_t)most + 2 * READ_BYTES, .pool = c->pool};
	if (!in)
		return refuse_file(c, file, "", strerror(errno));
	const bool ok = read_stream(c, file, in, body);
	if (in != stdin)
		fclose(in);
	return ok;
}

static bool read_bodies(struct checking *c)
{
	const struct srv_options *o = c->options;
	return read_file(c, o->file, &c->body) && (!o->claims || read_file(c, o->claims, &c->claims));
}

/* A frame begins with its document's length in eight little-endian bytes, the last of which is 0; JSON text contains no
 * 0. */
static enum api_format format_of(const struct api_buffer *body)
{
	return body->bytes >= 8 && body->data[7] == '\0' ? API_FRAME : API_JSON;
}

static bool check_length(const struct checking *c, const char *file, const struct api_buffer *body)
{
	char detail[128];
	const enum api_format format = format_of(body);
	const size_t limit = api_format_limit(&c->service, format);
	snprintf(detail, sizeof detail, "%zu bytes are longer than the limit of %zu bytes (--max-%s-bytes)", body->bytes,
	         limit, format == API_FRAME ? "frame" : "json");
	return body->bytes <= limit || refuse_file(c, file, "", detail);
}

static bool report_fault(const struct checking *c, const struct api_fault *fault)
{
	const bool whole = *fault->detail;
	const char *file = c->found.is_claim_malformed ? c->options->claims : c->options->file;
	if (whole || fault->n_errors == 0)
		refuse_file(c, file, "", whole ? fault->detail : "not enough memory");
	for (int i = 0; i < fault->n_errors; i++)
		if (!whole || *fault->errors[i].pointer)
			refuse_file(c, file, fault->errors[i].pointer, fault->errors[i].detail);
	return false;
}

static bool compare(struct checking *c)
{
	struct api_fault fault;
	const struct api_formats formats = {format_of(&c->body), API_JSON}, of_claims = {format_of(&c->claims), API_JSON};
	const struct api_request request = {.formats = &formats, .body = c->body.data, .body_bytes = c->body.bytes},
							 claims = {.formats = &of_claims, .body = c->claims.data, .body_bytes = c->claims.bytes};
	api_fault_clear(&fault);
	c->found.wants_derivatives = c->options->derivatives;
	c->found.claimed = c->options->claims ? &claims : NULL;
	const bool compared =
		check_length(c, c->options->file, &c->body) &&
		(!c->options->claims || check_length(c, c->options->claims, &c->claims)) &&
		(api_compare(&c->service, &request, &fault, &c->response, &c->found) || report_fault(c, &fault));
	c->found.claimed = NULL; /* it ends here */
	return compared;
}

static void print_agreement(const char *name, const struct fric_agreement *a, FILE *out)
{
	const double relative = api_relative_difference(a);
	fprintf(out, "%-9s  %s  relative difference %-9.2g largest difference %-9.2g largest entry %.6g\n", name,
	        relative <= FRIC_TOLERANCE ? "agrees " : "DIFFERS", relative, a->largest_difference, a->largest_entry);
}

static void print_worst(const struct fric_comparison *c, FILE *out)
{
	static const char *const states[] = {"sticks", "slides", "skipped", "mollified"};
	const bool many = fric_stencil_size(c->group) > 1, bodies = c->group >= FRIC_N_VERTEX_TYPES;
	fprintf(out, "worst: %s %lld (%s", fric_type_name(c->group), (long long)c->worst,
	        bodies ? many ? "bodies" : "body"
	        : many ? "vertices"
	               : "vertex");
	for (int v = 0; v < fric_stencil_size(c->group); v++)
		fprintf(out, " %d", c->vertices[v]);
	fprintf(out, "), %s, slip ratio %.6g: %s, relative difference %.2g\n", states[c->status], c->slip_ratio,
	        api_quantity_names[c->quantity], c->relative_difference);
}

/* A negative difference marks infinite derivatives, which cannot be compared. */
static void print_difference(const char *name, int width, double difference, FILE *out)
{
	if (difference < 0)
		fprintf(out, "  %s %-*s", name, width, "infinite");
	else
		fprintf(out, "  %s %-*.2g", name, width, difference);
}

static void print_field(const struct api_field_comparison *field, int width, FILE *out)
{
	const struct fric_derivative_agreement *a = &field->numbers;
	fprintf(out, "by %-*s  %s", width, field->pointer, a->agrees ? "agrees " : "DIFFERS");
	print_difference("potential", 8, a->potential, out);
	print_difference("gradient", 8, a->gradient, out);
	print_difference("transposed", 0, a->transposed, out);
	fputc('\n', out);
}

static void print_fields(const struct api_comparison *found, FILE *out)
{
	int width = 0;
	for (size_t i = 0; i < found->n_fields; i++)
		if ((int)strlen(found->fields[i].pointer) > width)
			width = (int)strlen(found->fields[i].pointer);
	for (size_t i = 0; i < found->n_fields; i++)
		print_field(&found->fields[i], width, out);
	if (found->worst_field < 0)
		return;
	const struct api_field_comparison *worst = &found->fields[found->worst_field];
	fprintf(out, "worst: with respect to %s, in %s %lld\n", worst->pointer, fric_type_name(worst->numbers.group),
	        (long long)worst->numbers.worst);
}

static void print_claim(int quantity, const struct api_verdict *v, FILE *out)
{
	const int k = fric_stencil_size(v->group);
	fprintf(out, "claimed %-9s  %s  relative difference %-9.2g largest difference %-9.2g scale %.6g\n",
	        api_quantity_names[quantity], v->agrees ? "agrees " : "DIFFERS", v->relative, v->difference, v->scale);
	if (v->agrees)
		return;
	if (v->n_places == 1)
		fprintf(out, "  at DOF %zu", v->places[0]);
	else if (v->n_places == 2)
		fprintf(out, "  at row %zu, column %zu", v->places[0], v->places[1]);
	if (v->worst >= 0) {
		fprintf(out, ": %s %lld (%s", fric_type_name(v->group), (long long)v->worst,
		        v->group < FRIC_N_VERTEX_TYPES ? "vertices" : "bodies");
		for (int i = 0; i < k; i++)
			fprintf(out, " %d", (int)v->members[i]);
		fputc(')', out);
	}
	fprintf(out, "%s  looks like %s%s%s\n", v->n_places ? "\n" : "",
	        api_mistake_codes[v->is_explained ? v->explanation.mistake : API_OTHER], v->is_explained ? ": " : "",
	        v->is_explained ? v->explanation.detail : "");
}

static void print_claims(const struct api_judgement *claims, FILE *out)
{
	for (int q = 0; claims->wanted && q < FRIC_N_QUANTITIES; q++)
		if (claims->of[q].claimed)
			print_claim(q, &claims->of[q], out);
}

static void print_notes(const struct api_notes *notes, FILE *out)
{
	for (int i = 0; i < notes->texts.n_errors; i++)
		fprintf(out, "note: %s: %s\n", notes->texts.errors[i].pointer, notes->texts.errors[i].detail);
}

static void print_report(const struct checking *c, FILE *out)
{
	const struct api_comparison *found = &c->found;
	fprintf(out, "%s: %zu vertices, ", c->options->file, found->n_vertices);
	if (found->n_bodies)
		fprintf(out, "%zu bodies, ", found->n_bodies);
	fprintf(out, "%zu contacts", found->n_contacts);
	if (found->n_skipped)
		fprintf(out, ", %zu of them skipped", found->n_skipped);
	fputc('\n', out);
	for (int q = 0; q < FRIC_N_QUANTITIES; q++)
		print_agreement(api_quantity_names[q], &found->numbers.of[q], out);
	if (found->numbers.worst >= 0)
		print_worst(&found->numbers, out);
	if (found->wants_derivatives)
		print_fields(found, out);
	print_claims(&found->claims, out);
	print_notes(&found->notes, out);
	fprintf(out, "%s within %g", found->agrees ? "agrees" : "DOES NOT AGREE", FRIC_TOLERANCE);
	if (found->wants_derivatives)
		fprintf(out, ", derivatives with respect to fields within %g", FRIC_DERIVATIVE_TOLERANCE);
	if (found->claims.wanted)
		fprintf(out, "; claims %s within %g", found->claims.agrees ? "agree" : "DO NOT AGREE", found->claims.tolerance);
	fputc('\n', out);
}

static bool print(const struct checking *c, FILE *out)
{
	if (!c->options->json) {
		print_report(c, out);
	} else {
		fwrite(c->response.body, 1, c->response.body_bytes, out);
		fputc('\n', out);
	}
	return (fflush(out) == 0 && !ferror(out)) || refuse(c, "", "the report cannot be written");
}

static void start_team(struct checking *c)
{
	const int wanted = c->service.n_threads;
	c->service.n_threads = srv_team_start(wanted, 0);
	if (c->service.n_threads == 0)
		c->service.n_threads = 1; /* out of memory while counting threads: continue with one */
	if (c->service.n_threads < wanted)
		fprintf(c->err,
		        "frictiond: --threads: %d of %d, no more can be started (ulimit -u, pids.max, "
		        "OMP_THREAD_LIMIT)\n",
		        c->service.n_threads, wanted);
}

static bool start(struct checking *c)
{
	const struct srv_options *o = c->options;
	c->budget.most_bytes = (size_t)o->memory_bytes;
	c->pool = api_pool_create(0, &c->budget);
	c->service = srv_service(o);
	c->service.pool = c->pool;
	api_response_clear(&c->response);
	start_team(c);
	if (api_choose_kernels(&c->service, srv_kernels_name(o)))
		return c->pool || refuse(c, "", "not enough memory");
	fprintf(c->err, "frictiond: --kernels: this processor has no %s\n", srv_kernels_name(o));
	return false;
}

int srv_check(const struct srv_options *options, FILE *out, FILE *err)
{
	struct checking c = {.options = options, .err = err};
	const bool ok = start(&c) && read_bodies(&c) && compare(&c) && print(&c, out);
	api_response_free(&c.response);
	api_buffer_free(&c.claims);
	api_buffer_free(&c.body);
	api_pool_free(c.pool);
	const bool agrees = c.found.agrees && (!c.found.claims.wanted || c.found.claims.agrees);
	return !ok ? SRV_CODE_BAD : agrees ? SRV_CODE_OK : SRV_CODE_FAILED;
}
