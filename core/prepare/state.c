/* Effective coefficients along the lagged slip. */
#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/memory.h"
#include "core/contacts/ordinary.h"
#include "core/order/sweep.h"
#include "core/prepare/matchstick.h"

struct choice {
	const struct fric_contacts *contacts;
	const double *lagged_velocities;
	struct coefficients *effective;
	atomic_bool some_extreme; /* some coefficients are not ordinary */
};

static void choose_span(void *data, struct span span, struct fault *fault)
{
	struct choice *task = data;
	for (size_t i = span.begin; i < span.begin + span.n && fault->code == FRIC_OK; i++)
		if (!choose_coefficients(task->contacts, task->contacts, i, task->lagged_velocities, task->effective))
			*fault = (struct fault){FRIC_E_NOT_FINITE, i};
	if (!fricp_coefficients_ordinary(task->effective, span.begin, span.begin + span.n))
		atomic_store_explicit(&task->some_extreme, true, memory_order_relaxed);
}

/* Allocates a state with two columns of n, each aligned. */
static struct fric_state *allocate(const struct fric_memory *memory, size_t n)
{
	const size_t bytes = (n * sizeof(double) + FRIC_ALIGNMENT - 1) / FRIC_ALIGNMENT * FRIC_ALIGNMENT;
	struct fric_state *state = calloc(1, sizeof(*state));
	double *arrays = state ? memory_take(memory, 2 * bytes) : NULL;
	if (!arrays) {
		free(state);
		return NULL;
	}
	*state = (struct fric_state){.arrays = arrays, .arrays_bytes = 2 * bytes, .memory = memory};
	state->effective.mu_s = (struct column){arrays, 1};
	state->effective.mu_k = (struct column){arrays + bytes / sizeof(double), 1};
	return state;
}

/* Creates the state of contacts at vertices only, or of bodies only. */
static enum fric_code create_part(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const double *lagged_velocities, struct fric_state **state, struct fric_error *error)
{
	*state = NULL;
	if (!contacts->mu_s_aniso[0])
		return FRIC_OK;
	struct fric_state *made = allocate(context->memory, contacts->n);
	if (!made)
		return report_code(FRIC_E_MEMORY, error);
	struct choice task = {contacts, lagged_velocities, &made->effective, false};
	const struct fault fault = fricp_sweep_run(context, contacts, choose_span, &task);
	if (fault.code != FRIC_OK) {
		fric_state_free(made);
		return fricp_report_fault(contacts, fault, error);
	}
	made->effective.ordinary = !atomic_load(&task.some_extreme);
	*state = made;
	return FRIC_OK;
}

enum fric_code fric_state_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                 const double *lagged_velocities, struct fric_state **state, struct fric_error *error)
{
	struct fric_state *bodies = NULL;
	enum fric_code code = create_part(context, contacts, lagged_velocities, state, error);
	if (code == FRIC_OK && contacts->bodies)
		code = create_part(context, contacts->bodies, lagged_velocities, &bodies, error);
	if (bodies && !*state) {
		*state = calloc(1, sizeof(**state));
		code = *state ? FRIC_OK : report_code(FRIC_E_MEMORY, error);
	}
	if (*state)
		(*state)->bodies = bodies;
	if (code == FRIC_OK)
		return FRIC_OK;
	fric_state_free(*state ? *state : bodies);
	*state = NULL;
	return code;
}
