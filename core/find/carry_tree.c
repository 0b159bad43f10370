/* A tree divides the places of a stretch in halves along the axis on which they are widest; a node is in the middle of
 * its own stretch. Each node has the lowest contact below it, so that a search among many equal places, as of edges
 * that all touch at the vertex of a fan, ends soon, too. */
#include "core/base/parallel.h"
#include "core/find/carry.h"

enum { LONG = 64 }; /* stretches up to this length have no tree */

struct node {
	double at[3];
	uint32_t contact, lowest; /* of the node and of all below it */
	int axis;
};

struct place_tree {
	struct stretch pairs;
	size_t start; /* of its nodes */
};

struct place_trees {
	size_t n, n_nodes;
	struct place_tree *trees; /* [n] by place of their pairs */
	struct node *nodes;
};

struct building {
	const struct contact_list *list;
	const struct vertex_pairs *pairs;
	struct place_trees *trees;
};

/* ---- building ---- */

static bool node_before(const struct node *a, const struct node *b, int axis)
{
	return a->at[axis] != b->at[axis] ? a->at[axis] < b->at[axis] : a->contact < b->contact;
}

static void swap_nodes(struct node *a, struct node *b)
{
	const struct node other = *a;
	*a = *b;
	*b = other;
}

/* Partitions n nodes around one of them. @return its new place */
static size_t partition(struct node *nodes, size_t n, size_t pivot, int axis)
{
	size_t at = 0;
	swap_nodes(&nodes[pivot], &nodes[n - 1]);
	for (size_t i = 0; i + 1 < n; i++)
		if (node_before(&nodes[i], &nodes[n - 1], axis))
			swap_nodes(&nodes[i], &nodes[at++]);
	swap_nodes(&nodes[at], &nodes[n - 1]);
	return at;
}

/* Moves the node of a rank to its place, smaller ones before it. Pivots are pseudorandom, so that no order of contacts
 * is a bad one. */
static void select_rank(struct node *nodes, size_t n, size_t rank, int axis)
{
	uint64_t random = 0x9e3779b97f4a7c15;
	while (n > 1) {
		random = random * 6364136223846793005 + 1442695040888963407;
		const size_t at = partition(nodes, n, (size_t)((random >> 33) % n), axis);
		if (at == rank)
			return;
		if (at < rank) {
			nodes += at + 1;
			n -= at + 1;
			rank -= at + 1;
		} else {
			n = at;
		}
	}
}

static int widest_axis(const struct node *nodes, size_t n)
{
	long double most = -1;
	int widest = 0;
	for (int axis = 0; axis < 3; axis++) {
		double low = nodes[0].at[axis], high = low;
		for (size_t i = 1; i < n; i++) {
			low = nodes[i].at[axis] < low ? nodes[i].at[axis] : low;
			high = nodes[i].at[axis] > high ? nodes[i].at[axis] : high;
		}
		if ((long double)high - low > most) {
			most = (long double)high - low;
			widest = axis;
		}
	}
	return widest;
}

static uint32_t divide(struct node *nodes, size_t n)
{
	const size_t middle = n / 2;
	if (!n)
		return UINT32_MAX;
	const int axis = widest_axis(nodes, n);
	select_rank(nodes, n, middle, axis);
	const uint32_t left = divide(nodes, middle), right = divide(nodes + middle + 1, n - middle - 1);
	struct node *node = &nodes[middle];
	node->axis = axis;
	node->lowest = left < right ? left : right;
	if (node->contact < node->lowest)
		node->lowest = node->contact;
	return node->lowest;
}

static void build_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct building *b = data;
	(void)chunk, (void)fault;
	for (size_t k = begin; k < end; k++) {
		const struct place_tree *tree = &b->trees->trees[k];
		const size_t n = tree->pairs.end - tree->pairs.begin;
		struct node *nodes = b->trees->nodes + tree->start;
		for (size_t i = 0; i < n; i++) {
			nodes[i].contact = b->pairs->pairs[tree->pairs.begin + i].contact;
			fricp_place(b->list, nodes[i].contact, nodes[i].at);
		}
		divide(nodes, n);
	}
}

/* Counts long stretches of edge_edge contacts, or lists them. */
static void list_stretches(const struct contact_list *list, const struct vertex_pairs *pairs, struct place_trees *trees)
{
	trees->n = trees->n_nodes = 0;
	for (size_t v = 0; v < pairs->n_vertices; v++)
		for (size_t i = pairs->row[v]; i < pairs->row[v + 1];) {
			const struct stretch all = fricp_pairs_of(pairs, (int32_t)v, pairs->pairs[i].second);
			i = all.end;
			if (all.end - all.begin <= LONG)
				continue;
			const struct stretch edges =
				fricp_contacts_within(pairs, all, list->start[FRIC_EDGE_EDGE], list->start[FRIC_EDGE_EDGE + 1]);
			if (edges.end - edges.begin <= LONG)
				continue;
			if (trees->trees)
				trees->trees[trees->n] = (struct place_tree){edges, trees->n_nodes};
			trees->n++;
			trees->n_nodes += edges.end - edges.begin;
		}
}

enum fric_code fricp_place_trees(const struct fric_context *context, const struct contact_list *list,
                                 const struct vertex_pairs *pairs, struct store *store, struct place_trees **out)
{
	struct place_trees found = {0};
	*out = NULL;
	if (list->groups[FRIC_EDGE_EDGE].n <= LONG)
		return FRIC_OK;
	list_stretches(list, pairs, &found);
	if (!found.n)
		return fricp_stop_raised(context) ? FRIC_E_STOPPED : FRIC_OK;
	*out = store_take(store, 1, sizeof(**out));
	found.trees = store_take(store, found.n, sizeof(*found.trees));
	found.nodes = store_take(store, found.n_nodes, sizeof(*found.nodes));
	if (store->failed)
		return FRIC_E_MEMORY;
	list_stretches(list, pairs, &found);
	**out = found;
	struct building building = {list, pairs, *out};
	const struct phase phase = {build_chunk, found.n, 1, false, NULL};
	const int n_threads = found.n > 1 ? fricp_team_size(context, found.n_nodes) : 1;
	return fricp_parallel_phases(context, n_threads, &phase, 1, &building).code;
}

/* ---- searching ---- */

struct search {
	const double *place;
	bool exchanged;
	struct nearest *best;
};

/* Whether a node may have contacts that are nearer, if all of them are at least as far away as this on each axis. The
 * sum is rounded like the sums of distances, so it never exceeds one of them. */
static bool may_be_nearer(const struct search *s, const struct node *root, const long double apart[3])
{
	const long double squared = apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2];
	const struct nearest least = {squared, root->lowest, s->exchanged};
	return fricp_is_nearer(&least, s->best);
}

static void search_nodes(const struct search *s, const struct node *nodes, size_t n, const long double apart[3])
{
	const size_t middle = n / 2;
	if (!n || !may_be_nearer(s, &nodes[middle], apart))
		return;
	const struct node *node = &nodes[middle], *right = node + 1;
	const struct nearest own = {fricp_squared_between(node->at, s->place), node->contact, s->exchanged};
	if (fricp_is_nearer(&own, s->best))
		*s->best = own;
	const size_t n_right = n - middle - 1;
	const long double by = (long double)s->place[node->axis] - node->at[node->axis];
	bool left_first = by < 0;
	if (by == 0 && middle && n_right)
		left_first = nodes[middle / 2].lowest < right[n_right / 2].lowest;
	long double beyond[3] = {apart[0], apart[1], apart[2]};
	beyond[node->axis] = by;
	search_nodes(s, left_first ? nodes : right, left_first ? middle : n_right, apart);
	search_nodes(s, left_first ? right : nodes, left_first ? n_right : middle, beyond);
}

static const struct node *tree_of(const struct place_trees *trees, struct stretch stretch)
{
	size_t begin = 0, end = trees->n;
	while (begin < end) {
		const size_t middle = begin + (end - begin) / 2;
		if (trees->trees[middle].pairs.begin < stretch.begin)
			begin = middle + 1;
		else
			end = middle;
	}
	return trees->nodes + trees->trees[begin].start;
}

void fricp_nearest_place(const struct place_trees *trees, const struct contact_list *list,
                         const struct vertex_pairs *pairs, struct stretch stretch, const double place[3],
                         bool exchanged, struct nearest *best)
{
	if (trees && stretch.end - stretch.begin > LONG) {
		const struct search s = {place, exchanged, best};
		search_nodes(&s, tree_of(trees, stretch), stretch.end - stretch.begin, (long double[3]){0});
		return;
	}
	for (size_t i = stretch.begin; i < stretch.end; i++) {
		const uint32_t contact = pairs->pairs[i].contact;
		double old_place[3];
		fricp_place(list, contact, old_place);
		const struct nearest found = {fricp_squared_between(old_place, place), contact, exchanged};
		if (fricp_is_nearer(&found, best))
			*best = found;
	}
}
