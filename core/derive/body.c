#include "core/derive/body.h"

#include <math.h>

#include "core/geometry/derivative.h"
#include "core/prepare/coefficients.h"
#include "core/prepare/matchstick.h"

void fricp_body_derivation(const struct fric_derivation *derivation, const struct fric_differential *differential,
                           struct body_derivation *out)
{
	const struct fric_question *question = derivation->question;
	const struct fric_state *state = question->state ? question->state->bodies : NULL;
	const bool effective = state && state->effective.mu_s.data && derivation->slip_velocities;
	*out = (struct body_derivation){.batch = derivation->batch,
	                                .b = derivation->contacts->bodies,
	                                .mu = body_coefficients_for(derivation->contacts, question),
	                                .velocities = question->velocities,
	                                .slip_velocities = effective ? derivation->slip_velocities : NULL,
	                                .follows = effective && derivation->bodies_follow,
	                                .differential = differential};
	for (enum fric_type type = FRIC_BODY_BODY; type <= FRIC_BODY_WORLD; type++) {
		fricp_find_links(out->batch, type, differential, &out->links[type]);
		out->moves[type] = differential->rows[type][FRIC_ROW_NORMAL] || differential->rows[type][FRIC_ROW_GRAIN];
	}
}

/* ---- vectors ---- */

/* out += s (a x b) */
static void add_cross(long double s, const long double a[3], const long double b[3], long double out[3])
{
	for (int d = 0; d < 3; d++) {
		const int x = (d + 1) % 3, y = (d + 2) % 3;
		out[d] += s * (a[x] * b[y] - a[y] * b[x]);
	}
}

/* out += s a */
static void add_vector(long double s, const long double a[3], long double out[3])
{
	for (int d = 0; d < 3; d++)
		out[d] += s * a[d];
}

static long double product(const long double a[3], const long double b[3])
{
	return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

/* +1 for the first body of a contact, -1 for the second. */
static long double sign_of(int k)
{
	return k == 0 ? 1 : -1;
}

/* ---- from twists to a slip, and back ---- */

/* @param v [n_dofs] */
static struct twist twist_at(const struct fric_contacts *b, int k, size_t i, const double *v)
{
	const double *x = v + body_dof(b, (size_t)b->vertices[k][i]);
	struct twist out = {{0}, {0}};
	for (int d = 0; d < b->dim; d++)
		out.v[d] = x[d];
	for (int d = 0; d < 3; d++)
		out.w[d] = b->dim == 3 ? x[3 + d] : d == 2 ? x[2] : 0;
	return out;
}

/* As differences of velocities and of what turns add, like encounter_at. @param v [n_dofs] */
static void relation_of(const struct fric_contacts *b, const struct body_point *p, const double *v, struct relation *m)
{
	long double turned[3] = {0};
	*m = (struct relation){.turn = {0}};
	for (int k = 0; k < n_bodies_of(p->type); k++) {
		m->of[k] = twist_at(b, k, p->i, v);
		add_cross(sign_of(k), m->of[k].w, p->arm[k], turned);
	}
	for (int d = 0; d < 3; d++) {
		m->relative[d] = (m->of[0].v[d] - m->of[1].v[d]) + turned[d];
		m->turn[d] = m->of[0].w[d] - m->of[1].w[d];
	}
}

/* What relative velocities change by when arms do. */
static void add_arms(const struct body_point *p, const struct relation *m, const long double arm[2][3],
                     long double relative[3])
{
	for (int k = 0; k < n_bodies_of(p->type); k++)
		add_cross(sign_of(k), m->of[k].w, arm[k], relative);
}

/* Its transpose. */
static void add_arms_cotangent(const struct body_point *p, const struct relation *m, const long double relative[3],
                               long double arm[2][3])
{
	for (int k = 0; k < n_bodies_of(p->type); k++)
		add_cross(sign_of(k), relative, m->of[k].w, arm[k]);
}

/* What a force and a couple at the contact are at the bodies' points; also from cotangents of relative velocities and
 * turns to those of twists. Added to wrenches. */
static void add_wrenches(const struct body_point *p, const long double force[3], const long double couple[3],
                         struct twist wrench[2])
{
	for (int k = 0; k < n_bodies_of(p->type); k++) {
		add_vector(sign_of(k), force, wrench[k].v);
		add_cross(sign_of(k), p->arm[k], force, wrench[k].w);
		add_vector(sign_of(k), couple, wrench[k].w);
	}
}

/* The axis of component t of a slip beyond the sliding ones, and its radius. */
static void axis_of(int dim, const struct body_frame *f, int t, long double axis[3], long double *radius)
{
	*radius = dim == 3 && t == 0 ? f->spin : f->roll;
	for (int d = 0; d < 3; d++)
		axis[d] = dim == 2 ? d == 2 : t == 0 ? f->normal[d] : f->plane.basis[2 * d + t - 1];
}

/* The same as a tangent, with what counts of the axis: one of 2D does not change. */
static void axis_tangent_of(int dim, const struct body_point *p, const struct body_frame *f, int t, long double axis[3],
                            long double *radius)
{
	axis_of(dim, f, t, axis, radius);
	for (int d = 0; d < 3; d++)
		axis[d] *= dim == 2 ? 0 : p->tilt[t > 0];
}

static int n_turning(int dim)
{
	return n_body_slip(dim) - (dim - 1);
}

/* Slip components that turns give. @param u  those beyond the sliding ones */
static void turning(int dim, const struct body_frame *f, const long double turn[3], long double *u)
{
	for (int t = 0; t < n_turning(dim); t++) {
		long double axis[3], radius;
		axis_of(dim, f, t, axis, &radius);
		u[t] = radius * product(axis, turn);
	}
}

static void turning_tangent(int dim, const struct body_point *p, const long double turn[3],
                            const struct body_frame *frame, const long double tangent[3], long double *u)
{
	for (int t = 0; t < n_turning(dim); t++) {
		long double axis[3], radius, change[3], grown;
		axis_of(dim, &p->frame, t, axis, &radius);
		axis_tangent_of(dim, p, frame, t, change, &grown);
		u[t] = grown * product(axis, turn) + radius * (product(change, turn) + product(axis, tangent));
	}
}

/* Adds to the cotangents of the frame and of turns. */
static void turning_cotangent(int dim, const struct body_point *p, const long double turn[3], const long double *u,
                              struct body_frame *frame, long double cotangent[3])
{
	for (int t = 0; t < n_turning(dim); t++) {
		long double axis[3], radius;
		axis_of(dim, &p->frame, t, axis, &radius);
		*(dim == 3 && t == 0 ? &frame->spin : &frame->roll) += u[t] * product(axis, turn);
		add_vector(u[t] * radius, axis, cotangent);
		for (int d = 0; d < 3 && dim == 3; d++)
			*(t == 0 ? &frame->normal[d] : &frame->plane.basis[2 * d + t - 1]) += u[t] * radius * p->tilt[t > 0] *
			                                                                      turn[d];
	}
}

/* ---- where a contact is ---- */

static void find_frame(const struct fric_contacts *b, size_t i, struct body_frame *f)
{
	*f = (struct body_frame){
		.plane.mu_aniso = {1, 1}, .spin = *column_at(b->spin_radius, i), .roll = *column_at(b->roll_radius, i)};
	for (int e = 0; e < b->dim * (b->dim - 1); e++)
		f->plane.basis[e] = b->tangent_basis[e][i];
	for (int t = 0; t < b->dim - 1; t++)
		f->plane.mu_aniso[t] = *column_at(b->mu_aniso[t], i);
	for (int d = 0; d < 3; d++)
		f->normal[d] = b->normal[d][i];
}

static void add_offsets(const struct fric_contacts *b, size_t i, const long double relative[3], long double bare[3],
                        long double pulled[3])
{
	for (int d = 0; d < 3; d++) {
		const bool leaves = d < b->dim && b->surface_velocity[0].data, pulls = d < b->dim && b->anchor[0].data;
		bare[d] = relative[d] - (leaves ? (long double)*column_at(b->surface_velocity[d], i) : 0);
		pulled[d] = bare[d] + (pulls ? (long double)*column_at(b->anchor[d], i) : 0);
	}
}

static void find_lagged(const struct body_derivation *task, struct body_point *p)
{
	long double bare[3];
	struct slip slip;
	relation_of(task->b, p, task->slip_velocities, &p->lagged);
	add_offsets(task->b, p->i, p->lagged.relative, bare, p->lagged_pulled);
	body_slip_velocity(task->b, p->type, p->i, task->slip_velocities, &slip);
	for (int t = 0; t < 2; t++)
		p->lagged_slip[t] = slip.scaled[t];
}

static bool has_given_basis(const struct body_derivation *task, enum fric_type type)
{
	return task->batch->groups[type].tangent_basis.data;
}

/* Where a basis is derived, it tilts with its normal, and spin and rolling turn into each other. A turn of the slip as a whole
 * changes no action: with one taken away that leaves (R^2 - r^2)/(R^2 + r^2) of the tilt for spin, as much with the opposite
 * sign for rolling, nothing cancels as the radii R and r become one. */
static void find_tilt(const struct body_derivation *task, struct body_point *p)
{
	const long double spin = p->frame.spin, roll = p->frame.roll, squares = spin * spin + roll * roll;
	p->tilt[0] = p->tilt[1] = 1;
	if (has_given_basis(task, p->type))
		return;
	p->tilt[0] = squares > 0 ? (spin - roll) * (spin + roll) / squares : 0;
	p->tilt[1] = -p->tilt[0];
}

void fricp_body_point(const struct body_derivation *task, enum fric_type type, size_t i, struct body_point *p)
{
	const struct fric_contacts *b = task->b;
	struct slip slip;
	p->type = type;
	p->i = i;
	p->row = i - b->start[type];
	find_frame(b, i, &p->frame);
	find_tilt(task, p);
	for (int k = 0; k < 2; k++)
		for (int d = 0; d < 3; d++)
			p->arm[k][d] = b->arm[k][d][i];
	relation_of(b, p, task->velocities, &p->now);
	add_offsets(b, i, p->now.relative, p->bare, p->pulled);
	if (task->slip_velocities)
		find_lagged(task, p);
	body_slip_velocity(b, type, i, task->velocities, &slip);
	fricp_force_point(b, task->mu, i, &slip, &p->force);
	if (b->viscous.data) /* else there is no drag, which has a derivative by viscous all the same */
		return;
	project(b->dim, &p->frame.plane, p->bare, p->force.at.bare);
	turning(b->dim, &p->frame, p->now.turn, p->force.at.bare + b->dim - 1);
}

static const double *row_of(struct fric_values values, size_t row)
{
	return values.data + row * values.stride;
}

/* What the basis is derived from, where it is. */
static void geometry_at(const struct body_derivation *task, const struct body_point *p, struct geometry_case *contact,
                        struct geometry_inputs *at)
{
	const struct fric_group *g = &task->batch->groups[p->type];
	*contact = (struct geometry_case){p->type, task->batch->dim, false, g->grain.data != NULL};
	*at = (struct geometry_inputs){.normal = {0}};
	for (int d = 0; d < task->batch->dim; d++) {
		at->normal[d] = row_of(g->normal, p->row)[d];
		at->grain[d] = g->grain.data ? row_of(g->grain, p->row)[d] : 0;
	}
}

static bool has_table(const struct body_derivation *task, enum fric_type type)
{
	return !task->batch->groups[type].mu_s.data && task->batch->friction.source == FRIC_MU_TABLE;
}

bool fricp_body_table_entry(const struct body_derivation *task, enum fric_type type, size_t i, size_t *entry)
{
	static const double closest_point[2];
	const struct fric_friction *f = &task->batch->friction;
	const int32_t stencil[FRIC_MAX_STENCIL] = {task->b->vertices[0][i], task->b->vertices[1][i]};
	struct coefficient_slopes by;
	if (!has_table(task, type))
		return false;
	fricp_coefficient_slopes(f, type, stencil, closest_point, f->material_mu_s, &by);
	*entry = by.at[0];
	return true;
}

/* By kind: 0 static, 1 kinetic. @return whether the coefficient is that of an ellipse */
static bool find_ellipse(const struct body_derivation *task, const struct body_point *p, const struct matchstick *along,
                         int kind, struct ellipse_slopes *slopes)
{
	double *const *columns = kind == 0 ? task->b->mu_s_aniso : task->b->mu_k_aniso;
	const double axes[2] = {columns[0][p->i], columns[1][p->i]};
	if (!is_ellipse(axes))
		return false;
	ellipse_slopes(axes, along->direction, slopes);
	return true;
}

static struct matchstick matchstick_of(const struct body_derivation *task, const struct body_point *p)
{
	return matchstick_along(p->lagged_slip, *column_at(task->b->eps_v, p->i));
}

static const enum place ellipse_axes[2] = {AT_MU_S_ANISO, AT_MU_K_ANISO};

/* ---- forwards ---- */

/* Tangents of what lies between fields and force. */
struct body_tangents {
	struct inputs inputs;
	struct body_frame frame;
	long double turn; /* of the basis in its plane, which frame.plane lacks where it is derived */
	long double arm[2][3], mu[2];
};

static void frame_forwards(const struct body_derivation *task, const struct body_point *p, struct body_tangents *t)
{
	const long double *in = t->inputs.at;
	const bool directed = directions_differ(task->b, p->i, task->follows);
	struct geometry_case contact;
	struct geometry_inputs at, tangent = {.normal = {0}};
	struct geometry_values values = {.distance = 0};
	t->frame = (struct body_frame){.spin = in[AT_SPIN_RADIUS], .roll = in[AT_ROLL_RADIUS]};
	for (int a = 0; a < 2; a++)
		t->frame.plane.mu_aniso[a] = in[AT_MU_ANISO + a];
	for (int e = 0; e < 6; e++)
		t->frame.plane.basis[e] = in[AT_TANGENT_BASIS + e];
	if (!task->moves[p->type])
		return;
	geometry_at(task, p, &contact, &at);
	for (int d = 0; d < 3; d++) {
		tangent.normal[d] = in[AT_NORMAL + d];
		tangent.grain[d] = directed ? in[AT_GRAIN + d] : 0;
	}
	fricp_unit_normal_tangent(contact.dim, at.normal, tangent.normal, t->frame.normal);
	if (has_given_basis(task, p->type))
		return;
	fricp_geometry_tangent(&contact, &at, &tangent, &values, &t->turn);
	for (int e = 0; e < 6; e++)
		t->frame.plane.basis[e] = values.tangent_basis[e];
}

/* Tangents of what a contact takes from fields, but for velocities. */
static void find_tangents(const struct body_derivation *task, const struct body_point *p, struct body_tangents *t)
{
	const double *const *fields = (const double *const *)task->differential->fields;
	const double *positions = fields[FRIC_BY_BODY_POSITIONS];
	const int dim = task->batch->dim;
	size_t entry;
	*t = (struct body_tangents){.mu = {0}};
	read_links(&task->links[p->type], p->row, &t->inputs);
	for (int k = 0; k < n_bodies_of(p->type); k++)
		for (int d = 0; d < dim; d++) {
			const size_t at = (size_t)task->b->vertices[k][p->i] * (size_t)dim + (size_t)d;
			t->arm[k][d] = t->inputs.at[AT_POINT + d] - (positions ? (long double)positions[at] : 0);
		}
	const bool from_table = fricp_body_table_entry(task, p->type, p->i, &entry);
	for (int kind = 0; kind < 2; kind++) {
		const double *table = fields[FRIC_BY_MATERIAL_MU_S + kind];
		t->mu[kind] = from_table && table ? table[entry] : t->inputs.at[AT_MU_S + kind];
	}
	frame_forwards(task, p, t);
}

/* Tangents of a relative velocity without and with the anchor, and of a turn. @param v the tangent of velocities or NULL */
static void relation_forwards(const struct body_derivation *task, const struct body_point *p,
                              const struct body_tangents *t, const struct relation *m, const double *v,
                              long double bare[3], long double pulled[3], long double turn[3])
{
	struct relation tangent = {.turn = {0}};
	if (v)
		relation_of(task->b, p, v, &tangent);
	add_arms(p, m, t->arm, tangent.relative);
	for (int d = 0; d < 3; d++) {
		turn[d] = tangent.turn[d];
		bare[d] = tangent.relative[d] - t->inputs.at[AT_SURFACE_VELOCITY + d];
		pulled[d] = bare[d] + t->inputs.at[AT_ANCHOR + d];
	}
}

static void ellipses_forwards(const struct body_derivation *task, const struct body_point *p, struct body_tangents *t)
{
	const struct matchstick along = matchstick_of(task, p);
	const double *v = task->differential->fields[FRIC_BY_LAGGED_VELOCITIES];
	long double bare[3], pulled[3], turn[3], slip[2], turned = 0;
	struct ellipse_slopes by;
	if (task->follows) {
		relation_forwards(task, p, t, &p->lagged, v, bare, pulled, turn);
		project_tangent(task->batch->dim, &p->frame.plane, p->lagged_pulled, &t->frame.plane, pulled, slip);
		add_turn(task->batch->dim, &p->frame.plane, p->lagged_pulled, t->turn, slip);
		turned = matchstick_turn(&along, slip);
	}
	for (int kind = 0; kind < 2; kind++) {
		const long double *axes = &t->inputs.at[ellipse_axes[kind]];
		if (find_ellipse(task, p, &along, kind, &by))
			t->mu[kind] = by.by_axis[0] * axes[0] + by.by_axis[1] * axes[1] + by.by_turn * turned;
	}
}

static void force_inputs_of(const struct body_derivation *task, const struct body_point *p,
                            const struct body_tangents *t, struct force_inputs *out)
{
	const struct fric_contacts *b = task->b;
	const long double *in = t->inputs.at, weight = *column_at(b->weight, p->i);
	const long double normal_force = *column_at(b->normal_force, p->i);
	const int dim = b->dim;
	long double bare[3], pulled[3], turn[3];
	*out = (struct force_inputs){.s = in[AT_WEIGHT] * normal_force + weight * in[AT_NORMAL_FORCE],
	                             .mu_s = t->mu[0],
	                             .mu_k = t->mu[1],
	                             .eps_v = in[AT_EPS_V],
	                             .unit = in[AT_STRIBECK_SPEED],
	                             .viscous = in[AT_VISCOUS]};
	relation_forwards(task, p, t, &p->now, task->differential->fields[FRIC_BY_VELOCITIES], bare, pulled, turn);
	project_tangent(dim, &p->frame.plane, p->pulled, &t->frame.plane, pulled, out->u);
	add_uneven_turn(dim, &p->frame.plane, p->pulled, t->turn, out->u);
	turning_tangent(dim, p, p->now.turn, &t->frame, turn, out->u + dim - 1);
	if (b->viscous.data) {
		project_tangent(dim, &p->frame.plane, p->bare, &t->frame.plane, bare, out->bare);
		add_uneven_turn(dim, &p->frame.plane, p->bare, t->turn, out->bare);
		turning_tangent(dim, p, p->now.turn, &t->frame, turn, out->bare + dim - 1);
	}
	if (task->curve) {
		const struct law_shape_l change = table_change(&b->table, task->curve, p->force.x);
		out->curve[0] = change.a;
		out->curve[1] = change.c;
	}
}

/* How the action of a force f on the slip changes, at the bodies' points. @param tangent of f */
static void wrenches_forwards(int dim, const struct body_point *p, const struct body_tangents *t, const long double *f,
                              const long double *tangent, struct twist wrench[2])
{
	long double force[3] = {0}, changed[3] = {0}, couple[3] = {0};
	unproject(dim, &p->frame.plane, f, force);
	unproject_tangent(dim, &p->frame.plane, f, &t->frame.plane, tangent, changed);
	add_uneven_turn_of_force(dim, &p->frame.plane, f, t->turn, changed);
	for (int c = 0; c < n_turning(dim); c++) {
		const int k = dim - 1 + c;
		long double axis[3], radius, change[3], grown;
		axis_of(dim, &p->frame, c, axis, &radius);
		axis_tangent_of(dim, p, &t->frame, c, change, &grown);
		add_vector(grown * f[k] + radius * tangent[k], axis, couple);
		add_vector(radius * f[k], change, couple);
	}
	add_wrenches(p, changed, couple, wrench);
	for (int k = 0; k < n_bodies_of(p->type); k++)
		add_cross(sign_of(k), t->arm[k], force, wrench[k].w);
}

/* All the way to what the force depends on. */
static void forwards(const struct body_derivation *task, const struct body_point *p, struct body_tangents *t,
                     struct force_inputs *inputs)
{
	find_tangents(task, p, t);
	if (task->slip_velocities)
		ellipses_forwards(task, p, t);
	force_inputs_of(task, p, t, inputs);
}

void fricp_body_inputs(const struct body_derivation *task, const struct body_point *point, struct force_inputs *out)
{
	struct body_tangents t;
	forwards(task, point, &t, out);
}

void fricp_body_tangent(const struct body_derivation *task, const struct body_point *p, struct body_change *change)
{
	struct body_tangents t;
	struct force_inputs inputs;
	long double f[MOST_SLIP], tangent[MOST_SLIP];
	forwards(task, p, &t, &inputs);
	*change = (struct body_change){.potential = 0};
	fricp_force_tangent(&p->force, &inputs, &change->potential, tangent);
	force_of_point(&p->force, f);
	wrenches_forwards(task->batch->dim, p, &t, f, tangent, change->wrench);
}

/* ---- backwards ---- */

/* What is collected on the way. */
struct collected {
	struct body_frame frame;
	long double turn; /* of the basis in its plane, 3D: in frame.plane it is a difference of large numbers */
	long double arm[2][3];
};

/* From cotangents of u, bare and q to those of the frame, of arms, of velocities and of what is added to them. */
static void slips_backwards(const struct body_derivation *task, const struct body_point *p,
                            const struct force_inputs *force, const struct relation *gradient, struct collected *all,
                            struct body_cotangents *out)
{
	const int dim = task->batch->dim;
	const bool drags = task->b->viscous.data;
	long double pulled[3] = {0}, bare[3] = {0}, other[3] = {0}, turn[3] = {0}, unused[3] = {0};
	long double f[MOST_SLIP], turning[MOST_SLIP] = {0};
	force_of_point(&p->force, f);
	for (int t = dim - 1; t < n_body_slip(dim); t++)
		turning[t] = force->u[t] + (drags ? force->bare[t] : 0);
	project_cotangent(dim, &p->frame.plane, p->pulled, force->u, &all->frame.plane, pulled);
	if (drags)
		project_cotangent(dim, &p->frame.plane, p->bare, force->bare, &all->frame.plane, bare);
	turning_cotangent(dim, p, p->now.turn, turning + dim - 1, &all->frame, turn);
	project_cotangent(dim, &p->frame.plane, gradient->relative, f, &all->frame.plane, other);
	turning_cotangent(dim, p, gradient->turn, f + dim - 1, &all->frame, unused);
	if (dim == 3)
		all->turn = uneven_turn_cotangent(&p->frame.plane, p->pulled, force->u) +
		            uneven_turn_cotangent(&p->frame.plane, p->bare, force->bare) +
		            uneven_turn_cotangent(&p->frame.plane, gradient->relative, f);
	add_vector(1, pulled, bare);
	for (int d = 0; d < dim; d++) {
		out->inputs.at[AT_SURFACE_VELOCITY + d] = -bare[d];
		out->inputs.at[AT_ANCHOR + d] = pulled[d];
	}
	add_wrenches(p, bare, turn, out->twist);
	add_arms_cotangent(p, &p->now, bare, all->arm);
	add_arms_cotangent(p, gradient, other, all->arm);
}

static void ellipses_backwards(const struct body_derivation *task, const struct body_point *p, long double mu[2],
                               struct collected *all, struct body_cotangents *out)
{
	static const long double no_couple[3];
	const struct matchstick along = matchstick_of(task, p);
	long double turned = 0, slip[2], pulled[3] = {0};
	struct ellipse_slopes by;
	for (int kind = 0; kind < 2; kind++) {
		if (!find_ellipse(task, p, &along, kind, &by))
			continue;
		for (int a = 0; a < 2; a++)
			out->inputs.at[(int)ellipse_axes[kind] + a] = by.by_axis[a] * mu[kind];
		turned += by.by_turn * mu[kind];
		mu[kind] = 0;
	}
	if (!task->follows)
		return;
	matchstick_turn_cotangent(&along, turned, slip);
	project_cotangent(task->batch->dim, &p->frame.plane, p->lagged_pulled, slip, &all->frame.plane, pulled);
	all->turn += turn_cotangent(&p->frame.plane, p->lagged_pulled, slip); /* ellipses are in 3D */
	for (int d = 0; d < task->batch->dim; d++) {
		out->inputs.at[AT_SURFACE_VELOCITY + d] -= pulled[d];
		out->inputs.at[AT_ANCHOR + d] += pulled[d];
	}
	add_wrenches(p, pulled, no_couple, out->lagged);
	add_arms_cotangent(p, &p->lagged, pulled, all->arm);
}

static void arms_backwards(const struct body_point *p, const struct collected *all, struct body_cotangents *out)
{
	for (int k = 0; k < n_bodies_of(p->type); k++)
		for (int d = 0; d < 3; d++) {
			out->inputs.at[AT_POINT + d] += all->arm[k][d];
			out->position[k][d] = -all->arm[k][d];
		}
}

static void frame_backwards(const struct body_derivation *task, const struct body_point *p, const struct collected *all,
                            struct inputs *out)
{
	const bool directed = directions_differ(task->b, p->i, task->follows);
	struct geometry_case contact;
	struct geometry_inputs at, inputs = {.normal = {0}};
	struct geometry_values values = {.distance = 0};
	long double normal[3];
	out->at[AT_SPIN_RADIUS] = all->frame.spin;
	out->at[AT_ROLL_RADIUS] = all->frame.roll;
	for (int a = 0; a < 2; a++)
		out->at[AT_MU_ANISO + a] = all->frame.plane.mu_aniso[a];
	for (int e = 0; e < 6; e++)
		out->at[AT_TANGENT_BASIS + e] = values.tangent_basis[e] = all->frame.plane.basis[e];
	if (!task->moves[p->type])
		return;
	geometry_at(task, p, &contact, &at);
	fricp_unit_normal_cotangent(contact.dim, at.normal, all->frame.normal, normal);
	if (!has_given_basis(task, p->type))
		fricp_geometry_cotangent(&contact, &at, &values, &all->turn, &inputs);
	for (int d = 0; d < 3; d++) {
		out->at[AT_NORMAL + d] = inputs.normal[d] + normal[d];
		out->at[AT_GRAIN + d] = directed ? inputs.grain[d] : 0;
	}
}

static void lagged_backwards(const struct body_derivation *task, const struct body_point *p,
                             const struct force_inputs *force, const long double mu[2], struct inputs *out)
{
	out->at[AT_WEIGHT] = force->s * *column_at(task->b->normal_force, p->i);
	out->at[AT_NORMAL_FORCE] = force->s * *column_at(task->b->weight, p->i);
	out->at[AT_EPS_V] = force->eps_v;
	out->at[AT_STRIBECK_SPEED] = force->unit;
	out->at[AT_VISCOUS] = force->viscous;
	for (int k = 0; k < 2; k++) {
		out->at[AT_MU_S + k] = mu[k];
		out->at[AT_CURVE + k] = force->curve[k];
	}
}

/* From what the force depends on all the way back. @param gradient  of the gradient's cotangent */
static void backwards(const struct body_derivation *task, const struct body_point *p, const struct force_inputs *force,
                      const struct relation *gradient, struct body_cotangents *out)
{
	struct collected all = {.arm = {{0}}};
	long double mu[2] = {force->mu_s, force->mu_k};
	*out = (struct body_cotangents){.inputs = {{0}}};
	slips_backwards(task, p, force, gradient, &all, out);
	if (task->slip_velocities)
		ellipses_backwards(task, p, mu, &all, out);
	arms_backwards(p, &all, out);
	frame_backwards(task, p, &all, &out->inputs);
	lagged_backwards(task, p, force, mu, &out->inputs);
}

void fricp_body_back(const struct body_derivation *task, const struct body_point *point,
                     const struct force_inputs *force, struct body_cotangents *out)
{
	const struct relation none = {.turn = {0}};
	backwards(task, point, force, &none, out);
}

void fricp_body_cotangent(const struct body_derivation *task, const struct body_point *p, double psi,
                          const double *cotangent, struct body_cotangents *out)
{
	const int dim = task->batch->dim;
	struct force_inputs force;
	struct relation gradient;
	long double q[MOST_SLIP];
	relation_of(task->b, p, cotangent, &gradient);
	project(dim, &p->frame.plane, gradient.relative, q);
	turning(dim, &p->frame, gradient.turn, q + dim - 1);
	fricp_force_cotangent(&p->force, psi, q, &force);
	backwards(task, p, &force, &gradient, out);
}
