#include "core/gradcheck/expected.h"
#include "core/motion/stencil.h"

/* The weight of a side's origin: 1 minus the other weights. */
static struct expected share_of_origin(enum fric_type type, int origin, const long double at[2])
{
	long double taken = 0, scale = 1;
	for (int k = 0; k < fric_stencil_size(type); k++) {
		const struct member m = stencil_members(type)[k];
		if (k != origin && m.origin == origin)
			taken += at[m.coordinate], scale += fabsl(at[m.coordinate]);
	}
	return (struct expected){1 - taken, scale};
}

void fricp_expect_weights(struct reference *r, long double *pairs)
{
	const struct fric_contacts *c = r->contacts;
	const long double at[2] = {c->closest_point[0][r->i], c->closest_point[1][r->i]};
	const long double a0 = *column_at(c->mu_aniso[0], r->i), a1 = r->n == 2 ? *column_at(c->mu_aniso[1], r->i) : 0;
	for (int k = 0; k < fric_stencil_size(r->type); k++) {
		const struct member m = stencil_members(r->type)[k];
		const long double x = at[m.coordinate];
		const struct expected w = m.origin == k ? share_of_origin(r->type, k, at) : (struct expected){x, fabsl(x)};
		r->weight[k] = (struct expected){m.sign * w.value, w.scale};
	}
	pairs[0] = a0 * a0;
	pairs[1] = a0 * a1;
	pairs[2] = a1 * a1;
}

static long double basis(const struct reference *r, int axis, int t)
{
	const struct fric_contacts *c = r->contacts;
	return c->tangent_basis[axis * (c->dim - 1) + t][r->i];
}

static void add_weighted(struct expected weight, long double x, struct expected *sum)
{
	sum->value += weight.value * x;
	sum->scale += weight.scale * fabsl(x);
}

struct expected fricp_expect_vertex_slip(const struct reference *r, const double *velocities, int t, bool anchored)
{
	const struct fric_contacts *c = r->contacts;
	const long double a = *column_at(c->mu_aniso[t], r->i);
	struct expected u = {0, 0};
	for (int axis = 0; axis < c->dim && !c->skipped[r->i]; axis++) {
		struct expected relative = {0, 0};
		for (int k = 0; k * c->dim < r->m; k++)
			add_weighted(r->weight[k], velocities[r->row.dof[k * c->dim + axis]], &relative);
		add_offset(c->surface_velocity, r->i, axis, -1, &relative);
		if (anchored)
			add_offset(c->anchor, r->i, axis, +1, &relative);
		u.value += basis(r, axis, t) * relative.value;
		u.scale += fabsl(basis(r, axis, t)) * relative.scale;
	}
	return (struct expected){a * u.value, a * u.scale * 0x1p-48L + (1 + a) * 0x1p-1070L};
}

/* Expects P A P^T; the block of vertices k and l is w_k w_l times this. */
static void expect_piece(const struct reference *r, struct expected piece[3][3])
{
	for (int a = 0; a < r->contacts->dim; a++)
		for (int b = 0; b < r->contacts->dim; b++) {
			struct expected sum = {0, 0};
			for (int t = 0; t < r->n; t++)
				for (int u = 0; u < r->n; u++) {
					const long double p = basis(r, a, t) * basis(r, b, u);
					sum.value += p * r->inner[t + u].value;
					sum.scale += floored(fabsl(p)) * r->inner[t + u].scale;
				}
			piece[a][b] = (struct expected){sum.value, floored(sum.scale)};
		}
}

static struct expected expect_force(const struct response *at, const struct reference *r, int axis)
{
	struct expected sum = {0, 0};
	for (int t = 0; t < r->n; t++) {
		const long double factor = basis(r, axis, t) * *column_at(r->contacts->mu_aniso[t], r->i);
		sum.value += factor * at->s * at->law.gradient[t];
		sum.scale += fabsl(factor) * at->force_scale;
	}
	return (struct expected){sum.value, floored(sum.scale)};
}

/* Computes the product of a contact's block with its part of test_vector. */
static void expect_product(const struct reference *r, struct expected piece[3][3], struct expected product[3])
{
	const int dim = r->contacts->dim;
	for (int b = 0; b < dim; b++) {
		struct expected x = {0, 0};
		for (int k = 0; k * dim < r->m; k++)
			add_weighted(r->weight[k], test_vector(r->row.dof[k * dim + b]), &x);
		for (int a = 0; a < dim; a++) {
			product[a].value += piece[a][b].value * x.value;
			product[a].scale += piece[a][b].scale * x.scale;
		}
	}
}

void fricp_expect_forces(const struct response *at, struct reference *r)
{
	const int dim = r->contacts->dim;
	struct expected piece[3][3] = {{{0, 0}}}, product[3] = {{0, 0}};
	expect_piece(r, piece);
	expect_product(r, piece, product);
	r->n_forces = dim;
	for (int axis = 0; axis < dim; axis++)
		r->force[axis] = expect_force(at, r, axis);
	for (int d = 0; d < r->m; d++) {
		const struct expected w = r->weight[d / dim], f = r->force[d % dim], p = product[d % dim];
		r->row.gradient[d] = (struct expected){w.value * f.value, w.scale * f.scale};
		r->row.product[d] = (struct expected){w.value * p.value, floored(w.scale) * p.scale};
		for (int e = 0; e < r->m; e++) {
			const struct expected v = r->weight[e / dim], x = piece[d % dim][e % dim];
			r->block[d][e] = (struct expected){w.value * v.value * x.value, floored(w.scale * v.scale) * x.scale};
		}
	}
}
