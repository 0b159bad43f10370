#include "api/dispatch/cost.h"

#include "api/sets/set.h"

/* Costs in nanoseconds per item. */
enum {
	VERTEX = 25, /* zeroing and summing a vertex's numbers, and its rows */
	TEXT = 20,   /* printing a number as text */
	BINARY = 1,
	NODE = 80,
	SET_NODES = 10 + FRIC_N_TYPES, /* members of a set's description, without skipped contacts */
	BODY_CONTACTS = 8,             /* factor for contacts of bodies, for which there are no kernels */
};

enum { SMALL_TEXT = 24 << 10, SMALL_FRAME = 64 << 10 };

void api_work_add_batch(struct api_work *work, const struct fric_batch *batch)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		work->n_contacts[type] += batch->groups[type].n;
	work->n_vertices += batch->n_vertices;
	work->n_bodies += batch->n_bodies;
}

void api_work_add_set(struct api_work *work, const struct api_set *set)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		work->n_contacts[type] += fric_group_size(set->contacts, type);
	work->n_vertices += set->facts.n_vertices;
	work->n_bodies += set->facts.n_bodies;
}

void api_work_add_document(struct api_work *work, const struct api_set *set)
{
	work->contact_ns += API_COST_SUMS;
	work->document_bytes += set->document.n;
	api_work_add_set(work, set);
}

void api_work_add_mesh(struct api_work *work, const struct fric_surface *s, uint64_t pair_ns)
{
	enum { MOST = 1000, NUMBERS_OF_PAIR = 8 };
	const uint64_t faces = s->n_faces, edges = 3 * faces + s->n_edges, particles = s->n_particles,
				   vertices = edges + particles, all = edges + vertices + s->n_planes;
	if (all > MOST) {
		work->pairs_ns += API_SMALL_NS + all;
		return;
	}
	const uint64_t pairs = faces * vertices + edges * edges / 2 + (particles + edges) * particles +
	                       vertices * s->n_planes;
	work->pairs_ns += pairs * pair_ns;
	work->n_numbers += NUMBERS_OF_PAIR * pairs;
}

void api_work_add_list(struct api_work *work, size_t n)
{
	work->n_nodes += SET_NODES * (uint64_t)n;
}

void api_work_add_matrix(struct api_work *work, size_t dim)
{
	work->contact_ns += API_COST_MATRIX;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const uint64_t side = (uint64_t)fric_stencil_size(type) *
		                      (type < FRIC_N_VERTEX_TYPES ? dim : (uint64_t)api_twist(dim));
		work->n_numbers += 3 * side * side * work->n_contacts[type];
	}
}

uint64_t api_work_contacts(const struct api_work *work)
{
	uint64_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		n += work->n_contacts[type];
	return n;
}

/* No product overflows: counts from a document are below 2^32, and there are at most a thousand steps or vectors. */
uint64_t api_work_ns(const struct api_work *work)
{
	uint64_t contacts = 0;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		contacts += (type < FRIC_N_VERTEX_TYPES ? 1 : BODY_CONTACTS) * (uint64_t)work->n_contacts[type];
	return contacts * work->contact_ns + work->pairs_ns + VERTEX * ((uint64_t)work->n_vertices + work->n_bodies) +
	       work->document_bytes + (work->prints_text ? TEXT : BINARY) * work->n_numbers + NODE * work->n_nodes;
}

bool api_work_is_large(const struct api_work *work)
{
	return api_work_ns(work) > API_SMALL_NS;
}

bool api_cost_admit(const struct api_service *service, const struct api_work *work, struct api_fault *fault)
{
	fault->deferred = service->defers && api_work_is_large(work);
	return !fault->deferred;
}

bool api_cost_of_body(const struct api_service *service, const struct api_request *request)
{
	(void)service;
	return request->body_bytes >= (request->formats->body == API_JSON ? SMALL_TEXT : SMALL_FRAME);
}

bool api_cost_always(const struct api_service *service, const struct api_request *request)
{
	(void)service;
	(void)request;
	return true;
}
