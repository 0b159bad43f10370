#include "api/validate/mesh.h"
#include "api/validate/contacts.h"
#include "api/validate/request.h"

/* A field with a row per vertex, and the objects that contain it. */
struct per_vertex {
	struct api_field friction, materials, field; /* field.node NULL: none */
};

static bool find_in(const struct api_field *object, const struct api_object *rules, struct api_field *found)
{
	for (int i = 0; i < rules->n_rules; i++) {
		*found = api_ruled(object, rules, i);
		if (found->node && found->rule->shape[0] == API_N_VERTICES)
			return true;
	}
	found->node = NULL;
	return false;
}

/* Finds the first field with a row per vertex, in the order of the contract. */
static void find_per_vertex(const struct api_request_check *w, struct per_vertex *rows)
{
	rows->friction = api_request_field(w, API_REQUEST_FRICTION);
	rows->materials = api_ruled(&rows->friction, &api_friction, API_FRICTION_MATERIALS);
	if (!find_in(&w->root, &api_set_document, &rows->field) && !find_in(&rows->friction, &api_friction, &rows->field))
		find_in(&rows->materials, &api_materials, &rows->field);
}

static bool check_limit(struct api_check *check, const struct api_field *field, size_t n)
{
	return api_check_at_most(check, field, "vertices", n, api_check_limits(check)->max_vertices);
}

/**
 * Counts rows. Reports a wrong shape only if the expected one is known. Values that are not arrays, and ragged arrays,
 * are reported where the field is read.
 */
static size_t count_rows(const struct api_request_check *w, const struct api_field *field, bool is_expected)
{
	const struct api_array *array = api_document_array(w->check->document, field->node);
	const size_t row = field->rule->shape[1] ? w->dim : 0;
	size_t n;
	if (!array || array->ragged || row == API_UNKNOWN_LENGTH || (is_expected && !api_count_rows(array, row, &n)) ||
	    !api_check_rows(w->check, field, row, &n) || !check_limit(w->check, field, n))
		return API_UNKNOWN_LENGTH;
	return n;
}

/* Reads the member n_vertices. @return API_UNKNOWN_LENGTH if it is absent or faulty */
static size_t read_member(const struct api_request_check *w, const struct api_field *member)
{
	size_t n = API_UNKNOWN_LENGTH;
	return api_check_count(w->check, member, &n) && (!member->node || check_limit(w->check, member, n))
	           ? n
	           : API_UNKNOWN_LENGTH;
}

static size_t agree(const struct api_request_check *w, const struct api_field *member, size_t told,
                    const struct api_field *field, size_t n)
{
	if (n == API_UNKNOWN_LENGTH)
		return told;
	if (told != API_UNKNOWN_LENGTH && told != n)
		api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &member->path,
		             "\"n_vertices\" is %zu, but \"%s\" has %zu rows", told, field->path.key, n);
	return n;
}

/* Determines the number of vertices in a request without velocities. */
void api_check_n_vertices(struct api_request_check *w)
{
	const struct api_field member = api_request_field(w, API_REQUEST_N_VERTICES);
	const size_t told = read_member(w, &member);
	struct per_vertex rows;
	size_t n = member.node ? told : 0;
	find_per_vertex(w, &rows);
	w->counts_nothing = !rows.field.node && !member.node;
	if (rows.field.node)
		n = agree(w, &member, told, &rows.field, count_rows(w, &rows.field, told != API_UNKNOWN_LENGTH));
	api_count_vertices(w, n);
}

/* ---- a mesh in place of contacts ---- */

/* Reports members that only a mesh has a use for. */
static void fault_without_mesh(struct api_request_check *w)
{
	static const int rules[] = {API_REQUEST_MARGIN, API_REQUEST_ANCHORS, API_REQUEST_PREVIOUS};
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		const struct api_field field = api_request_field(w, rules[i]);
		if (field.node)
			api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &field.path, "\"%s\" has no effect without \"mesh\"",
			             field.path.key);
	}
}

static void check_features_of_mesh(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_CLOSEST_FEATURES);
	if (field.node && w->lagged->batch.closest_features != FRIC_FEATURES_SEARCH)
		api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &field.path,
		             "contacts of a mesh are pairs of primitives, whose closest features are searched");
	w->lagged->batch.closest_features = FRIC_FEATURES_SEARCH;
}

static void check_previous_of_mesh(struct api_request_check *w, size_t n_vertices)
{
	struct api_field previous = api_request_field(w, API_REQUEST_PREVIOUS);
	if (!previous.node)
		return;
	if (!w->lagged->anchors)
		api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &previous.path,
		             "\"previous\" has no effect without \"anchors\": true");
	struct fric_group *groups = api_arena_array(w->check->arena, FRIC_N_VERTEX_TYPES, sizeof(*groups));
	if (!groups) {
		api_fault_no_memory(w->check->fault);
		return;
	}
	memset(groups, 0, FRIC_N_VERTEX_TYPES * sizeof(*groups));
	api_check_previous(w->check, &previous, n_vertices, w->dim, groups);
	w->lagged->previous = groups;
}

void api_check_set_mesh(struct api_request_check *w)
{
	static const char both[] = "\"mesh\" and \"collisions\" both determine the contacts: leave one out";
	struct api_field mesh = api_request_field(w, API_REQUEST_MESH);
	const struct api_field margin = api_request_field(w, API_REQUEST_MARGIN),
						   anchors = api_request_field(w, API_REQUEST_ANCHORS),
						   positions = api_request_field(w, API_REQUEST_POSITIONS);
	const size_t n_vertices = positions.node ? w->n_vertices : API_UNKNOWN_LENGTH;
	struct api_lagged *to = w->lagged;
	to->margin = to->batch.barrier.dhat;
	api_check_real(w->check, &margin, &to->margin);
	api_check_bool(w->check, &anchors, &to->anchors);
	if (!mesh.node) {
		fault_without_mesh(w);
		return;
	}
	if (w->collisions.node) {
		api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &mesh.path, both);
		api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &w->collisions.path, both);
	}
	to->has_mesh = true;
	if (w->dim != API_UNKNOWN_LENGTH && n_vertices != API_UNKNOWN_LENGTH)
		to->surface = (struct fric_surface){.dim = (int)w->dim, .n_vertices = n_vertices};
	api_check_mesh(w->check, &mesh, n_vertices, w->dim, &to->surface);
	check_features_of_mesh(w);
	check_previous_of_mesh(w, n_vertices);
}

bool api_check_set(struct api_check *check, struct api_lagged *lagged, struct api_lagged_velocities *velocities,
                   struct api_set_facts *facts)
{
	struct api_query query;
	struct api_field root;
	const bool ok = api_check_request(check, API_SET_DOCUMENT, NULL, lagged, &query, &root);
	*velocities = (struct api_lagged_velocities){query.lagged_velocities, query.lagged_body_velocities};
	if (json_is_object(root.node))
		api_state_facts(lagged, facts);
	return ok;
}
