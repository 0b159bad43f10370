/**
 * The table of the friction laws, and their functions (point.h) dispatched by law. Where the law is a constant after
 * inlining, as in a loop over a span, the dispatch costs nothing.
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

/* The transitions of the smooth law come first, in the order of enum fric_transition, then the other types of law, in
 * the order of enum fric_law_type. */
enum law { LAW_CUBIC, LAW_QUADRATIC, LAW_PEAK, LAW_STRIBECK, LAW_EXPONENTIAL, LAW_CURVE, LAW_ADHESION };

/* The only properties by which code outside this wing may distinguish laws. */
enum law_trait {
	LAW_DECAYS = 1,   /* has a tail beyond eps_v with its own speed scale, stribeck_speed (tail.h) */
	LAW_MEASURED = 2, /* has a tail beyond eps_v that follows a measured curve (table.h) */
	LAW_ONE_MU = 4,   /* uses mu_s only */
	LAW_BREAKS = 8,   /* bonds break at LAW_REACH eps_v, where G2 jumps; until then they are intact */
	LAW_SHAPED = 16   /* has a shape that depends on the coefficients alone */
};

/* The list of laws: ROW(law, prefix of its functions' names, traits, more) */
#define FRIC_LAWS(ROW, more) \
	ROW(LAW_CUBIC, cubic, 0, more) \
	ROW(LAW_QUADRATIC, quadratic, 0, more) \
	ROW(LAW_PEAK, peak, LAW_SHAPED, more) \
	ROW(LAW_STRIBECK, decaying, LAW_DECAYS, more) \
	ROW(LAW_EXPONENTIAL, decaying, LAW_DECAYS, more) \
	ROW(LAW_CURVE, measured, LAW_MEASURED | LAW_ONE_MU, more) \
	ROW(LAW_ADHESION, adhesion, LAW_BREAKS | LAW_ONE_MU, more)

INLINE enum law law_of(const struct fric_law *law)
{
	return law->type == FRIC_SMOOTH ? (enum law)law->transition : (enum law)(LAW_PEAK + (int)law->type);
}

#define FRIC_LAW_TRAITS(id, name, traits, more) \
	case id: return ((traits)&asked) != 0;
INLINE bool law_has(enum law t, int asked)
{
	switch (t) {
		FRIC_LAWS(FRIC_LAW_TRAITS, )
	}
	__builtin_unreachable();
}

/* Whether a law has a tail, which changes beyond eps_v on its own speed scale (point.h). */
INLINE bool law_has_tail(enum law t)
{
	return law_has(t, LAW_DECAYS | LAW_MEASURED);
}

#define FRIC_LAW_CASE(id, name, traits, call) \
	case id: return name##call;
/* Defines a function that dispatches to all laws. The table has a row for every value of the enum, so no default is
 * needed. */
#define FRIC_LAW_FUNCTION(result, function, parameters, call) \
	INLINE result function parameters \
	{ \
		switch (t) { \
			FRIC_LAWS(FRIC_LAW_CASE, call) \
		} \
		__builtin_unreachable(); \
	}

/* The shape at one r. */
INLINE struct law_shape law_shape_at(enum law t, double mu_s, double mu_k, double r)
{
	return law_has(t, LAW_SHAPED) ? peak_shape_at(mu_s, mu_k, r) : (struct law_shape){0};
}

/* beyond: from law_reach (derivatives.h) if law_has_tail, else zeros */
#define FRIC_LAW_DEFINE(real, suffix) \
	INLINE struct law_shape##suffix law_shape##suffix(enum law t, real mu_s, real mu_k) \
	{ \
		return law_has(t, LAW_SHAPED) ? peak_shape##suffix(mu_s, mu_k) : (struct law_shape##suffix){0}; \
	} \
	FRIC_LAW_FUNCTION(bool, law_low##suffix, (enum law t, struct law_point##suffix a), _low##suffix(a)) \
	FRIC_LAW_FUNCTION(real, law_g0##suffix, (enum law t, struct law_point##suffix a), _g0##suffix(a)) \
	FRIC_LAW_FUNCTION(real, law_g1##suffix, (enum law t, struct law_point##suffix a), _g1##suffix(a)) \
	FRIC_LAW_FUNCTION(real, law_g2##suffix, (enum law t, struct law_point##suffix a), _g2##suffix(a)) \
	FRIC_LAW_FUNCTION(struct law_derivatives##suffix, law_derivatives##suffix, \
	                  (enum law t, struct law_point##suffix a, struct law_reach##suffix beyond), \
	                  _derivatives##suffix(a, beyond))

FRIC_LAW_DEFINE(double, )
FRIC_LAW_DEFINE(long double, _l)

/* clang-format off */
FRIC_LAW_FUNCTION(quad, law_textbook, (enum law t, quad s, quad k, quad z, quad tail, quad subtracted),
                  _textbook(s, k, z, tail, subtracted))
/* clang-format on */
FRIC_LAW_FUNCTION(quad, law_textbook_rest, (enum law t, quad s, quad k), _textbook_rest(s, k))
FRIC_LAW_FUNCTION(quad, law_textbook_blur, (enum law t, quad s, quad k, quad z, quad step),
                  _textbook_blur(s, k, z, step))

/* s G2, an eigenvalue of the inner matrix; beyond eps_v a zero has no sign, whatever the sign of s. */
INLINE double eigenvalue_along(double s, double g2, bool slides, double over_eps_v)
{
	return ((g2 == 0) & slides) ? 0 : (s * g2) * over_eps_v;
}

/* As eigenvalue_along, before the division by eps_v. */
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
