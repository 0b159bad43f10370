#include "core/derive/vertices.h"

#include <math.h>

#include "core/geometry/derivative.h"
#include "core/prepare/barrier.h"
#include "core/prepare/coefficients.h"
#include "core/prepare/matchstick.h"

static bool any_row(const struct fric_differential *d, enum fric_type type, enum fric_row row)
{
	return d->rows[type][row] != NULL;
}

static struct vertex_case case_of(const struct fric_batch *batch, const struct fric_differential *differential,
                                  enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	return (struct vertex_case){
		.moves = !g->tangent_basis.data &&
	             (differential->fields[FRIC_BY_POSITIONS] || any_row(differential, type, FRIC_ROW_PLANE_NORMAL) ||
	              any_row(differential, type, FRIC_ROW_PLANE_ORIGIN) || any_row(differential, type, FRIC_ROW_GRAIN)),
		.has_barrier = !g->normal_force.data,
		.has_grain = g->grain.data != NULL,
		.own_mu = g->mu_s.data != NULL};
}

void fricp_vertex_derivation(const struct fric_derivation *derivation, const struct fric_differential *differential,
                             struct vertex_derivation *out)
{
	const struct fric_question *question = derivation->question;
	const bool effective = question->state && question->state->effective.mu_s.data && derivation->slip_velocities;
	*out = (struct vertex_derivation){.batch = derivation->batch,
	                                  .contacts = derivation->contacts,
	                                  .mu = coefficients_for(derivation->contacts, question),
	                                  .velocities = question->velocities,
	                                  .slip_velocities = effective ? derivation->slip_velocities : NULL,
	                                  .follows = effective && derivation->vertices_follow,
	                                  .differential = differential};
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		out->cases[type] = case_of(derivation->batch, differential, type);
}

/* ---- where a contact is ---- */

static const double *row_of(struct fric_values values, size_t row)
{
	return values.data + row * values.stride;
}

static void find_frame(const struct fric_contacts *c, size_t i, struct frame *frame)
{
	*frame = (struct frame){.mu_aniso = {1, 1}};
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		frame->basis[e] = c->tangent_basis[e][i];
	for (int t = 0; t < c->dim - 1; t++)
		frame->mu_aniso[t] = *column_at(c->mu_aniso[t], i);
}

/* What is added to Gamma v. */
static void add_offsets(const struct fric_contacts *c, size_t i, const struct motion *motion, long double bare[3],
                        long double pulled[3])
{
	for (int d = 0; d < 3; d++) {
		const bool leaves = d < c->dim && c->surface_velocity[0].data, pulls = d < c->dim && c->anchor[0].data;
		bare[d] = motion->relative[d] - (leaves ? (long double)*column_at(c->surface_velocity[d], i) : 0);
		pulled[d] = bare[d] + (pulls ? (long double)*column_at(c->anchor[d], i) : 0);
	}
}

static void find_lagged(const struct vertex_derivation *task, struct vertex_point *p)
{
	const struct fric_contacts *c = task->contacts;
	long double bare[3];
	struct slip slip;
	motion_of(c, p->type, p->i, task->slip_velocities, &p->lagged);
	add_offsets(c, p->i, &p->lagged, bare, p->lagged_pulled);
	slip_velocity(c, p->type, p->i, task->slip_velocities, &slip);
	for (int t = 0; t < 2; t++)
		p->lagged_slip[t] = slip.scaled[t];
}

void fricp_vertex_point(const struct vertex_derivation *task, enum fric_type type, size_t i, struct vertex_point *point)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	point->type = type;
	point->i = i;
	point->row = i - c->start[type];
	find_frame(c, i, &point->frame);
	for (int j = 0; j < 2; j++)
		point->closest_point[j] = c->closest_point[j][i];
	motion_of(c, type, i, task->velocities, &point->now);
	add_offsets(c, i, &point->now, point->bare, point->pulled);
	if (task->slip_velocities)
		find_lagged(task, point);
	slip_velocity(c, type, i, task->velocities, &slip);
	fricp_force_point(c, task->mu, i, &slip, &point->force);
	if (!c->viscous.data) /* then there is no drag, which has a derivative by viscous all the same */
		project(c->dim, &point->frame, point->bare, point->force.at.bare);
}

static void geometry_inputs_of(const struct vertex_derivation *task, const struct vertex_point *p,
                               struct geometry_inputs *at)
{
	const struct fric_batch *batch = task->batch;
	const struct fric_group *g = &batch->groups[p->type];
	const int dim = batch->dim;
	*at = (struct geometry_inputs){.position = {{0}}};
	for (int k = 0; k < fric_stencil_size(p->type) && batch->positions; k++)
		for (int d = 0; d < dim; d++)
			at->position[k][d] = batch->positions[(size_t)task->contacts->vertices[k][p->i] * (size_t)dim + (size_t)d];
	for (int d = 0; d < dim; d++) {
		at->normal[d] = g->plane_normal.data ? row_of(g->plane_normal, p->row)[d] : 0;
		at->origin[d] = g->plane_origin.data ? row_of(g->plane_origin, p->row)[d] : 0;
		at->grain[d] = g->grain.data ? row_of(g->grain, p->row)[d] : 0;
	}
}

static struct geometry_case geometry_case_of(const struct vertex_derivation *task, enum fric_type type)
{
	const struct vertex_case *of = &task->cases[type];
	return (struct geometry_case){type, task->batch->dim, of->has_barrier, of->has_grain};
}

static void barrier_slopes_of(const struct vertex_derivation *task, const struct vertex_point *p,
                              struct barrier_slopes *slopes)
{
	fricp_barrier_slopes(&task->batch->barrier, task->contacts->distance[p->i], slopes);
}

void fricp_vertex_coefficient(const struct vertex_derivation *task, enum fric_type type, size_t i, int kind,
                              struct coefficient_slopes *slopes)
{
	const struct fric_friction *f = &task->batch->friction;
	const struct fric_contacts *c = task->contacts;
	const double *const vertex_mu[2] = {f->vertex_mu_s, f->vertex_mu_k}, *const table[2] = {f->material_mu_s,
	                                                                                        f->material_mu_k};
	const double closest_point[2] = {c->closest_point[0][i], c->closest_point[1][i]};
	int32_t stencil[FRIC_MAX_STENCIL];
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		stencil[k] = c->vertices[k][i];
	fricp_coefficient_slopes(f, type, stencil, closest_point,
	                         f->source == FRIC_MU_VERTEX ? vertex_mu[kind] : table[kind], slopes);
}

/* Whether the coefficients of a contact vary with its closest point, with vertices or with a table. */
static bool blends(const struct vertex_derivation *task, enum fric_type type)
{
	const enum fric_mu_source source = task->batch->friction.source;
	return !task->cases[type].own_mu && (source == FRIC_MU_VERTEX || source == FRIC_MU_TABLE);
}

/* @return whether the coefficient of a kind is that of an ellipse */
static bool find_ellipse(const struct vertex_derivation *task, const struct vertex_point *p,
                         const struct matchstick *along, int kind, struct ellipse_slopes *slopes)
{
	const struct fric_contacts *c = task->contacts;
	double *const *columns = kind == 0 ? c->mu_s_aniso : c->mu_k_aniso;
	const double axes[2] = {columns[0][p->i], columns[1][p->i]};
	if (!is_ellipse(axes))
		return false;
	ellipse_slopes(axes, along->direction, slopes);
	return true;
}

static struct matchstick matchstick_of(const struct vertex_derivation *task, const struct vertex_point *p)
{
	return matchstick_along(p->lagged_slip, *column_at(task->contacts->eps_v, p->i));
}

static const enum place ellipse_axes[2] = {AT_MU_S_ANISO, AT_MU_K_ANISO};

/* ---- forwards ---- */

/* Tangents of what geometry, barrier and coefficients give. */
struct lagged_tangents {
	struct frame frame;
	long double turn; /* of the basis in its plane, which frame.basis lacks where it is derived */
	long double closest_point[2], normal_force, mu[2];
};

static void geometry_forwards(const struct vertex_derivation *task, const struct vertex_point *p,
                              const struct inputs *t, struct geometry_values *out, long double *turn)
{
	const struct geometry_case contact = geometry_case_of(task, p->type);
	const bool directed = directions_differ(task->contacts, p->i, task->follows);
	struct geometry_inputs at, tangent = {.position = {{0}}};
	geometry_inputs_of(task, p, &at);
	for (int d = 0; d < 3; d++) {
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			tangent.position[k][d] = t->at[AT_POSITION + 3 * k + d];
		tangent.normal[d] = t->at[AT_PLANE_NORMAL + d];
		tangent.origin[d] = t->at[AT_PLANE_ORIGIN + d];
		tangent.grain[d] = directed ? t->at[AT_GRAIN + d] : 0;
	}
	fricp_geometry_tangent(&contact, &at, &tangent, out, turn);
}

static void given_geometry(const struct inputs *t, struct geometry_values *out)
{
	*out = (struct geometry_values){.closest_point = {t->at[AT_CLOSEST_POINT], t->at[AT_CLOSEST_POINT + 1]}};
	for (int e = 0; e < 6; e++)
		out->tangent_basis[e] = t->at[AT_TANGENT_BASIS + e];
}

static long double force_forwards(const struct vertex_derivation *task, const struct vertex_point *p,
                                  const struct inputs *t, long double distance)
{
	struct barrier_slopes by;
	if (!task->cases[p->type].has_barrier)
		return t->at[AT_NORMAL_FORCE];
	barrier_slopes_of(task, p, &by);
	return by.by_distance * distance + by.by_dhat * t->at[AT_DHAT] + by.by_stiffness * t->at[AT_STIFFNESS] +
	       by.by_dmin * t->at[AT_DMIN];
}

/* The tangent of the numbers that coefficients are blended from. */
static const double *source_tangent(const struct vertex_derivation *task, int kind)
{
	const bool table = task->batch->friction.source == FRIC_MU_TABLE;
	const enum fric_field first = table ? FRIC_BY_MATERIAL_MU_S : FRIC_BY_VERTEX_MU_S;
	return task->differential->fields[(int)first + kind];
}

static long double mu_forwards(const struct vertex_derivation *task, const struct vertex_point *p,
                               const struct inputs *t, const long double closest_point[2], int kind)
{
	struct coefficient_slopes by;
	if (!blends(task, p->type))
		return t->at[AT_MU_S + kind];
	fricp_vertex_coefficient(task, p->type, p->i, kind, &by);
	return coefficient_tangent(&by, source_tangent(task, kind), closest_point);
}

static void lagged_forwards(const struct vertex_derivation *task, const struct vertex_point *p, const struct inputs *t,
                            struct lagged_tangents *out)
{
	struct geometry_values geometry;
	out->turn = 0;
	if (task->cases[p->type].moves)
		geometry_forwards(task, p, t, &geometry, &out->turn);
	else
		given_geometry(t, &geometry);
	for (int e = 0; e < 6; e++)
		out->frame.basis[e] = geometry.tangent_basis[e];
	for (int a = 0; a < 2; a++) {
		out->frame.mu_aniso[a] = t->at[AT_MU_ANISO + a];
		out->closest_point[a] = geometry.closest_point[a];
	}
	out->normal_force = force_forwards(task, p, t, geometry.distance);
	for (int kind = 0; kind < 2; kind++)
		out->mu[kind] = mu_forwards(task, p, t, out->closest_point, kind);
}

/* Tangents of a relative velocity without and with the anchor. @param gathered Gamma of a tangent */
static void motion_forwards(const struct motion *motion, const struct inputs *t, enum place gathered,
                            const long double closest_point[2], long double bare[3], long double pulled[3])
{
	for (int d = 0; d < 3; d++) {
		bare[d] = t->at[(int)gathered + d] + closest_point[0] * motion->by_point[0][d] +
		          closest_point[1] * motion->by_point[1][d] - t->at[AT_SURFACE_VELOCITY + d];
		pulled[d] = bare[d] + t->at[AT_ANCHOR + d];
	}
}

/* From the coefficients of contacts to those along an ellipse. */
static void ellipses_forwards(const struct vertex_derivation *task, const struct vertex_point *p,
                              const struct inputs *t, struct lagged_tangents *lagged)
{
	const struct matchstick along = matchstick_of(task, p);
	long double bare[3], pulled[3], slip[2], turn = 0;
	struct ellipse_slopes by;
	if (task->follows) {
		motion_forwards(&p->lagged, t, AT_LAGGED, lagged->closest_point, bare, pulled);
		project_tangent(task->batch->dim, &p->frame, p->lagged_pulled, &lagged->frame, pulled, slip);
		add_turn(task->batch->dim, &p->frame, p->lagged_pulled, lagged->turn, slip);
		turn = matchstick_turn(&along, slip);
	}
	for (int kind = 0; kind < 2; kind++) {
		const long double *axes = &t->at[ellipse_axes[kind]];
		if (find_ellipse(task, p, &along, kind, &by))
			lagged->mu[kind] = by.by_axis[0] * axes[0] + by.by_axis[1] * axes[1] + by.by_turn * turn;
	}
}

static void force_inputs_of(const struct vertex_derivation *task, const struct vertex_point *p, const struct inputs *t,
                            const struct lagged_tangents *lagged, struct force_inputs *out)
{
	const struct fric_contacts *c = task->contacts;
	const long double weight = *column_at(c->weight, p->i), normal_force = *column_at(c->normal_force, p->i);
	long double bare[3], pulled[3];
	*out = (struct force_inputs){.s = t->at[AT_WEIGHT] * normal_force + weight * lagged->normal_force,
	                             .mu_s = lagged->mu[0],
	                             .mu_k = lagged->mu[1],
	                             .eps_v = t->at[AT_EPS_V],
	                             .unit = t->at[AT_STRIBECK_SPEED],
	                             .viscous = t->at[AT_VISCOUS]};
	motion_forwards(&p->now, t, AT_RELATIVE, lagged->closest_point, bare, pulled);
	project_tangent(c->dim, &p->frame, p->pulled, &lagged->frame, pulled, out->u);
	add_uneven_turn(c->dim, &p->frame, p->pulled, lagged->turn, out->u);
	if (c->viscous.data) {
		project_tangent(c->dim, &p->frame, p->bare, &lagged->frame, bare, out->bare);
		add_uneven_turn(c->dim, &p->frame, p->bare, lagged->turn, out->bare);
	}
	if (task->curve) {
		const struct law_shape_l change = table_change(&c->table, task->curve, p->force.x);
		out->curve[0] = change.a;
		out->curve[1] = change.c;
	}
}

/* All the way to what the force depends on. */
static void forwards(const struct vertex_derivation *task, const struct vertex_point *point,
                     const struct inputs *tangent, struct lagged_tangents *lagged, struct force_inputs *inputs)
{
	lagged_forwards(task, point, tangent, lagged);
	if (task->slip_velocities)
		ellipses_forwards(task, point, tangent, lagged);
	force_inputs_of(task, point, tangent, lagged, inputs);
}

void fricp_vertex_inputs(const struct vertex_derivation *task, const struct vertex_point *point,
                         const struct inputs *tangent, struct force_inputs *out)
{
	struct lagged_tangents lagged;
	forwards(task, point, tangent, &lagged, out);
}

void fricp_vertex_tangent(const struct vertex_derivation *task, const struct vertex_point *point,
                          const struct inputs *tangent, struct vertex_change *change)
{
	const int dim = task->batch->dim;
	struct lagged_tangents lagged;
	struct force_inputs inputs;
	long double force[MOST_SLIP], bent[MOST_SLIP];
	forwards(task, point, tangent, &lagged, &inputs);
	fricp_force_tangent(&point->force, &inputs, &change->potential, bent);
	force_of_point(&point->force, force);
	unproject(dim, &point->frame, force, change->force);
	unproject_tangent(dim, &point->frame, force, &lagged.frame, bent, change->force_tangent);
	add_uneven_turn_of_force(dim, &point->frame, force, lagged.turn, change->force_tangent);
	for (int j = 0; j < 2; j++)
		change->closest_point[j] = lagged.closest_point[j];
}

/* ---- backwards ---- */

/* Cotangents of what lies between fields and force. */
struct lagged_cotangents {
	struct frame frame;
	long double turn; /* of the basis in its plane, 3D: in frame.basis it is a difference of large numbers */
	long double closest_point[2], distance;
};

static void motion_backwards(const struct motion *motion, const long double relative[3], struct lagged_cotangents *out)
{
	for (int j = 0; j < 2; j++)
		for (int d = 0; d < 3; d++)
			out->closest_point[j] += relative[d] * motion->by_point[j][d];
}

/* From those of u, bare and q to those of the frame, velocities and what is added to them. */
static void slips_backwards(const struct vertex_derivation *task, const struct vertex_point *p,
                            const struct force_inputs *force, const struct motion *gradient,
                            struct lagged_cotangents *lagged, struct inputs *out)
{
	const int dim = task->batch->dim;
	long double pulled[3] = {0}, bare[3] = {0}, other[3] = {0}, q[MOST_SLIP];
	force_of_point(&p->force, q);
	project_cotangent(dim, &p->frame, p->pulled, force->u, &lagged->frame, pulled);
	if (task->contacts->viscous.data)
		project_cotangent(dim, &p->frame, p->bare, force->bare, &lagged->frame, bare);
	project_cotangent(dim, &p->frame, gradient->relative, q, &lagged->frame, other);
	if (dim == 3)
		lagged->turn = uneven_turn_cotangent(&p->frame, p->pulled, force->u) +
		               uneven_turn_cotangent(&p->frame, p->bare, force->bare) +
		               uneven_turn_cotangent(&p->frame, gradient->relative, q);
	for (int d = 0; d < dim; d++) {
		out->at[AT_RELATIVE + d] = pulled[d] + bare[d];
		out->at[AT_SURFACE_VELOCITY + d] -= pulled[d] + bare[d];
		out->at[AT_ANCHOR + d] += pulled[d];
	}
	motion_backwards(&p->now, &out->at[AT_RELATIVE], lagged);
	motion_backwards(gradient, other, lagged);
}

static void ellipses_backwards(const struct vertex_derivation *task, const struct vertex_point *p, long double mu[2],
                               struct lagged_cotangents *lagged, struct inputs *out)
{
	const struct matchstick along = matchstick_of(task, p);
	long double turn = 0, slip[2], pulled[3] = {0};
	struct ellipse_slopes by;
	for (int kind = 0; kind < 2; kind++) {
		if (!find_ellipse(task, p, &along, kind, &by))
			continue;
		for (int a = 0; a < 2; a++)
			out->at[(int)ellipse_axes[kind] + a] = by.by_axis[a] * mu[kind];
		turn += by.by_turn * mu[kind];
		mu[kind] = 0;
	}
	if (!task->follows)
		return;
	matchstick_turn_cotangent(&along, turn, slip);
	project_cotangent(task->batch->dim, &p->frame, p->lagged_pulled, slip, &lagged->frame, pulled);
	lagged->turn += turn_cotangent(&p->frame, p->lagged_pulled, slip); /* ellipses are in 3D */
	for (int d = 0; d < task->batch->dim; d++) {
		out->at[AT_LAGGED + d] = pulled[d];
		out->at[AT_SURFACE_VELOCITY + d] -= pulled[d];
		out->at[AT_ANCHOR + d] += pulled[d];
	}
	motion_backwards(&p->lagged, pulled, lagged);
}

/* The member that a coefficient's number k belongs to. */
static int member_at(const struct vertex_derivation *task, const struct vertex_point *p, size_t vertex)
{
	int k = 0;
	while (k + 1 < fric_stencil_size(p->type) && (size_t)task->contacts->vertices[k][p->i] != vertex)
		k++;
	return k;
}

static void mu_backwards(const struct vertex_derivation *task, const struct vertex_point *p, int kind, long double mu,
                         struct lagged_cotangents *lagged, struct inputs *out)
{
	const bool at_vertices = task->batch->friction.source == FRIC_MU_VERTEX;
	const enum place members = kind == 0 ? AT_VERTEX_MU_S : AT_VERTEX_MU_K;
	struct coefficient_slopes by;
	out->at[AT_MU_S + kind] = mu;
	if (!blends(task, p->type))
		return;
	fricp_vertex_coefficient(task, p->type, p->i, kind, &by);
	for (int j = 0; j < 2; j++)
		lagged->closest_point[j] += coefficient_share(by.by_closest_point[j], mu);
	for (int k = 0; k < by.n && at_vertices; k++)
		out->at[(int)members + member_at(task, p, by.at[k])] += coefficient_share(by.by[k], mu);
}

static void force_backwards(const struct vertex_derivation *task, const struct vertex_point *p, long double s,
                            struct lagged_cotangents *lagged, struct inputs *out)
{
	const struct fric_contacts *c = task->contacts;
	const long double normal_force = s * *column_at(c->weight, p->i);
	struct barrier_slopes by;
	out->at[AT_WEIGHT] = s * *column_at(c->normal_force, p->i);
	out->at[AT_NORMAL_FORCE] = normal_force;
	if (!task->cases[p->type].has_barrier)
		return;
	barrier_slopes_of(task, p, &by);
	out->at[AT_DHAT] = normal_force * by.by_dhat;
	out->at[AT_STIFFNESS] = normal_force * by.by_stiffness;
	out->at[AT_DMIN] = normal_force * by.by_dmin;
	lagged->distance = normal_force * by.by_distance;
}

static void geometry_backwards(const struct vertex_derivation *task, const struct vertex_point *p,
                               const struct lagged_cotangents *lagged, struct inputs *out)
{
	const struct geometry_case contact = geometry_case_of(task, p->type);
	struct geometry_values cotangent = {.closest_point = {lagged->closest_point[0], lagged->closest_point[1]},
	                                    .distance = lagged->distance};
	const bool directed = directions_differ(task->contacts, p->i, task->follows);
	struct geometry_inputs at, inputs;
	for (int e = 0; e < 6; e++)
		cotangent.tangent_basis[e] = lagged->frame.basis[e];
	geometry_inputs_of(task, p, &at);
	fricp_geometry_cotangent(&contact, &at, &cotangent, &lagged->turn, &inputs);
	for (int d = 0; d < task->batch->dim; d++) {
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			out->at[AT_POSITION + 3 * k + d] = inputs.position[k][d];
		out->at[AT_PLANE_NORMAL + d] = inputs.normal[d];
		out->at[AT_PLANE_ORIGIN + d] = inputs.origin[d];
		out->at[AT_GRAIN + d] = directed ? inputs.grain[d] : 0;
	}
}

/* From what the force depends on all the way back. @param gradient  of the gradient's cotangent */
static void backwards(const struct vertex_derivation *task, const struct vertex_point *point,
                      const struct force_inputs *force, const struct motion *gradient, struct inputs *out)
{
	struct lagged_cotangents lagged = {.distance = 0};
	long double mu[2] = {force->mu_s, force->mu_k};
	*out = (struct inputs){{0}};
	slips_backwards(task, point, force, gradient, &lagged, out);
	if (task->slip_velocities)
		ellipses_backwards(task, point, mu, &lagged, out);
	for (int kind = 0; kind < 2; kind++)
		mu_backwards(task, point, kind, mu[kind], &lagged, out);
	force_backwards(task, point, force->s, &lagged, out);
	out->at[AT_EPS_V] = force->eps_v;
	out->at[AT_STRIBECK_SPEED] = force->unit;
	out->at[AT_VISCOUS] = force->viscous;
	for (int j = 0; j < 2; j++) {
		out->at[AT_MU_ANISO + j] = lagged.frame.mu_aniso[j];
		out->at[AT_CLOSEST_POINT + j] = lagged.closest_point[j];
		out->at[AT_CURVE + j] = force->curve[j];
	}
	for (int e = 0; e < 6; e++)
		out->at[AT_TANGENT_BASIS + e] = lagged.frame.basis[e];
	if (task->cases[point->type].moves)
		geometry_backwards(task, point, &lagged, out);
}

void fricp_vertex_back(const struct vertex_derivation *task, const struct vertex_point *point,
                       const struct force_inputs *force, struct inputs *out)
{
	const struct motion none = {.relative = {0}};
	backwards(task, point, force, &none, out);
}

void fricp_vertex_cotangent(const struct vertex_derivation *task, const struct vertex_point *point, long double psi,
                            const double *cotangent, struct inputs *out)
{
	struct force_inputs force;
	struct motion gradient;
	long double q[MOST_SLIP];
	motion_of(task->contacts, point->type, point->i, cotangent, &gradient);
	project(task->batch->dim, &point->frame, gradient.relative, q);
	fricp_force_cotangent(&point->force, psi, q, &force);
	backwards(task, point, &force, &gradient, out);
}
