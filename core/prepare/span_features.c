#include "core/prepare/span_features.h"

#include <string.h>

#include "core/motion/stencil.h"

void fricp_list_all_features(const struct fric_contacts *contacts, struct feature_tables *tables)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (contacts->start[type + 1] > contacts->start[type])
			fricp_list_features(type, &tables->of[type]);
}

/* The members of the closest feature of contact j, from exact signs. */
static unsigned closest_feature(const struct span_features *s, enum fric_type type, int dim, size_t j, const int32_t *v)
{
	double p[FRIC_MAX_STENCIL][3] = {{0}};
	for (int k = 0; k < stencil_size_of(type); k++)
		copy_position(s, k, j, p[k]);
	return fricp_closest_feature(type, dim, (const double *const[]){p[0], p[1], p[2], p[3]}, v);
}

/* Gives all contacts whole stencils. */
static void take_whole_stencils(const struct feature_table *table, size_t n, struct span_features *s)
{
	memset(s->members, 0, n);
	for (size_t j = 0; j < n; j++)
		s->of[j] = &table->of[0][0];
}

void fricp_find_features(const struct fric_kernels *kernels, const struct feature_tables *tables,
                         const struct fric_contacts *contacts, struct span span, struct span_features *s)
{
	const struct feature_table *table = &tables->of[span.type];
	struct feature_workspace work = {.n = span.n, .position = s->position};
	void (*const kernel)(struct feature_workspace *) = kernels->features[geometry_of(span.type)];
	if (!some_bits(s->searched, span.n)) {
		take_whole_stencils(table, span.n, s);
		return;
	}
	if (kernel)
		kernel(&work);
	for (size_t j = 0; j < span.n; j++) {
		int32_t v[FRIC_MAX_STENCIL];
		unsigned members = 0;
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			v[k] = contacts->vertices[k][span.begin + j];
		if (s->searched[j])
			members = kernel && work.certain[j] != 0 ? (unsigned)work.members[j]
			                                         : closest_feature(s, span.type, contacts->dim, j, v);
		s->members[j] = (uint8_t)members;
		s->of[j] = &table->of[members][members ? feature_order(table, members, v) : 0];
	}
}

void fricp_gather_positions(const struct span_features *s, const struct alike *alike, int n_points,
                            double position[FRIC_MAX_STENCIL][3][FRIC_SPAN])
{
	for (size_t m = 0; m < alike->n; m++) {
		const size_t j = alike->at[m];
		for (int v = 0; v < n_points; v++) {
			const size_t k = (size_t)s->of[j]->member[v];
			for (int a = 0; a < 3; a++)
				position[v][a][m] = s->position[k][a][j];
		}
	}
}
