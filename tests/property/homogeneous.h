/**
 * Scalings that change all results by known factors: multiplying a field by 1 + power h multiplies the potential by 1 +
 * potential h, and likewise forces and torques. So derivatives along such tangents are known exactly, whatever the law,
 * the source of coefficients or the slip.
 */
#ifndef TESTS_HOMOGENEOUS_H
#define TESTS_HOMOGENEOUS_H

#include "tests/property/differentials.h"

enum scaling {
	SCALE_COEFFICIENTS, /* all coefficients, and drags */
	SCALE_WEIGHTS,
	SCALE_FORCES,     /* normal forces, and the stiffness of barriers */
	SCALE_SPEEDS,     /* all speeds; drags inversely */
	SCALE_LENGTHS,    /* all lengths; angular velocities inversely; the stiffness keeps normal forces */
	SCALE_SLIPS,      /* velocity scalings and radii; all velocities inversely */
	SCALE_DIRECTIONS, /* the lengths of normals and grains */
	MOVE_ALL,         /* a translation of everything */
	N_SCALINGS
};

/* Relative changes of potential, forces and torques. */
static const double scaled_results[N_SCALINGS][3] = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0},
                                                     {0, 0, 1}, {0, 1, 1}, {0, 0, 0}, {0, 0, 0}};

static const char *const scaling_names[N_SCALINGS] = {"coefficients scaled", "weights scaled",    "forces scaled",
                                                      "speeds scaled",       "lengths scaled",    "slips scaled",
                                                      "directions scaled",   "everything shifted"};

/* A set of fields and rows. */
#define BIT(x) (1u << (x))
static const unsigned coefficient_fields = BIT(FRIC_WRT_MU_S) | BIT(FRIC_WRT_MU_K) | BIT(FRIC_WRT_VERTEX_MU_S) |
                                           BIT(FRIC_WRT_VERTEX_MU_K) | BIT(FRIC_WRT_MATERIAL_MU_S) |
                                           BIT(FRIC_WRT_MATERIAL_MU_K) | BIT(FRIC_WRT_VISCOUS),
					  coefficient_rows = BIT(FRIC_ROW_MU_S) | BIT(FRIC_ROW_MU_K) | BIT(FRIC_ROW_MU_S_ANISO) |
                                         BIT(FRIC_ROW_MU_K_ANISO) | BIT(FRIC_ROW_VISCOUS),
					  velocity_fields = BIT(FRIC_WRT_VELOCITIES) | BIT(FRIC_WRT_LAGGED_VELOCITIES),
					  velocity_rows = BIT(FRIC_ROW_SURFACE_VELOCITY) | BIT(FRIC_ROW_ANCHOR),
					  speed_fields = BIT(FRIC_WRT_EPS_V) | BIT(FRIC_WRT_STRIBECK_SPEED),
					  speed_rows = BIT(FRIC_ROW_EPS_V) | BIT(FRIC_ROW_STRIBECK_SPEED),
					  place_fields = BIT(FRIC_WRT_POSITIONS) | BIT(FRIC_WRT_BODY_POSITIONS),
					  place_rows = BIT(FRIC_ROW_PLANE_ORIGIN) | BIT(FRIC_ROW_POINT),
					  length_fields = BIT(FRIC_WRT_DHAT) | BIT(FRIC_WRT_DMIN),
					  radius_rows = BIT(FRIC_ROW_SPIN_RADIUS) | BIT(FRIC_ROW_ROLL_RADIUS),
					  direction_rows = BIT(FRIC_ROW_PLANE_NORMAL) | BIT(FRIC_ROW_NORMAL) | BIT(FRIC_ROW_GRAIN);

static inline bool is_in(const struct number_field *f, unsigned fields, unsigned rows)
{
	return f->type == FRIC_N_TYPES ? fields >> f->field & 1 : rows >> f->row & 1;
}

/* The power of the unit of length in a barrier's force. */
static inline int power_of_length(const struct fric_barrier *barrier)
{
	if (barrier->scaling == FRIC_SCALING_PHYSICAL)
		return 0;
	return barrier->type == FRIC_NORMALIZED_CLAMPED_LOG ? -1 : 3;
}

static inline bool is_angular(const struct scene *s, size_t dof)
{
	return dof >= first_twist(s) && (dof - first_twist(s)) % twist_size(s) >= (size_t)s->batch.dim;
}

/* The tangent of number i of a field, divided by that number. */
static inline double power_of(enum scaling scaling, const struct scene *s, const struct number_field *f, size_t i)
{
	const bool stiffness = is_in(f, BIT(FRIC_WRT_STIFFNESS), 0), moves = is_in(f, velocity_fields, velocity_rows);
	switch (scaling) {
	case SCALE_COEFFICIENTS: return is_in(f, coefficient_fields, coefficient_rows);
	case SCALE_WEIGHTS: return is_in(f, 0, BIT(FRIC_ROW_WEIGHT));
	case SCALE_FORCES: return stiffness || is_in(f, 0, BIT(FRIC_ROW_NORMAL_FORCE));
	case SCALE_SPEEDS:
		return moves || is_in(f, speed_fields, speed_rows)              ? 1
		       : is_in(f, BIT(FRIC_WRT_VISCOUS), BIT(FRIC_ROW_VISCOUS)) ? -1
		                                                                : 0;
	case SCALE_LENGTHS:
		return stiffness                                                          ? -power_of_length(&s->batch.barrier)
		       : is_in(f, velocity_fields, 0)                                     ? -is_angular(s, i)
		       : is_in(f, place_fields | length_fields, place_rows | radius_rows) ? 1
		                                                                          : 0;
	case SCALE_SLIPS: return moves ? -1 : is_in(f, 0, BIT(FRIC_ROW_MU_ANISO) | radius_rows);
	case SCALE_DIRECTIONS: return is_in(f, 0, direction_rows);
	default: return 0;
	}
}

static inline double scaled_tangent(enum scaling scaling, const struct scene *s, const struct number_field *f, size_t i)
{
	static const double shift[] = {0.25, -0.5, 0.75};
	if (scaling == MOVE_ALL)
		return is_in(f, place_fields, place_rows) ? shift[i % (size_t)s->batch.dim] : 0;
	const double power = power_of(scaling, s, f, i);
	return power == 0 ? 0 : power * f->numbers[i];
}

/* Whether a scaling changes results as the table says. It does not if coefficients are products (not linear), if speeds
 * of a curve would have to change (not a field), or if a row to be scaled is missing. */
static inline bool scales(enum scaling scaling, const struct scene *s)
{
	const struct fric_friction *friction = &s->batch.friction;
	bool weights = true, slips = true, own_mu = true;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const struct fric_group *g = &s->batch.groups[type];
		weights &= !g->n || g->weight.data;
		slips &= !g->n || g->mu_aniso.data;
		own_mu &= !g->n || g->mu_s.data;
	}
	switch (scaling) {
	case SCALE_COEFFICIENTS: return own_mu || friction->source != FRIC_MU_VERTEX || friction->blend != FRIC_PRODUCT;
	case SCALE_WEIGHTS: return weights;
	case SCALE_SPEEDS: return friction->law.type != FRIC_CURVE;
	case SCALE_SLIPS: return slips;
	default: return true;
	}
}

/* The tangents of all fields; false if the scaling changes none. */
static inline bool scaling_tangents(enum scaling scaling, struct scene *s, const struct number_fields *fields,
                                    struct scene *room, struct fric_differential *tangents)
{
	bool any = false;
	*tangents = (struct fric_differential){.fields = {0}};
	for (size_t f = 0; f < fields->n; f++) {
		const struct number_field *field = &fields->of[f];
		double *tangent = NULL;
		for (size_t i = 0; i < field->n; i++) {
			const double x = scaled_tangent(scaling, s, field, i);
			if (x != 0 && !tangent)
				tangent = scene_memory(room, field->n, sizeof(double));
			if (tangent)
				tangent[i] = x;
		}
		*place_in(tangents, field) = tangent;
		any |= tangent != NULL;
	}
	return any;
}

#endif
