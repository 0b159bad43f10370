#include "core/derive/second.h"

#include "core/prepare/coefficients.h"

void fricp_second_prepare(const struct fric_derivation *derivation, const struct fric_differential *tangents,
                          struct second *second)
{
	fricp_point_task(derivation, tangents, false, &second->vertices);
	if (derivation->contacts->bodies)
		fricp_point_task(derivation, tangents, true, &second->bodies);
}

/* Adds the terms of the product rule for the tangents of weight and normal force, whose product is s. */
static void add_product(const struct force_inputs *of, const long double *tangent, struct inputs *out)
{
	out->at[AT_WEIGHT] += of->s * tangent[AT_NORMAL_FORCE];
	out->at[AT_NORMAL_FORCE] += of->s * tangent[AT_WEIGHT];
}

/* Adds the second derivatives of a blend, unless the coefficient comes from an ellipse.
 * @param mu  cotangent of the coefficient of this kind */
static void add_blend(const struct point_task *along, const struct contact_point *p, int kind, long double mu,
                      struct inputs *out)
{
	const struct fric_contacts *c = along->contacts;
	const struct fric_friction *f = &along->batch->friction;
	const double closest_point[2] = {c->closest_point[0][p->i], c->closest_point[1][p->i]};
	const enum place members = kind == 0 ? AT_VERTEX_MU_S : AT_VERTEX_MU_K;
	int32_t stencil[FRIC_MAX_STENCIL];
	long double by[FRIC_MAX_STENCIL];
	if (f->source != FRIC_MU_VERTEX || along->cases[p->type].own_mu || fricp_has_ellipse(along, p, kind))
		return;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		stencil[k] = c->vertices[k][p->i];
	fricp_coefficient_second_derivatives(f, p->type, stencil, closest_point,
	                                     kind == 0 ? f->vertex_mu_s : f->vertex_mu_k,
	                                     along->differential->fields[FRIC_WRT_VERTEX_MU_S + kind], by);
	for (int k = 0; k < fric_stencil_size(p->type); k++)
		out->at[(int)members + k] += coefficient_share(by[k], mu);
}

/* Computes second derivatives; takes the place of fricp_point_cotangent. */
static void second_of(const struct point_task *along, const struct point_task *task, const struct contact_point *point,
                      struct inputs *out)
{
	static const long double none[MOST_SLIP];
	struct inputs tangent;
	struct force_inputs change, of, turned;
	fricp_point_gather(along, point, &tangent);
	fricp_point_forth(along, point, &tangent, &change);
	fricp_force_cotangent(&point->force, 1, none, &of);
	fricp_force_second(&point->force, &change, &turned);
	fricp_point_back(task, point, &turned, out);
	add_product(&of, tangent.at, out);
	add_blend(along, point, 0, of.mu_s, out);
	add_blend(along, point, 1, of.mu_k, out);
}

void fricp_contact_cotangent(const struct point_task *task, const struct point_task *along, enum fric_type type,
                             size_t i, long double psi, const double *cotangent, struct inputs *out)
{
	struct contact_point point;
	*out = (struct inputs){{0}};
	if (task->contacts->skipped[i])
		return;
	fricp_point_at(task, type, i, &point);
	if (along)
		second_of(along, task, &point, out);
	else
		fricp_point_cotangent(task, &point, psi, cotangent, out);
	out->at[AT_CURVE_PLACE] = point.force.x;
}
