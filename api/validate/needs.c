/* Checks that other parts of the request have the fields that a group needs. */
#include "api/validate/request.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/validate/law.h"

/* Reports a missing member once, even if several groups need it. */
__attribute__((format(printf, 5, 6))) static bool need(struct api_request_check *w, struct api_field *object,
                                                       const struct api_object *rules, int rule, const char *format,
                                                       ...)
{
	const struct api_field field = api_ruled(object, rules, rule);
	char detail[API_MAX_DETAIL];
	va_list arguments;
	if (api_is_given(w->check, &field))
		return true;
	va_start(arguments, format);
	vsnprintf(detail, sizeof(detail), format, arguments);
	va_end(arguments);
	object->excused |= 1u << rule;
	return api_fault_at(w->check->fault, API_E_MISSING_FIELD, &field.path, "%s", detail);
}

/* Reports that normal forces are missing. Two fields could provide them, so the fault points to both. */
static void fault_forces(struct api_request_check *w, enum fric_type type)
{
	static const char format[] = "group \"%s\" has no \"normal_force\", and there is no \"barrier\" to derive it from:"
								 " give one of them";
	const char *name = fric_type_name(type);
	w->told_barrier = true;
	need(w, &w->root, &api_request, API_REQUEST_BARRIER, format, name);
	need(w, &w->groups[type], &api_groups[type], API_GROUP_NORMAL_FORCE, format, name);
}

/* Afterwards, a group without normal forces has a barrier, or the missing barrier has been reported. */
static void check_forces_needed(struct api_request_check *w, enum fric_type type)
{
	const struct api_field barrier = api_request_field(w, API_REQUEST_BARRIER);
	if (api_group_gives(w, type, API_GROUP_NORMAL_FORCE))
		return;
	if (api_group_gives(w, type, API_GROUP_TANGENT_BASIS))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_NORMAL_FORCE,
		     "\"normal_force\" is missing: given geometry has no distance to derive it from");
	else if (!api_is_given(w->check, &barrier) || w->told_barrier)
		fault_forces(w, type);
}

static void check_planes_needed(struct api_request_check *w, enum fric_type type)
{
	if (geometry_of(type) != POINT_PLANE)
		return;
	if (!api_group_gives(w, type, API_GROUP_TANGENT_BASIS))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_PLANE_NORMAL,
		     "\"plane_normal\" is missing: it determines the tangent plane of the contacts");
	if (!api_group_gives(w, type, API_GROUP_NORMAL_FORCE) || api_has_term(w, FRIC_TERM_BARRIER))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_PLANE_ORIGIN,
		     "\"plane_origin\" is missing: the barrier needs the distance from the plane");
}

/* Without friction, current positions suffice; they also suffice for the longest step. */
static void check_current_positions_needed(struct api_request_check *w, enum fric_type type)
{
	const struct api_field current = api_request_field(w, API_REQUEST_CURRENT_POSITIONS);
	if (!api_is_given(w->check, &current))
		need(w, &w->root, &api_request, API_REQUEST_POSITIONS,
		     "\"positions\" is missing, and so is \"current_positions\": group \"%s\" needs one of them",
		     fric_type_name(type));
}

static void check_positions_needed(struct api_request_check *w, enum fric_type type)
{
	const bool distance = api_needs_distance(w->query) && api_group_gives(w, type, API_GROUP_PLANE_ORIGIN);
	if (api_group_gives(w, type, API_GROUP_TANGENT_BASIS) || api_group_gives(w, type, API_GROUP_CLOSEST_POINT))
		return;
	if (geometry_of(type) == POINT_PLANE && api_group_gives(w, type, API_GROUP_NORMAL_FORCE) && !distance)
		return;
	need(w, &w->root, &api_request, API_REQUEST_POSITIONS, "\"positions\" is missing: group \"%s\" needs it",
	     fric_type_name(type));
}

static void check_bodies_needed(struct api_request_check *w, enum fric_type type)
{
	static const struct {
		int rule;
		const char *what;
	} needed[] = {{API_GROUP_POINT, "the point where they touch"},
	              {API_GROUP_NORMAL, "the normal of their tangent plane"},
	              {API_GROUP_NORMAL_FORCE, "as no barrier applies to bodies"}};
	need(w, &w->root, &api_request, API_REQUEST_BODY_POSITIONS, "\"body_positions\" is missing: group \"%s\" needs it",
	     fric_type_name(type));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		need(w, &w->groups[type], &api_groups[type], needed[i].rule,
		     "\"%s\" is missing: contacts of bodies need it, %s", api_groups[type].rules[needed[i].rule].name,
		     needed[i].what);
}

/* With material tables, planes and bodies need materials of their own; materials of vertices are checked elsewhere. */
static void check_materials_needed(struct api_request_check *w, enum fric_type type)
{
	static const char format[] = "\"%s\" is missing: group \"%s\" needs it";
	const char *name = fric_type_name(type);
	if (!json_is_object(w->materials.node))
		return;
	if (faces_world(type))
		need(w, &w->materials, &api_materials, API_MATERIALS_PLANE, format, "plane_material", name);
	if (is_of_bodies(type))
		need(w, &w->materials, &api_materials, API_MATERIALS_BODY, format, "body_material", name);
}

static bool friction_gives_mu(const struct api_request_check *w)
{
	const struct api_field materials = api_ruled(&w->friction, &api_friction, API_FRICTION_MATERIALS),
						   blend = api_ruled(&w->friction, &api_friction, API_FRICTION_BLEND);
	return blend.node || /* `blend` has been reported for lack of them */
	       api_gives_mu(w->check, &w->friction, &api_mu_of_friction) ||
	       api_gives_mu(w->check, &w->friction, &api_mu_of_vertices) || api_is_given(w->check, &materials);
}

static void check_friction_needed(struct api_request_check *w, enum fric_type type)
{
	static const char friction[] = "\"friction\" is missing: group \"%s\" has no %s of its own; give, for example,"
								   " {\"eps_v\": 0.001, \"mu\": 0.3}";
	static const char *const lacks[2][2] = {{"\"mu\" and no \"eps_v\"", "\"mu\""}, {"\"eps_v\"", ""}};
	const struct api_mu_rules of_group = {&api_groups[type], API_GROUP_MU};
	const bool has_mu = api_gives_mu(w->check, &w->groups[type], &of_group),
			   has_eps_v = api_group_gives(w, type, API_GROUP_EPS_V);
	const char *name = fric_type_name(type);
	if (api_law_has(w->law, LAW_DECAYS) && !api_group_gives(w, type, API_GROUP_STRIBECK_SPEED))
		need(w, &w->friction, &api_friction, API_FRICTION_STRIBECK_SPEED,
		     "\"stribeck_speed\" is missing: group \"%s\" needs it", name);
	if (has_mu && has_eps_v)
		return;
	if (!need(w, &w->root, &api_request, API_REQUEST_FRICTION, friction, name, lacks[has_mu][has_eps_v]) ||
	    !json_is_object(w->friction.node))
		return;
	if (!has_mu && !friction_gives_mu(w))
		need(w, &w->friction, &api_friction, API_FRICTION_MU,
		     "\"mu\" is missing: a group without coefficients of its own"
		     " needs \"mu\", \"mu_s\" and \"mu_k\", per-vertex ones or \"materials\"");
	if (!has_mu && is_of_bodies(type) && api_gives_mu(w->check, &w->friction, &api_mu_of_vertices))
		need(w, &w->groups[type], &api_groups[type], API_GROUP_MU,
		     "\"mu\" is missing: the only coefficients given are per vertex, and bodies have no vertices");
	if (!has_mu)
		check_materials_needed(w, type);
	if (!has_eps_v)
		need(w, &w->friction, &api_friction, API_FRICTION_EPS_V, "\"eps_v\" is missing: group \"%s\" needs it", name);
}

/* Checks a group unless it is empty, or its vertices are faulty. */
static void check_needs(struct api_request_check *w, enum fric_type type)
{
	if (w->n[type] == 0 || w->n[type] == API_UNKNOWN_LENGTH)
		return;
	const bool friction = api_has_term(w, FRIC_TERM_FRICTION), barrier = api_has_term(w, FRIC_TERM_BARRIER);
	if (is_of_bodies(type)) {
		if (friction)
			check_bodies_needed(w, type);
	} else {
		if (friction && !barrier)
			check_forces_needed(w, type);
		if (friction || barrier)
			check_planes_needed(w, type);
		if (friction)
			check_positions_needed(w, type);
		if (barrier || w->query->outputs[API_LONGEST_STEP])
			check_current_positions_needed(w, type);
	}
	if (friction)
		check_friction_needed(w, type);
}

static void check_needs_of_mesh(struct api_request_check *w)
{
	static const char format[] = "\"%s\" is missing: a mesh needs it, %s";
	need(w, &w->root, &api_request, API_REQUEST_POSITIONS, format, "positions", "to find contacts at");
	need(w, &w->root, &api_request, API_REQUEST_BARRIER, format, "barrier", "to derive normal forces from");
	check_friction_needed(w, FRIC_VERTEX_VERTEX);
	if (w->lagged->surface.n_planes)
		check_friction_needed(w, FRIC_PLANE_VERTEX);
}

void api_check_needs(struct api_request_check *w)
{
	if (w->lagged->has_mesh) {
		check_needs_of_mesh(w);
		return;
	}
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		check_needs(w, type);
}
