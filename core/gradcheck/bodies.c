/* Computes expected values from twists, arms, normals and radii by the formulas in docs/physics.md 3, independently of
 * bodies/twist.h. */
#include "core/gradcheck/expected.h"

/* Computes column t of the basis, times mu_aniso. */
static void direction(const struct fric_contacts *b, size_t i, int t, long double *out)
{
	for (int d = 0; d < b->dim; d++)
		out[d] = (long double)*column_at(b->mu_aniso[t], i) * b->tangent_basis[d * (b->dim - 1) + t][i];
}

/* Component d of r x c, which has only one component in 2D. */
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

void fricp_expect_jacobian(struct reference *r, long double *pairs)
{
	const int w = n_body_dofs(r->contacts->dim);
	for (int e = 0; e < r->m; e++)
		for (int t = 0; t < r->n; t++)
			r->jacobian[t][e] = derivative(r->contacts, e / w, r->i, t, e % w);
	for (int e = 0; e < MOST_PAIRS; e++)
		pairs[e] = 1;
}

struct expected fricp_expect_body_slip(const struct reference *r, const double *velocities, int t, bool anchored)
{
	const struct fric_contacts *b = r->contacts;
	struct expected sum = {0, 0};
	long double c[3] = {0};
	for (int e = 0; e < r->m; e++) {
		const long double v = velocities[r->row.dof[e]];
		sum.value += r->jacobian[t][e].value * v;
		sum.scale += r->jacobian[t][e].scale * fabsl(v);
	}
	if (t < b->dim - 1)
		direction(b, r->i, t, c);
	for (int d = 0; d < b->dim && t < b->dim - 1 && !b->skipped[r->i]; d++) {
		struct expected offset = {0, 0};
		add_offset(b->surface_velocity, r->i, d, -1, &offset);
		if (anchored)
			add_offset(b->anchor, r->i, d, +1, &offset);
		sum.value += c[d] * offset.value;
		sum.scale += fabsl(c[d]) * offset.scale;
	}
	return (struct expected){sum.value, sum.scale * 0x1p-46L + 0x1p-1060L};
}

static struct expected expect_entry(const struct reference *r, int d, int e)
{
	const struct expected *a = r->inner;
	struct expected sum = {0, 0};
	for (int s = 0; s < r->n; s++)
		for (int t = s; t < r->n; t++, a++) {
			const struct expected *x = r->jacobian[s], *y = r->jacobian[t];
			const bool once = s == t;
			sum.value += a->value * (x[d].value * y[e].value + (once ? 0 : y[d].value * x[e].value));
			sum.scale += a->scale * (x[d].scale * y[e].scale + (once ? 0 : y[d].scale * x[e].scale));
		}
	return sum;
}

void fricp_expect_wrenches(const struct response *at, struct reference *r)
{
	r->n_forces = r->m;
	for (int d = 0; d < r->m; d++) {
		r->force[d] = r->row.product[d] = (struct expected){0, 0};
		for (int t = 0; t < r->n; t++) {
			r->force[d].value += r->jacobian[t][d].value * (at->s * at->law.gradient[t]);
			r->force[d].scale += r->jacobian[t][d].scale * at->force_scale;
		}
		r->row.gradient[d] = r->force[d];
		for (int e = 0; e < r->m; e++) {
			const long double x = test_vector(r->row.dof[e]);
			r->block[d][e] = expect_entry(r, d, e);
			r->row.product[d].value += r->block[d][e].value * x;
			r->row.product[d].scale += r->block[d][e].scale * fabsl(x);
		}
	}
}
