/**
 * The body of a UM-Bridge call: a model, numbers that replace some of a collision set's numbers, and the inputs to
 * differentiate with respect to. The protocol has only vectors of inputs and outputs. Here each input is a field of a
 * set's document, or the velocities.
 */
#ifndef API_BRIDGE_ASK_H
#define API_BRIDGE_ASK_H

#include "api/api.h"
#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/fields.h"
#include "api/validate/query.h"

struct api_kept;

enum api_bridge_model { API_BRIDGE_FRICTION, API_BRIDGE_GRADIENT, API_N_BRIDGE_MODELS };
extern const char *const api_bridge_models[API_N_BRIDGE_MODELS + 1]; /* names of the models, NULL-terminated */

/* The calls in the protocol. */
enum api_bridge_call { API_BRIDGE_EVALUATE, API_BRIDGE_VJP, API_BRIDGE_JVP, API_BRIDGE_SECOND, API_N_BRIDGE_CALLS };
bool api_bridge_supports(enum api_bridge_model model, enum api_bridge_call call);

/* One input vector of a model. */
struct api_bridge_input {
	const char *pointer; /* JSON Pointer to the field, "/friction/mu_s"; borrowed from the request's document */
	size_t n;            /* length; its numbers are in the order of the set's document */
	size_t array;        /* index among the arrays of the set's document; unused for velocities */
	size_t side;         /* for a symmetric table of side * side numbers; otherwise 0 */
	bool has_second;     /* whether second derivatives with respect to it exist */
	const double *values;
};

/* Error names of the protocol that cannot be derived from the fault. */
enum api_bridge_refusal { API_BRIDGE_INVALID_INPUT, API_BRIDGE_MODEL_NOT_FOUND, API_BRIDGE_UNSUPPORTED_FEATURE };

/* The state of a request. The caller sets the first four members. */
struct api_bridge {
	const struct api_service *service;
	const struct api_request *request;
	struct api_arena *arena;
	struct api_fault *fault;
	enum api_bridge_refusal refusal; /* name of the error */
	struct api_document body;        /* document of the request, with every row of numbers as an array of its own */
	enum api_bridge_model model;
	struct api_kept *kept;        /* the set, held; NULL: the built-in scene */
	struct api_document document; /* document of the set or the scene */
	struct api_set_facts facts;
	struct api_bridge_input *inputs; /* [n_inputs] */
	size_t n_inputs;
	size_t in_wrt, in_wrt_2; /* the inputs to differentiate with respect to */
	const double *sens, *vec;
};

/* The steps. Call them in this order, and call api_bridge_end after all of them or after a fault. After a fault they
 * return false with *bridge->fault. */

/* Reads the body, and finds the model that it names. */
bool api_bridge_begin(struct api_bridge *bridge);
/* Finds the set and the inputs that "config" names. */
bool api_bridge_configure(struct api_bridge *bridge);
/* Reads the rest of the call, which the model must support. */
bool api_bridge_ask(struct api_bridge *bridge, enum api_bridge_call call);
/**
 * Replaces the set's numbers with the inputs.
 * @param lagged      borrows from bridge and arena
 * @param query    only its velocities are set; those that are not inputs are zero
 * @param directions  the set's lagged velocities
 */
bool api_bridge_apply(struct api_bridge *bridge, struct api_lagged *lagged, struct api_query *query,
                      struct api_lagged_velocities *directions);
void api_bridge_end(struct api_bridge *bridge);

/* The length of the output. */
size_t api_bridge_output_size(const struct api_bridge *bridge);

/* The built-in scene, which models use if config names no collision set: two blocks and a floor, as meshes and as rigid
 * bodies (docs/um-bridge.md). has_group is unset: models have no outputs by group. */
extern const struct api_set_facts api_scene_facts;

/**
 * Reads the scene's document as the document of a collision set.
 * @param document  to be freed with api_document_free
 * @return false with *fault: 503
 */
bool api_scene_read(struct api_pool *pool, struct api_document *document, struct api_fault *fault);

#endif
