/* Checks the inputs of geometry and normal forces, and the treatment of degenerate contacts. */
#include "api/validate/request.h"

static void check_barrier_words(struct api_check *check, const struct api_field *field, struct fric_barrier *barrier)
{
	const struct api_field type = api_ruled(field, &api_barrier, API_BARRIER_TYPE),
						   scaling = api_ruled(field, &api_barrier, API_BARRIER_SCALING);
	int which = FRIC_CLAMPED_LOG, how = FRIC_SCALING_NONE;
	api_check_word(check, &type, &which);
	api_check_word(check, &scaling, &how);
	barrier->type = (enum fric_barrier_type)which;
	barrier->scaling = (enum fric_barrier_scaling)how;
}

void api_check_barrier(struct api_request_check *w)
{
	struct api_check *check = w->check;
	struct fric_barrier *barrier = &w->lagged->batch.barrier;
	struct api_field field = api_request_field(w, API_REQUEST_BARRIER);
	if (!api_check_inner(check, &field))
		return;
	const struct api_field dhat = api_ruled(&field, &api_barrier, API_BARRIER_DHAT),
						   stiffness = api_ruled(&field, &api_barrier, API_BARRIER_STIFFNESS),
						   dmin = api_ruled(&field, &api_barrier, API_BARRIER_DMIN);
	api_check_present(check, &dhat, "a barrier needs it");
	api_check_real(check, &dhat, &barrier->dhat);
	api_check_present(check, &stiffness, "a barrier needs it");
	api_check_real(check, &stiffness, &barrier->stiffness);
	api_check_real(check, &dmin, &barrier->dmin);
	check_barrier_words(check, &field, barrier);
}

size_t api_check_dimension(struct api_check *check, const struct api_field *field)
{
	double value = 0;
	if (!api_check_present(check, field, "2 or 3") || !api_check_real(check, field, &value))
		return API_UNKNOWN_LENGTH;
	const bool is_integer = api_document_array(check->document, field->node)->first_non_integer > 0;
	if ((value == field->rule->least || value == field->rule->most) && is_integer)
		return (size_t)value;
	api_fault_at(check->fault, API_E_OUT_OF_RANGE, &field->path, "\"dim\" must be the integer 2 or 3");
	return API_UNKNOWN_LENGTH;
}

void api_check_dim(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_DIM);
	w->dim = api_check_dimension(w->check, &field);
	if (w->dim != API_UNKNOWN_LENGTH)
		w->lagged->batch.dim = (int)w->dim;
}

void api_count_vertices(struct api_request_check *w, size_t n_vertices)
{
	w->n_vertices = n_vertices;
	w->lagged->batch.n_vertices = n_vertices == API_UNKNOWN_LENGTH ? 0 : n_vertices;
}

void api_check_positions(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_POSITIONS),
						   velocities = api_request_field(w, API_REQUEST_VELOCITIES);
	if (w->facts && (!w->bodies_alone || velocities.node))
		api_check_present(w->check, &field, "the positions with which the next step begins, [n_vertices, dim]");
	if (w->miscounted != API_REQUEST_POSITIONS)
		api_check_per_vertex(w->check, &field, w->n_vertices, w->dim, &w->lagged->batch.positions);
}

/* Bodies are limited like vertices, because the core numbers all DOFs with an int32_t. */
static bool check_most_bodies(struct api_request_check *w, const struct api_field *field, size_t n)
{
	const size_t vertices = w->n_vertices == API_UNKNOWN_LENGTH ? 0 : w->n_vertices;
	return api_check_at_most(w->check, field, "vertices and bodies", vertices + n,
	                         api_check_limits(w->check)->max_vertices) &&
	       (api_n_dofs(w->dim, vertices, n) <= INT32_MAX ||
	        api_fault_at(w->check->fault, API_E_TOO_MANY_ENTRIES, &field->path, "more than %d degrees of freedom",
	                     INT32_MAX));
}

/* Counts the bodies; 0 if they were not sent. Fields that need bodies report that themselves. */
static size_t count_bodies(struct api_request_check *w, const struct api_field *field)
{
	size_t n = 0;
	if (!field->node)
		return api_is_given(w->check, field) ? API_UNKNOWN_LENGTH : 0;
	if (w->dim == API_UNKNOWN_LENGTH || !api_check_rows(w->check, field, w->dim, &n) || !check_most_bodies(w, field, n))
		return API_UNKNOWN_LENGTH;
	return n;
}

/* The bodies of a set, when its time step ends. */
static void check_moved_bodies(struct api_request_check *w, const struct api_field *field)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_BODIES] = w->n_twists, [API_DIM] = w->dim};
	if (w->has_bodies)
		api_check_present(w->check, field, "the points of the bodies with which the next step begins, [n_bodies, dim]");
	else if (field->node)
		api_fault_at(w->check->fault, API_E_CONFLICTING_FIELDS, &field->path, "the set has no bodies");
	if (w->has_bodies)
		api_check_reals(w->check, field, lengths, &w->lagged->batch.body_positions);
}

void api_check_bodies(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_BODY_POSITIONS);
	if (w->facts) {
		check_moved_bodies(w, &field);
		return;
	}
	const int before = w->check->fault->n_errors;
	struct fric_batch *batch = &w->lagged->batch;
	w->n_bodies = w->n_twists = count_bodies(w, &field);
	w->has_bodies = w->lagged->has_bodies = field.node;
	batch->n_bodies = w->n_bodies == API_UNKNOWN_LENGTH ? 0 : w->n_bodies;
	if (w->check->fault->n_errors > before)
		return; /* the array has already been checked */
	const size_t lengths[API_N_LENGTHS] = {[API_N_BODIES] = w->n_bodies, [API_DIM] = w->dim};
	api_check_reals(w->check, &field, lengths, &batch->body_positions);
}

void api_check_per_body(struct api_check *check, const struct api_field *field, size_t n_bodies, size_t dim,
                        const double **out)
{
	const size_t lengths[API_N_LENGTHS] = {[API_N_BODIES] = n_bodies, [API_TWIST] = api_twist(dim)};
	api_check_reals(check, field, lengths, out);
}

bool api_check_without_bodies(struct api_check *check, const struct api_field *format)
{
	return api_fault_at(check->fault, API_E_CONFLICTING_FIELDS, &format->path,
	                    "bsr has blocks per vertex, but there are bodies: use csr, triplets or factors");
}

void api_check_on_degenerate(struct api_request_check *w)
{
	const struct api_field field = api_request_field(w, API_REQUEST_ON_DEGENERATE);
	int reaction = 0;
	api_check_word(w->check, &field, &reaction);
	w->lagged->batch.skip_degenerate = reaction == 1;
}
