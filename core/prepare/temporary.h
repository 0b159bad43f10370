#include "core/geometry/geometry_fast.h"
static inline struct feature whole_stencil(enum fric_type type)
{
	const int n = closest_point_size_of(type);
	return (struct feature){.type = type, .member = {0, 1, 2, 3}, .coordinate = {{0, n > 0, 0}, {0, n > 1, 1}}};
}
static inline enum fric_code skip_reason(const struct fric_contacts *c, size_t i)
{
	return c->skipped[i] == 255 ? FRIC_OK : (enum fric_code)c->skipped[i];
}
static inline bool fricp_edges_within(const double *const p[FRIC_MAX_STENCIL], double mu)
{
	const struct v3 a = {p[1][0]-p[0][0], p[1][1]-p[0][1], p[1][2]-p[0][2]}, b = {p[3][0]-p[2][0], p[3][1]-p[2][1], p[3][2]-p[2][2]};
	const struct v3 v = v3_cross(a, b);
	return v3_dot(v, v) < mu;
}
