/* The names and sizes that belong to the enums of fric.h. */
#include "core/base/types.h"

int fric_stencil_size(enum fric_type type)
{
	return stencil_size_of(type);
}

int fric_closest_point_size(enum fric_type type)
{
	return closest_point_size_of(type);
}

const char *fric_type_name(enum fric_type type)
{
#define NAMED(type, text, ...) [FRIC_##type] = text,
	static const char *const name[FRIC_N_TYPES] = {FRICP_TYPES(NAMED)};
	return name[type];
}

const char *fric_reason(enum fric_code code)
{
	switch (code) {
	case FRIC_E_COINCIDENT_VERTICES: return "coincident_vertices";
	case FRIC_E_ZERO_LENGTH_EDGE: return "zero_length_edge";
	case FRIC_E_VERTEX_ON_EDGE: return "vertex_on_edge";
	case FRIC_E_PARALLEL_EDGES: return "parallel_edges";
	case FRIC_E_COLLAPSED_TRIANGLE: return "collapsed_triangle";
	case FRIC_E_PENETRATION: return "penetration";
	case FRIC_E_NEGATIVE_COEFFICIENT: return "negative_coefficient";
	case FRIC_E_GRAIN_ALONG_NORMAL: return "grain_along_normal";
	default: return "";
	}
}

int fric_inner_size(int dim)
{
	return dim == 3 ? 3 : 1;
}
