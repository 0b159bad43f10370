/**
 * The table of the friction laws, and each of their functions (point.h) by law. Where the law is a constant after
 * inlining, as in a loop over a span, nothing is left of the choice.
 */
#ifndef FRIC_LAW_H
#define FRIC_LAW_H

#include <math.h>

#include "core/fric.h"
#include "core/law/adhesion.h"
#include "core/law/cubic.h"
#include "core/law/decaying.h"
#include "core/law/measured.h"
#include "core/law/peak.h"
#include "core/law/point.h"
#include "core/law/quadratic.h"

/* The smooth law's transitions come first, in the order of enum fric_transition; then the other types of law, in that of
 * enum fric_law_type. */
enum law { LAW_CUBIC, LAW_QUADRATIC, LAW_PEAK, LAW_STRIBECK, LAW_EXPONENTIAL, LAW_CURVE, LAW_ADHESION };

/* ROW(law, what the names of its functions begin with, more) for every law */
#define FRIC_LAWS(ROW, more) \
	ROW(LAW_CUBIC, cubic, more) \
	ROW(LAW_QUADRATIC, quadratic, more) \
	ROW(LAW_PEAK, peak, more) \
	ROW(LAW_STRIBECK, decaying, more) \
	ROW(LAW_EXPONENTIAL, decaying, more) \
	ROW(LAW_CURVE, measured, more) \
	ROW(LAW_ADHESION, adhesion, more)

INLINE enum law law_of(const struct fric_law *law)
{
	return law->type == FRIC_SMOOTH ? (enum law)law->transition : (enum law)(LAW_PEAK + (int)law->type);
}

/* Whether a law goes on changing beyond eps_v (point.h). */
INLINE bool law_has_tail(enum law t)
{
	return t == LAW_STRIBECK || t == LAW_EXPONENTIAL || t == LAW_CURVE;
}

/* Whether one coefficient is all that a law has. */
INLINE bool law_has_one_coefficient(enum law t)
{
	return t == LAW_CURVE || t == LAW_ADHESION;
}

#define FRIC_LAW_CASE(id, name, call) \
	case id: return name##call;
/* One function for all laws; the table has a row for every value of the enum. */
#define FRIC_LAW_FUNCTION(result, function, parameters, call) \
	INLINE result function parameters \
	{ \
		switch (t) { \
			FRIC_LAWS(FRIC_LAW_CASE, call) \
		} \
		__builtin_unreachable(); \
	}

FRIC_LAW_FUNCTION(bool, law_has_shape, (enum law t), _has_shape)
FRIC_LAW_FUNCTION(struct law_shape, law_shape, (enum law t, double mu_s, double mu_k), _shape(mu_s, mu_k))
FRIC_LAW_FUNCTION(struct law_shape, law_shape_at, (enum law t, double mu_s, double mu_k, double r),
                  _shape_at(mu_s, mu_k, r))
FRIC_LAW_FUNCTION(struct law_shape_l, law_shape_l, (enum law t, long double mu_s, long double mu_k),
                  _shape_l(mu_s, mu_k))
FRIC_LAW_FUNCTION(bool, law_low, (enum law t, struct law_point a), _low(a))
FRIC_LAW_FUNCTION(bool, law_low_l, (enum law t, struct law_point_l a), _low_l(a))
FRIC_LAW_FUNCTION(double, law_g0, (enum law t, struct law_point a), _g0(a))
FRIC_LAW_FUNCTION(double, law_g1, (enum law t, struct law_point a), _g1(a))
FRIC_LAW_FUNCTION(double, law_g2, (enum law t, struct law_point a), _g2(a))
FRIC_LAW_FUNCTION(long double, law_g0_l, (enum law t, struct law_point_l a), _g0_l(a))
FRIC_LAW_FUNCTION(long double, law_g1_l, (enum law t, struct law_point_l a), _g1_l(a))
FRIC_LAW_FUNCTION(long double, law_g2_l, (enum law t, struct law_point_l a), _g2_l(a))
/* clang-format off */
FRIC_LAW_FUNCTION(quad, law_textbook, (enum law t, quad s, quad k, quad z, quad tail, quad subtracted),
                  _textbook(s, k, z, tail, subtracted))
/* clang-format on */
FRIC_LAW_FUNCTION(quad, law_textbook_rest, (enum law t, quad s, quad k), _textbook_rest(s, k))
FRIC_LAW_FUNCTION(quad, law_textbook_blur, (enum law t, quad s, quad k, quad z, quad step),
                  _textbook_blur(s, k, z, step))

/* s G2, an eigenvalue of the inner matrix; from eps_v on a zero without the sign of s. */
INLINE double eigenvalue_along(double s, double g2, bool slides, double over_eps_v)
{
	return ((g2 == 0) & slides) ? 0 : (s * g2) * over_eps_v;
}

/* The same, before it is divided by eps_v. */
INLINE long double eigenvalue_along_l(long double s, long double g2, bool slides)
{
	return g2 == 0 && slides ? 0 : s * g2;
}

/* An eigenvalue after projection to the PSD cone. */
INLINE long double projected_l(enum fric_projection projection, long double eigenvalue)
{
	if (projection == FRIC_PROJECT_CLAMP)
		return eigenvalue > 0 ? eigenvalue : 0;
	return projection == FRIC_PROJECT_ABS ? fabsl(eigenvalue) : eigenvalue;
}

#endif
