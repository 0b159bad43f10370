/* Checks velocities, current and lagged. */
#include "api/validate/request.h"

#define WHY_VELOCITIES "the velocities at which to evaluate, [n_vertices, dim]"

static size_t count_rows(const struct api_request_check *w, const struct api_field *field)
{
	size_t n = 0;
	return w->dim != API_UNKNOWN_LENGTH && api_check_rows(w->check, field, w->dim, &n) &&
	               api_check_at_most(w->check, field, "vertices", n, api_check_limits(w->check)->max_vertices)
	           ? n
	           : API_UNKNOWN_LENGTH;
}

static bool has_vertices(const struct api_request_check *w)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (api_has_contacts(w, type))
			return true;
	return false;
}

/* Counts vertices by the positions of a request without velocities. Missing positions are reported later. */
static size_t count_positions(struct api_request_check *w)
{
	static const int rules[] = {API_REQUEST_CURRENT_POSITIONS, API_REQUEST_POSITIONS};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct api_field field = api_request_field(w, rules[i]);
		if (!field.node)
			continue;
		const int before = w->check->fault->n_errors;
		const size_t n = count_rows(w, &field);
		w->miscounted = w->check->fault->n_errors > before ? rules[i] : 0;
		return n;
	}
	return has_vertices(w) ? API_UNKNOWN_LENGTH : 0;
}

/* Counts vertices by rows of velocities, which a request with a lagged part and friction has for each vertex. */
static size_t count_velocities(struct api_request_check *w)
{
	const struct api_field velocities = api_request_field(w, API_REQUEST_VELOCITIES);
	if (!velocities.node && w->bodies_alone)
		return 0;
	if (!velocities.node && !api_has_term(w, FRIC_TERM_FRICTION))
		return count_positions(w);
	return api_check_present(w->check, &velocities, WHY_VELOCITIES) ? count_rows(w, &velocities) : API_UNKNOWN_LENGTH;
}

void api_check_velocities(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_VELOCITIES);
	const int before = w->check->fault->n_errors;
	if (!w->facts)
		api_count_vertices(w, count_velocities(w));
	else if (!w->bodies_alone && api_has_term(w, FRIC_TERM_FRICTION))
		api_check_present(w->check, &field, WHY_VELOCITIES);
	if (w->facts || w->check->fault->n_errors == before) /* otherwise the array has already been reported */
		api_check_per_vertex(w->check, &field, w->n_vertices, w->dim, &w->query->velocities);
}

void api_check_lagged_velocities(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_LAGGED_VELOCITIES);
	w->query->lagged_velocities = w->facts ? NULL : w->query->velocities;
	w->query->sent_lagged_velocities = field.node;
	api_check_per_vertex(w->check, &field, w->n_vertices, w->dim, &w->query->lagged_velocities);
}

/* Reports twists without bodies, which are then not checked further. */
void api_check_bodies_sent(struct api_request_check *w)
{
	const struct api_field positions = api_request_field(w, API_REQUEST_BODY_POSITIONS),
						   velocities = api_request_field(w, API_REQUEST_BODY_VELOCITIES),
						   lagged = api_request_field(w, API_REQUEST_LAGGED_BODY_VELOCITIES);
	if (w->has_bodies || (!velocities.node && !lagged.node))
		return;
	w->n_twists = API_UNKNOWN_LENGTH;
	if (w->facts) {
		api_fault_at(w->check->fault, API_E_MISSING_FIELD, &positions.path,
		             "\"body_positions\" is missing from the set's document: there are no bodies");
		return;
	}
	api_check_present(w->check, &positions, "the points that twists refer to, [n_bodies, dim]");
	w->root.excused |= 1u << API_REQUEST_BODY_POSITIONS;
}

void api_check_body_velocities(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_BODY_VELOCITIES);
	if (w->has_bodies)
		api_check_present(w->check, &field, "the twists at which to evaluate, [n_bodies, 6], in 2D [n_bodies, 3]");
	api_check_per_body(w->check, &field, w->n_twists, w->dim, &w->query->body_velocities);
}

void api_check_lagged_body_velocities(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_LAGGED_BODY_VELOCITIES);
	w->query->lagged_body_velocities = w->facts ? NULL : w->query->body_velocities;
	w->query->sent_lagged_body_velocities = field.node;
	api_check_per_body(w->check, &field, w->n_twists, w->dim, &w->query->lagged_body_velocities);
}
