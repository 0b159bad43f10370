/**
 * What a client of UM-Bridge asks: a model, numbers in place of some of a collision set's, and along what to differentiate.
 * The protocol knows vectors of inputs and outputs alone; here each input is a field of a set's document, or velocities.
 */
#ifndef API_BRIDGE_ASK_H
#define API_BRIDGE_ASK_H

#include "api/api.h"
#include "api/base/arena.h"
#include "api/base/fault.h"
#include "api/codec/document.h"
#include "api/contract/fields.h"
#include "api/validate/question.h"

struct api_kept;

enum api_bridge_model { API_BRIDGE_FRICTION, API_BRIDGE_GRADIENT, API_N_BRIDGE_MODELS };
extern const char *const api_bridge_models[API_N_BRIDGE_MODELS + 1]; /* their names, NULL-terminated */

/* What can be asked of a model. */
enum api_bridge_call { API_BRIDGE_EVALUATE, API_BRIDGE_VJP, API_BRIDGE_JVP, API_BRIDGE_SECOND, API_N_BRIDGE_CALLS };
bool api_bridge_supports(enum api_bridge_model model, enum api_bridge_call call);

/* A vector of the model's argument. */
struct api_bridge_input {
	const char *pointer; /* to the field, "/friction/mu_s"; borrowed from the request's document */
	size_t n;            /* of its numbers, in the order in which the set has them */
	size_t array;        /* of the set's document; unless these are velocities */
	size_t side;         /* of a symmetric table of side * side numbers; 0: it is none */
	bool has_second;     /* whether there are second derivatives by it */
	const double *values;
};

/* What the protocol calls an error, where a fault does not say it. */
enum api_bridge_refusal { API_BRIDGE_INVALID_INPUT, API_BRIDGE_MODEL_NOT_FOUND, API_BRIDGE_UNSUPPORTED_FEATURE };

/* A request on its way. The first four are the caller's. */
struct api_bridge {
	const struct api_service *service;
	const struct api_request *request;
	struct api_arena *arena;
	struct api_fault *fault;
	enum api_bridge_refusal refusal; /* what a fault is called */
	struct api_document body;        /* of the request: every row of numbers by itself */
	enum api_bridge_model model;
	struct api_kept *kept;        /* the set, held; NULL: the scene */
	struct api_document document; /* of set or scene */
	struct api_set_facts facts;
	struct api_bridge_input *inputs; /* [n_inputs] */
	size_t n_inputs;
	size_t in_wrt, in_wrt_2; /* which input a derivative is by */
	const double *sens, *vec;
};

/* The steps, to be called in this order; after all of them, or after a fault, api_bridge_end. Each returns false with
 * *bridge->fault. */

/* The body, and which model it names. */
bool api_bridge_begin(struct api_bridge *bridge);
/* Set and inputs, by "config". */
bool api_bridge_configure(struct api_bridge *bridge);
/* The rest of a call, which the model must support. */
bool api_bridge_ask(struct api_bridge *bridge, enum api_bridge_call call);
/**
 * Puts the inputs in the place of what the set has.
 * @param lagged      all is borrowed from bridge and arena
 * @param question    the velocities alone; those that are no inputs are zero
 * @param directions  the lagged velocities that the set has
 */
bool api_bridge_apply(struct api_bridge *bridge, struct api_lagged *lagged, struct api_question *question,
                      struct api_lagged_velocities *directions);
void api_bridge_end(struct api_bridge *bridge);

/* Numbers of the one output. */
size_t api_bridge_output_size(const struct api_bridge *bridge);

/* The scene that comes with the service, which models are about that name no collision set: two blocks and a floor, as meshes
 * and as rigid bodies, with contacts of every type (docs/um-bridge.md). */
extern const struct api_set_facts api_scene_facts;

/**
 * Its document, as that of a collision set.
 * @param document  to be freed with api_document_free
 * @return false with *fault: 503
 */
bool api_scene_read(struct api_pool *pool, struct api_document *document, struct api_fault *fault);

#endif
