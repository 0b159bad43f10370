/* Anchors that survive: each new contact takes the anchor of the old contact that it continues. The old contact of the
 * same stencil is in the shortest of the lists of its pairs of vertices, so a vertex of many contacts costs little. The
 * others share a pair of vertices with it: at most eight lists. Only edge_edge contacts have several places
 * in one list. */
#include "core/find/carry.h"

#include "core/base/fault.h"
#include "core/base/parallel.h"

/* The old contact whose anchor a new one takes over. */
struct continued {
	int64_t contact; /* < 0: none */
	bool exchanged;
};

struct carrying {
	struct contact_list old, list;
	struct vertex_pairs pairs;
	struct vertex_planes planes;
	struct place_trees *trees;
	double *const *anchors;
};

/* The stretch of pairs of the two sides that is shortest. */
static struct stretch shortest(const struct vertex_pairs *pairs, const struct sides *s, int first)
{
	struct stretch least = {0, SIZE_MAX};
	for (int i = 0; i < s->n[first]; i++)
		for (int j = 0; j < s->n[!first]; j++) {
			const struct stretch found = fricp_pairs_of(pairs, s->vertices[first][i], s->vertices[!first][j]);
			if (found.end - found.begin < least.end - least.begin)
				least = found;
		}
	return least;
}

static struct sides exchange(struct sides s)
{
	return (struct sides){s.type, {s.n[1], s.n[0]}, {s.vertices[1], s.vertices[0]}};
}

/* The first old contact of the same stencil. */
static int64_t same_stencil(const struct carrying *c, const struct sides *s)
{
	const struct stretch all = shortest(&c->pairs, s, 0);
	const struct stretch found =
		fricp_contacts_within(&c->pairs, all, c->old.start[s->type], c->old.start[s->type + 1]);
	for (size_t i = found.begin; i < found.end; i++) {
		const uint32_t contact = c->pairs.pairs[i].contact;
		const struct sides old = fricp_sides_of(&c->old, contact);
		if (fricp_same_stencil(&old, s))
			return contact;
	}
	return -1;
}

static struct continued same_either_way(const struct carrying *c, const struct sides *s)
{
	const struct continued found = {same_stencil(c, s), false};
	if (s->n[0] != s->n[1])
		return found;
	const struct sides exchanged = exchange(*s);
	const int64_t other = same_stencil(c, &exchanged);
	return other >= 0 && (found.contact < 0 || other < found.contact) ? (struct continued){other, true} : found;
}

/* Compares a place with the old contacts that have two vertices in common. Except for edge_edge contacts, all of them
 * have the same place, the vertex of their first side. */
static void compare_pair(const struct carrying *c, int32_t first, int32_t second, bool exchanged, const double place[3],
                         struct nearest *best)
{
	const struct stretch all = fricp_pairs_of(&c->pairs, first, second);
	const struct stretch edges =
		fricp_contacts_within(&c->pairs, all, c->old.start[FRIC_EDGE_EDGE], c->old.start[FRIC_EDGE_EDGE + 1]);
	const size_t of_vertex = edges.begin > all.begin ? all.begin : edges.end;
	if (of_vertex < all.end) {
		const uint32_t contact = c->pairs.pairs[of_vertex].contact;
		double old_place[3];
		fricp_place(&c->old, contact, old_place);
		const struct nearest found = {fricp_squared_between(old_place, place), contact, exchanged};
		if (fricp_is_nearer(&found, best))
			*best = found;
	}
	fricp_nearest_place(c->trees, &c->old, &c->pairs, edges, place, exchanged, best);
}

static struct continued nearest_old(const struct carrying *c, size_t contact, const struct sides *s)
{
	struct nearest best = {.contact = -1};
	double place[3];
	fricp_place(&c->list, contact, place);
	for (int i = 0; i < s->n[0]; i++)
		for (int j = 0; j < s->n[1]; j++) {
			const int32_t first = s->vertices[0][i], second = s->vertices[1][j];
			compare_pair(c, first, second, false, place, &best);
			compare_pair(c, second, first, true, place, &best);
		}
	return (struct continued){best.contact, best.exchanged};
}

static struct continued continued_by(const struct carrying *c, size_t contact)
{
	const struct sides s = fricp_sides_of(&c->list, contact);
	if (faces_world(s.type))
		return (struct continued){fricp_same_plane(&c->planes, &c->old, &c->list, contact), false};
	const struct continued same = same_either_way(c, &s);
	return same.contact >= 0 ? same : nearest_old(c, contact, &s);
}

static void write_anchor(const struct carrying *c, size_t contact, struct continued from)
{
	const size_t dim = (size_t)c->old.dim;
	const enum fric_type type = listed_type(&c->list, contact);
	double *anchor = c->anchors[type] + (contact - c->list.start[type]) * dim;
	const double *old = NULL;
	if (from.contact >= 0) {
		const enum fric_type old_type = listed_type(&c->old, (size_t)from.contact);
		const struct fric_values values = c->old.groups[old_type].anchor;
		old = values.data ? values.data + ((size_t)from.contact - c->old.start[old_type]) * values.stride : NULL;
	}
	for (size_t d = 0; d < dim; d++)
		anchor[d] = !old ? 0 : from.exchanged ? 0 - old[d] : old[d];
}

static void carry_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct carrying *c = data;
	(void)chunk, (void)fault;
	for (size_t i = begin; i < end; i++)
		write_anchor(c, i, continued_by(c, i));
}

static enum fric_code index_old(const struct fric_context *context, size_t n_vertices, struct store *store,
                                struct carrying *c)
{
	enum fric_code code = fricp_vertex_pairs(context, &c->old, n_vertices, store, &c->pairs);
	if (code == FRIC_OK)
		code = fricp_vertex_planes(context, &c->old, n_vertices, store, &c->planes);
	if (code == FRIC_OK)
		code = fricp_place_trees(context, &c->old, &c->pairs, store, &c->trees);
	return code;
}

enum fric_code fric_carry_anchors(const struct fric_context *context, int dim, size_t n_vertices,
                                  const double *positions, const struct fric_group old[FRIC_N_VERTEX_TYPES],
                                  const struct fric_group groups[FRIC_N_VERTEX_TYPES],
                                  double *const anchors[FRIC_N_VERTEX_TYPES], struct fric_error *error)
{
	struct carrying c = {.old = fricp_contact_list(dim, positions, old),
	                     .list = fricp_contact_list(dim, positions, groups),
	                     .anchors = anchors};
	struct store store = {.memory = context->memory};
	enum fric_code code = index_old(context, n_vertices, &store, &c);
	if (code == FRIC_OK)
		code = fricp_parallel_chunks(context, c.list.start[FRIC_N_VERTEX_TYPES], carry_chunk, &c).code;
	store_give_from(&store, 0);
	return report_code(code, error);
}
