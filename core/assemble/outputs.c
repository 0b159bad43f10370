/* Computes the outputs per contact. */
#include <math.h>
#include <string.h>

#include "core/assemble/rows.h"
#include "core/barrier/mollifier.h"
#include "core/base/parallel.h"
#include "core/base/vectors.h"
#include "core/bodies/twist.h"
#include "core/geometry/features.h"
#include "core/motion/slip.h"
#include "core/motion/stencil.h"

struct request {
	const struct fric_contacts *contacts;
	const struct coefficients *coefficients;
	const struct fric_query *query;
	const double *velocities;
	enum fric_type type;
	enum fric_output output;
	double *out;
};

static int row_size(const struct fric_contacts *c, enum fric_type type, enum fric_output output)
{
	switch (output) {
	case FRIC_OUT_TANGENTIAL_VELOCITY: return c->dim - 1;
	case FRIC_OUT_ROLLING: return c->dim - 1;
	case FRIC_OUT_CLOSEST_POINT: return fric_closest_point_size(type);
	case FRIC_OUT_TANGENT_BASIS: return c->dim * (c->dim - 1);
	case FRIC_OUT_FRICTION_FORCE:
	case FRIC_OUT_BARRIER_FORCE:
	case FRIC_OUT_NORMAL:
	case FRIC_OUT_ANCHOR: return c->dim;
	default: return 1;
	}
}

static bool is_of_barrier(enum fric_output output)
{
	return output >= FRIC_OUT_CURRENT_FEATURE && output <= FRIC_OUT_BARRIER_FORCE;
}

bool fric_has_output(const struct fric_contacts *contacts, enum fric_type type, enum fric_output output)
{
	if (output == FRIC_OUT_DISTANCE)
		return contacts->has_distance[type];
	if (is_of_barrier(output))
		return (contacts->terms & FRIC_TERM_BARRIER) && !is_of_bodies(type);
	if (output == FRIC_OUT_FEATURE)
		return !is_of_bodies(type);
	if (output == FRIC_OUT_NORMAL)
		return !(is_of_bodies(type) && contacts->bodies ? contacts->bodies : contacts)->given_basis[type];
	if (output == FRIC_OUT_SPIN || output == FRIC_OUT_ROLLING)
		return is_of_bodies(type) && (output == FRIC_OUT_ROLLING || contacts->dim == 3);
	return row_size(contacts, type, output) > 0;
}

static bool needs_slip(enum fric_output output)
{
	return output == FRIC_OUT_POTENTIAL || output == FRIC_OUT_TANGENTIAL_VELOCITY || output == FRIC_OUT_STATUS ||
	       output == FRIC_OUT_SLIP_RATIO || output == FRIC_OUT_FRICTION_FORCE || output == FRIC_OUT_ANCHOR ||
	       output == FRIC_OUT_SPIN || output == FRIC_OUT_ROLLING;
}

static void friction_force(const struct fric_contacts *c, size_t i, const struct slip *slip, double *out)
{
	double force[3];
	contact_force(c, i, slip, force);
	for (int d = 0; d < c->dim; d++)
		out[d] = 0 - force[d]; /* +0, not -0, for a zero force */
}

static void copy_slip(const double *u, int m, double *out)
{
	for (int t = 0; t < m; t++)
		out[t] = u[t];
}

static bool from_slip(const struct request *task, size_t i, double *out)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	slip_of_type(c, task->coefficients, task->type, i, task->velocities, &slip);
	switch (task->output) {
	case FRIC_OUT_POTENTIAL: out[0] = contact_potential(c, i, &slip); break;
	case FRIC_OUT_STATUS: out[0] = status_of(c, i, slip.slides); break;
	case FRIC_OUT_FRICTION_FORCE: friction_force(c, i, &slip, out); break;
	case FRIC_OUT_ANCHOR: next_anchor(c, i, &slip, out); break;
	case FRIC_OUT_SLIP_RATIO: out[0] = (double)(slip_speed(&slip) / slip.eps_v); break;
	case FRIC_OUT_SPIN: out[0] = slip.u[2]; break;
	case FRIC_OUT_ROLLING: copy_slip(slip.u + (c->dim == 3 ? 3 : 1), c->dim - 1, out); break;
	default: copy_slip(slip.u, c->dim - 1, out);
	}
	return slip_finite(&slip);
}

static void copy_column(struct column column, const uint8_t *skipped, size_t begin, size_t end, double *out)
{
	for (size_t i = begin; i < end; i++)
		*out++ = skipped[i] ? 0 : *column_at(column, i);
}

/* Members of the closest feature; none of a skipped contact. */
static void copy_features(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end, double *out)
{
	for (size_t i = begin; i < end; i++) {
		const unsigned searched = c->feature ? c->feature[i] : 0, all = (1u << stencil_size_of(type)) - 1;
		*out++ = skip_reason(c, i) != FRIC_OK ? 0 : searched ? searched : all;
	}
}

/* The type whose geometry the basis of contact i has: that of its closest feature. */
static enum fric_type type_of_basis(const struct fric_contacts *c, enum fric_type type, size_t i)
{
	const unsigned members = c->feature ? c->feature[i] : 0;
	const int32_t vertices[FRIC_MAX_STENCIL] = {c->vertices[0][i], c->vertices[1][i], c->vertices[2][i],
	                                            c->vertices[3][i]};
	return members ? fricp_feature_of(type, members, vertices).type : type;
}

/* The basis has the columns [c, n x c], in 2D the perpendicular of n; but an edge and a vertex have [e, e x n], in 2D
 * the edge. With a grain, all have [g, n x g]. */
static void normal_of(const struct fric_contacts *c, enum fric_type type, size_t i, double *out)
{
	double p[6];
	const bool edge = geometry_of(type_of_basis(c, type, i)) == POINT_LINE && !c->along_grain[type];
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		p[e] = c->tangent_basis[e][i];
	if (c->dim == 2) {
		const double sign = edge && !c->right[i] ? -1 : 1;
		out[0] = sign * p[1];
		out[1] = -sign * p[0];
		return;
	}
	const double sign = edge ? -1 : 1;
	for (int d = 0; d < 3; d++) {
		const int x = 2 * ((d + 1) % 3), y = 2 * ((d + 2) % 3);
		out[d] = sign * (p[x] * p[y + 1] - p[y] * p[x + 1]);
	}
}

static void copy_normals(const struct fric_contacts *c, enum fric_type type, size_t begin, size_t end, double *out)
{
	for (size_t i = begin; i < end; i++, out += c->dim) {
		if (!is_of_bodies(type))
			normal_of(c, type, i, out);
		for (int d = 0; d < c->dim; d++)
			out[d] = (is_of_bodies(type) ? c->normal[d][i] : out[d]) + 0.0; /* + 0.0 turns -0 into 0 */
	}
}

/* Needs no check: fric_prepare has verified that stored values are finite. */
static void from_store(const struct request *task, size_t begin, size_t end, double *out)
{
	const struct fric_contacts *c = task->contacts;
	const size_t m = (size_t)row_size(c, task->type, task->output);
	switch (task->output) {
	case FRIC_OUT_MU_S: copy_column(task->coefficients->mu_s, c->skipped, begin, end, out); break;
	case FRIC_OUT_MU_K: copy_column(task->coefficients->mu_k, c->skipped, begin, end, out); break;
	case FRIC_OUT_NORMAL_FORCE: copy_column(c->normal_force, c->skipped, begin, end, out); break;
	case FRIC_OUT_DISTANCE: memcpy(out, c->distance + begin, (end - begin) * sizeof(double)); break;
	case FRIC_OUT_NORMAL: copy_normals(c, task->type, begin, end, out); break;
	case FRIC_OUT_FEATURE: copy_features(c, task->type, begin, end, out); break;
	case FRIC_OUT_CLOSEST_POINT: interleave_rows((const double *const *)c->closest_point, m, begin, end, out); break;
	default: interleave_rows((const double *const *)c->tangent_basis, m, begin, end, out);
	}
}

static void slip_chunk(const struct request *task, size_t begin, size_t end, struct fault *fault)
{
	const int m = row_size(task->contacts, task->type, task->output);
	const size_t start = task->contacts->start[task->type];
	for (size_t i = begin; i < end; i++) {
		double *out = task->out + i * (size_t)m;
		bool finite = from_slip(task, start + i, out);
		for (int e = 0; e < m; e++)
			finite &= isfinite(out[e]) != 0;
		if (!finite) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
	}
}

/* ---- barrier ---- */

static void barrier_output(const struct request *task, size_t i, double *out)
{
	const struct fric_current *current = task->query->current;
	const bool mollified = current->form[i] & FORM_MOLLIFIED;
	const double m = mollified ? fricp_mollifier(current, i).value : 1;
	switch (task->output) {
	case FRIC_OUT_CURRENT_FEATURE: *out = current->feature[i]; break;
	case FRIC_OUT_CURRENT_DISTANCE: *out = current->distance[i]; break;
	case FRIC_OUT_BARRIER_POTENTIAL: *out = m * current->energy[i] / time_step_of(task->query); break;
	default:
		for (int a = 0; a < task->contacts->dim; a++)
			out[a] = 0 - m * current->slope[i] * current->normal[a][i]; /* +0, not -0, for a zero force */
	}
}

static void barrier_chunk(const struct request *task, size_t begin, size_t end, struct fault *fault)
{
	const size_t m = (size_t)row_size(task->contacts, task->type, task->output);
	for (size_t i = begin; i < end; i++) {
		barrier_output(task, task->contacts->start[task->type] + i, task->out + i * m);
		if (!all_finite(task->out + i * m, m)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
	}
}

/* Contacts that only the current positions skip still have a basis. */
static void clear_skipped(const struct request *task, size_t begin, size_t end)
{
	const struct fric_contacts *c = task->contacts;
	const size_t m = (size_t)row_size(c, task->type, task->output);
	for (size_t i = begin; i < end && task->output != FRIC_OUT_STATUS; i++)
		if (c->skipped[c->start[task->type] + i])
			memset(task->out + i * m, 0, m * sizeof(double));
}

static void output_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct request *task = data;
	const size_t start = task->contacts->start[task->type];
	(void)chunk;
	if (is_of_barrier(task->output))
		barrier_chunk(task, begin, end, fault);
	else if (needs_slip(task->output))
		slip_chunk(task, begin, end, fault);
	else
		from_store(task, start + begin, start + end,
		           task->out + begin * (size_t)row_size(task->contacts, task->type, task->output));
	if (task->query->current && task->query->current->skips_more && !is_of_barrier(task->output))
		clear_skipped(task, begin, end);
}

static void weights_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct request *task = data;
	const size_t start = task->contacts->start[task->type];
	const size_t infinite = find_infinite_weight(task->contacts, task->type, start + begin, start + end);
	(void)chunk;
	if (infinite < start + end)
		*fault = (struct fault){FRIC_E_NOT_FINITE, infinite - start};
	else
		weight_rows(task->contacts, task->type, start + begin, start + end,
		            task->out + begin * (size_t)fric_stencil_size(task->type));
}

enum fric_code fric_stencil_weights(const struct fric_context *context, const struct fric_contacts *contacts,
                                    enum fric_type type, double *weights, struct fric_error *error)
{
	struct request task = {.contacts = contacts, .type = type, .out = weights};
	struct fault fault = fricp_parallel_chunks(context, fric_group_size(contacts, type), weights_chunk, &task);
	if (fault.code == FRIC_E_NOT_FINITE)
		fault.position += contacts->start[type];
	return fricp_report_fault(contacts, fault, error);
}

enum fric_code fric_contact_output(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const struct fric_query *query, enum fric_type type, enum fric_output output,
                                   double *out, struct fric_error *error)
{
	const bool of_bodies = is_of_bodies(type);
	const struct fric_contacts *c = of_bodies ? contacts->bodies : contacts_for(contacts, query);
	if (!c)
		return FRIC_OK;
	const struct coefficients *coefficients = of_bodies ? body_coefficients_for(contacts, query)
	                                                    : coefficients_for(contacts, query);
	struct request task = {c, coefficients, query, query->velocities, type, output, out};
	struct fault fault = fricp_parallel_chunks(context, group_size(c, type), output_chunk, &task);
	if (fault.code == FRIC_E_NOT_FINITE)
		fault.position += c->start[type];
	return fricp_report_fault(c, fault, error);
}
