#include "core/contacts/ordinary.h"

/* The smallest and the largest absolute value of the nonzero numbers and 1. */
struct sizes {
	double lowest, highest;
};

static struct sizes column_sizes(struct column column, size_t begin, size_t end)
{
	double lowest = 1, highest = 1;
	const double *x = column_at(column, begin);
	const size_t n = column.stride ? end - begin : end > begin;
#pragma omp simd reduction(min : lowest) reduction(max : highest)
	for (size_t i = 0; i < n; i++) {
		const double size = x[i] == 0 ? 1 : fabs(x[i]);
		lowest = size < lowest ? size : lowest;
		highest = size > highest ? size : highest;
	}
	return (struct sizes){lowest, highest};
}

/* Whether further factors of forces are of moderate size. Products with ordinary forces and coefficients then stay
 * below 2^820. */
static bool moderate(struct column column, size_t begin, size_t end)
{
	return column_sizes(column, begin, end).highest < moderate_size;
}

/* Whether the drags relative to eps_v, which take the place of a coefficient, are ordinary. */
static bool ordinary_drags(const struct fric_contacts *c, size_t begin, size_t end)
{
	bool all = true;
	for (size_t i = begin; i < end && c->viscous.data; i++)
		all &= ordinary_drag(*column_at(c->viscous, i), *column_at(c->eps_v, i));
	return all;
}

/* Derived bases have columns of length 1 and need no check. */
static bool unit_bases(const struct fric_contacts *c, size_t begin, size_t end)
{
	bool all = true;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t first = begin > c->start[type] ? begin : c->start[type];
		const size_t last = end < c->start[type + 1] ? end : c->start[type + 1];
		for (int e = 0; e < c->dim * (c->dim - 1) && c->given_basis[type] && first < last; e++)
			all &= column_sizes((struct column){c->tangent_basis[e], 1}, first, last).highest <= unit_basis;
	}
	return all;
}

static bool ordinary_decays(const struct fric_contacts *c, size_t begin, size_t end)
{
	const bool same = c->eps_v.stride == 0 && c->unit.stride == 0;
	bool all = true;
	for (size_t i = begin; i < (same && begin < end ? begin + 1 : end) && c->unit.data; i++)
		all &= ordinary_decay(&c->table, *column_at(c->eps_v, i) / *column_at(c->unit, i));
	return all;
}

/* Checks bounds over all contacts. If these are exceeded, the scalar form checks each contact. */
bool fricp_contacts_ordinary(const struct fric_contacts *c, size_t begin, size_t end)
{
	const struct sizes weight = column_sizes(c->weight, begin, end), force = column_sizes(c->normal_force, begin, end),
					   eps_v = column_sizes(c->eps_v, begin, end);
	return ordinary(weight.lowest * force.lowest) && ordinary(weight.highest * force.highest) &&
	       weight.lowest > slip_small && force.lowest > slip_small && weight.highest < slip_large &&
	       force.highest < slip_large && invertible(eps_v.lowest) && invertible(eps_v.highest) &&
	       moderate(c->mu_aniso[0], begin, end) && moderate(c->mu_aniso[1], begin, end) &&
	       moderate((struct column){c->closest_point[0], 1}, begin, end) &&
	       moderate((struct column){c->closest_point[1], 1}, begin, end) && unit_bases(c, begin, end) &&
	       ordinary_drags(c, begin, end) && ordinary_decays(c, begin, end);
}

bool fricp_coefficients_ordinary(const struct coefficients *coefficients, size_t begin, size_t end)
{
	const struct sizes mu_s = column_sizes(coefficients->mu_s, begin, end),
					   mu_k = column_sizes(coefficients->mu_k, begin, end);
	return ordinary(mu_s.lowest) && ordinary(mu_s.highest) && ordinary(mu_k.lowest) && ordinary(mu_k.highest);
}
