#include "api/pages/pages.h"

#include "api/dispatch/answer.h"
#include "api/dispatch/format.h"
#include "api/sets/store.h"

static void tell_sets(struct api_render *render, json_t *limits, const struct api_sets_limits *sets)
{
	api_render_integer(render, limits, "sets", (int64_t)sets->n);
	api_render_integer(render, limits, "sets_per_caller", (int64_t)sets->n_per_caller);
	api_render_integer(render, limits, "set_bytes", (int64_t)sets->bytes);
	api_render_integer(render, limits, "set_bytes_per_caller", (int64_t)sets->bytes_per_caller);
	api_render_integer(render, limits, "set_idle_seconds", sets->idle_seconds);
}

static bool get_info(const struct api_call *call)
{
	const struct api_service *service = call->service;
	struct api_arena arena = {.pool = service->pool};
	struct api_render render;
	bool ok = api_render_start(&render, &arena);
	json_t *root = render.document.root;
	api_render_add(&render, root, "name", json_string("frictiond"));
	api_render_add(&render, root, "version", json_string(FRIC_VERSION));
	api_render_integer(&render, root, "threads", service->n_threads);
	api_render_add(&render, root, "instruction_set",
	               json_string(fric_kernels_name(service->kernels ? service->kernels : fric_kernels_best())));
	json_t *formats = api_render_add(&render, root, "formats", json_array());
	api_render_append(&render, formats, json_string(api_format_type(API_JSON)));
	api_render_append(&render, formats, json_string(api_format_type(API_FRAME)));
	json_t *limits = api_render_add(&render, root, "limits", json_object());
	for (const struct api_limit *limit = api_limits; limit < api_limits + api_n_limits; limit++)
		if (limit->required || api_limit_number(limit, service))
			api_render_integer(&render, limits, limit->name, (int64_t)api_limit_number(limit, service));
	if (service->sets)
		tell_sets(&render, limits, api_sets_limits(service->sets));
	ok = api_answer_finish(call, &render, ok);
	api_arena_free(&arena);
	return ok;
}

static bool get_health(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_render render;
	if (api_render_start(&render, &arena))
		api_render_add(&render, render.document.root, "status", json_string("ok"));
	return api_answer_print(&render, API_JSON, call->service->max_answer_bytes, call->fault, call->response);
}

static const struct api_example health_examples[] = {{"ok", "The server is running", NULL, "{'status': 'ok'}", 200},
                                                     {0}};

/* clang-format off */
const struct api_operation api_get_info = {
	.handler = get_info, .answers = API_OBJECTS(&api_info_answer), .id = "info", .tag = "service",
	.summary = "Version, limits, threads", .description = "The server's version, settings and limits.",
};
const struct api_operation api_get_health = {
	.handler = get_health, .answers = API_OBJECTS(&api_health_answer), .id = "health", .tag = "service",
	.summary = "Whether the process is running", .description = "For probes. Requires no token.",
	.examples = health_examples,
};
const struct api_operation api_get_readiness = {
	.handler = get_health, .answers = API_OBJECTS(&api_health_answer), .id = "ready", .tag = "service",
	.summary = "Whether the server accepts requests", .description = "503 while it drains. Requires no token.",
	.examples = health_examples,
};
/* clang-format on */
