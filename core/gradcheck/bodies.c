/* Expected values are formed from twists, arms, normals and radii by the formulas in docs/physics.md 3, apart from what
 * bodies/twist.h does. */
#include "core/gradcheck/bodies.h"

#include "core/base/memory.h"
#include "core/bodies/evaluate.h"
#include "core/bodies/hessian.h"
#include "core/gradcheck/claims.h"
#include "core/gradcheck/differences.h"

enum { BODY_WINDOW = 2048 };

/* Everything that is expected of one contact. */
struct body_reference {
	enum fric_type type;
	int n, m; /* components of the slip; DOFs */
	size_t dof[MOST_BLOCK];
	struct expected jacobian[MOST_SLIP][MOST_BLOCK];
	struct expected potential, gradient[MOST_SLIP], inner[MOST_PAIRS]; /* by components of the slip */
	struct expected wrench[MOST_BLOCK], block[MOST_BLOCK][MOST_BLOCK];
};

/* What a window keeps of each contact for the sums. */
struct body_row {
	int m;
	size_t dof[MOST_BLOCK];
	struct expected potential, wrench[MOST_BLOCK], product[MOST_BLOCK];
};

struct comparing_bodies {
	struct comparing *all;
	const struct fric_contacts *b;
	size_t first; /* contact of the window */
	struct body_row *rows;
	struct findings *chunks;
};

/* ---- one contact ---- */

/* Column t of the basis, times mu_aniso. */
static void direction(const struct fric_contacts *b, size_t i, int t, long double *out)
{
	for (int d = 0; d < b->dim; d++)
		out[d] = (long double)*column_at(b->mu_aniso[t], i) * b->tangent_basis[d * (b->dim - 1) + t][i];
}

/* Component d of r x c; in 2D the only one. */
static struct expected torque(const struct fric_contacts *b, int k, size_t i, const long double *c, int d)
{
	const int x = b->dim == 2 ? 0 : (d + 1) % 3, y = b->dim == 2 ? 1 : (d + 2) % 3;
	const long double p = b->arm[k][x][i] * c[y], q = b->arm[k][y][i] * c[x];
	return (struct expected){p - q, fabsl(p) + fabsl(q)};
}

/* dS_t / d(DOF e of the twist of body k) */
static struct expected derivative(const struct fric_contacts *b, int k, size_t i, int t, int e)
{
	const int dim = b->dim;
	const long double spin = *column_at(b->spin_radius, i), roll = *column_at(b->roll_radius, i);
	struct expected x = {0, 0};
	long double c[3] = {0};
	if (b->skipped[i] || (t >= dim - 1 && e < dim))
		return x;
	if (t < dim - 1)
		direction(b, i, t, c);
	if (t < dim - 1)
		x = e < dim ? (struct expected){c[e], fabsl(c[e])} : torque(b, k, i, c, e - dim);
	else if (dim == 2)
		x.value = roll;
	else if (t == 2)
		x.value = spin * b->normal[e - dim][i];
	else
		x.value = roll * b->tangent_basis[2 * (e - dim) + t - 3][i];
	x.scale = x.scale > 0 ? x.scale : fabsl(x.value);
	return k == 0 ? x : (struct expected){-x.value, x.scale};
}

static void expect_jacobian(const struct fric_contacts *b, size_t i, struct body_reference *r)
{
	const int w = n_body_dofs(b->dim);
	r->type = contact_type(b, i);
	r->n = n_body_slip(b->dim);
	r->m = n_bodies_of(r->type) * w;
	for (int e = 0; e < r->m; e++) {
		r->dof[e] = body_dof(b, (size_t)b->vertices[e / w][i]) + (size_t)(e % w);
		for (int t = 0; t < r->n; t++)
			r->jacobian[t][e] = derivative(b, e / w, i, t, e % w);
	}
}

/* A component of the slip, or of that without the anchor, and by how much rounding may change it. */
static struct expected expect_slip(const struct comparing_bodies *task, size_t i, const struct body_reference *r, int t,
                                   bool anchored)
{
	const struct fric_contacts *b = task->b;
	struct expected sum = {0, 0};
	long double c[3] = {0};
	for (int e = 0; e < r->m; e++) {
		const long double v = task->all->velocities[r->dof[e]];
		sum.value += r->jacobian[t][e].value * v;
		sum.scale += r->jacobian[t][e].scale * fabsl(v);
	}
	if (t < b->dim - 1)
		direction(b, i, t, c);
	for (int d = 0; d < b->dim && t < b->dim - 1 && !b->skipped[i]; d++) {
		struct expected offset = {0, 0};
		add_offset(b->surface_velocity, i, d, -1, &offset);
		if (anchored)
			add_offset(b->anchor, i, d, +1, &offset);
		sum.value += c[d] * offset.value;
		sum.scale += fabsl(c[d]) * offset.scale;
	}
	return (struct expected){sum.value, sum.scale * 0x1p-46L + 0x1p-1060L};
}

/* As computed in doubles, if that is right within rounding: derivatives are compared there. */
static void slip_in_question(const struct comparing_bodies *task, size_t i, const struct body_reference *r,
                             long double *x, long double *bare)
{
	struct slip slip;
	body_slip_velocity(task->b, r->type, i, task->all->velocities, &slip);
	for (int t = 0; t < r->n; t++) {
		const struct expected u = expect_slip(task, i, r, t, true), v = expect_slip(task, i, r, t, false);
		x[t] = fabsl(slip.scaled[t] - u.value) <= u.scale ? slip.scaled[t] : u.value;
		bare[t] = fabsl(slip.bare[t] - v.value) <= v.scale ? slip.bare[t] : v.value;
	}
}

/* From derivatives by the slip to those by the twists. */
static void expect_block(struct body_reference *r)
{
	for (int d = 0; d < r->m; d++)
		for (int t = 0; t < r->n; t++) {
			r->wrench[d].value += r->jacobian[t][d].value * r->gradient[t].value;
			r->wrench[d].scale += r->jacobian[t][d].scale * r->gradient[t].scale;
		}
	for (int d = 0; d < r->m; d++)
		for (int e = 0; e < r->m; e++) {
			const struct expected *a = r->inner;
			struct expected *sum = &r->block[d][e];
			for (int s = 0; s < r->n; s++)
				for (int t = s; t < r->n; t++, a++) {
					const struct expected *x = r->jacobian[s], *y = r->jacobian[t];
					const bool once = s == t;
					sum->value += a->value * (x[d].value * y[e].value + (once ? 0 : y[d].value * x[e].value));
					sum->scale += a->scale * (x[d].scale * y[e].scale + (once ? 0 : y[d].scale * x[e].scale));
				}
		}
}

static void expect(const struct comparing_bodies *task, size_t i, struct body_reference *r)
{
	const struct fric_contacts *b = task->b;
	const struct coefficients *mu = task->all->body_coefficients;
	const double eps_v = *column_at(b->eps_v, i), viscous = b->viscous.data ? *column_at(b->viscous, i) : 0;
	const long double s = b->skipped[i] ? 0 : (long double)*column_at(b->weight, i) * *column_at(b->normal_force, i);
	struct differences d;
	long double x[MOST_SLIP] = {0}, bare[MOST_SLIP] = {0}, drag = 0, squared = 0;
	struct fric_law law = b->law;
	if (b->unit.data && law.type != FRIC_CURVE)
		law.stribeck_speed = *column_at(b->unit, i);
	expect_jacobian(b, i, r);
	slip_in_question(task, i, r, x, bare);
	fricp_differences_at(&law, task->all->areas, *column_at(mu->mu_s, i), *column_at(mu->mu_k, i), eps_v, r->n, x, &d);
	if (viscous != 0) {
		fricp_differences_of_drag(viscous, eps_v, r->n, bare, &d);
		drag = (long double)viscous * eps_v;
	}
	for (int t = 0; t < r->n; t++)
		squared += bare[t] / eps_v * (bare[t] / eps_v);
	const long double above = d.z > 1 ? d.z : 1, below = d.z < 1 ? d.z : 1, size = fabsl(s);
	const long double known = d.mu / above + drag + d.blur / FRIC_TOLERANCE;
	r->potential = (struct expected){s * eps_v * d.potential, size * eps_v * (d.mu * above + drag * squared)};
	for (int t = 0; t < r->n; t++)
		r->gradient[t] = (struct expected){
			s * d.gradient[t], floored(size * (d.mu * below + drag * sqrtl(squared) + d.known / FRIC_TOLERANCE))};
	for (int e = 0; e < r->n * (r->n + 1) / 2; e++)
		r->inner[e] = (struct expected){s / eps_v * d.hessian[e], floored(size * known / eps_v)};
	expect_block(r);
}

/* ---- its comparison ---- */

/* A number in the wrong place counts as a wrong number. */
static bool judge_triplets(const struct comparing_bodies *task, size_t i, const struct body_reference *r,
                           struct findings *f)
{
	const struct fric_contacts *c = task->all->contacts;
	int32_t rows[MOST_BLOCK * MOST_BLOCK], cols[MOST_BLOCK * MOST_BLOCK];
	double values[MOST_BLOCK * MOST_BLOCK];
	const double *inner = task->all->claims->inner + first_body_inner(c);
	if (!fricp_body_triplets_of(task->b, inner, i, FRIC_FULL, rows, cols, values))
		return false;
	for (int d = 0, at = 0; d < r->m; d++)
		for (int e = 0; e < r->m; e++, at++) {
			const struct expected *x = &r->block[d][e];
			judge(f, FRIC_HESSIAN, c->n + i, values[at], x->value, x->scale);
			if ((size_t)rows[at] != r->dof[d] || (size_t)cols[at] != r->dof[e])
				judge(f, FRIC_HESSIAN, c->n + i, 1, 0, 0);
			raise_to(&f->of[FRIC_HESSIAN].largest_difference, capped(fabsl(values[at] - x->value)));
			raise_to(&f->of[FRIC_HESSIAN].largest_entry, fabs(values[at]));
		}
	return true;
}

static void judge_numbers(const struct comparing_bodies *task, size_t i, const struct body_reference *r,
                          struct findings *f)
{
	const struct fric_contacts *c = task->all->contacts;
	const struct claims *claims = task->all->claims;
	const size_t n_inner = body_inner_size(c->dim), at = c->n + i;
	const double *wrench = claims->wrenches + first_action(task->b, i) * (size_t)n_body_dofs(c->dim);
	const double *inner = claims->inner + first_body_inner(c) + i * n_inner;
	judge(f, FRIC_POTENTIAL, at, claims->potentials[at], r->potential.value, r->potential.scale);
	for (int d = 0; d < r->m; d++)
		judge(f, FRIC_GRADIENT, at, wrench[d], r->wrench[d].value, r->wrench[d].scale);
	for (size_t e = 0; e < n_inner; e++)
		judge(f, FRIC_HESSIAN, at, inner[e], r->inner[e].value, r->inner[e].scale);
}

static void keep_row(const struct body_reference *r, struct body_row *row)
{
	*row = (struct body_row){.m = r->m, .potential = r->potential};
	memcpy(row->dof, r->dof, sizeof(row->dof));
	memcpy(row->wrench, r->wrench, sizeof(row->wrench));
	for (int d = 0; d < r->m; d++)
		for (int e = 0; e < r->m; e++) {
			const long double x = test_vector(NULL, r->dof[e]);
			row->product[d].value += r->block[d][e].value * x;
			row->product[d].scale += r->block[d][e].scale * fabsl(x);
		}
}

/* begin and end count from the window's first contact. */
static void compare_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct comparing_bodies *task = data;
	struct findings *f = &task->chunks[chunk];
	*f = (struct findings){.relative = -1};
	for (size_t j = begin; j < end; j++) {
		struct body_reference r = {0};
		expect(task, task->first + j, &r);
		judge_numbers(task, task->first + j, &r, f);
		if (!judge_triplets(task, task->first + j, &r, f)) {
			*fault = (struct fault){FRIC_E_NOT_FINITE, task->all->contacts->n + task->first + j};
			return;
		}
		keep_row(&r, &task->rows[j]);
	}
}

/* ---- all of them ---- */

static void add_row(struct comparing *all, const struct body_row *row)
{
	add(&all->potential, row->potential.value, row->potential.scale);
	for (int d = 0; d < row->m; d++) {
		add(&all->gradient[row->dof[d]], row->wrench[d].value, row->wrench[d].scale);
		add(&all->product[row->dof[d]], row->product[d].value, row->product[d].scale);
	}
}

static struct fault compare_window(struct comparing_bodies *task, size_t n)
{
	const struct fric_context *context = task->all->context;
	const size_t from = context->parallel_from ? context->parallel_from : SERIAL_BELOW;
	const struct phase phase = {compare_chunk, n, CHUNK, true, NULL};
	const struct fault fault = fricp_parallel_phases(context, n < from ? 1 : context->n_threads, &phase, 1, task);
	for (size_t p = 0; p * CHUNK < n && fault.code == FRIC_OK; p++)
		merge(&task->all->all, &task->chunks[p]);
	for (size_t j = 0; j < n && fault.code == FRIC_OK; j++)
		add_row(task->all, &task->rows[j]);
	return fault;
}

struct fault fricp_compare_bodies(struct comparing *all)
{
	const struct fric_memory *memory = all->context->memory;
	const size_t n = all->contacts->bodies->n, most = n < BODY_WINDOW ? n : BODY_WINDOW;
	const size_t rows = (most + 1) * sizeof(struct body_row), chunks = (most / CHUNK + 1) * sizeof(struct findings);
	struct comparing_bodies task = {all, all->contacts->bodies, 0, memory_take(memory, rows),
	                                memory_take(memory, chunks)};
	struct fault fault = {task.rows && task.chunks ? FRIC_OK : FRIC_E_MEMORY, SIZE_MAX};
	for (; task.first < n && fault.code == FRIC_OK; task.first += BODY_WINDOW)
		fault = compare_window(&task, n - task.first < BODY_WINDOW ? n - task.first : BODY_WINDOW);
	memory_give(memory, task.rows, rows);
	memory_give(memory, task.chunks, chunks);
	return fault;
}
