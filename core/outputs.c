/* What can be asked per contact, and the choice of the matchstick direction. */
#include <math.h>

#include "mollifier.h"
#include "parallel.h"
#include "slip.h"

struct request {
	const struct fric_contacts *contacts;
	const double *velocities;
	enum fric_type type;
	enum fric_output output;
	double *out;
};

static int row_size(const struct fric_contacts *c, enum fric_type type, enum fric_output output)
{
	switch (output) {
	case FRIC_OUT_TANGENTIAL_VELOCITY:
		return c->dim - 1;
	case FRIC_OUT_CLOSEST_POINT:
		return fric_closest_point_size(type);
	case FRIC_OUT_TANGENT_BASIS:
		return c->dim * (c->dim - 1);
	default:
		return 1;
	}
}

bool fric_has_output(const struct fric_contacts *contacts, enum fric_type type, enum fric_output output)
{
	if (output == FRIC_OUT_DISTANCE)
		return contacts->has_distance[type];
	return row_size(contacts, type, output) > 0;
}

static bool needs_slip(enum fric_output output)
{
	return output == FRIC_OUT_POTENTIAL || output == FRIC_OUT_TANGENTIAL_VELOCITY || output == FRIC_OUT_STATUS ||
	       output == FRIC_OUT_SLIP_RATIO;
}

static bool from_slip(const struct request *task, size_t i, double *out)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	slip_of(c, task->type, i, task->velocities, &slip);
	switch (task->output) {
	case FRIC_OUT_POTENTIAL:
		out[0] = slip_potential(c, i, &slip);
		break;
	case FRIC_OUT_STATUS:
		out[0] = c->skipped[i] ? 2 : slip_speed(&slip) >= slip.eps_v;
		break;
	case FRIC_OUT_SLIP_RATIO:
		out[0] = (double)(slip_speed(&slip) / slip.eps_v);
		break;
	default:
		for (int t = 0; t < slip.n; t++)
			out[t] = slip.u[t];
	}
	return slip_finite(&slip);
}

static bool from_store(const struct request *task, size_t i, double *out)
{
	const struct fric_contacts *c = task->contacts;
	switch (task->output) {
	case FRIC_OUT_MU_S:
		out[0] = c->skipped[i] ? 0 : *column_at(c->effective_mu_s, i);
		break;
	case FRIC_OUT_MU_K:
		out[0] = c->skipped[i] ? 0 : *column_at(c->effective_mu_k, i);
		break;
	case FRIC_OUT_NORMAL_FORCE:
		out[0] = *column_at(c->normal_force, i);
		break;
	case FRIC_OUT_DISTANCE:
		out[0] = c->distance[i];
		break;
	case FRIC_OUT_CLOSEST_POINT:
		for (int m = 0; m < fric_closest_point_size(task->type); m++)
			out[m] = c->closest_point[m][i];
		break;
	default:
		for (int e = 0; e < c->dim * (c->dim - 1); e++)
			out[e] = c->tangent_basis[e][i];
	}
	return true;
}

static void output_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct request *task = data;
	const struct fric_contacts *c = task->contacts;
	const int m = row_size(c, task->type, task->output);
	(void)chunk;
	for (size_t i = begin; i < end; i++) {
		double *out = task->out + i * (size_t)m;
		const size_t at = c->start[task->type] + i;
		bool finite = needs_slip(task->output) ? from_slip(task, at, out) : from_store(task, at, out);
		for (int e = 0; e < m; e++)
			finite &= isfinite(out[e]) != 0;
		if (!finite) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
	}
}

enum fric_code fric_contact_output(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const double *velocities, enum fric_type type, enum fric_output output, double *out,
                                   struct fric_error *error)
{
	struct request task = {contacts, velocities, type, output, out};
	struct fault fault = parallel_chunks(context, fric_group_size(contacts, type), output_chunk, &task);
	if (fault.code == FRIC_E_NOT_FINITE)
		fault.position += contacts->start[type];
	return report_fault(contacts, fault, error);
}

/* A zero ellipse falls back to the scalar coefficient of its own kind. */
static double along_ellipse(double *const ellipse[2], size_t i, const double direction[2], double scalar)
{
	const double axes[2] = {ellipse[0][i], ellipse[1][i]};
	return axes[0] == 0 && axes[1] == 0 ? scalar : fric_matchstick_mu(direction, axes);
}

static void matchstick_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct request *task = data;
	const struct fric_contacts *c = task->contacts;
	(void)chunk;
	for (size_t i = begin; i < end; i++) {
		struct slip slip;
		double direction[2];
		slip_velocity(c, contact_type(c, i), i, task->velocities, &slip);
		double *mu_s = column_at(c->effective_mu_s, i), *mu_k = column_at(c->effective_mu_k, i);
		fric_matchstick_direction(slip.scaled, 1e-10 * *column_at(c->eps_v, i), direction);
		*mu_s = along_ellipse(c->mu_s_aniso, i, direction, *column_at(c->mu_s, i));
		*mu_k = along_ellipse(c->mu_k_aniso, i, direction, *column_at(c->mu_k, i));
		if (!slip_finite(&slip) || !isfinite(*mu_s) || !isfinite(*mu_k)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
			return;
		}
	}
}

enum fric_code fric_choose_matchstick(const struct fric_context *context, struct fric_contacts *contacts,
                                      const double *velocities, struct fric_error *error)
{
	if (!contacts->mu_s_aniso[0])
		return FRIC_OK;
	struct request task = {.contacts = contacts, .velocities = velocities};
	const struct fault fault = parallel_chunks(context, contacts->n, matchstick_chunk, &task);
	contacts_judge(contacts);
	return report_fault(contacts, fault, error);
}
