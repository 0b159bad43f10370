#include "api/compute/derivatives.h"

#include <string.h>

#include "api/base/account.h"
#include "api/problem.h"

/* ---- variables ---- */

/* Lists the set's variables first, which the query's variables replace. */
static bool list_variables(struct api_job *job, struct api_variables *variables)
{
	const struct fric_batch *batch = &job->lagged.batch;
	const bool ok = (!job->set || api_variables_list(&job->set_document, batch, &job->facts, &job->arena, variables)) &&
	                api_variables_list(&job->document, batch, &job->facts, &job->arena, variables);
	return ok || api_fault_no_memory(job->fault);
}

bool api_derivation_of(struct api_job *job, struct fric_derivation *core)
{
	const struct api_query *q = &job->query;
	const struct api_lagged_velocities *of_set = &job->set_velocities;
	*core = (struct fric_derivation){
		.batch = &job->lagged.batch,
		.contacts = job->contacts,
		.query = &job->of_friction,
		.vertices_follow = q->sent_lagged_velocities || of_set->vertices,
		.bodies_follow = q->sent_lagged_body_velocities || of_set->bodies,
	};
	if (job->asked.state)
		core->slip_velocities = job->slip_velocities ? job->slip_velocities
		                                             : api_job_join(job, of_set->vertices, of_set->bodies);
	return !job->fault->status;
}

bool api_derivation_begin(struct api_job *job, struct api_derivation *derivation)
{
	return api_derivation_of(job, &derivation->core) &&
	       (derivation->variables.list || list_variables(job, &derivation->variables));
}

/* ---- conversion between variables and the core's fields ---- */

static double *zeros(struct api_job *job, size_t n)
{
	double *array = api_job_array(job, n, sizeof(*array));
	if (!array || api_account_zero(array, n * sizeof(*array)))
		return array;
	api_fault_no_memory(job->fault);
	return NULL;
}

static bool is_field(const struct api_variable *v, enum fric_field field)
{
	return v->type < 0 && v->rule->by[0] == 1 + (int)field;
}

/* Whether the core has a field for the variable. It has none for lagged velocities without matchsticks, where they have
 * no effect. */
static bool is_known(const struct api_derivation *d, const struct api_variable *v)
{
	return !v->is_empty && (!is_field(v, FRIC_WRT_LAGGED_VELOCITIES) || d->core.slip_velocities);
}

static bool is_of_dofs(const struct api_variable *v)
{
	return is_field(v, FRIC_WRT_VELOCITIES) || is_field(v, FRIC_WRT_LAGGED_VELOCITIES);
}

/* The core's pointer for a variable's field; which: 0, or 1 for the second field of a variable with two */
static double **place_of(struct fric_differential *differential, const struct api_variable *v, int which)
{
	const int by = v->rule->by[which] - 1;
	return v->type < 0 ? &differential->fields[by] : &differential->rows[v->type][by];
}

/* Copies to a vector over all DOFs, because velocities of vertices and of bodies are one field of the core.
 * @return NULL with a fault */
static double *of_dofs(struct api_job *job, const struct api_variable *v, struct fric_differential *differential)
{
	double **place = place_of(differential, v, 0);
	if (!*place)
		*place = zeros(job, api_job_n_dofs(job));
	return *place ? *place + v->first_dof : NULL;
}

/* The core only reads tangents, so the cast is safe. */
static double *borrowed(const double *values)
{
	return (double *)(uintptr_t)values;
}

static bool add_tangent(struct api_job *job, const struct api_variable *v, const double *values,
                        struct fric_differential *out)
{
	if (!is_of_dofs(v)) {
		for (int i = 0; i < 2 && v->rule->by[i]; i++)
			*place_of(out, v, i) = borrowed(values);
		return true;
	}
	double *dofs = of_dofs(job, v, out);
	return dofs && (api_account_copy(dofs, values, v->n * sizeof(*dofs)) || api_fault_no_memory(job->fault));
}

static bool take_tangents(struct api_job *job, const struct api_derivation *d, const struct api_variations *along,
                          struct fric_differential *out)
{
	*out = (struct fric_differential){0};
	for (size_t i = 0; i < along->n; i++)
		if (is_known(d, along->by[i]) && !add_tangent(job, along->by[i], along->values[i], out))
			return false;
	return true;
}

/* Provides room for the cotangents of a variable. They stay zero if the core has no field for it. */
static bool add_cotangent(struct api_job *job, const struct api_derivation *d, const struct api_variable *v,
                          const double **values, struct fric_differential *out)
{
	if (!is_known(d, v) || !is_of_dofs(v))
		*values = zeros(job, v->n);
	else
		*values = of_dofs(job, v, out);
	if (!*values || !is_known(d, v) || is_of_dofs(v))
		return *values;
	*place_of(out, v, 0) = borrowed(*values);
	return !v->rule->by[1] || (*place_of(out, v, 1) = zeros(job, v->n));
}

static bool make_room(struct api_job *job, const struct api_derivation *d, struct api_variations *by,
                      struct fric_differential *out)
{
	*out = (struct fric_differential){0};
	for (size_t i = 0; i < by->n; i++)
		if (!add_cotangent(job, d, by->by[i], &by->values[i], out))
			return false;
	return true;
}

/* Adds both derivatives of a variable that sets both coefficients. */
static void add_up(const struct api_derivation *d, const struct api_variations *by,
                   struct fric_differential *cotangents)
{
	for (size_t i = 0; i < by->n; i++) {
		const struct api_variable *v = by->by[i];
		if (!v->rule->by[1] || !is_known(d, v))
			continue;
		double *sum = *place_of(cotangents, v, 0);
		const double *other = *place_of(cotangents, v, 1);
		for (size_t k = 0; k < v->n; k++)
			sum[k] += other[k];
	}
}

static double mean(double a, double b)
{
	return a == b ? a : a / 2 + b / 2; /* halves first, because the sum may overflow */
}

/* Tables of pairs are symmetric, and so are their derivatives: each half of the core's table gets half of the sum. */
static void make_symmetric(const struct api_variations *by)
{
	for (size_t i = 0; i < by->n; i++) {
		const struct api_variable *v = by->by[i];
		const size_t m = v->expected.n;
		double *table = borrowed(by->values[i]);
		if (v->rule->shape[0] != API_MATERIALS)
			continue;
		for (size_t a = 0; a < m; a++)
			for (size_t b = 0; b < a; b++)
				table[a * m + b] = table[b * m + a] = mean(table[a * m + b], table[b * m + a]);
	}
}

static bool fault_sum(struct api_job *job, const struct api_variations *by)
{
	const struct api_path root = {0}, wrt = {&root, "wrt", 0};
	for (size_t i = 0; i < by->n; i++) {
		const struct api_path path = {&wrt, NULL, i};
		if (!api_reals_are_finite(by->values[i], by->by[i]->n))
			return api_fault_at(job->fault, API_E_RESULT_OVERFLOW, &path,
			                    "a derivative with respect to \"%s\" does not fit a double", by->by[i]->pointer);
	}
	return true;
}

static bool is_at_contact(const struct api_job *job, enum fric_code code)
{
	return code == FRIC_E_NOT_FINITE && job->error.contact >= 0;
}

/* @return false with a fault if a number overflows */
static bool finish_cotangents(struct api_job *job, const struct api_derivation *d, enum fric_code code,
                              struct api_variations *by, struct fric_differential *cotangents)
{
	if (code != FRIC_OK && (code != FRIC_E_NOT_FINITE || is_at_contact(job, code)))
		return api_job_core(job, code);
	add_up(d, by, cotangents);
	make_symmetric(by);
	return fault_sum(job, by) && api_job_core(job, code);
}

/* ---- derivatives ---- */

static bool make_sums(struct api_job *job, struct api_sums *sums)
{
	*sums = (struct api_sums){.gradient = api_job_array(job, api_job_n_dofs(job), sizeof(double))};
	return sums->gradient;
}

/* A jvp or a vjp. */
struct product {
	struct api_job *job;
	const struct api_derivation *derivation;
	struct api_sums *answers;
	const struct api_sums *cotangents; /* vjp: cotangents of the results */
	struct api_sums *tangents;         /* jvp: tangents of the results */
};

/* Converts variables to the core's fields. */
static bool convert(const struct product *p, struct api_variations *of, struct fric_differential *out)
{
	return p->tangents ? take_tangents(p->job, p->derivation, of, out) : make_room(p->job, p->derivation, of, out);
}

static enum fric_code multiply(const struct product *p, const struct fric_differential *fields)
{
	const struct fric_context *context = &p->job->context;
	const struct fric_derivation *core = &p->derivation->core;
	if (p->tangents)
		return fric_jvp(context, core, fields, &p->answers->potential, p->answers->gradient, &p->tangents->potential,
		                p->tangents->gradient, &p->job->error);
	return fric_vjp(context, core, p->cotangents->potential, p->cotangents->gradient, &p->answers->potential,
	                p->answers->gradient, fields, &p->job->error);
}

/* Determines what overflows at a contact: the results themselves, the derivatives with respect to one variable, which
 * the fault then names, or only several variables together.
 * @return false with a fault */
static bool fault_product(const struct product *p, const struct api_variations *of)
{
	const struct fric_error *alone = &p->job->error, together = *alone;
	struct api_variations tried = {0};
	struct fric_differential fields;
	enum fric_code code = FRIC_OK;
	for (size_t i = 0; i <= of->n && code == FRIC_OK; i++) {
		if (i > 0)
			tried = (struct api_variations){1, {of->by[i - 1]}, {of->values[i - 1]}};
		if (!convert(p, &tried, &fields))
			return false;
		code = multiply(p, &fields);
	}
	if (code != FRIC_E_NOT_FINITE || alone->contact < 0 || tried.n == 0)
		return api_fault_core(p->job->fault, code == FRIC_OK ? &together : alone);
	return api_fault_slope(p->job->fault, alone, tried.by[0]->pointer);
}

bool api_derive_jvp(struct api_job *job, const struct api_derivation *d, const struct api_variations *along,
                    struct api_sums *answers, struct api_sums *tangents)
{
	const struct product p = {job, d, answers, NULL, tangents};
	struct fric_differential fields;
	if (!take_tangents(job, d, along, &fields) || !make_sums(job, answers) || !make_sums(job, tangents))
		return false;
	const enum fric_code code = multiply(&p, &fields);
	return code == FRIC_OK ||
	       (is_at_contact(job, code) ? fault_product(&p, along) : api_fault_core(job->fault, &job->error));
}

bool api_derive_vjp(struct api_job *job, const struct api_derivation *d, const struct api_sums *cotangents,
                    struct api_variations *by, struct api_sums *answers)
{
	const struct product p = {job, d, answers, cotangents, NULL};
	struct fric_differential fields;
	if (!make_room(job, d, by, &fields) || !make_sums(job, answers))
		return false;
	const enum fric_code code = multiply(&p, &fields);
	return is_at_contact(job, code) ? fault_product(&p, by) : finish_cotangents(job, d, code, by, &fields);
}

bool api_derive_second(struct api_job *job, const struct api_derivation *d, const struct api_variations *along,
                       struct api_variations *by)
{
	struct fric_differential tangents, cotangents;
	if (!take_tangents(job, d, along, &tangents) || !make_room(job, d, by, &cotangents))
		return false;
	const enum fric_code code =
		fric_second_derivative_product(&job->context, &d->core, &tangents, &cotangents, &job->error);
	return finish_cotangents(job, d, code, by, &cotangents);
}

bool api_is_derivable(const struct api_derivation *d, const struct api_variable *v)
{
	return v->n > 0 && is_known(d, v);
}

bool api_derive_compare(struct api_job *job, const struct api_derivation *d, const struct api_variable *v,
                        struct fric_derivative_agreement *agreement)
{
	struct fric_differential direction;
	double *everywhere = api_job_array(job, v->n, sizeof(*everywhere));
	if (!everywhere)
		return false;
	for (size_t i = 0; i < v->n; i++)
		everywhere[i] = 1;
	const struct api_variations along = {1, {v}, {everywhere}};
	return take_tangents(job, d, &along, &direction) &&
	       api_job_core(job, fric_compare_derivative(&job->context, &d->core, &direction, agreement, &job->error));
}

/* ---- answers ---- */

static void render_sums(struct api_job *job, json_t *object, const struct api_sums *sums)
{
	api_render_number(&job->render, object, "potential", sums->potential);
	api_render_gradient(job, object, sums->gradient);
}

static void render_variable(struct api_job *job, json_t *object, const struct api_variable *v, const double *values)
{
	struct api_render *r = &job->render;
	if (v->rank == 0)
		api_render_number(r, object, v->pointer, *values);
	else
		api_render_add(r, object, v->pointer,
		               api_render_array(r, API_F64, values, v->shape[0], v->rank > 1 ? v->shape[1] : 0,
		                                v->rank > 2 ? v->shape[2] : 0));
}

static bool answer_jvp(struct api_job *job, const struct api_derivation *d, const struct api_derivative *asked)
{
	json_t *root = job->render.document.root;
	struct api_sums answers, tangents;
	if (!api_derive_jvp(job, d, &asked->by, &answers, &tangents))
		return false;
	render_sums(job, root, &answers);
	render_sums(job, api_render_add(&job->render, root, "tangents", json_object()), &tangents);
	return true;
}

static bool answer_vjp(struct api_job *job, const struct api_derivation *d, struct api_derivative *asked)
{
	json_t *root = job->render.document.root;
	struct api_variations *by = &asked->by;
	struct api_sums answers;
	size_t n = 0;
	for (size_t i = 0; i < by->n; i++)
		n += by->by[i]->n;
	if (!api_job_fits(job, "wrt", "cotangents", n * sizeof(double)))
		return false;
	const bool has_gradient = asked->gradient || asked->body_gradient;
	const double *gradient = has_gradient ? api_job_join(job, asked->gradient, asked->body_gradient) : NULL;
	const struct api_sums cotangents = {asked->potential, borrowed(gradient)};
	if (job->fault->status || !api_derive_vjp(job, d, &cotangents, by, &answers))
		return false;
	render_sums(job, root, &answers);
	json_t *object = api_render_add(&job->render, root, "cotangents", json_object());
	for (size_t i = 0; i < by->n; i++)
		render_variable(job, object, by->by[i], by->values[i]);
	return true;
}

static bool answer(struct api_job *job)
{
	struct api_asked *asked = job->more;
	struct api_derivation derivation = {.variables = asked->derivative.variables};
	api_job_counts(job);
	if (!api_derivation_begin(job, &derivation) ||
	    !(asked->kind == (job->set ? API_SET_JVP : API_JVP) ? answer_jvp(job, &derivation, &asked->derivative)
	                                                        : answer_vjp(job, &derivation, &asked->derivative)))
		return false;
	api_job_skipped(job);
	return true;
}

/* ---- steps ---- */

/* Lists a set's fields before the query's fields, which replace them. */
static bool decode(struct api_job *job)
{
	struct api_asked *asked = job->more;
	struct api_check check = api_job_check(job);
	if (job->set)
		job->facts = job->set->facts;
	if (!api_job_read(job) || (job->set && !api_job_open_set(job)))
		return false;
	if (job->set && !api_variables_list(&job->set_document, &job->lagged.batch, &job->facts, &job->arena,
	                                    &asked->derivative.variables))
		return api_fault_no_memory(job->fault);
	return api_check_derivative(&check, asked->kind, job->set ? &job->facts : NULL, &job->lagged, &job->query,
	                            &asked->derivative);
}

/* Adds the work of a derivative, which may have as many numbers as all fields together. */
static void weigh(const struct api_job *job, struct api_work *work)
{
	enum { NUMBERS_OF_CONTACT = 16 };
	api_job_weigh(job, work);
	work->contact_ns += API_COST_DERIVATIVES;
	work->n_numbers *= 3;
	work->n_numbers += NUMBERS_OF_CONTACT * api_work_contacts(work);
}

const struct api_steps api_derive = {decode, api_job_prepare, answer, weigh, true};
