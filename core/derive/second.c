#include "core/derive/second.h"

#include "core/prepare/coefficients.h"
#include "core/prepare/matchstick.h"

void fricp_second_prepare(const struct fric_derivation *derivation, const struct fric_differential *tangents,
                          struct second *second)
{
	fricp_vertex_derivation(derivation, tangents, &second->vertices);
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		fricp_find_links(derivation->batch, type, tangents, &second->links[type]);
	if (derivation->contacts->bodies)
		fricp_body_derivation(derivation, tangents, &second->bodies);
}

/* A product of cotangent and factor changes with the factor, too: what the tangents of weight and normal force add. */
static void add_product(const struct force_inputs *of, const long double *tangent, struct inputs *out)
{
	out->at[AT_WEIGHT] += of->s * tangent[AT_NORMAL_FORCE];
	out->at[AT_NORMAL_FORCE] += of->s * tangent[AT_WEIGHT];
}

/* ---- at vertices ---- */

static void tangents_of(const struct second *second, const struct vertex_point *p, struct inputs *t)
{
	const double *v = second->vertices.differential->fields[FRIC_BY_VELOCITIES];
	struct motion motion;
	*t = (struct inputs){{0}};
	read_links(&second->links[p->type], p->row, t);
	if (!v)
		return;
	motion_of(second->vertices.contacts, p->type, p->i, v, &motion);
	for (int d = 0; d < 3; d++)
		t->at[AT_RELATIVE + d] = motion.relative[d];
}

/* Whether a coefficient of a kind is that of an ellipse, which no blend changes. */
static bool has_ellipse(const struct vertex_derivation *task, const struct vertex_point *p, int kind)
{
	double *const *columns = kind == 0 ? task->contacts->mu_s_aniso : task->contacts->mu_k_aniso;
	return task->slip_velocities && is_ellipse((const double[2]){columns[0][p->i], columns[1][p->i]});
}

/* What the blends' second derivatives add. @param mu the cotangent of the coefficient of a kind */
static void add_blend(const struct second *second, const struct vertex_point *p, int kind, long double mu,
                      struct inputs *out)
{
	const struct fric_contacts *c = second->vertices.contacts;
	const struct fric_friction *f = &second->vertices.batch->friction;
	const double closest_point[2] = {c->closest_point[0][p->i], c->closest_point[1][p->i]};
	const enum place members = kind == 0 ? AT_VERTEX_MU_S : AT_VERTEX_MU_K;
	int32_t stencil[FRIC_MAX_STENCIL];
	long double by[FRIC_MAX_STENCIL];
	if (f->source != FRIC_MU_VERTEX || second->vertices.cases[p->type].own_mu ||
	    has_ellipse(&second->vertices, p, kind))
		return;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		stencil[k] = c->vertices[k][p->i];
	fricp_coefficient_bends(f, p->type, stencil, closest_point, kind == 0 ? f->vertex_mu_s : f->vertex_mu_k,
	                        second->vertices.differential->fields[FRIC_BY_VERTEX_MU_S + kind], by);
	for (int k = 0; k < fric_stencil_size(p->type); k++)
		out->at[(int)members + k] += coefficient_share(by[k], mu);
}

void fricp_vertex_second(const struct second *second, const struct vertex_derivation *task,
                         const struct vertex_point *point, struct inputs *out)
{
	static const long double none[MOST_SLIP];
	struct inputs tangent;
	struct force_inputs change, of, turned;
	tangents_of(second, point, &tangent);
	fricp_vertex_inputs(&second->vertices, point, &tangent, &change);
	fricp_force_cotangent(&point->force, 1, none, &of);
	fricp_force_second(&task->contacts->table, &point->force, &change, &turned);
	fricp_vertex_back(task, point, &turned, out);
	add_product(&of, tangent.at, out);
	add_blend(second, point, 0, of.mu_s, out);
	add_blend(second, point, 1, of.mu_k, out);
}

/* ---- of bodies ---- */

void fricp_body_second(const struct second *second, const struct body_derivation *task, const struct body_point *point,
                       struct body_cotangents *out)
{
	static const long double none[MOST_SLIP];
	struct inputs tangent = {{0}};
	struct force_inputs change, of, turned;
	read_links(&second->bodies.links[point->type], point->row, &tangent);
	fricp_body_inputs(&second->bodies, point, &change);
	fricp_force_cotangent(&point->force, 1, none, &of);
	fricp_force_second(&task->b->table, &point->force, &change, &turned);
	fricp_body_back(task, point, &turned, out);
	add_product(&of, tangent.at, &out->inputs);
}
