/* Potential and gradient, and how they change along tangents of fields. */
#include <math.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/derive/blocks.h"
#include "core/derive/bodies.h"
#include "core/derive/velocities.h"
#include "core/derive/vertices.h"
#include "core/motion/dofs.h"

/* Columns of a span: what the potential changes by, and the forces' tangents; or, where stencil weights change, too, what
 * each member's forces change by. */
enum { OF_POTENTIAL, OF_FORCE, N_FORCE_COLUMNS = OF_FORCE + 3, N_MEMBER_COLUMNS = OF_FORCE + 3 * FRIC_MAX_STENCIL };

struct forward {
	struct vertex_derivation vertices;
	struct links links[FRIC_N_VERTEX_TYPES];
	bool by_member;
	long double potential;
};

static void gather(const struct fric_contacts *c, enum fric_type type, size_t i, const double *v, long double *out)
{
	struct motion motion;
	motion_of(c, type, i, v, &motion);
	for (int d = 0; d < 3; d++)
		out[d] = motion.relative[d];
}

/* The tangents of what one contact takes from fields. */
static void find_inputs(const struct forward *task, const struct vertex_point *p, struct inputs *t)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const struct fric_differential *tangents = task->vertices.differential;
	const double *positions = tangents->fields[FRIC_BY_POSITIONS];
	*t = (struct inputs){{0}};
	read_links(&task->links[p->type], p->row, t);
	if (tangents->fields[FRIC_BY_VELOCITIES])
		gather(c, p->type, p->i, tangents->fields[FRIC_BY_VELOCITIES], &t->at[AT_RELATIVE]);
	if (tangents->fields[FRIC_BY_LAGGED_VELOCITIES])
		gather(c, p->type, p->i, tangents->fields[FRIC_BY_LAGGED_VELOCITIES], &t->at[AT_LAGGED]);
	for (int k = 0; k < fric_stencil_size(p->type) && positions; k++)
		for (int d = 0; d < c->dim; d++)
			t->at[AT_POSITION + 3 * k + d] = positions[(size_t)c->vertices[k][p->i] * (size_t)c->dim + (size_t)d];
}

/* @return whether all numbers fit doubles */
static bool write_forces(const struct forward *task, const struct vertex_change *change, span_columns *columns,
                         size_t j)
{
	const int dim = task->vertices.batch->dim;
	bool finite = true;
	for (int d = 0; d < dim; d++) {
		columns[OF_FORCE + d][j] = (double)change->force_tangent[d];
		finite &= isfinite(columns[OF_FORCE + d][j]) != 0;
	}
	return finite;
}

static bool write_members(const struct forward *task, const struct vertex_point *p, const struct vertex_change *change,
                          span_columns *columns, size_t j)
{
	const struct fric_contacts *c = task->vertices.contacts;
	double weights[FRIC_MAX_STENCIL] = {0};
	long double changes[FRIC_MAX_STENCIL];
	bool finite = true;
	contact_weights(c, p->type, p->i, weights);
	weights_tangent(p->type, change->closest_point, changes);
	for (int k = 0; k < fric_stencil_size(p->type); k++)
		for (int d = 0; d < c->dim; d++) {
			double *out = &columns[OF_FORCE + 3 * k + d][j];
			*out = (double)(weights[k] * change->force_tangent[d] + changes[k] * change->force[d]);
			finite &= isfinite(*out) != 0;
		}
	return finite;
}

/* A skipped contact has no force, whatever changes. */
static void fill_contact(const struct forward *task, enum fric_type type, size_t i, span_columns *columns, size_t j,
                         struct fault *fault)
{
	struct vertex_point point;
	struct vertex_change change = {.potential = 0};
	struct inputs inputs;
	point.type = type;
	point.i = i;
	if (!task->vertices.contacts->skipped[i]) {
		fricp_vertex_point(&task->vertices, type, i, &point);
		find_inputs(task, &point, &inputs);
		fricp_vertex_tangent(&task->vertices, &point, &inputs, &change);
	}
	columns[OF_POTENTIAL][j] = (double)change.potential;
	const bool finite = task->by_member ? write_members(task, &point, &change, columns, j)
	                                    : write_forces(task, &change, columns, j);
	if (!finite || !isfinite(columns[OF_POTENTIAL][j]))
		*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

static void fill_span(void *data, struct span span, span_columns *columns, struct fault *fault)
{
	const struct forward *task = data;
	for (size_t j = 0; j < span.n && fault->code == FRIC_OK; j++)
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

/* Whether closest points change: something that they are derived from, or what is given. */
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
	                              .n_columns = n_columns,
	                              .fill = fill_span,
	                              .tally = tally_span,
	                              .task = task,
	                              .n_sums = 1,
	                              .sums = {{gradient_tangent, c->dim, OF_FORCE, task->by_member ? 3 : 0}}};
	return fricp_blocks_run(&blocks);
}

/* The tangent of a curve's table, if its factors have one. @return false when out of memory */
static bool find_curve(const struct fric_context *context, struct forward *task, struct table_piece_l **pieces)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const double *tangent = task->vertices.differential->fields[FRIC_BY_CURVE_FACTORS];
	*pieces = NULL;
	if (!tangent || c->law.type != FRIC_CURVE)
		return true;
	*pieces = memory_take(context->memory, c->table.n * sizeof(**pieces));
	if (*pieces)
		fricp_table_tangent(&c->law.curve, &c->table, tangent, *pieces);
	task->vertices.curve = *pieces;
	return *pieces;
}

/* Vertices first, then bodies: contacts count on. */
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
	fricp_vertex_derivation(derivation, tangents, &task.vertices);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		fricp_find_links(derivation->batch, type, tangents, &task.links[type]);
	task.by_member = closest_points_change(&task);
	if (!find_curve(context, &task, &pieces))
		return report_code(FRIC_E_MEMORY, error);
	const enum fric_code code = forward_all(context, derivation, &task, gradient_tangent, error);
	memory_give(context->memory, pieces, c->table.n * sizeof(*pieces));
	*potential_tangent = (double)task.potential;
	return code == FRIC_OK && !isfinite(*potential_tangent) ? report_code(FRIC_E_NOT_FINITE, error) : code;
}

/* Whether nothing but velocities has a tangent. */
static bool by_velocities_alone(const struct fric_differential *tangents)
{
	const struct fric_differential velocities = {
		.fields = {[FRIC_BY_VELOCITIES] = tangents->fields[FRIC_BY_VELOCITIES]}};
	return velocities.fields[FRIC_BY_VELOCITIES] && memcmp(tangents, &velocities, sizeof(velocities)) == 0;
}

/* Then vertices take a shorter way. @return FRIC_E_NOT_FINITE: the longer one knows more */
static enum fric_code jvp_by_velocities(const struct fric_context *context, const struct fric_derivation *derivation,
                                        const struct fric_differential *tangents, double *potential, double *gradient,
                                        double *potential_tangent, double *gradient_tangent, struct fric_error *error)
{
	const struct fric_contacts *c = derivation->contacts;
	long double sum = 0;
	enum fric_code code = fricp_jvp_by_velocities(context, derivation, tangents->fields[FRIC_BY_VELOCITIES], potential,
	                                              gradient, &sum, gradient_tangent, error);
	if (code == FRIC_OK && c->bodies)
		code = fricp_bodies_evaluate(context, c, derivation->question, potential, gradient, error);
	if (code == FRIC_OK && c->bodies)
		code = fricp_bodies_jvp(context, derivation, tangents, NULL, &sum, gradient_tangent, error);
	*potential_tangent = (double)sum;
	return code == FRIC_OK && !isfinite(*potential_tangent) ? report_code(FRIC_E_NOT_FINITE, error) : code;
}

enum fric_code fric_jvp(const struct fric_context *context, const struct fric_derivation *derivation,
                        const struct fric_differential *tangents, double *potential, double *gradient,
                        double *potential_tangent, double *gradient_tangent, struct fric_error *error)
{
	enum fric_code code = FRIC_E_NOT_FINITE;
	if (by_velocities_alone(tangents))
		code = jvp_by_velocities(context, derivation, tangents, potential, gradient, potential_tangent,
		                         gradient_tangent, error);
	if (code != FRIC_E_NOT_FINITE)
		return code;
	code = fric_evaluate(context, derivation->contacts, derivation->question, potential, gradient, error);
	return code != FRIC_OK ? code : jvp(context, derivation, tangents, potential_tangent, gradient_tangent, error);
}
