/* /v1/types. */
#include "api/dispatch/answer.h"
#include "api/routes/operations.h"

static bool get_types(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_render render;
	bool ok = api_render_start(&render, &arena);
	json_t *list = api_render_add(&render, render.document.root, "types", json_array());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		json_t *entry = api_render_append(&render, list, json_object());
		api_render_add(&render, entry, "name", json_string(fric_type_name(type)));
		api_render_integer(&render, entry, "members", fric_stencil_size(type));
		api_render_integer(&render, entry, "coordinates", fric_closest_point_size(type));
	}
	ok = api_answer_finish(call, &render, ok);
	api_arena_free(&arena);
	return ok;
}

/* clang-format off */
const struct api_operation api_get_types = {
	.handler = get_types, .answers = API_OBJECTS(&api_type_list_answer), .id = "listTypes", .tag = "evaluation",
	.summary = "Lists the types of contact", .description = "Names, and sizes of their fields.",
};
/* clang-format on */
