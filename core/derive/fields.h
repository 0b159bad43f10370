/**
 * What a contact depends on, number by number, and which fields of a batch and of a question these numbers are from. The
 * same places are those of a contact's tangents and of its cotangents.
 */
#ifndef FRIC_DERIVE_FIELDS_H
#define FRIC_DERIVE_FIELDS_H

#include "core/contacts/contacts.h"

/* Where the numbers of one contact are; those of the rows of a group come first. */
enum place {
	AT_NORMAL_FORCE,
	AT_WEIGHT,
	AT_MU_S,
	AT_MU_K,
	AT_EPS_V,
	AT_MU_ANISO,
	AT_MU_S_ANISO = AT_MU_ANISO + 2,
	AT_MU_K_ANISO = AT_MU_S_ANISO + 2,
	AT_TANGENT_BASIS = AT_MU_K_ANISO + 2,
	AT_CLOSEST_POINT = AT_TANGENT_BASIS + 6,
	AT_PLANE_NORMAL = AT_CLOSEST_POINT + 2,
	AT_PLANE_ORIGIN = AT_PLANE_NORMAL + 3,
	AT_STRIBECK_SPEED = AT_PLANE_ORIGIN + 3,
	AT_VISCOUS,
	AT_SURFACE_VELOCITY,
	AT_ANCHOR = AT_SURFACE_VELOCITY + 3,
	AT_GRAIN = AT_ANCHOR + 3,
	AT_POINT = AT_GRAIN + 3,
	AT_NORMAL = AT_POINT + 3,
	AT_SPIN_RADIUS = AT_NORMAL + 3,
	AT_ROLL_RADIUS,
	N_ROW_PLACES,
	/* Of the barrier */
	AT_DHAT = N_ROW_PLACES,
	AT_STIFFNESS,
	AT_DMIN,
	/* Of the members: the relative velocity, of bodies also the turn, the relative velocity at the velocities that directions
	 * follow, and what differs from member to member */
	AT_RELATIVE,
	AT_TURN = AT_RELATIVE + 3,
	AT_LAGGED = AT_TURN + 3,
	AT_POSITION = AT_LAGGED + 3, /* [k, 3] */
	AT_VERTEX_MU_S = AT_POSITION + 3 * FRIC_MAX_STENCIL,
	AT_VERTEX_MU_K = AT_VERTEX_MU_S + FRIC_MAX_STENCIL,
	/* Of a measured curve: its value where the contact looks it up, its integral, and where that is, which has no tangent */
	AT_CURVE = AT_VERTEX_MU_K + FRIC_MAX_STENCIL,
	AT_CURVE_PLACE = AT_CURVE + 2,
	N_PLACES
};

struct inputs {
	long double at[N_PLACES];
};

/* A field that some contacts take numbers from. */
struct link {
	enum place first;
	int width;
	double *data;  /* tangents or cotangents: a row per contact of the group, or one for all */
	size_t stride; /* from contact to contact; 0: one row for all */
	size_t total;  /* of one row: where its sums are in struct totals */
};

enum {
	MOST_LINKS = FRIC_N_ROWS + FRIC_N_FIELDS,
	N_TOTALS = FRIC_N_TYPES * N_ROW_PLACES + FRIC_N_FIELDS,
};

struct links {
	int n;
	struct link link[MOST_LINKS];
};

/* Sums of cotangents over contacts, of fields that have one row. */
struct totals {
	long double sum[N_TOTALS];
};

/* The width of a row of a field of a group, as in fric.h. */
int fricp_row_width(enum fric_type type, int dim, enum fric_row row);
/* A field of a group. */
const struct fric_values *fricp_group_row(const struct fric_group *group, enum fric_row row);
/* Where the numbers of a row are. */
enum place fricp_row_place(enum fric_row row);

/* The fields in a differential that contacts of a type take numbers from, one for one: rows of the group, and what stands
 * for those that the group has not. Not what goes by members, tables or curves. */
void fricp_find_links(const struct fric_batch *batch, enum fric_type type, const struct fric_differential *differential,
                      struct links *links);

/* What one contact of the group has there. @param i its index in the group */
static inline void read_links(const struct links *links, size_t i, struct inputs *inputs)
{
	for (int l = 0; l < links->n; l++) {
		const struct link *link = &links->link[l];
		for (int m = 0; m < link->width; m++)
			inputs->at[(int)link->first + m] = link->data[i * link->stride + (size_t)m];
	}
}

/* Sums of fields that have one row, into these. @return whether all fit a double */
bool fricp_write_totals(const struct fric_batch *batch, const struct totals *totals,
                        const struct fric_differential *cotangents);

#endif
