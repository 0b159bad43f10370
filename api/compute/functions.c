#include "api/compute/functions.h"

#include <math.h>
#include <string.h>

#include "api/validate/check.h"
#include "api/validate/law.h"
#include "core/fric_mollifier.h"

struct formula {
	double (*friction)(double y, double eps_v);
	double (*mu)(double y, double mu_s, double mu_k, double eps_v, enum fric_transition transition);
	double (*law)(double y, double mu_s, double mu_k, double eps_v, const struct fric_law *law);
	double (*drag)(double y, double viscous);
};

struct api_function {
	const char *name, *meaning;
	enum api_function_kind kind;
	const struct formula *formula;
};

static double drag_potential(double y, double viscous)
{
	return viscous * y * (y / 2);
}

static double drag_force(double y, double viscous)
{
	return viscous * y;
}

static double drag_slope(double y, double viscous)
{
	(void)y;
	return viscous;
}

/* Evaluators of functions with one value. Functions that return pairs share evaluate_entry. */
static const struct formula formulas[API_N_FUNCTIONS] = {
	[API_SMOOTH_FRICTION_F0] = {.friction = fric_smooth_friction_f0},
	[API_SMOOTH_FRICTION_F1] = {.friction = fric_smooth_friction_f1},
	[API_SMOOTH_FRICTION_F2] = {.friction = fric_smooth_friction_f2},
	[API_SMOOTH_FRICTION_F1_OVER_X] = {.friction = fric_smooth_friction_f1_over_x},
	[API_SMOOTH_FRICTION_F2_X_MINUS_F1_OVER_X3] = {.friction = fric_smooth_friction_f2_x_minus_f1_over_x3},
	[API_SMOOTH_MU_MU] = {.mu = fric_smooth_mu},
	[API_SMOOTH_MU_DERIVATIVE] = {.mu = fric_smooth_mu_derivative},
	[API_SMOOTH_MU_F0] = {.mu = fric_smooth_mu_f0},
	[API_SMOOTH_MU_F1] = {.mu = fric_smooth_mu_f1},
	[API_SMOOTH_MU_F2] = {.mu = fric_smooth_mu_f2},
	[API_SMOOTH_MU_F1_OVER_X] = {.mu = fric_smooth_mu_f1_over_x},
	[API_SMOOTH_MU_F2_X_MINUS_MU_F1_OVER_X3] = {.mu = fric_smooth_mu_f2_x_minus_mu_f1_over_x3},
	[API_LAW_POTENTIAL] = {.law = fric_law_potential, .drag = drag_potential},
	[API_LAW_FORCE] = {.law = fric_law_force, .drag = drag_force},
	[API_LAW_FORCE_OVER_SPEED] = {.law = fric_law_force_over_speed, .drag = drag_slope},
	[API_LAW_FORCE_DERIVATIVE] = {.law = fric_law_force_derivative, .drag = drag_slope},
};

#define FUNCTION_OF(place, called, kind_of, means) [place] = {called, means, kind_of, &formulas[place]},
static const struct api_function functions[] = {API_FUNCTIONS(FUNCTION_OF)};

const struct api_function *api_function_find(const char *name)
{
	for (int i = 0; i < API_N_FUNCTIONS; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

const struct api_object *api_function_parameters(const struct api_function *function)
{
	return &api_calls[function->kind];
}

bool api_function_describe(int i, const char **name, enum api_function_kind *kind)
{
	if (i >= API_N_FUNCTIONS)
		return false;
	*name = functions[i].name;
	*kind = functions[i].kind;
	return true;
}

/* The checked parameters of one call, n rows each. */
struct call {
	const struct api_function *function;
	size_t n;
	struct fric_values first; /* first parameter: y, tau_aniso or tau_dir */
	struct fric_values mu_s, mu_k, eps_v, mu_s_aniso, mu_k_aniso, stribeck_speed, viscous;
	struct fric_law law;
	int known_law; /* enum fric_law_type, or API_UNKNOWN_LAW */
	bool no_mu;
};

static bool gives_pairs(enum api_function_kind kind)
{
	return kind == API_DIRECTION || kind == API_ELLIPSE || kind == API_EFFECTIVE;
}

static const double *at(struct fric_values values, size_t i)
{
	return values.data + i * values.stride;
}

/* The number of entries of the first parameter; a single number or row counts as one. */
static bool count(struct api_check *check, const struct api_field *first, bool pairs, size_t *n)
{
	const struct api_array *array = api_document_array(check->document, first->node);
	if (array && array->rank == 0 && !pairs) {
		*n = 1;
		return true;
	}
	return api_check_rows(check, first, pairs ? 2 : 0, n);
}

static void check_first(struct api_check *check, const struct api_field *root, struct call *call)
{
	const enum api_function_kind kind = call->function->kind;
	const bool pairs = gives_pairs(kind);
	const int rule = (int)(api_call_first(kind) - api_calls[kind].rules);
	const struct api_field first = api_ruled(root, &api_calls[kind], rule);
	if (!api_check_present(check, &first, "the points to evaluate at") || !count(check, &first, pairs, &call->n)) {
		call->n = API_UNKNOWN_LENGTH;
		return;
	}
	const struct api_shape shape = {.n = call->n, .n_inner = pairs, .inner = {2}, .one_for_all = call->n == 1};
	api_check_values(check, &first, &shape, &call->first);
}

/* Reads one value for all entries, or one value per entry. */
static void read_values(struct api_check *check, const struct call *call, const struct api_field *field,
                        struct fric_values *out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_ENTRIES] = call->n, [API_PAIR] = 2};
	const struct api_shape shape = api_shape_of(field->rule, lengths);
	api_check_values(check, field, &shape, out);
}

static void check_values(struct api_check *check, const struct api_field *root, const struct call *call, int rule,
                         struct fric_values *out)
{
	const struct api_field field = api_ruled(root, api_function_parameters(call->function), rule);
	if (!call->no_mu)
		api_check_present(check, &field, "this function needs it");
	read_values(check, call, &field, out);
}

static bool is_peak(const json_t *node)
{
	const char *peak = api_calls[API_LAW].rules[API_CALL_TRANSITION].words[FRIC_PEAK];
	return json_is_string(node) && !strcmp(json_string_value(node), peak);
}

/* Checks that a transition is a curve of mu, for which the friction force is mu times f; peak is not such a curve. */
static void check_transition_of_mu(struct api_check *check, const struct api_field *root, struct call *call)
{
	const struct api_field field = api_ruled(root, &api_calls[API_SMOOTH_MU], API_CALL_MU_TRANSITION);
	int transition = FRIC_CUBIC;
	if (is_peak(field.node))
		api_fault_at(check->fault, API_E_UNKNOWN_WORD, &field.path,
		             "peak is a curve of the force, not of mu: use law_potential, law_force, law_force_over_speed or"
		             " law_force_derivative");
	else
		api_check_choice(check, &field, field.rule->words, &transition);
	call->law.transition = (enum fric_transition)transition;
}

/* Integrates the curve once, so that entries need not sum over all points before theirs. The curve must be valid. */
static void find_areas(struct api_check *check, struct call *call)
{
	struct fric_curve *curve = &call->law.curve;
	if (!curve->speeds || check->fault->status)
		return;
	double *areas = api_arena_array(check->arena, curve->n, sizeof(*areas));
	if (areas && fric_curve_areas(curve, areas))
		curve->areas = areas;
}

static void check_law(struct api_check *check, const struct api_field *root, struct call *call)
{
	const struct api_object *rules = &api_calls[API_LAW];
	const struct api_law_fields fields = {
		.law = api_ruled(root, rules, API_CALL_LAW),
		.transition = api_ruled(root, rules, API_CALL_TRANSITION),
		.stribeck_speed = api_ruled(root, rules, API_CALL_STRIBECK_SPEED),
		.curve = api_ruled(root, rules, API_CALL_CURVE),
	};
	const struct api_field viscous = api_ruled(root, rules, API_CALL_VISCOUS);
	call->known_law = api_check_law(check, &fields, &call->law);
	find_areas(check, call);
	if (api_law_has(call->known_law, LAW_DECAYS))
		api_check_present(check, &fields.stribeck_speed, "this law needs it");
	read_values(check, call, &fields.stribeck_speed, &call->stribeck_speed);
	read_values(check, call, &viscous, &call->viscous);
}

static void check_one_coefficient(struct api_check *check, const struct api_field *root, const struct call *call)
{
	const struct api_field mu_k = api_ruled(root, &api_calls[API_LAW], API_CALL_MU_K);
	if (call->n != API_UNKNOWN_LENGTH && call->mu_s.data && call->mu_k.data)
		api_check_one_coefficient(check, call->known_law, &mu_k, call->n, 1, &call->mu_s, &call->mu_k);
}

static bool check_call(struct api_check *check, struct api_field *root, struct call *call)
{
	const enum api_function_kind kind = call->function->kind;
	const struct api_object *rules = &api_calls[kind];
	api_check_object(check, root, rules);
	if (!json_is_object(root->node))
		return false;
	const struct api_field no_mu = api_ruled(root, rules, API_CALL_NO_MU);
	check_first(check, root, call);
	if (kind == API_SMOOTH_MU)
		check_transition_of_mu(check, root, call);
	if (kind == API_LAW)
		check_law(check, root, call);
	if (!api_check_bool(check, &no_mu, &call->no_mu))
		call->no_mu = true; /* an unknown parameter may be a misspelt mu, so nothing else is required */
	if (kind == API_SMOOTH_MU || kind == API_LAW || kind == API_EFFECTIVE) {
		check_values(check, root, call, API_CALL_MU_S, &call->mu_s);
		check_values(check, root, call, API_CALL_MU_K, &call->mu_k);
	}
	if (kind == API_LAW)
		check_one_coefficient(check, root, call);
	if (kind == API_ELLIPSE || kind == API_EFFECTIVE) {
		check_values(check, root, call, API_CALL_MU_S_ANISO, &call->mu_s_aniso);
		check_values(check, root, call, API_CALL_MU_K_ANISO, &call->mu_k_aniso);
	}
	if (!gives_pairs(kind))
		check_values(check, root, call, API_CALL_EPS_V, &call->eps_v);
	return !check->fault->status;
}

static double effective(const struct call *call, size_t i, const double direction[2], struct fric_values ellipse,
                        struct fric_values scalar)
{
	const double *axes = at(ellipse, i);
	if (call->function->kind == API_EFFECTIVE && axes[0] == 0 && axes[1] == 0)
		return *at(scalar, i);
	return fric_matchstick_mu(direction, axes);
}

/* Evaluates the law with its drag. */
static double evaluate_law(const struct call *call, size_t i)
{
	const struct formula *f = call->function->formula;
	const double y = *at(call->first, i);
	struct fric_law law = call->law;
	law.stribeck_speed = call->stribeck_speed.data ? *at(call->stribeck_speed, i) : 0;
	const double value = f->law(y, *at(call->mu_s, i), *at(call->mu_k, i), *at(call->eps_v, i), &law);
	return call->viscous.data ? value + f->drag(y, *at(call->viscous, i)) : value;
}

static void evaluate_entry(const struct call *call, size_t i, double *out)
{
	const double *first = at(call->first, i);
	double direction[2] = {first[0], 0};
	switch (call->function->kind) {
	case API_SMOOTH_FRICTION: out[0] = call->function->formula->friction(*first, *at(call->eps_v, i)); return;
	case API_SMOOTH_MU:
		out[0] = call->function->formula->mu(*first, *at(call->mu_s, i), *at(call->mu_k, i), *at(call->eps_v, i),
		                                     call->law.transition);
		return;
	case API_LAW: out[0] = evaluate_law(call, i); return;
	case API_DIRECTION: fric_matchstick_direction(first, 1e-10, out); return;
	case API_ELLIPSE: direction[1] = first[1]; break;
	case API_EFFECTIVE: fric_matchstick_direction(first, 1e-10, direction); break;
	}
	out[0] = call->no_mu ? 1 : effective(call, i, direction, call->mu_s_aniso, call->mu_s);
	out[1] = call->no_mu ? 1 : effective(call, i, direction, call->mu_k_aniso, call->mu_k);
}

enum { ENTRIES = 4096 }; /* entries between two checks of the stop flag */

static size_t width_of(const struct call *call)
{
	return gives_pairs(call->function->kind) ? 2 : 1;
}

static bool evaluate_all(struct api_check *check, const struct api_field *root, const struct call *call, double *out)
{
	const size_t width = width_of(call);
	const struct api_field first = api_member(root, api_call_first(call->function->kind)->name);
	const struct api_array *array = api_document_array(check->document, first.node);
	const struct api_path entry = {&first.path, NULL, 0};
	for (size_t i = 0; i < call->n; i++) {
		struct api_path place = entry;
		if (i % ENTRIES == 0 && api_check_stopped(check))
			return false;
		place.index = array->rank == 1 ? i * width : i; /* width: row length of the answer and of the first parameter */
		evaluate_entry(call, i, out + i * width);
		if (!isfinite(out[i * width]) || !isfinite(out[(i + 1) * width - 1]))
			return api_fault_at(check->fault, API_E_RESULT_OVERFLOW, array->rank ? &place : &first.path,
			                    "%s at entry %zu does not fit a double", call->function->name, i);
	}
	return true;
}

/* Evaluates a checked call, and adds "values" to its answer. */
static bool answer_call(struct api_check *check, const struct api_field *root, const struct call *call,
                        struct api_render *render, json_t *answer)
{
	const size_t width = width_of(call);
	double *values = api_arena_array(check->arena, call->n * width, sizeof(*values));
	if (!values)
		return api_fault_no_memory(check->fault);
	if (!evaluate_all(check, root, call, values))
		return false;
	api_render_add(render, answer, "values", api_render_array(render, API_F64, values, call->n, width == 2 ? 2 : 0, 0));
	return true;
}

bool api_function_evaluate(const struct api_function *function, const struct api_document *request,
                           struct api_arena *arena, struct api_render *render, struct api_fault *fault)
{
	struct api_check check = {.document = request, .arena = arena, .fault = fault};
	struct api_field root = {.node = request->root};
	struct call call = {.function = function};
	if (!check_call(&check, &root, &call))
		return false;
	api_render_add(render, render->document.root, "function", json_string(function->name));
	return answer_call(&check, &root, &call, render, render->document.root);
}

/* Checks the calls of a bundle in its order. @param calls  [API_N_FUNCTIONS]. @return their number; 0 after a fault */
static int check_bundle(struct api_check *check, struct api_field *all, struct call *calls)
{
	const char *name;
	json_t *parameters;
	int n = 0;
	if (!json_object_size(all->node))
		api_fault_at(check->fault, API_E_MISSING_FIELD, &all->path, "at least one function is needed");
	json_object_foreach((json_t *)(uintptr_t)all->node, name, parameters) { /* the macro takes a non-const object */
		struct api_field root = api_member(all, name);
		const struct api_function *function = api_function_find(name);
		if (!function)
			continue; /* reported as an unknown field */
		calls[n] = (struct call){.function = function};
		check_call(check, &root, &calls[n++]);
	}
	return check->fault->status ? 0 : n;
}

bool api_function_bundle(const struct api_document *request, struct api_arena *arena, struct api_render *render,
                         struct api_fault *fault)
{
	struct api_check check = {.document = request, .arena = arena, .fault = fault};
	struct api_field root;
	struct call calls[API_N_FUNCTIONS];
	if (!api_check_root(&check, &api_bundle, NULL, &root))
		return false;
	struct api_field all = api_ruled(&root, &api_bundle, API_BUNDLE_FUNCTIONS);
	api_check_present(&check, &all, "the functions to evaluate, with their parameters");
	const bool ok = api_check_inner(&check, &all);
	check.whole = NULL; /* a parameter of one function says nothing about another */
	check.n_misplaced = 0;
	const int n = ok ? check_bundle(&check, &all, calls) : 0;
	if (!n)
		return false;
	json_t *answers = api_render_add(render, render->document.root, "functions", json_object());
	for (int i = 0; i < n; i++) {
		const struct api_field place = api_member(&all, calls[i].function->name);
		json_t *answer = api_render_add(render, answers, calls[i].function->name, json_object());
		if (!answer_call(&check, &place, &calls[i], render, answer))
			return false;
	}
	return true;
}

void api_function_list(struct api_render *render)
{
	json_t *list = api_render_add(render, render->document.root, "functions", json_array());
	for (int i = 0; i < API_N_FUNCTIONS; i++) {
		const struct api_function *f = &functions[i];
		json_t *entry = api_render_append(render, list, json_object());
		api_render_add(render, entry, "name", json_string(f->name));
		api_render_add(render, entry, "meaning", json_string(f->meaning));
		json_t *names = api_render_add(render, entry, "parameters", json_array());
		const struct api_object *rules = &api_calls[f->kind];
		for (int p = 0; p < rules->n_rules; p++)
			if (api_rule_applies(&rules->rules[p], rules))
				api_render_append(render, names, json_string(rules->rules[p].name));
	}
}
