/* The longest step of a mesh: the least that any of its pairs allows (geometry/travel), however far apart.
 *
 * In the frame of a common motion, d(t) >= d(0) - t (m_a + m_b), m the largest motion of a side's vertices. So a pair
 * can only violate distance - dmin >= keep (distance(0) - dmin) before T if d(0) <= dmin + T (m_a + m_b) / (1 - keep),
 * and there its distance is at most dmin + keep T (m_a + m_b) / (1 - keep): boxes around the ways up to T, each larger
 * by its own part of that, overlap. Both bounds are larger by what is kept because positions are rounded. T grows until a
 * step below it is found: most primitives do not move far then. Where they do, what moves alike stays apart only in the
 * frame of its own motion: then blocks are compared step by step, and pairs by their relative motion (find/overlap).
 *
 * A pair's step depends on nothing else, and pairs that are left out allow more than the least step that is found: so the
 * answer does not depend on the order of pairs, on threads, or on the parts that were looked at. */
#include <math.h>
#include <stdatomic.h>

#include "core/base/fault.h"
#include "core/base/least.h"
#include "core/base/parallel.h"
#include "core/find/pairs.h"
#include "core/geometry/features.h"
#include "core/geometry/travel.h"

/* A travel's step may be less than the longest one by this factor, and rather more. */
static const double travel_slack = 1.002;

/* Much more than the rounding errors of motions and of sums here, and than travels keep because motions are rounded. */
static const double motion_rounding = 0x1p-44;

/* More than travels keep because positions are rounded, relative to the largest coordinate. */
static const double kept_by_rounding = 0x1p-46;

struct stepping {
	const struct fric_context *context;
	const struct fric_mesh *mesh;
	const double *positions, *direction;
	double dmin, keep;
	double until;      /* the part of the motion that is looked at */
	bool is_long;      /* primitives move by several times their size in it */
	atomic_bool ended; /* the look is, because a much shorter part is enough */
	struct order order;
	double *relative, *motion;                   /* by rank */
	double largest, furthest;                    /* component of the direction, of the positions */
	double extent;                               /* no distance at the start is longer */
	struct least least;                          /* step so far */
	struct fric_mesh_step *limits, *penetrating; /* [n_threads] the first ones of each thread */
	struct store store;
};

/* ---- one pair ---- */

/* Whether a pair precedes another one in the order of types and vertices, planes first. */
static bool precedes(const struct fric_mesh_step *a, const struct fric_mesh_step *b)
{
	if (a->group != b->group)
		return a->group < b->group;
	if (a->plane != b->plane)
		return a->plane < b->plane;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		if (a->vertices[k] != b->vertices[k])
			return a->vertices[k] < b->vertices[k];
	return false;
}

static bool is_none(const struct fric_mesh_step *step)
{
	return step->vertices[0] < 0;
}

static const struct fric_mesh_step no_limit = {.step = 1, .vertices = {-1, -1, -1, -1}, .plane = -1};

/* A long part that is this much longer than needed is given up: far more boxes overlap. */
enum { TOO_LONG = 4 };

static bool ends_look(struct stepping *s, double step)
{
	if (!s->is_long || step >= s->until / TOO_LONG)
		return false;
	atomic_store(&s->ended, true);
	return true;
}

/* Takes a pair whose travel is known up to its step. */
static enum fric_code try_travel(struct stepping *s, int share, struct travel *travel, struct fric_mesh_step pair)
{
	const enum fric_code code = fricp_travel(travel, least_now(&s->least), &pair.step);
	if (code == FRIC_E_PENETRATION && (is_none(&s->penetrating[share]) || precedes(&pair, &s->penetrating[share])))
		s->penetrating[share] = pair;
	if (code != FRIC_OK)
		return code == FRIC_E_PENETRATION ? FRIC_OK : code;
	struct fric_mesh_step *limit = &s->limits[share];
	if (pair.step >= 1 || pair.step > limit->step)
		return FRIC_OK;
	if (pair.step < limit->step || precedes(&pair, limit)) {
		*limit = pair;
		least_lower(&s->least, pair.step);
	}
	return ends_look(s, pair.step) ? FRIC_E_STOPPED : FRIC_OK;
}

static void set_member(const struct stepping *s, struct travel *travel, int k, int32_t v)
{
	travel->from[k] = s->positions + (size_t)v * (size_t)s->mesh->dim;
	travel->direction[k] = s->direction + (size_t)v * (size_t)s->mesh->dim;
}

static enum fric_code visit(void *task, int share, enum fric_type type, const int32_t v[FRIC_MAX_STENCIL])
{
	struct stepping *s = task;
	const struct feature whole = fricp_feature_of(type, (1u << stencil_size_of(type)) - 1, v);
	struct travel travel = {.type = type, .dim = s->mesh->dim, .dmin = s->dmin, .keep = s->keep};
	struct fric_mesh_step pair = {.group = type, .plane = -1};
	for (int k = 0; k < stencil_size_of(type); k++) {
		pair.vertices[k] = v[whole.member[k]];
		set_member(s, &travel, k, pair.vertices[k]);
	}
	return try_travel(s, share, &travel, pair);
}

static enum fric_code visit_vertex(void *task, int share, int32_t v)
{
	struct stepping *s = task;
	const struct fric_mesh *m = s->mesh;
	const size_t dim = (size_t)m->dim;
	struct travel travel = {.type = FRIC_PLANE_VERTEX, .dim = m->dim, .dmin = s->dmin, .keep = s->keep};
	enum fric_code code = FRIC_OK;
	set_member(s, &travel, 0, v);
	for (size_t p = 0; p < m->n_planes && code == FRIC_OK; p++) {
		for (size_t d = 0; d < dim; d++) {
			travel.normal[d] = m->plane_normals[p * dim + d];
			travel.origin[d] = m->plane_origins[p * dim + d];
		}
		code = try_travel(s, share, &travel,
		                  (struct fric_mesh_step){.group = FRIC_PLANE_VERTEX, .vertices = {v}, .plane = (int32_t)p});
	}
	return code;
}

/* ---- motions ---- */

/* Motions relative to the middle of their range, by rank. */
static void set_motions(struct stepping *s)
{
	const size_t dim = (size_t)s->mesh->dim, n = s->order.n;
	double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
	double first[3] = {INFINITY, INFINITY, INFINITY}, last[3] = {-INFINITY, -INFINITY, -INFINITY};
	for (size_t r = 0; r < n; r++)
		for (size_t d = 0; d < dim && d < 3; d++) {
			const double x = s->direction[(size_t)s->order.vertex[r] * dim + d];
			low[d] = fmin(low[d], x);
			high[d] = fmax(high[d], x);
			s->largest = fmax(s->largest, fabs(x));
			const double place = s->order.place[3 * r + d];
			first[d] = place < first[d] ? place : first[d];
			last[d] = place > last[d] ? place : last[d];
		}
	for (size_t d = 0; d < dim && d < 3 && n > 0; d++) {
		s->extent = hypot(s->extent, last[d] - first[d]);
		s->furthest = fmax(s->furthest, fmax(last[d], -first[d]));
	}
	for (size_t r = 0; r < n; r++) {
		double *relative = s->relative + 3 * r, sum = 0;
		for (size_t d = 0; d < 3; d++) {
			const double x = d < dim ? s->direction[(size_t)s->order.vertex[r] * dim + d] : 0;
			relative[d] = d < dim ? x - (low[d] / 2 + high[d] / 2) : 0;
			sum += fabs(relative[d]);
		}
		/* Where squares would over- or underflow, the sum of components is the bound. */
		const double squared = relative[0] * relative[0] + relative[1] * relative[1] + relative[2] * relative[2];
		const double length = squared > 0x1p-900 && squared < 0x1p+900 ? sqrt(squared) : sum;
		s->motion[r] = length * (1 + motion_rounding) + motion_rounding * s->largest;
	}
}

/* The part of the motion to look at first: where primitives move by about their own size. */
static double first_part(const struct stepping *s)
{
	const struct fric_mesh *m = s->mesh;
	double size = 0, motion = 0;
	for (size_t i = 0; i < m->n_edges; i++) {
		const double *a = s->order.place + 3 * (size_t)s->order.rank[m->edges[2 * i]];
		const double *b = s->order.place + 3 * (size_t)s->order.rank[m->edges[2 * i + 1]];
		size += fabs(a[0] - b[0]) + fabs(a[1] - b[1]) + fabs(a[2] - b[2]);
	}
	for (size_t r = 0; r < s->order.n; r++)
		motion += s->motion[r];
	if (!(motion > 0))
		return 1;
	size /= (double)(m->n_edges + !m->n_edges);
	const double part = size / motion * (double)s->order.n / 4;
	return part < 1 ? fmax(part, size > 0 ? 0x1p-1000 : 0x1p-20) : 1;
}

/* ---- all pairs ---- */

/* Pairs that are further apart than this times their motion allow more than the least step so far. */
static double slope_of(void *task)
{
	const struct stepping *s = task;
	return fmin(least_now(&s->least), s->until) * travel_slack / (1 - s->keep);
}

static enum fric_code look_until(struct stepping *s)
{
	const double part = s->until * travel_slack, room = 1 + motion_rounding, kept = kept_by_rounding * s->furthest;
	const double rounding = motion_rounding * s->largest * part;
	const struct sweep sweep = {.direction = s->relative,
	                            .motion = s->motion,
	                            .until = part,
	                            .rounding = rounding,
	                            .margin = s->dmin / 2 * room + kept / 2 + rounding,
	                            .slope = (s->keep / (1 - s->keep) + motion_rounding) * part * room,
	                            .most = s->keep * s->extent * travel_slack / 2,
	                            .keep = s->keep,
	                            .is_long = s->is_long};
	const struct pairing pairing = {.context = s->context,
	                                .mesh = s->mesh,
	                                .order = &s->order,
	                                .sweep = &sweep,
	                                .reach = s->dmin * room + kept,
	                                .slope = slope_of,
	                                .visit = visit,
	                                .visit_vertex = visit_vertex,
	                                .task = s};
	return fricp_pairs(&pairing);
}

/* Pairs that penetrate are all found at once, but only if a look is not ended. */
static bool is_over(const struct stepping *s)
{
	bool over = s->until >= 1 || least_now(&s->least) <= s->until;
	for (int i = 0; i < s->context->n_threads; i++)
		over |= !is_none(&s->penetrating[i]);
	return over;
}

enum { LONG = 16 };

/* Parts grow faster and faster: a look costs little where it finds nothing, and ends where it finds much. */
static enum fric_code look(struct stepping *s)
{
	const double first = first_part(s);
	double growth = 4;
	s->until = first;
	for (;;) {
		atomic_store(&s->ended, false);
		const enum fric_code code = look_until(s);
		const bool ended = atomic_load(&s->ended) && !fricp_stop_raised(s->context);
		if (!ended && (code != FRIC_OK || is_over(s)))
			return code;
		s->until = ended ? least_now(&s->least) : fmin(1, s->until * growth);
		growth *= ended ? 1 : 2;
		s->is_long = s->until > LONG * first;
	}
}

static enum fric_code find_least(struct stepping *s)
{
	const struct fric_mesh *m = s->mesh;
	const size_t n_threads = (size_t)s->context->n_threads;
	s->relative = store_take(&s->store, 3 * m->n_used, sizeof(*s->relative));
	s->motion = store_take(&s->store, m->n_used, sizeof(*s->motion));
	s->limits = store_take(&s->store, n_threads, sizeof(*s->limits));
	s->penetrating = store_take(&s->store, n_threads, sizeof(*s->penetrating));
	if (s->store.failed)
		return FRIC_E_MEMORY;
	for (size_t i = 0; i < n_threads; i++)
		s->limits[i] = s->penetrating[i] = no_limit;
	least_start(&s->least, 1);
	const enum fric_code code =
		fricp_order(s->context, m->dim, m->n_vertices, s->positions, m->used, m->n_used, &s->store, &s->order);
	if (code != FRIC_OK)
		return code;
	set_motions(s);
	return look(s);
}

/* The first of the threads' limits, or of their penetrating pairs. */
static enum fric_code choose(const struct stepping *s, struct fric_mesh_step *step)
{
	struct fric_mesh_step least = no_limit, first = no_limit;
	for (int i = 0; i < s->context->n_threads; i++) {
		const struct fric_mesh_step *limit = &s->limits[i], *penetrating = &s->penetrating[i];
		if (!is_none(penetrating) && (is_none(&first) || precedes(penetrating, &first)))
			first = *penetrating;
		if (!is_none(limit) && (limit->step < least.step || (limit->step == least.step && precedes(limit, &least))))
			least = *limit;
	}
	*step = is_none(&first) ? least : first;
	return is_none(&first) ? FRIC_OK : FRIC_E_PENETRATION;
}

enum fric_code fric_mesh_longest_step(const struct fric_context *context, const struct fric_mesh *mesh,
                                      const double *positions, const double *direction, double min_distance,
                                      double keep, struct fric_mesh_step *step, struct fric_error *error)
{
	struct stepping s = {.context = context,
	                     .mesh = mesh,
	                     .positions = positions,
	                     .direction = direction,
	                     .dmin = min_distance,
	                     .keep = keep,
	                     .store = {.memory = context->memory}};
	enum fric_code code = find_least(&s);
	if (code == FRIC_OK)
		code = choose(&s, step);
	store_give_from(&s.store, 0);
	return report_code(code, error);
}
