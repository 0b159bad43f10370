/**
 * Lists of contacts by their stencils, to find old contacts that new ones resemble: by pairs of vertices, one of each
 * side, and plane contacts by vertex and plane. Sorted by counting, so building takes time in proportion to what is in
 * them. The order of an edge's or a triangle's vertices does not matter.
 */
#ifndef FRICP_CARRY_H
#define FRICP_CARRY_H

#include "core/base/types.h"
#include "core/find/store.h"

/* The groups at vertices as one list of contacts, numbered in the order of types. */
struct contact_list {
	int dim;
	const double *positions;         /* [n_vertices, dim] */
	const struct fric_group *groups; /* [FRIC_N_VERTEX_TYPES] */
	size_t start[FRIC_N_VERTEX_TYPES + 1];
};

struct contact_list fricp_contact_list(int dim, const double *positions, const struct fric_group *groups);

static inline enum fric_type listed_type(const struct contact_list *list, size_t contact)
{
	enum fric_type type = FRIC_VERTEX_VERTEX;
	while (contact >= list->start[type + 1])
		type++;
	return type;
}

/* A stencil's vertices by side. */
struct sides {
	enum fric_type type;
	int n[2];
	const int32_t *vertices[2];
};

struct sides fricp_sides_of(const struct contact_list *list, size_t contact);

/* Whether two stencils consist of the same primitives, side by side. */
bool fricp_same_stencil(const struct sides *a, const struct sides *b);

/* The point of the first side that is closest to the second one: on an edge_edge contact's first edge, otherwise the
 * vertex itself. If a difference of its coordinates does not fit a double, it is the edge's first vertex. */
void fricp_place(const struct contact_list *list, size_t contact, double place[3]);

/* Squared distance of two places, in which no coordinate overflows. */
long double fricp_squared_between(const double a[3], const double b[3]);

/* A contact with a vertex `first` (a row) on its first side and `second` on its second side. */
struct vertex_pair {
	int32_t second;
	uint32_t contact;
};

/* All such pairs of all contacts without planes, sorted by first vertex, second vertex and contact. */
struct vertex_pairs {
	size_t n_vertices, n;
	size_t *row; /* [n_vertices + 2] where a first vertex's pairs start; then the end of the last ones */
	struct vertex_pair *pairs;
};

/* Contacts with planes: `listed` sorted by vertex and contact, `sorted` by vertex, plane and contact. */
struct vertex_planes {
	size_t n_vertices, n;
	size_t *row; /* [n_vertices + 2] */
	uint32_t *listed, *sorted;
};

/* @param store  gives the arrays. @return FRIC_OK, FRIC_E_MEMORY or FRIC_E_STOPPED */
enum fric_code fricp_vertex_pairs(const struct fric_context *context, const struct contact_list *list,
                                  size_t n_vertices, struct store *store, struct vertex_pairs *pairs);
enum fric_code fricp_vertex_planes(const struct fric_context *context, const struct contact_list *list,
                                   size_t n_vertices, struct store *store, struct vertex_planes *planes);

/* Compares planes by normal, then by origin; a missing one comes first. @return < 0, 0 or > 0 */
int fricp_compare_planes(int dim, const struct fric_group *g, size_t i, const struct fric_group *h, size_t j);
/* Sorts contacts of a group by plane, then by number. */
void fricp_sort_by_plane(int dim, const struct fric_group *group, uint32_t *contacts, size_t n);

/* Consecutive entries of vertex_pairs.pairs. */
struct stretch {
	size_t begin, end;
};

/* The contacts with one vertex on the first side and another one on the second side. */
struct stretch fricp_pairs_of(const struct vertex_pairs *pairs, int32_t first, int32_t second);
/* The part of a stretch whose contacts have numbers from begin to end. */
struct stretch fricp_contacts_within(const struct vertex_pairs *pairs, struct stretch stretch, size_t begin,
                                     size_t end);

/* The contact of `planes` at the same vertex as a contact of another list: the first of those with an equal plane, or
 * else the first. @return its number, or -1 */
int64_t fricp_same_plane(const struct vertex_planes *planes, const struct contact_list *of,
                         const struct contact_list *list, size_t contact);

/* The nearest so far; of equally near ones, the contact that comes first, and of one contact, with its own sides. */
struct nearest {
	long double squared;
	int64_t contact; /* < 0: none */
	bool exchanged;
};

bool fricp_is_nearer(const struct nearest *a, const struct nearest *b);

/* Search trees of the places of edge_edge contacts, for the stretches of vertex_pairs that are long. */
struct place_trees;
/* @return FRIC_OK, FRIC_E_MEMORY or FRIC_E_STOPPED
 * @param trees  set on FRIC_OK; from the store, NULL if no stretch is long */
enum fric_code fricp_place_trees(const struct fric_context *context, const struct contact_list *list,
                                 const struct vertex_pairs *pairs, struct store *store, struct place_trees **trees);
/* Replaces *best if a contact of a stretch of edge_edge contacts is nearer to a place. */
void fricp_nearest_place(const struct place_trees *trees, const struct contact_list *list,
                         const struct vertex_pairs *pairs, struct stretch stretch, const double place[3],
                         bool exchanged, struct nearest *best);

#endif
