#include "core/derive/point.h"

#include "core/geometry/derivative.h"
#include "core/geometry/features.h"
#include "core/barrier/barrier.h"
#include "core/prepare/coefficients.h"
#include "core/prepare/matchstick.h"

static bool any_row(const struct fric_differential *d, enum fric_type type, enum fric_row row)
{
	return d->rows[type][row] != NULL;
}

static struct point_case case_of(const struct fric_batch *batch, const struct fric_differential *d, enum fric_type type)
{
	const struct fric_group *g = &batch->groups[type];
	const bool bodies = is_of_bodies(type), grain = any_row(d, type, FRIC_ROW_GRAIN);
	const bool tilts = bodies && (any_row(d, type, FRIC_ROW_NORMAL) || grain);
	const bool moved = !bodies && (d->fields[FRIC_WRT_POSITIONS] || any_row(d, type, FRIC_ROW_PLANE_NORMAL) ||
	                               any_row(d, type, FRIC_ROW_PLANE_ORIGIN) || grain);
	return (struct point_case){.moves = !g->tangent_basis.data && (tilts || moved),
	                           .tilts = tilts,
	                           .has_barrier = !bodies && !g->normal_force.data,
	                           .has_grain = g->grain.data != NULL,
	                           .own_mu = g->mu_s.data != NULL};
}

void fricp_point_task(const struct fric_derivation *derivation, const struct fric_differential *differential,
                      bool bodies, struct point_task *task)
{
	const struct fric_contacts *c = derivation->contacts;
	const struct fric_query *query = derivation->query;
	const struct fric_state *state = bodies && query->state ? query->state->bodies : query->state;
	const bool effective = state && state->effective.mu_s.data && derivation->slip_velocities;
	*task = (struct point_task){
		.batch = derivation->batch,
		.contacts = bodies ? c->bodies : c,
		.mu = bodies ? body_coefficients_for(c, query) : coefficients_for(c, query),
		.velocities = query->velocities,
		.slip_velocities = effective ? derivation->slip_velocities : NULL,
		.follows = effective && (bodies ? derivation->bodies_follow : derivation->vertices_follow),
		.differential = differential,
	};
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		if (is_of_bodies(type) != bodies)
			continue;
		task->cases[type] = case_of(derivation->batch, differential, type);
		fricp_find_links(derivation->batch, type, differential, &task->links[type]);
	}
}

/* ---- the contact point ---- */

/* Whether the first direction of a contact's basis differs from the second in its effect. If not, the exact derivative
 * with respect to the grain is zero, and the computed one would be pure rounding error. */
static bool directions_differ(const struct point_task *task, size_t i)
{
	const struct fric_contacts *c = task->contacts;
	bool differ = c->dim == 3 && *column_at(c->mu_aniso[0], i) != *column_at(c->mu_aniso[1], i);
	if (task->follows) /* only in 3D */
		differ |= c->mu_s_aniso[0][i] != c->mu_s_aniso[1][i] || c->mu_k_aniso[0][i] != c->mu_k_aniso[1][i];
	return differ;
}

/* The number of slip components for spinning and rolling. */
static int n_turning(const struct point_task *task, const struct contact_point *p)
{
	return p->force.n - (task->batch->dim - 1);
}

static const double *row_of(struct fric_values values, size_t row)
{
	return values.data + row * values.stride;
}

/* A derived basis tilts with its normal, which turns spin and rolling into each other. A rotation of the whole slip has
 * no effect, so subtract one that leaves the fraction (R^2 - r^2)/(R^2 + r^2) of the tilt for spin, and its negative
 * for rolling. Then nothing cancels as the radii R and r approach each other. */
static void find_tilt(bool given_basis, struct frame *frame)
{
	const long double spin = frame->spin, roll = frame->roll, squares = spin * spin + roll * roll;
	frame->tilt[0] = frame->tilt[1] = 1;
	if (given_basis)
		return;
	frame->tilt[0] = squares > 0 ? (spin - roll) * (spin + roll) / squares : 0;
	frame->tilt[1] = -frame->tilt[0];
}

static void find_frame(const struct fric_contacts *c, enum fric_type type, size_t i, struct frame *frame)
{
	*frame = (struct frame){.mu_aniso = {1, 1}};
	for (int e = 0; e < c->dim * (c->dim - 1); e++)
		frame->basis[e] = c->tangent_basis[e][i];
	for (int t = 0; t < c->dim - 1; t++)
		frame->mu_aniso[t] = *column_at(c->mu_aniso[t], i);
	if (!is_of_bodies(type))
		return;
	for (int d = 0; d < 3; d++)
		frame->normal[d] = c->normal[d][i];
	frame->spin = *column_at(c->spin_radius, i);
	frame->roll = *column_at(c->roll_radius, i);
	find_tilt(c->given_basis[type], frame);
}

static void add_offsets(const struct fric_contacts *c, size_t i, const long double relative[3], long double bare[3],
                        long double pulled[3])
{
	for (int d = 0; d < 3; d++) {
		const bool leaves = d < c->dim && c->surface_velocity[0].data, pulls = d < c->dim && c->anchor[0].data;
		bare[d] = relative[d] - (leaves ? (long double)*column_at(c->surface_velocity[d], i) : 0);
		pulled[d] = bare[d] + (pulls ? (long double)*column_at(c->anchor[d], i) : 0);
	}
}

static void find_lagged(const struct point_task *task, struct contact_point *p)
{
	long double bare[3];
	struct slip slip;
	fricp_motion_of(task->contacts, p->type, p->i, task->slip_velocities, &p->lagged);
	add_offsets(task->contacts, p->i, p->lagged.relative, bare, p->lagged_pulled);
	contact_slip_velocity(task->contacts, p->type, p->i, task->slip_velocities, &slip);
	for (int t = 0; t < 2; t++)
		p->lagged_slip[t] = slip.scaled[t];
}

void fricp_point_at(const struct point_task *task, enum fric_type type, size_t i, struct contact_point *p)
{
	const struct fric_contacts *c = task->contacts;
	struct slip slip;
	p->type = type;
	p->i = i;
	p->row = i - c->start[type];
	find_frame(c, type, i, &p->frame);
	fricp_motion_of(c, type, i, task->velocities, &p->now);
	add_offsets(c, i, p->now.relative, p->bare, p->pulled);
	if (task->slip_velocities)
		find_lagged(task, p);
	contact_slip_velocity(c, type, i, task->velocities, &slip);
	fricp_force_point(c, task->mu, i, &slip, &p->force);
	if (c->viscous.data) /* without a drag the derivative with respect to viscous still needs `bare` */
		return;
	project(c->dim, &p->frame, p->bare, p->force.at.bare);
	turning(c->dim, n_turning(task, p), &p->frame, p->now.turn, p->force.at.bare + c->dim - 1);
}

static const struct fric_values *normal_of(const struct fric_batch *batch, enum fric_type type)
{
	return is_of_bodies(type) ? &batch->groups[type].normal : &batch->groups[type].plane_normal;
}

static enum place normal_place(enum fric_type type)
{
	return is_of_bodies(type) ? AT_NORMAL : AT_PLANE_NORMAL;
}

/* The feature whose geometry a contact has. */
static struct feature feature_at(const struct point_task *task, const struct contact_point *p)
{
	const struct fric_contacts *c = task->contacts;
	int32_t vertices[FRIC_MAX_STENCIL];
	if (!c->feature || !c->feature[p->i])
		return whole_stencil(p->type);
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		vertices[k] = c->vertices[k][p->i];
	return fricp_feature_of(p->type, c->feature[p->i], vertices);
}

/* The vertex of a feature's member. */
static size_t vertex_at(const struct point_task *task, const struct contact_point *p, const struct feature *f, int k)
{
	return (size_t)task->contacts->vertices[f->member[k]][p->i];
}

static void geometry_at(const struct point_task *task, const struct contact_point *p, const struct feature *feature,
                        struct geometry_case *contact, struct geometry_inputs *at)
{
	const struct fric_batch *batch = task->batch;
	const struct fric_group *g = &batch->groups[p->type];
	const struct fric_values *normal = normal_of(batch, p->type);
	const bool placed = batch->positions && !is_of_bodies(p->type);
	const int dim = batch->dim;
	*contact =
		(struct geometry_case){feature->type, dim, task->cases[p->type].has_barrier, task->cases[p->type].has_grain};
	*at = (struct geometry_inputs){.position = {{0}}};
	for (int k = 0; k < fric_stencil_size(feature->type) && placed; k++)
		for (int d = 0; d < dim; d++)
			at->position[k][d] = batch->positions[vertex_at(task, p, feature, k) * (size_t)dim + (size_t)d];
	for (int d = 0; d < dim; d++) {
		at->normal[d] = normal->data ? row_of(*normal, p->row)[d] : 0;
		if (g->plane_origin.data)
			at->position[stencil_size_of(p->type)][d] = row_of(g->plane_origin, p->row)[d];
		at->grain[d] = g->grain.data ? row_of(g->grain, p->row)[d] : 0;
	}
}

static void barrier_derivatives_of(const struct point_task *task, const struct contact_point *p,
                                   struct barrier_derivatives *derivatives)
{
	fricp_barrier_derivatives(&task->batch->barrier, task->contacts->distance[p->i], derivatives);
}

/* Differentiates a coefficient of a contact that lacks its own. */
static void find_coefficient(const struct point_task *task, enum fric_type type, size_t i, int kind,
                             struct coefficient_derivatives *derivatives)
{
	const struct fric_friction *f = &task->batch->friction;
	const struct fric_contacts *c = task->contacts;
	const double *const vertex_mu[2] = {f->vertex_mu_s, f->vertex_mu_k}, *const table[2] = {f->material_mu_s,
	                                                                                        f->material_mu_k};
	const double closest_point[2] = {c->closest_point[0][i], c->closest_point[1][i]};
	int32_t stencil[FRIC_MAX_STENCIL];
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		stencil[k] = c->vertices[k][i];
	fricp_coefficient_derivatives(f, type, stencil, closest_point,
	                              f->source == FRIC_MU_VERTEX ? vertex_mu[kind] : table[kind], derivatives);
}

/* Whether the coefficients of a type come from vertices or from a pair table. */
static bool blends(const struct point_task *task, enum fric_type type)
{
	const enum fric_mu_source source = task->batch->friction.source;
	return !task->cases[type].own_mu && (source == FRIC_MU_TABLE || (source == FRIC_MU_VERTEX && !is_of_bodies(type)));
}

void fricp_add_to_table(const struct point_task *task, enum fric_type type, size_t i, int kind, long double mu,
                        double *table)
{
	struct coefficient_derivatives by;
	if (!blends(task, type))
		return;
	find_coefficient(task, type, i, kind, &by);
	for (int k = 0; k < by.n; k++)
		table[by.at[k]] += (double)coefficient_share(by.by[k], mu);
}

static void ellipse_of(const struct point_task *task, const struct contact_point *p, int kind, double axes[2])
{
	double *const *columns = kind == 0 ? task->contacts->mu_s_aniso : task->contacts->mu_k_aniso;
	for (int a = 0; a < 2; a++)
		axes[a] = columns[a][p->i];
}

bool fricp_has_ellipse(const struct point_task *task, const struct contact_point *p, int kind)
{
	double axes[2] = {0};
	if (task->slip_velocities)
		ellipse_of(task, p, kind, axes);
	return is_ellipse(axes);
}

/* @return whether the coefficient of this kind comes from an ellipse */
static bool find_ellipse(const struct point_task *task, const struct contact_point *p, const struct matchstick *along,
                         int kind, struct ellipse_derivatives *derivatives)
{
	double axes[2];
	ellipse_of(task, p, kind, axes);
	if (is_ellipse(axes))
		ellipse_derivatives(axes, along->direction, derivatives);
	return is_ellipse(axes);
}

static struct matchstick matchstick_of(const struct point_task *task, const struct contact_point *p)
{
	return matchstick_along(p->lagged_slip, *column_at(task->contacts->eps_v, p->i));
}

static const enum place ellipse_axes[2] = {AT_MU_S_ANISO, AT_MU_K_ANISO};

/* ---- forwards ---- */

static void gather_motion(const struct point_task *task, const struct contact_point *p, const double *v,
                          enum place relative, struct inputs *t)
{
	struct motion motion;
	fricp_motion_of(task->contacts, p->type, p->i, v, &motion);
	for (int d = 0; d < 3; d++)
		t->at[(int)relative + d] = motion.relative[d];
	for (int d = 0; d < 3 && relative == AT_RELATIVE; d++)
		t->at[AT_TURN + d] = motion.turn[d];
}

void fricp_point_gather(const struct point_task *task, const struct contact_point *p, struct inputs *t)
{
	const struct fric_contacts *c = task->contacts;
	double *const *fields = task->differential->fields;
	const double *positions = fields[is_of_bodies(p->type) ? FRIC_WRT_BODY_POSITIONS : FRIC_WRT_POSITIONS];
	*t = (struct inputs){{0}};
	read_links(&task->links[p->type], p->row, t);
	if (fields[FRIC_WRT_VELOCITIES])
		gather_motion(task, p, fields[FRIC_WRT_VELOCITIES], AT_RELATIVE, t);
	if (fields[FRIC_WRT_LAGGED_VELOCITIES] && task->follows)
		gather_motion(task, p, fields[FRIC_WRT_LAGGED_VELOCITIES], AT_LAGGED, t);
	for (int k = 0; k < fric_stencil_size(p->type) && positions; k++)
		for (int d = 0; d < c->dim; d++)
			t->at[AT_POSITION + 3 * k + d] = positions[(size_t)c->vertices[k][p->i] * (size_t)c->dim + (size_t)d];
}

/* Tangents of the values between fields and force. */
struct lagged_tangents {
	struct frame frame;
	long double turn; /* turn of the basis in its plane; if derived, frame.basis excludes it */
	struct lever lever;
	long double normal_force, mu[2];
};

/* @return the tangent of the distance */
static long double geometry_forwards(const struct point_task *task, const struct contact_point *p,
                                     const struct inputs *t, struct lagged_tangents *out)
{
	const struct point_case *of = &task->cases[p->type];
	const bool directed = directions_differ(task, p->i);
	const struct feature feature = feature_at(task, p);
	struct geometry_case contact;
	struct geometry_inputs at, tangent = {.position = {{0}}};
	struct geometry_values values;
	geometry_at(task, p, &feature, &contact, &at);
	for (int d = 0; d < 3; d++) {
		for (int k = 0; k < n_points_of(feature.type); k++)
			tangent.position[k][d] = t->at[position_place(p->type, feature.member[k]) + d];
		tangent.normal[d] = t->at[(int)normal_place(p->type) + d];
		tangent.grain[d] = directed ? t->at[AT_GRAIN + d] : 0;
	}
	if (of->tilts)
		fricp_unit_normal_derivative(contact.dim, at.normal, tangent.normal, out->frame.normal);
	if (!of->moves)
		return 0;
	fricp_geometry_tangent(&contact, &at, &tangent, &values, &out->turn);
	for (int e = 0; e < 6; e++)
		out->frame.basis[e] = values.tangent_basis[e];
	for (int j = 0; j < 2; j++)
		out->lever.closest_point[j] = feature.coordinate[j].slope * values.closest_point[feature.coordinate[j].of];
	return values.distance;
}

static long double force_forwards(const struct point_task *task, const struct contact_point *p, const struct inputs *t,
                                  long double distance)
{
	struct barrier_derivatives by;
	if (!task->cases[p->type].has_barrier)
		return t->at[AT_NORMAL_FORCE];
	barrier_derivatives_of(task, p, &by);
	return by.by_distance * distance + by.by_dhat * t->at[AT_DHAT] + by.by_stiffness * t->at[AT_STIFFNESS] +
	       by.by_dmin * t->at[AT_DMIN];
}

/* The tangent of the field that the blended coefficients come from. */
static const double *source_tangent(const struct point_task *task, int kind)
{
	const bool table = task->batch->friction.source == FRIC_MU_TABLE;
	const enum fric_field first = table ? FRIC_WRT_MATERIAL_MU_S : FRIC_WRT_VERTEX_MU_S;
	return task->differential->fields[(int)first + kind];
}

static long double mu_forwards(const struct point_task *task, const struct contact_point *p, const struct inputs *t,
                               const long double closest_point[2], int kind)
{
	struct coefficient_derivatives by;
	if (!blends(task, p->type))
		return t->at[AT_MU_S + kind];
	find_coefficient(task, p->type, p->i, kind, &by);
	return coefficient_tangent(&by, source_tangent(task, kind), closest_point);
}

static void lagged_forwards(const struct point_task *task, const struct contact_point *p, const struct inputs *t,
                            struct lagged_tangents *out)
{
	const struct point_case *of = &task->cases[p->type];
	long double distance = 0;
	struct frame *frame = &out->frame;
	out->turn = 0;
	for (int e = 0; e < 6; e++)
		frame->basis[e] = t->at[AT_TANGENT_BASIS + e];
	for (int a = 0; a < 2; a++) {
		frame->mu_aniso[a] = t->at[AT_MU_ANISO + a];
		out->lever.closest_point[a] = t->at[AT_CLOSEST_POINT + a];
	}
	for (int d = 0; d < 3; d++)
		frame->normal[d] = 0;
	frame->spin = t->at[AT_SPIN_RADIUS];
	frame->roll = t->at[AT_ROLL_RADIUS];
	for (int k = 0; k < 2 && is_of_bodies(p->type); k++)
		for (int d = 0; d < 3; d++)
			out->lever.arm[k][d] = t->at[AT_POINT + d] - t->at[AT_POSITION + 3 * k + d];
	if (of->moves || of->tilts)
		distance = geometry_forwards(task, p, t, out);
	out->normal_force = force_forwards(task, p, t, distance);
	for (int kind = 0; kind < 2; kind++)
		out->mu[kind] = mu_forwards(task, p, t, out->lever.closest_point, kind);
}

/* Computes the tangents of a relative velocity without and with the anchor. @param gathered  Gamma of the velocities'
 * tangent */
static void motion_forwards(const struct contact_point *p, const struct motion *motion, const struct inputs *t,
                            enum place gathered, const struct lever *lever, long double bare[3], long double pulled[3])
{
	for (int d = 0; d < 3; d++)
		bare[d] = t->at[(int)gathered + d];
	fricp_lever_tangent(p->type, motion, lever, bare);
	for (int d = 0; d < 3; d++) {
		bare[d] -= t->at[AT_SURFACE_VELOCITY + d];
		pulled[d] = bare[d] + t->at[AT_ANCHOR + d];
	}
}

/* Replaces the tangents of coefficients that come from an ellipse. */
static void ellipses_forwards(const struct point_task *task, const struct contact_point *p, const struct inputs *t,
                              struct lagged_tangents *lagged)
{
	const struct matchstick along = matchstick_of(task, p);
	long double bare[3], pulled[3], slip[2], turn = 0;
	struct ellipse_derivatives by = {.by_turn = 0};
	if (task->follows) {
		motion_forwards(p, &p->lagged, t, AT_LAGGED, &lagged->lever, bare, pulled);
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

/* Computes the tangent of a slip. @param at, change  the relative velocity and its tangent */
static void slip_forwards(const struct point_task *task, const struct contact_point *p, const struct inputs *t,
                          const struct lagged_tangents *lagged, const long double at[3], const long double change[3],
                          long double u[MOST_SLIP])
{
	const int dim = task->batch->dim;
	project_tangent(dim, &p->frame, at, &lagged->frame, change, u);
	add_uneven_turn(dim, &p->frame, at, lagged->turn, u);
	turning_tangent(dim, n_turning(task, p), &p->frame, p->now.turn, &lagged->frame, &t->at[AT_TURN], u + dim - 1);
}

static void force_inputs_of(const struct point_task *task, const struct contact_point *p, const struct inputs *t,
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
	motion_forwards(p, &p->now, t, AT_RELATIVE, &lagged->lever, bare, pulled);
	slip_forwards(task, p, t, lagged, p->pulled, pulled, out->u);
	if (c->viscous.data)
		slip_forwards(task, p, t, lagged, p->bare, bare, out->bare);
	if (task->curve) {
		const struct law_shape_l change = table_change(&c->table, task->curve, p->force.x);
		out->curve[0] = change.a;
		out->curve[1] = change.c;
	}
}

/* Computes tangents of the force's inputs from tangents of fields. */
static void forwards(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                     struct lagged_tangents *lagged, struct force_inputs *inputs)
{
	lagged_forwards(task, point, tangent, lagged);
	if (task->slip_velocities)
		ellipses_forwards(task, point, tangent, lagged);
	force_inputs_of(task, point, tangent, lagged, inputs);
}

void fricp_point_forth(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                       struct force_inputs *out)
{
	struct lagged_tangents lagged;
	forwards(task, point, tangent, &lagged, out);
}

void fricp_point_tangent(const struct point_task *task, const struct contact_point *point, const struct inputs *tangent,
                         struct point_change *change)
{
	const int dim = task->batch->dim;
	struct lagged_tangents lagged;
	struct force_inputs inputs;
	long double force[MOST_SLIP], bent[MOST_SLIP];
	forwards(task, point, tangent, &lagged, &inputs);
	*change = (struct point_change){.lever = lagged.lever};
	fricp_force_tangent(&point->force, &inputs, &change->potential, bent);
	force_of_point(&point->force, force);
	unproject(dim, &point->frame, force, change->force);
	unproject_tangent(dim, &point->frame, force, &lagged.frame, bent, change->force_tangent);
	add_uneven_turn_of_force(dim, &point->frame, force, lagged.turn, change->force_tangent);
	couple_tangent(dim, n_turning(task, point), &point->frame, force + dim - 1, &lagged.frame, bent + dim - 1,
	               change->couple_tangent);
}

void fricp_contact_tangent(const struct point_task *task, enum fric_type type, size_t i, struct point_change *change)
{
	struct contact_point point;
	struct inputs tangent;
	*change = (struct point_change){.potential = 0};
	if (task->contacts->skipped[i])
		return;
	fricp_point_at(task, type, i, &point);
	fricp_point_gather(task, &point, &tangent);
	fricp_point_tangent(task, &point, &tangent, change);
}

/* ---- backwards ---- */

/* Cotangents of the values between fields and force. */
struct lagged_cotangents {
	struct frame frame;
	long double turn; /* turn of the basis in its plane, 3D; computing it from frame.basis would cancel */
	struct lever lever;
	long double distance;
};

/* Adds the cotangents of surface velocity and anchor, from the cotangents of a relative velocity with and without the
 * anchor. */
static void add_to_offsets(const long double all[3], const long double anchored[3], struct inputs *out)
{
	for (int d = 0; d < 3; d++) {
		out->at[AT_SURFACE_VELOCITY + d] -= all[d];
		out->at[AT_ANCHOR + d] += anchored[d];
	}
}

/* Computes cotangents of the frame, velocities, surface velocity and anchor from cotangents of u, bare and q. */
static void slips_backwards(const struct point_task *task, const struct contact_point *p,
                            const struct force_inputs *force, const struct motion *gradient,
                            struct lagged_cotangents *lagged, struct inputs *out)
{
	const int dim = task->batch->dim, n = n_turning(task, p);
	const bool drags = task->contacts->viscous.data;
	long double pulled[3] = {0}, bare[3] = {0}, other[3] = {0}, unused[3] = {0};
	long double q[MOST_SLIP], turns[MOST_SLIP];
	force_of_point(&p->force, q);
	for (int t = 0; t < n; t++)
		turns[t] = force->u[dim - 1 + t] + (drags ? force->bare[dim - 1 + t] : 0);
	project_cotangent(dim, &p->frame, p->pulled, force->u, &lagged->frame, pulled);
	if (drags)
		project_cotangent(dim, &p->frame, p->bare, force->bare, &lagged->frame, bare);
	turning_cotangent(dim, n, &p->frame, p->now.turn, turns, &lagged->frame, &out->at[AT_TURN]);
	project_cotangent(dim, &p->frame, gradient->relative, q, &lagged->frame, other);
	turning_cotangent(dim, n, &p->frame, gradient->turn, q + dim - 1, &lagged->frame, unused);
	if (dim == 3)
		lagged->turn = uneven_turn_cotangent(&p->frame, p->pulled, force->u) +
		               uneven_turn_cotangent(&p->frame, p->bare, force->bare) +
		               uneven_turn_cotangent(&p->frame, gradient->relative, q);
	for (int d = 0; d < 3; d++) {
		out->at[AT_RELATIVE + d] = pulled[d] + bare[d];
		out->at[AT_SURFACE_VELOCITY + d] = is_of_bodies(p->type) ? -0.0L : 0; /* zero force: -0 for bodies */
	}
	add_to_offsets(&out->at[AT_RELATIVE], pulled, out);
	fricp_lever_cotangent(p->type, &p->now, &out->at[AT_RELATIVE], &lagged->lever);
	fricp_lever_cotangent(p->type, gradient, other, &lagged->lever);
}

static void ellipses_backwards(const struct point_task *task, const struct contact_point *p, long double mu[2],
                               struct lagged_cotangents *lagged, struct inputs *out)
{
	const struct matchstick along = matchstick_of(task, p);
	long double turn = 0, slip[2], *pulled = &out->at[AT_LAGGED];
	struct ellipse_derivatives by = {.by_turn = 0};
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
	lagged->turn += turn_cotangent(&p->frame, p->lagged_pulled, slip); /* ellipses exist only in 3D */
	add_to_offsets(pulled, pulled, out);
	fricp_lever_cotangent(p->type, &p->lagged, pulled, &lagged->lever);
}

/* The index of `vertex` in a contact's stencil. */
static int member_at(const struct point_task *task, const struct contact_point *p, size_t vertex)
{
	int k = 0;
	while (k + 1 < fric_stencil_size(p->type) && (size_t)task->contacts->vertices[k][p->i] != vertex)
		k++;
	return k;
}

static void mu_backwards(const struct point_task *task, const struct contact_point *p, int kind, long double mu,
                         struct lagged_cotangents *lagged, struct inputs *out)
{
	const bool at_vertices = task->batch->friction.source == FRIC_MU_VERTEX;
	const enum place members = kind == 0 ? AT_VERTEX_MU_S : AT_VERTEX_MU_K;
	struct coefficient_derivatives by;
	out->at[AT_MU_S + kind] = mu;
	if (!blends(task, p->type))
		return;
	find_coefficient(task, p->type, p->i, kind, &by);
	for (int j = 0; j < 2; j++)
		lagged->lever.closest_point[j] += coefficient_share(by.by_closest_point[j], mu);
	for (int k = 0; k < by.n && at_vertices; k++)
		out->at[(int)members + member_at(task, p, by.at[k])] += coefficient_share(by.by[k], mu);
}

static void force_backwards(const struct point_task *task, const struct contact_point *p, long double s,
                            struct lagged_cotangents *lagged, struct inputs *out)
{
	const struct fric_contacts *c = task->contacts;
	const long double normal_force = s * *column_at(c->weight, p->i);
	struct barrier_derivatives by;
	out->at[AT_WEIGHT] = s * *column_at(c->normal_force, p->i);
	out->at[AT_NORMAL_FORCE] = normal_force;
	if (!task->cases[p->type].has_barrier)
		return;
	barrier_derivatives_of(task, p, &by);
	out->at[AT_DHAT] = normal_force * by.by_dhat;
	out->at[AT_STIFFNESS] = normal_force * by.by_stiffness;
	out->at[AT_DMIN] = normal_force * by.by_dmin;
	lagged->distance = normal_force * by.by_distance;
}

static void geometry_backwards(const struct point_task *task, const struct contact_point *p,
                               const struct lagged_cotangents *lagged, struct inputs *out)
{
	const struct point_case *of = &task->cases[p->type];
	const struct feature feature = feature_at(task, p);
	struct geometry_values cotangent = {.distance = lagged->distance};
	const bool directed = directions_differ(task, p->i);
	struct geometry_case contact;
	struct geometry_inputs at, inputs = {.position = {{0}}};
	long double normal[3] = {0};
	for (int j = 0; j < 2; j++)
		cotangent.closest_point[feature.coordinate[j].of] += feature.coordinate[j].slope *
		                                                     lagged->lever.closest_point[j];
	for (int e = 0; e < 6; e++)
		cotangent.tangent_basis[e] = lagged->frame.basis[e];
	geometry_at(task, p, &feature, &contact, &at);
	if (of->moves)
		fricp_geometry_cotangent(&contact, &at, &cotangent, &lagged->turn, &inputs);
	if (of->tilts)
		fricp_unit_normal_derivative(contact.dim, at.normal, lagged->frame.normal, normal);
	for (int d = 0; d < contact.dim; d++) {
		for (int k = 0; k < n_points_of(feature.type) && !of->tilts; k++)
			out->at[position_place(p->type, feature.member[k]) + d] = inputs.position[k][d];
		out->at[(int)normal_place(p->type) + d] = of->tilts ? inputs.normal[d] + normal[d] : inputs.normal[d];
		out->at[AT_GRAIN + d] = directed ? inputs.grain[d] : 0;
	}
}

static void lever_backwards(const struct contact_point *p, const struct lever *lever, struct inputs *out)
{
	for (int j = 0; j < 2; j++)
		out->at[AT_CLOSEST_POINT + j] = lever->closest_point[j];
	for (int k = 0; k < fric_stencil_size(p->type) && is_of_bodies(p->type); k++)
		for (int d = 0; d < 3; d++) {
			out->at[AT_POINT + d] += lever->arm[k][d];
			out->at[AT_POSITION + 3 * k + d] = -lever->arm[k][d];
		}
}

static void frame_backwards(const struct frame *frame, struct inputs *out)
{
	for (int a = 0; a < 2; a++)
		out->at[AT_MU_ANISO + a] = frame->mu_aniso[a];
	for (int e = 0; e < 6; e++)
		out->at[AT_TANGENT_BASIS + e] = frame->basis[e];
	out->at[AT_SPIN_RADIUS] = frame->spin;
	out->at[AT_ROLL_RADIUS] = frame->roll;
}

static void law_backwards(const struct force_inputs *force, struct inputs *out)
{
	out->at[AT_EPS_V] = force->eps_v;
	out->at[AT_STRIBECK_SPEED] = force->unit;
	out->at[AT_VISCOUS] = force->viscous;
	for (int k = 0; k < 2; k++)
		out->at[AT_CURVE + k] = force->curve[k];
}

/* Computes cotangents of fields from cotangents of the force's inputs. @param gradient  motion along the gradient's
 * cotangent */
static void backwards(const struct point_task *task, const struct contact_point *point,
                      const struct force_inputs *force, const struct motion *gradient, struct inputs *out)
{
	const struct point_case *of = &task->cases[point->type];
	struct lagged_cotangents lagged = {.distance = 0};
	long double mu[2] = {force->mu_s, force->mu_k};
	*out = (struct inputs){{0}};
	slips_backwards(task, point, force, gradient, &lagged, out);
	if (task->slip_velocities)
		ellipses_backwards(task, point, mu, &lagged, out);
	for (int kind = 0; kind < 2; kind++)
		mu_backwards(task, point, kind, mu[kind], &lagged, out);
	force_backwards(task, point, force->s, &lagged, out);
	law_backwards(force, out);
	frame_backwards(&lagged.frame, out);
	lever_backwards(point, &lagged.lever, out);
	if (of->moves || of->tilts)
		geometry_backwards(task, point, &lagged, out);
}

void fricp_point_back(const struct point_task *task, const struct contact_point *point,
                      const struct force_inputs *force, struct inputs *out)
{
	const struct motion none = {.of = {{{0}, {0}}}};
	backwards(task, point, force, &none, out);
}

void fricp_point_cotangent(const struct point_task *task, const struct contact_point *point, long double psi,
                           const double *cotangent, struct inputs *out)
{
	const int dim = task->batch->dim;
	struct force_inputs force;
	struct motion gradient;
	long double q[MOST_SLIP];
	fricp_motion_of(task->contacts, point->type, point->i, cotangent, &gradient);
	project(dim, &point->frame, gradient.relative, q);
	turning(dim, n_turning(task, point), &point->frame, gradient.turn, q + dim - 1);
	fricp_force_cotangent(&point->force, psi, q, &force);
	backwards(task, point, &force, &gradient, out);
}
