/**
 * The inputs of a contact as an array, and the fields of a batch and of a query that supply them. Tangents and
 * cotangents of a contact have the same layout.
 */
#ifndef FRIC_DERIVE_FIELDS_H
#define FRIC_DERIVE_FIELDS_H

#include <math.h>

#include "core/contacts/contacts.h"

/* Indices of the inputs of a contact; those in rows of a group come first. */
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
	/* Barrier */
	AT_DHAT = N_ROW_PLACES,
	AT_STIFFNESS,
	AT_DMIN,
	/* Members: relative velocity; turn (bodies only); relative velocity at the velocities that directions follow;
	 * inputs per member */
	AT_RELATIVE,
	AT_TURN = AT_RELATIVE + 3,
	AT_LAGGED = AT_TURN + 3,
	AT_POSITION = AT_LAGGED + 3, /* [k, 3] */
	AT_VERTEX_MU_S = AT_POSITION + 3 * FRIC_MAX_STENCIL,
	AT_VERTEX_MU_K = AT_VERTEX_MU_S + FRIC_MAX_STENCIL,
	/* Measured curve: value and integral at the contact's slip, and the position on the curve, which has no tangent */
	AT_CURVE = AT_VERTEX_MU_K + FRIC_MAX_STENCIL,
	AT_CURVE_PLACE = AT_CURVE + 2,
	N_PLACES
};

/* The index of a point's position. */
static inline int position_place(enum fric_type type, int point)
{
	return faces_world(type) && point == stencil_size_of(type) ? AT_PLANE_ORIGIN : AT_POSITION + 3 * point;
}

struct inputs {
	long double at[N_PLACES];
};

/* A field that supplies inputs of some contacts. */
struct link {
	enum place first;
	int width;
	double *data;  /* tangents or cotangents: a row per contact of the group, or one for all */
	size_t stride; /* from contact to contact; 0: one row for all */
	size_t total;  /* if there is one row: index of its sums in struct totals */
};

enum {
	MOST_LINKS = FRIC_N_ROWS + FRIC_N_FIELDS,
	N_TOTALS = FRIC_N_TYPES * N_ROW_PLACES + FRIC_N_FIELDS,
};

struct links {
	int n;
	struct link link[MOST_LINKS];
};

/* Sums of cotangents over contacts, for fields with one row. */
struct totals {
	long double sum[N_TOTALS];
};

/* The width of a row of a field of a group, as in fric.h. */
int fricp_row_width(enum fric_type type, int dim, enum fric_row row);
const struct fric_values *fricp_group_row(const struct fric_group *group, enum fric_row row);
/* The index of a row's first input. */
enum place fricp_row_place(enum fric_row row);

/* Lists the fields in a differential that supply inputs of contacts of a type directly: rows of the group, and the
 * fields that replace rows that it lacks. Excludes fields per member, tables and curves. */
void fricp_find_links(const struct fric_batch *batch, enum fric_type type, const struct fric_differential *differential,
                      struct links *links);

/* Reads the inputs of one contact of the group. @param i  its index in the group */
static inline void read_links(const struct links *links, size_t i, struct inputs *inputs)
{
	for (int l = 0; l < links->n; l++) {
		const struct link *link = &links->link[l];
		for (int m = 0; m < link->width; m++)
			inputs->at[(int)link->first + m] = link->data[i * link->stride + (size_t)m];
	}
}

/* Rounds n numbers to doubles. @return whether they fit */
static inline bool round_all(const long double *from, int n, double *to)
{
	bool finite = true;
	for (int e = 0; e < n; e++) {
		to[e] = (double)from[e];
		finite &= isfinite(to[e]) != 0;
	}
	return finite;
}

/* Writes the inputs of contact i of the group to the fields with a row per contact. @return whether they fit doubles */
static inline bool write_rows(const struct links *links, size_t i, const struct inputs *inputs)
{
	bool finite = true;
	for (const struct link *link = links->link; link < links->link + links->n; link++)
		if (link->stride)
			finite &= round_all(&inputs->at[link->first], link->width, link->data + i * link->stride);
	return finite;
}

/* Writes the sums to the fields with one row. @return whether all fit a double */
bool fricp_write_totals(const struct fric_batch *batch, const struct totals *totals,
                        const struct fric_differential *cotangents);

#endif
