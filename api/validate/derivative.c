#include "api/validate/derivative.h"

#include <string.h>

#include "api/base/suggest.h"

/* The state of the checks of a request for derivatives. */
struct derivative_check {
	struct api_check *check;
	struct api_derivative *out;
	struct api_field root;
	const struct api_set_facts *facts; /* NULL: after faults, the list of fields is incomplete */
	bool of_set;
};

/* ---- pointers ---- */

/* Prints the fields of the object that contains the one a pointer names, or all fields if it has none: "; there are
 * /friction/mu, /friction/eps_v". */
static const char *list_beside(const struct api_variables *variables, const char *pointer, char *out, size_t bytes)
{
	const char *last = strrchr(pointer, '/');
	size_t at = 0, n = (size_t)(last - pointer) + 1;
	out[0] = '\0';
	for (int pass = 0; pass < 2 && at == 0; pass++, n = 0)
		for (size_t i = 0; i < variables->n && at < bytes; i++) {
			const char *other = variables->list[i].pointer;
			const bool fits = at + strlen(other) + sizeof("; it has , ...") <= bytes;
			if (n > 1 && (strncmp(other, pointer, n) != 0 || strchr(other + n, '/')))
				continue;
			at += (size_t)snprintf(out + at, bytes - at, "%s%s", at ? ", " : "; there are ", fits ? other : "...");
			if (!fits)
				break;
		}
	return out;
}

static bool fault_unknown(struct derivative_check *d, const char *pointer, const struct api_path *path)
{
	char suggestion[API_SUGGESTION_SIZE], beside[200];
	struct api_suggestion near;
	if (api_may_be_variable(pointer))
		return api_fault_at(d->check->fault, API_E_UNKNOWN_POINTER, path, "%s a field \"%s\"%s",
		                    d->of_set ? "neither the set's document nor the request has" : "the request does not have",
		                    pointer, list_beside(&d->out->variables, pointer, beside, sizeof(beside)));
	api_suggest_start(&near, pointer);
	for (size_t i = 0; i < d->out->variables.n; i++)
		api_suggest_offer(&near, d->out->variables.list[i].pointer);
	return api_fault_at(d->check->fault, API_E_UNKNOWN_POINTER, path,
	                    "\"%.120s\" is not a JSON Pointer to a field with derivatives%s", pointer,
	                    api_suggest_found(&near) ? api_suggest_text(&near, "", suggestion)
	                                             : list_beside(&d->out->variables, "/", beside, sizeof(beside)));
}

static bool is_there(const struct api_variations *by, const struct api_variable *variable)
{
	for (size_t i = 0; i < by->n; i++)
		if (by->by[i] == variable)
			return true;
	return false;
}

/* Finds the variable at a pointer, and adds it to those that the request names. @return NULL if there is no such
 * variable, or it needs no further checks */
static const struct api_variable *add(struct derivative_check *d, const char *pointer, const struct api_path *path)
{
	struct api_variations *by = &d->out->by;
	const struct api_variable *variable = api_variable_find(&d->out->variables, pointer);
	if (!variable && (d->facts || !api_may_be_variable(pointer)))
		fault_unknown(d, pointer, path);
	if (!variable)
		return NULL;
	if (is_there(by, variable)) {
		api_fault_at(d->check->fault, API_E_REPEATED_POINTER, path, "\"%s\" appears twice", pointer);
		return NULL;
	}
	by->by[by->n++] = variable;
	return variable;
}

/* ---- tangents ---- */

static const double *read_number(struct api_check *check, const struct api_field *field)
{
	double *value = api_arena_array(check->arena, 1, sizeof(*value));
	if (!value)
		api_fault_no_memory(check->fault);
	return value && api_check_number(check, field, API_ANY, value) ? value : NULL;
}

static const double *read_values(struct api_check *check, const struct api_field *field,
                                 const struct api_variable *variable)
{
	struct fric_values values;
	if (variable->rule->kind == API_NUMBER)
		return read_number(check, field);
	if (!api_check_values(check, field, &variable->expected, &values))
		return NULL;
	if (variable->rule->shape[0] == API_MATERIALS)
		api_check_symmetric(check, field, variable->expected.n, values.data);
	return values.data;
}

static void check_tangents(struct derivative_check *d)
{
	const struct api_field tangents = api_ruled(&d->root, &api_request, API_REQUEST_TANGENTS);
	struct api_variations *by = &d->out->by;
	const char *key;
	json_t *value;
	if (!api_check_present(d->check, &tangents, "values by JSON Pointer, for example {\"/velocities\": [..]}"))
		return;
	if (!json_is_object(tangents.node)) {
		api_fault_at(d->check->fault, API_E_WRONG_TYPE, &tangents.path,
		             "expected an object of values by JSON Pointer, got %s", api_kind(d->check, tangents.node));
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)tangents.node, key, value) { /* the macro takes a non-const object */
		const struct api_field field = {.node = value, .path = {&tangents.path, key, 0}};
		if (api_check_stopped(d->check) || api_fault_is_full(d->check->fault))
			return;
		const struct api_variable *variable = add(d, key, &field.path);
		if (variable)
			by->values[by->n - 1] = read_values(d->check, &field, variable);
	}
}

/* ---- cotangents ---- */

static void check_cotangents(struct derivative_check *d)
{
	struct api_field cotangents = api_ruled(&d->root, &api_request, API_REQUEST_COTANGENTS);
	if (!api_check_present(d->check, &cotangents, "of the results, for example {\"potential\": 1}; absent ones are 0"))
		return;
	if (!api_check_inner(d->check, &cotangents))
		return;
	const struct api_field potential = api_ruled(&cotangents, &api_cotangents, API_COTANGENT_POTENTIAL),
						   gradient = api_ruled(&cotangents, &api_cotangents, API_COTANGENT_GRADIENT),
						   body_gradient = api_ruled(&cotangents, &api_cotangents, API_COTANGENT_BODY_GRADIENT);
	api_check_number(d->check, &potential, API_ANY, &d->out->potential);
	if (!d->facts)
		return;
	api_check_per_vertex(d->check, &gradient, d->facts->n_vertices, d->facts->dim, &d->out->gradient);
	api_check_per_body(d->check, &body_gradient, d->facts->n_bodies, d->facts->dim, &d->out->body_gradient);
}

/* Whether the list contains strings. An empty list is lifted like any empty array. */
static bool check_list(struct derivative_check *d, const struct api_field *wrt)
{
	const struct api_array *array = api_document_array(d->check->document, wrt->node);
	const struct api_path first = {&wrt->path, NULL, 0};
	if (array && array->rank == 1 && array->n == 0 && !array->binary)
		return false;
	if (array && array->rank > 0 && array->n > 0)
		return api_fault_at(d->check->fault, API_E_WRONG_TYPE, &first, "expected a JSON Pointer, got a number");
	return json_is_array(wrt->node) ||
	       api_fault_at(d->check->fault, API_E_WRONG_TYPE, &wrt->path, "expected a list of JSON Pointers, got %s",
	                    api_kind(d->check, wrt->node));
}

static void check_wrt(struct derivative_check *d)
{
	const struct api_field wrt = api_ruled(&d->root, &api_request, API_REQUEST_WRT);
	if (!api_check_present(d->check, &wrt, "JSON Pointers to the fields to differentiate with respect to") ||
	    !check_list(d, &wrt))
		return;
	for (size_t i = 0; i < json_array_size(wrt.node); i++) {
		const json_t *node = json_array_get(wrt.node, i);
		const struct api_path path = {&wrt.path, NULL, i};
		if (api_check_stopped(d->check) || api_fault_is_full(d->check->fault))
			return;
		if (json_is_string(node))
			add(d, json_string_value(node), &path);
		else
			api_fault_at(d->check->fault, API_E_WRONG_TYPE, &path, "expected a JSON Pointer, got %s",
			             api_kind(d->check, node));
	}
}

/* ---- requests ---- */

static bool check_asked(struct derivative_check *d, enum api_request_kind kind)
{
	if (kind == API_JVP || kind == API_SET_JVP) {
		check_tangents(d);
	} else {
		check_cotangents(d);
		check_wrt(d);
	}
	return !d->check->fault->status;
}

bool api_check_derivative(struct api_check *check, enum api_request_kind kind, const struct api_set_facts *facts,
                          struct api_lagged *lagged, struct api_query *query, struct api_derivative *derivative)
{
	struct derivative_check d = {.check = check, .out = derivative, .of_set = facts};
	struct api_set_facts here;
	if (!facts)
		*derivative = (struct api_derivative){0};
	const bool ok = api_check_request(check, kind, facts, facts ? NULL : lagged, query, &d.root);
	query->outputs[API_POTENTIAL] = query->outputs[API_GRADIENT] = true;
	if (ok && !facts)
		api_state_facts(lagged, &here);
	if (ok)
		d.facts = facts ? facts : &here;
	if (ok && !api_variables_list(check->document, &lagged->batch, d.facts, check->arena, &derivative->variables))
		return api_fault_no_memory(check->fault);
	return json_is_object(d.root.node) && check_asked(&d, kind);
}
