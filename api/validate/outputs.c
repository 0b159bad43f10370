/* Checks the selection of outputs. */
#include "api/validate/request.h"

/* Reports outputs that concern friction alone. */
static void fault_with_barrier(struct api_request_check *w, const struct api_field *wanted)
{
	static const int alone[] = {API_LINE, API_POSITION_JACOBIAN};
	for (size_t i = 0; i < json_array_size(wanted->node); i++)
		for (size_t k = 0; k < sizeof(alone) / sizeof(alone[0]); k++) {
			const char *word = json_string_value(json_array_get(wanted->node, i)),
					   *name = wanted->rule->words[alone[k]];
			const struct api_path entry = {&wanted->path, NULL, i};
			if (word && !strcmp(word, name))
				api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &entry,
				             "the output \"%s\" is for friction alone: leave \"barrier\" out of \"terms\"", name);
		}
}

void api_check_outputs(struct api_request_check *w)
{
	const struct api_field wanted = api_request_field(w, API_REQUEST_OUTPUTS),
						   collision = api_request_field(w, API_REQUEST_COLLISION_OUTPUTS);
	struct api_query *to = w->query;
	to->outputs[API_POTENTIAL] = to->outputs[API_GRADIENT] = to->outputs[API_HESSIAN] = true;
	to->collision_outputs[FRIC_OUT_POTENTIAL] = to->collision_outputs[FRIC_OUT_TANGENTIAL_VELOCITY] = true;
	w->check->other_words = collision.rule->words;
	w->check->other_field = "; values per contact belong in \"collision_outputs\", with \"collisions\" here";
	const bool known = api_check_choices(w->check, &wanted, wanted.rule->words, to->outputs);
	w->check->other_words = wanted.rule->words;
	w->check->other_field = "; outputs that are not per contact belong in \"outputs\"";
	const bool sound = api_check_choices(w->check, &collision, collision.rule->words, to->collision_outputs);
	w->check->other_words = NULL;
	if (collision.node && known && sound && !to->outputs[API_COLLISIONS])
		api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &collision.path,
		             "\"collision_outputs\" has no effect without \"collisions\" in \"outputs\"%s",
		             wanted.node ? "" : ", which is potential, gradient, hessian by default");
	if (api_has_term(w, FRIC_TERM_BARRIER))
		fault_with_barrier(w, &wanted);
}

static bool wants_pattern(struct api_request_check *w, const struct api_field *pattern)
{
	bool wanted = true;
	api_check_bool(w->check, pattern, &wanted);
	return wanted;
}

void api_check_hessian(struct api_request_check *w)
{
	struct api_field hessian = api_request_field(w, API_REQUEST_HESSIAN);
	struct api_query *to = w->query;
	if (!api_check_inner(w->check, &hessian))
		return;
	const struct api_field format = api_ruled(&hessian, &api_hessian, API_HESSIAN_FORMAT),
						   triangle = api_ruled(&hessian, &api_hessian, API_HESSIAN_TRIANGLE),
						   projection = api_ruled(&hessian, &api_hessian, API_HESSIAN_PROJECTION),
						   pattern = api_ruled(&hessian, &api_hessian, API_HESSIAN_PATTERN);
	api_check_word(w->check, &format, &to->format);
	api_check_word(w->check, &triangle, &to->triangle);
	api_check_word(w->check, &projection, &to->projection);
	if (to->format == API_FACTORS && triangle.node)
		api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &triangle.path,
		             "\"triangle\" is only for triplets, csr and bsr");
	if (to->format == API_FACTORS && api_has_term(w, FRIC_TERM_BARRIER))
		api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &format.path,
		             "factors are of friction alone: use csr, bsr or triplets with the term \"barrier\"");
	if (to->format == API_BSR && w->n_twists != 0 && w->n_twists != API_UNKNOWN_LENGTH)
		api_check_without_bodies(w->check, &format);
	to->without_pattern = !wants_pattern(w, &pattern);
	if (to->format == API_FACTORS && to->without_pattern)
		api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &pattern.path, "factors have no pattern to leave out");
}

static bool check_steps(struct api_request_check *w, const struct api_field *steps)
{
	struct api_query *to = w->query;
	struct fric_values values;
	if (!api_check_present(w->check, steps, "a line needs its steps, [m]") ||
	    !api_check_rows(w->check, steps, 0, &to->n_steps))
		return false;
	if (to->n_steps > API_MAX_STEPS)
		return api_fault_at(w->check->fault, API_E_WRONG_SHAPE, &steps->path, "expected at most %d steps, got %zu",
		                    API_MAX_STEPS, to->n_steps);
	const struct api_shape shape = {.n = to->n_steps};
	const bool ok = api_check_values(w->check, steps, &shape, &values);
	to->steps = values.data;
	return ok;
}

void api_check_line(struct api_request_check *w)
{
	struct api_field line = api_request_field(w, API_REQUEST_LINE);
	if (w->query->outputs[API_LINE])
		api_check_present(w->check, &line, "the output \"line\" needs direction and steps");
	if (!api_check_inner(w->check, &line))
		return;
	const struct api_field direction = api_ruled(&line, &api_line, API_LINE_DIRECTION),
						   body_direction = api_ruled(&line, &api_line, API_LINE_BODY_DIRECTION),
						   steps = api_ruled(&line, &api_line, API_LINE_STEPS);
	if (!w->has_bodies || w->n_vertices > 0)
		api_check_present(w->check, &direction, "a line needs its direction, [n_vertices, dim]");
	api_check_per_vertex(w->check, &direction, w->n_vertices, w->dim, &w->query->direction);
	if (w->has_bodies && (w->n_twists > 0 || !direction.node))
		api_check_present(w->check, &body_direction,
		                  "a line also needs a direction for bodies, [n_bodies, 6], in 2D [n_bodies, 3]");
	api_check_per_body(w->check, &body_direction, w->n_twists, w->dim, &w->query->body_direction);
	check_steps(w, &steps);
}

/* Counts rows of ndof numbers; without DOFs, counts the rows as written. */
static bool count_vectors(struct api_request_check *w, const struct api_field *vectors, size_t ndof)
{
	const struct api_array *array = api_document_array(w->check->document, vectors->node);
	size_t *n = &w->query->n_vectors;
	if (ndof == 0 && array && !array->ragged && array->rank == 2 && array->n == 0)
		*n = array->shape[0];
	else if (!api_check_rows(w->check, vectors, ndof, n))
		return false;
	return *n <= API_MAX_VECTORS || api_fault_at(w->check->fault, API_E_WRONG_SHAPE, &vectors->path,
	                                             "expected at most %d vectors, got %zu", API_MAX_VECTORS, *n);
}

void api_check_vectors(struct api_request_check *w)
{
	const struct api_field vectors = api_request_field(w, API_REQUEST_VECTORS);
	struct fric_values values;
	if (w->query->outputs[API_HESSIAN_PRODUCTS])
		api_check_present(w->check, &vectors, "the output \"hessian_products\" needs them, [m, n_dof]");
	if (!vectors.node || w->n_vertices == API_UNKNOWN_LENGTH || w->n_twists == API_UNKNOWN_LENGTH ||
	    w->dim == API_UNKNOWN_LENGTH)
		return;
	const size_t ndof = api_n_dofs(w->dim, w->n_vertices, w->n_twists);
	if (!count_vectors(w, &vectors, ndof))
		return;
	const struct api_shape shape = {.n = w->query->n_vectors, .n_inner = 1, .inner = {ndof}};
	api_check_values(w->check, &vectors, &shape, &values);
	w->query->vectors = values.data;
}

void api_check_position_jacobian(struct api_request_check *w)
{
	struct api_field jacobian = api_request_field(w, API_REQUEST_POSITION_JACOBIAN);
	if (!api_check_inner(w->check, &jacobian))
		return;
	const struct api_field format = api_ruled(&jacobian, &api_position_jacobian, API_JACOBIAN_FORMAT),
						   pattern = api_ruled(&jacobian, &api_position_jacobian, API_JACOBIAN_PATTERN);
	api_check_word(w->check, &format, &w->query->jacobian_format);
	w->query->jacobian_without_pattern = !wants_pattern(w, &pattern);
}
