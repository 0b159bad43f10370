#include "core/derive/fields.h"

#include <stddef.h>

#include "core/law/law.h"

static const struct {
	size_t offset;
	enum place place;
} rows[FRIC_N_ROWS] = {
	[FRIC_ROW_NORMAL_FORCE] = {offsetof(struct fric_group, normal_force), AT_NORMAL_FORCE},
	[FRIC_ROW_WEIGHT] = {offsetof(struct fric_group, weight), AT_WEIGHT},
	[FRIC_ROW_MU_S] = {offsetof(struct fric_group, mu_s), AT_MU_S},
	[FRIC_ROW_MU_K] = {offsetof(struct fric_group, mu_k), AT_MU_K},
	[FRIC_ROW_EPS_V] = {offsetof(struct fric_group, eps_v), AT_EPS_V},
	[FRIC_ROW_MU_ANISO] = {offsetof(struct fric_group, mu_aniso), AT_MU_ANISO},
	[FRIC_ROW_MU_S_ANISO] = {offsetof(struct fric_group, mu_s_aniso), AT_MU_S_ANISO},
	[FRIC_ROW_MU_K_ANISO] = {offsetof(struct fric_group, mu_k_aniso), AT_MU_K_ANISO},
	[FRIC_ROW_TANGENT_BASIS] = {offsetof(struct fric_group, tangent_basis), AT_TANGENT_BASIS},
	[FRIC_ROW_CLOSEST_POINT] = {offsetof(struct fric_group, closest_point), AT_CLOSEST_POINT},
	[FRIC_ROW_PLANE_NORMAL] = {offsetof(struct fric_group, plane_normal), AT_PLANE_NORMAL},
	[FRIC_ROW_PLANE_ORIGIN] = {offsetof(struct fric_group, plane_origin), AT_PLANE_ORIGIN},
	[FRIC_ROW_STRIBECK_SPEED] = {offsetof(struct fric_group, stribeck_speed), AT_STRIBECK_SPEED},
	[FRIC_ROW_VISCOUS] = {offsetof(struct fric_group, viscous), AT_VISCOUS},
	[FRIC_ROW_SURFACE_VELOCITY] = {offsetof(struct fric_group, surface_velocity), AT_SURFACE_VELOCITY},
	[FRIC_ROW_ANCHOR] = {offsetof(struct fric_group, anchor), AT_ANCHOR},
	[FRIC_ROW_GRAIN] = {offsetof(struct fric_group, grain), AT_GRAIN},
	[FRIC_ROW_POINT] = {offsetof(struct fric_group, point), AT_POINT},
	[FRIC_ROW_NORMAL] = {offsetof(struct fric_group, normal), AT_NORMAL},
	[FRIC_ROW_SPIN_RADIUS] = {offsetof(struct fric_group, spin_radius), AT_SPIN_RADIUS},
	[FRIC_ROW_ROLL_RADIUS] = {offsetof(struct fric_group, roll_radius), AT_ROLL_RADIUS},
};

int fricp_row_width(enum fric_type type, int dim, enum fric_row row)
{
	switch (row) {
	case FRIC_ROW_MU_ANISO: return dim - 1;
	case FRIC_ROW_MU_S_ANISO:
	case FRIC_ROW_MU_K_ANISO: return 2;
	case FRIC_ROW_TANGENT_BASIS: return dim * (dim - 1);
	case FRIC_ROW_CLOSEST_POINT: return fric_closest_point_size(type);
	case FRIC_ROW_GRAIN: return 3;
	case FRIC_ROW_PLANE_NORMAL:
	case FRIC_ROW_PLANE_ORIGIN:
	case FRIC_ROW_SURFACE_VELOCITY:
	case FRIC_ROW_ANCHOR:
	case FRIC_ROW_POINT:
	case FRIC_ROW_NORMAL: return dim;
	default: return 1;
	}
}

const struct fric_values *fricp_group_row(const struct fric_group *group, enum fric_row row)
{
	return (const struct fric_values *)(const void *)((const char *)group + rows[row].offset);
}

enum place fricp_row_place(enum fric_row row)
{
	return rows[row].place;
}

static size_t total_of_row(enum fric_type type, enum fric_row row)
{
	return (size_t)type * N_ROW_PLACES + rows[row].place;
}

static size_t total_of_field(enum fric_field field)
{
	return (size_t)FRIC_N_TYPES * N_ROW_PLACES + field;
}

static void link_rows(const struct fric_batch *batch, enum fric_type type, const struct fric_differential *differential,
                      struct links *links)
{
	for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
		const int width = fricp_row_width(type, batch->dim, row);
		const struct fric_values *values = fricp_group_row(&batch->groups[type], row);
		if (differential->rows[type][row] && values->data)
			links->link[links->n++] = (struct link){rows[row].place, width, differential->rows[type][row],
			                                        values->stride ? (size_t)width : 0, total_of_row(type, row)};
	}
}

/* Fields of the batch that take the place of a row that a group lacks. */
static const struct {
	enum fric_field field;
	enum fric_row instead;
	enum place place;
} shared[] = {
	{FRIC_WRT_EPS_V, FRIC_ROW_EPS_V, AT_EPS_V},
	{FRIC_WRT_MU_S, FRIC_ROW_MU_S, AT_MU_S},
	{FRIC_WRT_MU_K, FRIC_ROW_MU_K, AT_MU_K},
	{FRIC_WRT_STRIBECK_SPEED, FRIC_ROW_STRIBECK_SPEED, AT_STRIBECK_SPEED},
	{FRIC_WRT_VISCOUS, FRIC_ROW_VISCOUS, AT_VISCOUS},
	{FRIC_WRT_DHAT, FRIC_ROW_NORMAL_FORCE, AT_DHAT},
	{FRIC_WRT_STIFFNESS, FRIC_ROW_NORMAL_FORCE, AT_STIFFNESS},
	{FRIC_WRT_DMIN, FRIC_ROW_NORMAL_FORCE, AT_DMIN},
};
enum { N_SHARED = sizeof(shared) / sizeof(*shared) };

static bool is_used(const struct fric_batch *batch, enum fric_field field)
{
	if (field == FRIC_WRT_MU_S || field == FRIC_WRT_MU_K)
		return batch->friction.source == FRIC_MU_SCALAR;
	return field != FRIC_WRT_STRIBECK_SPEED || !law_has(law_of(&batch->friction.law), LAW_MEASURED);
}

void fricp_find_links(const struct fric_batch *batch, enum fric_type type, const struct fric_differential *differential,
                      struct links *links)
{
	links->n = 0;
	link_rows(batch, type, differential, links);
	for (int s = 0; s < N_SHARED; s++) {
		const enum fric_field field = shared[s].field;
		if (differential->fields[field] && is_used(batch, field) &&
		    !fricp_group_row(&batch->groups[type], shared[s].instead)->data)
			links->link[links->n++] =
				(struct link){shared[s].place, 1, differential->fields[field], 0, total_of_field(field)};
	}
}

bool fricp_write_totals(const struct fric_batch *batch, const struct totals *totals,
                        const struct fric_differential *cotangents)
{
	bool finite = true;
	for (int s = 0; s < N_SHARED; s++)
		if (cotangents->fields[shared[s].field])
			finite &= round_all(&totals->sum[total_of_field(shared[s].field)], 1, cotangents->fields[shared[s].field]);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		for (enum fric_row row = 0; row < FRIC_N_ROWS; row++) {
			const struct fric_values *values = fricp_group_row(&batch->groups[type], row);
			double *out = cotangents->rows[type][row];
			if (out && values->data && !values->stride)
				finite &= round_all(&totals->sum[total_of_row(type, row)], fricp_row_width(type, batch->dim, row), out);
		}
	return finite;
}
