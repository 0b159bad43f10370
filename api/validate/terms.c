/* Checks which energies a request asks for, where the barrier acts, and what these and the longest step need. */
#include "api/validate/request.h"

#include <math.h>

#define NO_BARRIER_HERE "the term \"barrier\" "

bool api_has_term(const struct api_request_check *w, unsigned term)
{
	return w->query->terms & term;
}

/* After a fault, the query has no terms, so no field is reported missing because of them. */
void api_check_terms(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_TERMS);
	bool wanted[API_N_TERMS] = {[API_FRICTION_TERM] = true};
	const bool known = api_check_choices(w->check, &field, field.rule->words, wanted);
	w->query->terms = (wanted[API_FRICTION_TERM] ? FRIC_TERM_FRICTION : 0) |
	                  (wanted[API_BARRIER_TERM] ? FRIC_TERM_BARRIER : 0);
	if (known && !w->query->terms)
		api_fault_at(w->check->fault, API_E_WRONG_SHAPE, &field.path, "expected at least one of friction, barrier");
	if (!known)
		w->query->terms = 0;
}

static double distance(const double *a, const double *b, size_t dim)
{
	double sum = 0;
	for (size_t i = 0; i < dim; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sqrt(sum);
}

/* Requires that pairs which are not among the set's contacts are still farther apart than the barrier reaches. */
static void check_motion(struct api_request_check *w, const struct api_field *field)
{
	const struct api_set_facts *facts = w->facts;
	double most = 0;
	size_t farthest = 0;
	for (size_t v = 0; v < facts->n_vertices; v++) {
		if (v % API_SPAN == 0 && api_check_stopped(w->check))
			return;
		const double moved = !facts->is_in_mesh[v] ? 0
		                                           : distance(w->query->current_positions + v * facts->dim,
		                                                      facts->positions + v * facts->dim, facts->dim);
		if (moved > most)
			most = moved, farthest = v;
	}
	const struct api_path vertex = {&field->path, NULL, farthest};
	char motion[API_VALUE_TEXT], margin[API_VALUE_TEXT];
	if (2 * most > facts->margin)
		api_fault_at(w->check->fault, API_E_MOVED_TOO_FAR, &vertex,
		             "vertex %zu has moved by %s from the set's positions, more than half of the margin of %s: PATCH"
		             " positions",
		             farthest, api_print_value(most, motion), api_print_value(facts->margin, margin));
}

void api_check_current_positions(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_CURRENT_POSITIONS);
	if (w->miscounted != API_REQUEST_CURRENT_POSITIONS)
		api_check_per_vertex(w->check, &field, w->n_vertices, w->dim, &w->query->current_positions);
	if (w->facts && w->facts->has_mesh && w->query->current_positions)
		check_motion(w, &field);
}

void api_check_time_step(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_TIME_STEP);
	w->query->time_step = 1;
	api_check_real(w->check, &field, &w->query->time_step);
}

void api_check_closest_features(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_CLOSEST_FEATURES);
	int which = FRIC_FEATURES_GIVEN;
	api_check_word(w->check, &field, &which);
	w->lagged->batch.closest_features = (enum fric_closest_features)which;
}

void api_check_step(struct api_check *check, struct api_field *step, bool wanted, size_t n_vertices, size_t dim,
                    const double **direction, double *keep)
{
	*keep = 0.1;
	if (wanted)
		api_check_present(check, step, "the output \"longest_step\" needs a direction");
	if (!api_check_inner(check, step))
		return;
	const struct api_field along = api_ruled(step, &api_longest_step, API_LONGEST_STEP_DIRECTION),
						   share = api_ruled(step, &api_longest_step, API_LONGEST_STEP_KEEP);
	api_check_present(check, &along, "the displacement of every vertex, [n_vertices, dim]");
	api_check_per_vertex(check, &along, n_vertices, dim, direction);
	if (api_check_real(check, &share, keep) && !(*keep < 1))
		api_fault_at(check->fault, API_E_OUT_OF_RANGE, &share.path, "\"keep\" must be less than 1");
}

void api_check_longest_step(struct api_request_check *w)
{
	struct api_field step = api_request_field(w, API_REQUEST_LONGEST_STEP);
	api_check_step(w->check, &step, w->query->outputs[API_LONGEST_STEP], w->n_vertices, w->dim,
	               &w->query->step_direction, &w->query->keep);
}

/* ---- what a lagged part has that excludes a barrier, or lacks ---- */

static const struct {
	enum api_obstacle obstacle;
	int rule;
} given[] = {{API_GIVES_FORCE, API_GROUP_NORMAL_FORCE},
             {API_GIVES_POINT, API_GROUP_CLOSEST_POINT},
             {API_GIVES_BASIS, API_GROUP_TANGENT_BASIS}},
  required[] = {{API_LACKS_NORMAL, API_GROUP_PLANE_NORMAL}, {API_LACKS_ORIGIN, API_GROUP_PLANE_ORIGIN}};
enum { N_GIVEN = sizeof(given) / sizeof(given[0]), N_REQUIRED = sizeof(required) / sizeof(required[0]) };

static unsigned obstacles_of(const struct api_request_check *w, enum fric_type type)
{
	unsigned found = 0;
	if (!w->groups[type].node)
		return 0;
	if (is_of_bodies(type))
		return API_IS_OF_BODIES;
	for (int i = 0; i < N_GIVEN; i++)
		found |= api_group_gives(w, type, given[i].rule) ? given[i].obstacle : 0u;
	for (int i = 0; i < N_REQUIRED && geometry_of(type) == POINT_PLANE && w->n[type] > 0; i++)
		found |= api_group_gives(w, type, required[i].rule) ? 0u : required[i].obstacle;
	return found;
}

void api_find_obstacles(const struct api_request_check *w, struct api_obstacles *out)
{
	const struct api_field barrier = api_request_field(w, API_REQUEST_BARRIER),
						   bodies = api_request_field(w, API_REQUEST_BODY_POSITIONS);
	out->has_barrier = api_is_given(w->check, &barrier);
	out->bodies = bodies.node;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		out->groups[type] = obstacles_of(w, type);
}

/* Reports the members of a group that exclude a barrier. */
static void fault_given(struct api_request_check *w, const struct api_field *group, enum fric_type type, unsigned found)
{
	for (int i = 0; i < N_GIVEN; i++) {
		const struct api_field field = api_ruled(group, &api_groups[type], given[i].rule);
		if (!(found & given[i].obstacle))
			continue;
		if (given[i].obstacle == API_GIVES_FORCE)
			api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &field.path,
			             NO_BARRIER_HERE "gives the normal forces: leave \"normal_force\" out");
		else
			api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &field.path,
			             NO_BARRIER_HERE "needs distances, which given geometry does not have: leave \"%s\" out",
			             field.path.key);
	}
}

static void fault_bodies(struct api_request_check *w, const struct api_path *path, const char *what)
{
	api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, path, "%s is for contacts of vertices, not of bodies",
	             what);
}

/* Reports members of planes that are missing; they are not reported a second time where friction needs them. */
static void fault_planes(struct api_request_check *w, const struct api_field *group, enum fric_type type,
                         unsigned found)
{
	for (int i = 0; i < N_REQUIRED; i++) {
		const struct api_field field = api_ruled(group, &api_groups[type], required[i].rule);
		if (!(found & required[i].obstacle))
			continue;
		api_fault_at(w->check->fault, API_E_MISSING_FIELD, &field.path,
		             "\"%s\" is missing: the output \"longest_step\" needs the distance from the plane",
		             field.path.key);
		w->groups[type].excused |= 1u << required[i].rule;
	}
}

static void check_group(struct api_request_check *w, const struct api_field *collisions, enum fric_type type,
                        unsigned found, bool barrier)
{
	const struct api_field group = api_ruled(collisions, &api_collisions, (int)type);
	if (found & API_IS_OF_BODIES)
		fault_bodies(w, &group.path, barrier ? "the term \"barrier\"" : "the output \"longest_step\"");
	else if (barrier)
		fault_given(w, &group, type, found);
	else
		fault_planes(w, &group, type, found);
}

static void need_barrier(struct api_request_check *w)
{
	const struct api_field barrier = api_request_field(w, API_REQUEST_BARRIER);
	if (w->facts)
		api_fault_at(w->check->fault, API_E_MISSING_FIELD, &barrier.path,
		             "\"barrier\" is missing from the set's document: " NO_BARRIER_HERE "needs it");
	else
		api_check_present(w->check, &barrier, NO_BARRIER_HERE "needs it");
	w->root.excused |= 1u << API_REQUEST_BARRIER;
}

void api_check_obstacles(struct api_request_check *w, const struct api_obstacles *obstacles)
{
	const bool barrier = api_has_term(w, FRIC_TERM_BARRIER);
	const struct api_field collisions = api_request_field(w, API_REQUEST_COLLISIONS),
						   bodies = api_request_field(w, API_REQUEST_BODY_POSITIONS);
	if (!barrier && !w->query->outputs[API_LONGEST_STEP])
		return;
	if (barrier && !obstacles->has_barrier)
		need_barrier(w);
	unsigned all = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		check_group(w, &collisions, type, obstacles->groups[type], barrier);
		all |= obstacles->groups[type];
	}
	if (barrier && obstacles->bodies && !(all & API_IS_OF_BODIES))
		fault_bodies(w, &bodies.path, "the term \"barrier\"");
}
