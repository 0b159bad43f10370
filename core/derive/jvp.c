/* Potential and gradient, and their derivatives along tangents of fields. */
#include <math.h>
#include <string.h>

#include "core/assemble/evaluate.h"
#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/derive/blocks.h"
#include "core/derive/bodies.h"
#include "core/derive/point.h"
#include "core/derive/spans.h"
#include "core/kernels/product.h"
#include "core/motion/dofs.h"

/* Columns of a span: the tangent of the potential, then the tangents of the forces, or, if stencil weights change, of
 * the forces at each member. */
enum { OF_POTENTIAL, OF_FORCE, N_FORCE_COLUMNS = OF_FORCE + 3, N_MEMBER_COLUMNS = OF_FORCE + 3 * FRIC_MAX_STENCIL };

struct forward {
	struct point_task vertices;
	struct span_source source;
	bool by_member;
	long double potential;
};

/* The tangents of forces at the members. @return whether all values fit doubles */
static bool write_members(const struct fric_contacts *c, enum fric_type type, size_t i,
                          const struct point_change *change, span_columns *columns, size_t j)
{
	double weights[FRIC_MAX_STENCIL] = {0};
	long double changes[FRIC_MAX_STENCIL];
	bool finite = true;
	contact_weights(c, type, i, weights);
	fricp_weights_tangent(type, change->lever.closest_point, changes);
	for (int k = 0; k < fric_stencil_size(type); k++)
		for (int d = 0; d < c->dim; d++) {
			const long double force = weights[k] * change->force_tangent[d] + changes[k] * change->force[d];
			finite &= round_all(&force, 1, &columns[OF_FORCE + 3 * k + d][j]);
		}
	return finite;
}

static void fill_contact(const struct forward *task, enum fric_type type, size_t i, span_columns *columns, size_t j,
                         struct fault *fault)
{
	const struct fric_contacts *c = task->vertices.contacts;
	struct point_change change;
	fricp_contact_tangent(&task->vertices, type, i, &change);
	bool finite = round_all(&change.potential, 1, &columns[OF_POTENTIAL][j]);
	for (int d = 0; d < c->dim && !task->by_member; d++)
		finite &= round_all(&change.force_tangent[d], 1, &columns[OF_FORCE + d][j]);
	if (task->by_member)
		finite &= write_members(c, type, i, &change, columns, j);
	if (!finite)
		*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

/* ---- spans in kernels ---- */

/* Adds the relative tangent of weight or normal force. Where the value is zero, the plain form takes over. */
static void add_strength(const struct link *link, struct span span, size_t first, struct column column,
                         struct tangent_workspace *w)
{
	for (size_t j = 0; j < span.n; j++) {
		const double x = *column_at(column, span.begin + j), d = link->data[(first + j) * link->stride];
		w->strength[j] += x == 0 ? 0 : d / x;
		w->of.good[j] = x == 0 ? 0 : w->of.good[j];
	}
}

static void add_column(const struct link *link, size_t n, size_t first, const double *by, double *out)
{
	for (size_t j = 0; j < n; j++)
		out[j] += by ? by[j] * link->data[(first + j) * link->stride] : link->data[(first + j) * link->stride];
}

static void add_link(const struct forward *task, const struct link *link, struct span span, struct tangent_workspace *w)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const size_t first = span.begin - c->start[span.type];
	switch (link->first) {
	case AT_NORMAL_FORCE: add_strength(link, span, first, c->normal_force, w); break;
	case AT_WEIGHT: add_strength(link, span, first, c->weight, w); break;
	case AT_MU_S: add_column(link, span.n, first, NULL, w->law[BY_MU_S]); break;
	case AT_MU_K: add_column(link, span.n, first, NULL, w->law[BY_MU_K]); break;
	case AT_EPS_V: add_column(link, span.n, first, NULL, w->law[BY_EPS_V]); break;
	case AT_DHAT: add_column(link, span.n, first, w->of.barrier[0], w->strength); break;
	case AT_STIFFNESS: add_column(link, span.n, first, w->of.barrier[1], w->strength); break;
	default: add_column(link, span.n, first, w->of.barrier[2], w->strength); break; /* dmin */
	}
}

static void load_tangents(const struct forward *task, struct span span, struct tangent_workspace *w)
{
	const struct fric_contacts *c = task->vertices.contacts;
	double *const *fields = task->vertices.differential->fields;
	memset(w->strength, 0, sizeof(w->strength));
	if (w->by_law)
		memset(w->law, 0, sizeof(w->law));
	for (int l = 0; l < task->vertices.links[span.type].n; l++)
		add_link(task, &task->vertices.links[span.type].link[l], span, w);
	if (fields[FRIC_WRT_VELOCITIES])
		task->source.kernel.kernels->gamma->relative(c, span, fields[FRIC_WRT_VELOCITIES], w->relative[0]);
	else
		memset(w->relative, 0, sizeof(w->relative));
	if (!w->moves)
		return;
	fricp_span_members(c, span, fields[FRIC_WRT_POSITIONS], w->position);
	if (faces_world(span.type))
		memset(w->position[stencil_size_of(span.type)], 0, sizeof(w->position[0]));
}

/* Computes forces at the members from forces at the contact, with their tangents. */
INLINE void members_of(enum fric_type type, const struct fric_contacts *c, struct span span,
                       const struct tangent_workspace *w, span_columns *columns)
{
	for (size_t j = 0; j < span.n; j++) {
		double weights[FRIC_MAX_STENCIL] = {0}, changes[FRIC_MAX_STENCIL] = {0};
		contact_weights(c, type, span.begin + j, weights);
		UNROLL
		for (int k = 0; k < stencil_size_of(type); k++) {
			const struct member m = stencil_members(type)[k];
			if (m.origin == k)
				continue;
			const double change = w->moves ? m.sign * w->change[m.coordinate][j] : 0;
			changes[k] += change;
			changes[m.origin] -= change;
		}
		UNROLL
		for (int k = 0; k < stencil_size_of(type); k++) {
			UNROLL
			for (int d = 0; d < 3; d++)
				columns[OF_FORCE + 3 * k + d][j] = weights[k] * w->force[d][j] + changes[k] * w->of.at.force[d][j];
		}
	}
}

static void store_tangents(const struct forward *task, struct span span, const struct tangent_workspace *w,
                           span_columns *columns)
{
	memcpy(columns[OF_POTENTIAL], w->potential, span.n * sizeof(double));
	if (task->by_member)
		FOR_TYPE(members_of, span.type, task->vertices.contacts, span, w, columns)
	else
		for (int d = 0; d < 3; d++)
			memcpy(columns[OF_FORCE + d], w->force[d], span.n * sizeof(double));
}

/* @return whether doubles were accurate enough for the span; contacts for which they were not have 0 in w->of.good */
static bool run_kernels(const struct forward *task, struct span span, struct tangent_workspace *w)
{
	const struct derivative_kernels *kernels = task->source.kernel.kernels->derivatives;
	if (!fricp_span_inputs(&task->source, &task->vertices, span, &w->of, &w->moves))
		return false;
	w->by_law = task->source.by_law[span.type];
	load_tangents(task, span, w);
	if (w->by_law)
		kernels->law(&w->of, &w->by);
	kernels->tangent(span.type, w);
	return true;
}

static bool is_ordinary(span_columns *columns, size_t n_columns, size_t j)
{
	double sum = 0;
	for (size_t m = 0; m < n_columns; m++)
		sum += fabs(columns[m][j]);
	return sum < 0x1p+900;
}

static void fill_span(void *data, struct span span, span_columns *columns, struct fault *fault)
{
	const struct forward *task = data;
	const size_t n = task->by_member ? OF_FORCE + 3 * (size_t)fric_stencil_size(span.type) : N_FORCE_COLUMNS;
	struct tangent_workspace work;
	const bool by_kernel = task->source.by_kernel[span.type] && run_kernels(task, span, &work);
	if (by_kernel)
		store_tangents(task, span, &work, columns);
	for (size_t j = 0; j < span.n && fault->code == FRIC_OK; j++)
		if (!by_kernel || work.of.good[j] == 0 || !is_ordinary(columns, n, j))
			fill_contact(task, span.type, span.begin + j, columns, j, fault);
}

static void tally_span(void *data, struct span span, span_columns *columns)
{
	struct forward *task = data;
	long double sum = 0;
	for (size_t j = 0; j < span.n; j++)
		sum += columns[OF_POTENTIAL][j];
	task->potential += sum;
}

/* Whether closest points change: one of the fields that they come from has a tangent. */
static bool closest_points_change(const struct forward *task)
{
	bool change = false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		change |= task->vertices.cases[type].moves ||
		          task->vertices.differential->rows[type][FRIC_ROW_CLOSEST_POINT] != NULL;
	return change;
}

static struct fault forward_over(const struct fric_context *context, struct forward *task, double *gradient_tangent)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const size_t n_columns = task->by_member ? N_MEMBER_COLUMNS : N_FORCE_COLUMNS;
	const struct blocks blocks = {.context = context,
	                              .contacts = c,
	                              .schedule = task->source.derivation->query->schedule,
	                              .n_columns = n_columns,
	                              .first_kept = OF_POTENTIAL,
	                              .n_kept = 1,
	                              .fill = fill_span,
	                              .tally = tally_span,
	                              .task = task,
	                              .n_sums = 1,
	                              .sums = {{gradient_tangent, c->dim, OF_FORCE, task->by_member ? 3 : 0}}};
	return fricp_blocks_run(&blocks);
}

/* Computes the tangent of a curve's table, if its factors have one. @return false when out of memory */
static bool find_curve(const struct fric_context *context, struct forward *task, struct table_piece_l **pieces)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const double *tangent = task->vertices.differential->fields[FRIC_WRT_CURVE_FACTORS];
	*pieces = NULL;
	if (!tangent || !law_has(law_of(&c->law), LAW_MEASURED))
		return true;
	*pieces = memory_take(context->memory, c->table.n * sizeof(**pieces));
	if (*pieces)
		fricp_table_tangent(&c->law.curve, &c->table, tangent, *pieces);
	task->vertices.curve = *pieces;
	return *pieces;
}

/* Processes vertices first, then bodies, because the contacts of bodies are numbered last. */
static enum fric_code forward_all(const struct fric_context *context, const struct fric_derivation *derivation,
                                  struct forward *task, double *gradient_tangent, struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	const enum fric_code code = fricp_report_fault(c, forward_over(context, task, gradient_tangent), error);
	if (code != FRIC_OK || !c->bodies)
		return code;
	return fricp_bodies_jvp(context, derivation, task->vertices.differential, task->vertices.curve, &task->potential,
	                        gradient_tangent, error);
}

static enum fric_code jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                          const struct fric_differential *tangents, double *potential_tangent, double *gradient_tangent,
                          struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	struct forward task = {.potential = 0};
	struct table_piece_l *pieces;
	fricp_point_task(derivation, tangents, false, &task.vertices);
	task.by_member = closest_points_change(&task);
	task.source = fricp_span_source(context, derivation);
	fricp_choose_kernels(&task.vertices, &task.source);
	if (!find_curve(context, &task, &pieces))
		return report_code(FRIC_E_MEMORY, error);
	const enum fric_code code = forward_all(context, derivation, &task, gradient_tangent, error);
	memory_give(context->memory, pieces, c->table.n * sizeof(*pieces));
	*potential_tangent = (double)task.potential;
	return code == FRIC_OK && !isfinite(*potential_tangent) ? report_code(FRIC_E_NOT_FINITE, error) : code;
}

/* ---- velocities alone: one pass with potential and gradient, which does not read the batch ---- */

struct along {
	struct kernel_task inner;
	struct product_task product;
	const double *velocities;
	double *sums; /* [span_slots] tangents of potentials */
};

/* Computes F . Gamma v' for each contact; the drag acts on the same change. */
static double potentials_along(const struct fric_contacts *c, struct span span, const struct workspace *work,
                               const double *relative)
{
	double out[FRIC_SPAN];
	for (size_t j = 0; j < span.n; j++) {
		const double *r = relative + j;
		out[j] = c->dim == 3 ? (work->force[0][j] * r[0] + work->force[1][j] * r[FRIC_SPAN]) +
		                           work->force[2][j] * r[2 * FRIC_SPAN]
		                     : work->force[0][j] * r[0] + work->force[1][j] * r[FRIC_SPAN];
	}
	return sum_of_span(out, span.n);
}

/* Computes how a change of the velocities affects the forces of a span, which fricp_run_span has evaluated. */
static bool forces_along(const struct along *task, struct span span, struct workspace *work, double *relative,
                         double *forces, struct fault *fault)
{
	/* the kernels compute inner matrices from intermediate values of the forces */
	const bool by_kernel = fricp_product_is_bounded(&task->product) && task->inner.ordinary && !work->careful;
	struct workspace again, *bent = work;
	if (by_kernel)
		task->inner.kernels->unprojected(work);
	if (!by_kernel || work->careful) {
		bent = &again;
		if (!fricp_run_span(&task->inner, span, bent, fault))
			return false;
	}
	const double *const inner[3] = {bent->inner[0], bent->inner[1], bent->inner[2]};
	return fricp_product_of_span(&task->product, span, inner, task->velocities, relative, forces, fault);
}

static bool run_along(void *data, const struct kernel_task *kernel, struct span span, struct workspace *work,
                      double *forces, struct fault *fault)
{
	const struct along *task = data;
	double relative[3 * FRIC_SPAN], sum;
	if (!fricp_run_span_along(kernel, span, task->velocities, work, forces, &sum)) {
		if (!fricp_run_span(kernel, span, work, fault) || !forces_along(task, span, work, relative, forces, fault))
			return false;
		sum = potentials_along(task->product.contacts, span, work, relative);
	}
	task->sums[span_slot(span)] = sum;
	return true;
}

/**
 * The part of contacts at vertices, bitwise equal to fric_hessian_products for each of them.
 * @param velocities  [n_dofs] tangent
 * @param potential, gradient  as from fric_evaluate, without bodies
 * @param potential_tangent, gradient_tangent  the same shapes
 * @return FRIC_E_NOT_FINITE also if only an intermediate result does not fit a double: the general form may succeed
 * Allocates what fric_evaluate allocates, and one double per span from the context's memory.
 */
static enum fric_code vertices_by_velocities(const struct fric_context *context,
                                             const struct fric_derivation *derivation, const double *velocities,
                                             double *potential, double *gradient, long double *potential_tangent,
                                             double *gradient_tangent, struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	const size_t bytes = span_slots(c->n) * sizeof(double);
	struct along task = {.inner = fricp_kernel_task(context, c, derivation->query, KERNEL_INNER),
	                     .product = {.contacts = c, .kernels = fricp_kernels_of(context)},
	                     .velocities = velocities};
	const struct companion companion = {run_along, &task, velocities, gradient_tangent,
	                                    fricp_product_is_bounded(&task.product)};
	task.sums = fricp_take_zeroed(context, bytes);
	if (!task.sums)
		return report_code(FRIC_E_MEMORY, error);
	const enum fric_code code =
		fricp_evaluate_with(context, c, derivation->query, &companion, potential, gradient, error);
	for (size_t slot = 0; slot < span_slots(c->n); slot++)
		*potential_tangent += task.sums[slot];
	memory_give(context->memory, task.sums, bytes);
	return code;
}

/* Whether velocities are the only field with a tangent. */
static bool by_velocities_alone(const struct fric_differential *tangents)
{
	const struct fric_differential velocities = {
		.fields = {[FRIC_WRT_VELOCITIES] = tangents->fields[FRIC_WRT_VELOCITIES]}};
	return velocities.fields[FRIC_WRT_VELOCITIES] && memcmp(tangents, &velocities, sizeof(velocities)) == 0;
}

/* A faster form of the vertices' part. @return FRIC_E_NOT_FINITE if something overflows: then call the general form,
 * which has a larger range */
static enum fric_code jvp_by_velocities(const struct fric_context *context, const struct fric_derivation *derivation,
                                        const struct fric_differential *tangents, double *potential, double *gradient,
                                        double *potential_tangent, double *gradient_tangent, struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	long double sum = 0;
	enum fric_code code = vertices_by_velocities(context, derivation, tangents->fields[FRIC_WRT_VELOCITIES], potential,
	                                             gradient, &sum, gradient_tangent, error);
	if (code == FRIC_OK && c->bodies)
		code = fricp_bodies_evaluate(context, c, derivation->query, potential, gradient, error);
	if (code == FRIC_OK && c->bodies)
		code = fricp_bodies_jvp(context, derivation, tangents, NULL, &sum, gradient_tangent, error);
	*potential_tangent = (double)sum;
	return code == FRIC_OK && !isfinite(*potential_tangent) ? report_code(FRIC_E_NOT_FINITE, error) : code;
}

enum fric_code fric_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                        const struct fric_differential *tangents, double *potential, double *gradient,
                        double *potential_tangent, double *gradient_tangent, struct fric_error *error)
{
	if (by_velocities_alone(tangents)) {
		const enum fric_code short_way = jvp_by_velocities(context, derivation, tangents, potential, gradient,
		                                                   potential_tangent, gradient_tangent, error);
		if (short_way != FRIC_E_NOT_FINITE)
			return short_way;
	}
	const enum fric_code code =
		fric_evaluate(context, derivation->contacts, derivation->query, potential, gradient, error);
	return code != FRIC_OK ? code : jvp(context, derivation, tangents, potential_tangent, gradient_tangent, error);
}
