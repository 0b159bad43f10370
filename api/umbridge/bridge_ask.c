#include "api/umbridge/bridge_ask.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/base/suggest.h"
#include "api/dispatch/cost.h"
#include "api/sets/identity.h"
#include "api/sets/set.h"

const char *const api_bridge_models[API_N_BRIDGE_MODELS + 1] = {
	[API_BRIDGE_FRICTION] = "friction", [API_BRIDGE_GRADIENT] = "friction_gradient", NULL};

/* The gradient model supports no second derivatives, because they would be third derivatives of the potential. */
bool api_bridge_supports(enum api_bridge_model model, enum api_bridge_call call)
{
	return model == API_BRIDGE_FRICTION || call != API_BRIDGE_SECOND;
}

static const char velocities[] = "/velocities", body_velocities[] = "/body_velocities";

/* ---- members of the body ---- */

#define invalid(bridge, ...) api_fault_set((bridge)->fault, API_E_WRONG_TYPE, __VA_ARGS__)

static json_t *member(const struct api_bridge *b, const char *name)
{
	return json_object_get(b->body.root, name);
}

static const struct api_array *array_of(const struct api_bridge *b, const json_t *node)
{
	return api_document_array(&b->body, node);
}

/* The text of a string. @return NULL after a fault */
static const char *text_of(const struct api_bridge *b, const json_t *node, const char *what)
{
	if (!json_is_string(node))
		invalid(b, "%s must be a string", what);
	return json_string_value(node);
}

static bool read_body(struct api_bridge *b)
{
	struct api_text_fault text;
	if (!api_document_read_rows(b->service->pool, b->request->body, b->request->body_bytes, &b->body, &text))
		return api_fault_text(b->fault, &text);
	return json_is_object(b->body.root) || invalid(b, "the body must be an object");
}

static bool refuse(struct api_bridge *b, enum api_bridge_refusal refusal, const char *format, ...)
{
	char text[API_MAX_DETAIL];
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	b->refusal = refusal;
	return invalid(b, "%s", text);
}

static bool find_model(struct api_bridge *b)
{
	const json_t *node = member(b, "name");
	const char *name = node ? text_of(b, node, "\"name\"") : NULL;
	if (!node)
		return invalid(b, "\"name\" is missing: the model, friction or friction_gradient");
	if (!name)
		return false;
	for (int i = 0; i < API_N_BRIDGE_MODELS; i++)
		if (!strcmp(name, api_bridge_models[i])) {
			b->model = (enum api_bridge_model)i;
			return true;
		}
	return refuse(b, API_BRIDGE_MODEL_NOT_FOUND,
	              "there is no model \"%.100s\"; there are friction and friction_gradient", name);
}

bool api_bridge_begin(struct api_bridge *b)
{
	return read_body(b) && find_model(b);
}

/* ---- set ---- */

/* Called before the set's document is read. The estimate includes preparing every contact again. */
static bool admit(const struct api_bridge *b, const struct api_set *set)
{
	struct api_work work = {.contact_ns = API_COST_SUMS, .document_bytes = set->document.n};
	api_work_add_set(&work, set);
	return api_cost_admit(b->service, &work, b->fault);
}

static bool hold_set(struct api_bridge *b, const char *name)
{
	struct api_sets *sets = b->service->sets;
	const bool uses = !b->request->was_deferred;
	b->kept = sets && api_is_set_name(name) ? api_sets_hold(sets, b->request->caller, name, uses) : NULL;
	if (!b->kept)
		return api_fault_set(b->fault, API_E_UNKNOWN_SET,
		                     "there is no collision set \"%.100s\" (any more): PUT it as a whole. Sets are forgotten"
		                     " when they have not been used for a while, or to make room",
		                     name);
	b->facts = api_set_of(b->kept)->facts;
	return admit(b, api_set_of(b->kept)) &&
	       api_archive_read(&api_set_of(b->kept)->document, b->arena, &b->document, b->fault);
}

static bool find_set(struct api_bridge *b, const json_t *name)
{
	if (name)
		return json_is_string(name) ? hold_set(b, json_string_value(name))
		                            : invalid(b, "\"set\" in \"config\" must be a string: the name of a collision set");
	b->facts = api_scene_facts;
	return api_scene_read(b->service->pool, &b->document, b->fault);
}

/* ---- inputs ---- */

static size_t n_velocities(const struct api_bridge *b, bool of_bodies)
{
	return of_bodies ? b->facts.n_bodies * api_twist(b->facts.dim) : b->facts.n_vertices * b->facts.dim;
}

static bool has_second(const struct api_object *object, const struct api_rule *rule)
{
	const bool is_row = object->rules == api_groups[0].rules;
	return is_row ? fric_row_has_second((enum fric_row)(rule->by[0] - 1))
	              : fric_has_second((enum fric_field)(rule->by[0] - 1));
}

/* Takes a field as an input, which must be an array of numbers with derivatives. */
static bool take_field(const struct api_bridge *b, const struct api_object *object, const struct api_rule *rule,
                       const json_t *node, struct api_bridge_input *input)
{
	const struct api_array *array = rule->by[0] ? api_document_array(&b->document, node) : NULL;
	if (!array)
		return false;
	input->array = (size_t)json_integer_value(node);
	input->n = array->n;
	input->side = rule->shape[0] == API_MATERIALS ? (size_t)sqrt((double)input->n) : 0;
	input->has_second = has_second(object, rule);
	return true;
}

/* Finds a field of the set. @return false if the set lacks it */
static bool find_field(const struct api_bridge *b, const char *pointer, struct api_bridge_input *input)
{
	const struct api_object *object = &api_set_document;
	const json_t *node = b->document.root;
	while (*pointer == '/') { /* no field's name contains '~' or '/', so there are no escapes */
		const size_t bytes = strcspn(++pointer, "/");
		const int i = api_rule_named(object, pointer, bytes);
		const struct api_rule *rule = i < 0 ? NULL : &object->rules[i];
		node = rule ? json_object_get(node, rule->name) : NULL;
		pointer += bytes;
		if (!node || (*pointer && rule->kind != API_OBJECT))
			return false;
		if (!*pointer)
			return take_field(b, object, rule, node, input);
		object = rule->objects[0];
	}
	return false;
}

/* Finds a field of the set, or the velocities, which are part of a query. */
static bool find_input(const struct api_bridge *b, const char *pointer, struct api_bridge_input *input)
{
	const bool of_bodies = !strcmp(pointer, body_velocities);
	*input = (struct api_bridge_input){.pointer = pointer};
	if (!of_bodies && strcmp(pointer, velocities) != 0)
		return find_field(b, pointer, input);
	input->n = n_velocities(b, of_bodies);
	input->has_second = true;
	return of_bodies ? b->facts.n_bodies : b->facts.n_vertices;
}

static const char *const defaults[] = {velocities, body_velocities, "/friction/mu_s", "/friction/mu_k", "/friction/mu"};
enum { N_DEFAULTS = sizeof(defaults) / sizeof(defaults[0]) };

static bool reserve_inputs(struct api_bridge *b, size_t n)
{
	b->inputs = api_arena_array(b->arena, n, sizeof(*b->inputs));
	return b->inputs || api_fault_no_memory(b->fault);
}

static bool find_default_inputs(struct api_bridge *b)
{
	if (!reserve_inputs(b, N_DEFAULTS))
		return false;
	for (int i = 0; i < N_DEFAULTS; i++)
		b->n_inputs += find_input(b, defaults[i], &b->inputs[b->n_inputs]);
	return true;
}

static bool is_new(const struct api_bridge *b, const char *pointer)
{
	for (size_t i = 0; i < b->n_inputs; i++)
		if (!strcmp(b->inputs[i].pointer, pointer))
			return false;
	return true;
}

/* Suggests an alternative to a wrong pointer: the same with a leading slash, or the default inputs. */
static void explain_inputs(struct api_bridge *b, const char *pointer, char help[256])
{
	char slashed[API_NAME_BYTES];
	struct api_bridge_input input;
	size_t at = 0;
	snprintf(slashed, sizeof(slashed), "/%s", pointer);
	if (strlen(pointer) + 1 < sizeof(slashed) && *pointer != '/' && find_input(b, slashed, &input)) {
		snprintf(help, 256, "; did you mean \"%.200s\"?", slashed);
		return;
	}
	help[0] = '\0';
	for (size_t i = 0; i < N_DEFAULTS; i++)
		if (find_input(b, defaults[i], &input))
			at +=
				(size_t)snprintf(help + at, 256 - at, "%s%s", at ? ", " : ". By default the inputs are ", defaults[i]);
}

static bool fault_input(struct api_bridge *b, const char *pointer)
{
	char help[256];
	explain_inputs(b, pointer, help);
	return invalid(b, "\"inputs\" in \"config\": \"%.200s\" is not a field of %s that can be an input%s", pointer,
	               b->kept ? "the set" : "the built-in scene", help);
}

static bool add_input(struct api_bridge *b, const json_t *node)
{
	const char *pointer = json_string_value(node);
	if (!pointer)
		return invalid(b,
		               "entry %zu of \"inputs\" in \"config\" must be a string: a JSON Pointer to a field of the set",
		               b->n_inputs);
	if (!is_new(b, pointer))
		return invalid(b, "\"inputs\" in \"config\" has \"%.200s\" twice", pointer);
	if (!find_input(b, pointer, &b->inputs[b->n_inputs]))
		return fault_input(b, pointer);
	b->n_inputs++;
	return true;
}

/* A list without strings has been lifted as an empty array, so it needs a check of its own. */
static bool find_inputs(struct api_bridge *b, const json_t *list)
{
	const struct api_array *numbers = array_of(b, list);
	if (!list)
		return find_default_inputs(b);
	if (!json_is_array(list) && !(numbers && numbers->rank == 1 && numbers->n == 0))
		return invalid(b, "\"inputs\" in \"config\" must be a list of strings");
	if (!reserve_inputs(b, json_array_size(list)))
		return false;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!add_input(b, json_array_get(list, i)))
			return false;
	return true;
}

bool api_bridge_configure(struct api_bridge *b)
{
	const json_t *config = member(b, "config");
	if (config && !json_is_null(config) && !json_is_object(config))
		return invalid(b, "\"config\" must be an object or null");
	return find_set(b, json_object_get(config, "set")) && find_inputs(b, json_object_get(config, "inputs"));
}

/* ---- the rest of a call ---- */

size_t api_bridge_output_size(const struct api_bridge *b)
{
	return b->model == API_BRIDGE_FRICTION ? 1 : n_velocities(b, false) + n_velocities(b, true);
}

static bool refuse_index(const struct api_bridge *b, const char *name, double value, size_t limit, const char *what)
{
	if (limit == 0)
		return invalid(b, "\"%s\" is %.17g, but there is no %s", name, value, what);
	if (limit == 1)
		return invalid(b, "\"%s\" is %.17g, but the only %s has the number 0", name, value, what);
	return invalid(b, "\"%s\" is %.17g, but there are %zu %ss, numbered from 0", name, value, limit, what);
}

static bool read_index(const struct api_bridge *b, const char *name, size_t limit, const char *what, size_t *out)
{
	const json_t *node = member(b, name);
	const struct api_array *array = array_of(b, node);
	const double value = array && array->rank == 0 ? *(const double *)array->data : -1;
	if (!node)
		return invalid(b, "\"%s\" is missing: the number of an %s", name, what);
	if (!array || array->rank != 0 || value != trunc(value))
		return invalid(b, "\"%s\" must be an integer", name);
	if (value < 0 || value >= (double)limit)
		return refuse_index(b, name, value, limit, what);
	*out = (size_t)value;
	return true;
}

/* Reads a row of n numbers. @param what  the row's name in messages */
static bool read_row(const struct api_bridge *b, const json_t *node, size_t n, const char *what, const double **out)
{
	const struct api_array *array = array_of(b, node);
	if (!array || array->rank != 1)
		return invalid(b, "%s must be a list of numbers", what);
	if (array->n != n)
		return invalid(b, "%s has %zu number%s, expected %zu", what, array->n, array->n == 1 ? "" : "s", n);
	*out = array->data;
	return true;
}

static bool read_input(const struct api_bridge *b, size_t i, const json_t *node)
{
	char what[API_MAX_DETAIL / 2];
	snprintf(what, sizeof(what), "input %zu (%.200s)", i, b->inputs[i].pointer);
	return read_row(b, node, b->inputs[i].n, what, &b->inputs[i].values);
}

/* Sets a fault that lists the inputs and the member of config that was probably meant to choose them. Other unknown
 * members are allowed, because other tools send them. */
static bool fault_n_inputs(const struct api_bridge *b, size_t n)
{
	const json_t *config = member(b, "config");
	char pointers[240] = "", suggestion[160] = "";
	const char *key;
	json_t *value;
	size_t at = 0;
	for (size_t i = 0; i < b->n_inputs && at + 80 < sizeof(pointers); i++)
		at += (size_t)snprintf(pointers + at, sizeof(pointers) - at, "%s%.60s", at ? ", " : " (", b->inputs[i].pointer);
	json_object_foreach((json_t *)(uintptr_t)config, key, value) {
		struct api_suggestion near;
		api_suggest_start(&near, key);
		api_suggest_offer(&near, "inputs");
		api_suggest_offer(&near, "set");
		const char *meant = api_suggest_found(&near);
		if (meant && strcmp(key, meant) != 0)
			snprintf(suggestion, sizeof(suggestion), "; \"config\" has \"%.64s\": did you mean \"%s\"?", key, meant);
	}
	return invalid(b, "\"input\" has %zu %s, expected %zu, a list of numbers for each input%s%s%s", n,
	               n == 1 ? "entry" : "entries", b->n_inputs, pointers, at ? ")" : "", suggestion);
}

/* A list without rows has been lifted as an empty array, so it needs a check of its own. */
static bool read_inputs(const struct api_bridge *b)
{
	const json_t *list = member(b, "input");
	const struct api_array *numbers = array_of(b, list);
	const size_t n = numbers && numbers->rank == 1 ? numbers->n : json_array_size(list);
	if (!list)
		return invalid(b, "\"input\" is missing: a list of numbers for each input");
	if (!json_is_array(list) && !(numbers && numbers->rank == 1))
		return invalid(b, "\"input\" must be a list of lists of numbers");
	if (n != b->n_inputs)
		return fault_n_inputs(b, n);
	for (size_t i = 0; i < n; i++)
		if (!read_input(b, i, json_array_get(list, i)))
			return false;
	return true;
}

static bool read_vector(const struct api_bridge *b, const char *name, size_t n, const double **out)
{
	const json_t *node = member(b, name);
	char what[16];
	snprintf(what, sizeof(what), "\"%s\"", name);
	return node ? read_row(b, node, n, what, out)
	            : invalid(b, "\"%s\" is missing: %zu number%s", name, n, n == 1 ? "" : "s");
}

/* Reads a direction, along which tables must stay symmetric. */
static bool read_direction(const struct api_bridge *b, const struct api_bridge_input *input, const double **vec)
{
	if (!read_vector(b, "vec", input->n, vec))
		return false;
	for (size_t i = 0; i < input->side; i++)
		for (size_t j = 0; j < i; j++)
			if ((*vec)[i * input->side + j] != (*vec)[j * input->side + i])
				return invalid(b, "\"vec\" must be symmetric, as the table %.200s is: entries %zu and %zu differ",
				               input->pointer, j * input->side + i, i * input->side + j);
	return true;
}

static bool support(struct api_bridge *b, enum api_bridge_call call)
{
	return api_bridge_supports(b->model, call) ||
	       refuse(b, API_BRIDGE_UNSUPPORTED_FEATURE, "%s has no ApplyHessian", api_bridge_models[b->model]);
}

static bool read_wrt(struct api_bridge *b, enum api_bridge_call call)
{
	const bool second = call == API_BRIDGE_SECOND;
	size_t out;
	return call == API_BRIDGE_EVALUATE ||
	       (read_index(b, "outWrt", 1, "output", &out) &&
	        read_index(b, second ? "inWrt1" : "inWrt", b->n_inputs, "input", &b->in_wrt) &&
	        (!second || read_index(b, "inWrt2", b->n_inputs, "input", &b->in_wrt_2)));
}

static bool support_inputs(struct api_bridge *b, enum api_bridge_call call)
{
	const size_t both[2] = {b->in_wrt, b->in_wrt_2};
	for (int i = 0; call == API_BRIDGE_SECOND && i < 2; i++)
		if (!b->inputs[both[i]].has_second)
			return refuse(
				b, API_BRIDGE_UNSUPPORTED_FEATURE,
				"there is no ApplyHessian for input %zu (%.200s): both must be velocities, coefficients, eps_v,"
				" normal forces or weights",
				both[i], b->inputs[both[i]].pointer);
	return true;
}

bool api_bridge_ask(struct api_bridge *b, enum api_bridge_call call)
{
	if (!support(b, call) || !api_bridge_configure(b) || !read_wrt(b, call) || !support_inputs(b, call) ||
	    !read_inputs(b))
		return false;
	const bool has_sens = call == API_BRIDGE_VJP || call == API_BRIDGE_SECOND,
			   has_vec = call == API_BRIDGE_JVP || call == API_BRIDGE_SECOND;
	const size_t along = call == API_BRIDGE_SECOND ? b->in_wrt_2 : b->in_wrt;
	return (!has_sens || read_vector(b, "sens", api_bridge_output_size(b), &b->sens)) &&
	       (!has_vec || read_direction(b, &b->inputs[along], &b->vec));
}

/* ---- applying the inputs ---- */

static const double *velocities_of(struct api_bridge *b, bool of_bodies)
{
	const size_t n = n_velocities(b, of_bodies);
	for (size_t i = 0; i < b->n_inputs; i++)
		if (!strcmp(b->inputs[i].pointer, of_bodies ? body_velocities : velocities))
			return b->inputs[i].values;
	double *zeros = api_arena_array(b->arena, n, sizeof(*zeros));
	if (zeros && api_account_zero(zeros, n * sizeof(*zeros)))
		return zeros;
	api_fault_no_memory(b->fault);
	return NULL;
}

static bool is_velocity(const struct api_bridge_input *input)
{
	return !strcmp(input->pointer, velocities) || !strcmp(input->pointer, body_velocities);
}

/* Replaces an array as if the numbers had been read from a text, in the shape of the set's array. */
static void replace(struct api_bridge *b, const struct api_bridge_input *input)
{
	struct api_array *array = &b->document.arrays[input->array];
	array->dtype = API_F64;
	array->data = input->values;
	array->binary = false;
	array->first_non_integer = array->n;
}

/* Points a fault at the input at fault by its number, which the client knows. @return false */
static bool name_culprit(struct api_bridge *b)
{
	struct api_fault *fault = b->fault;
	for (size_t i = 0; fault->n_errors && i < b->n_inputs; i++) {
		const char *at = fault->errors[0].pointer, *pointer = b->inputs[i].pointer;
		const size_t n = strlen(pointer);
		if (!strncmp(at, pointer, n) && (at[n] == '\0' || at[n] == '/'))
			snprintf(fault->detail, sizeof(fault->detail), "input %zu (%.100s): %.380s", i, at,
			         fault->errors[0].detail);
	}
	return false;
}

bool api_bridge_apply(struct api_bridge *b, struct api_lagged *lagged, struct api_query *query,
                      struct api_lagged_velocities *directions)
{
	struct api_check check = {.document = &b->document, .arena = b->arena, .fault = b->fault};
	for (size_t i = 0; i < b->n_inputs; i++)
		if (!is_velocity(&b->inputs[i]))
			replace(b, &b->inputs[i]);
	if (!api_check_set(&check, lagged, directions, &b->facts))
		return name_culprit(b);
	*query = (struct api_query){
		.velocities = velocities_of(b, false), .body_velocities = velocities_of(b, true), .terms = FRIC_TERM_FRICTION};
	query->lagged_velocities = directions->vertices ? directions->vertices : query->velocities;
	query->lagged_body_velocities = directions->bodies ? directions->bodies : query->body_velocities;
	return query->velocities && query->body_velocities;
}

void api_bridge_end(struct api_bridge *b)
{
	api_document_free(&b->document);
	api_document_free(&b->body);
	api_kept_release(b->kept);
	b->kept = NULL;
}
