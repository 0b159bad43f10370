/* Where the barrier acts: gaps and energies of all contacts at the current positions, a span at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/barrier/energy.h"
#include "core/barrier/mollifier.h"
#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/contacts/span.h"
#include "core/kernels/kernels.h"
#include "core/order/groups.h"
#include "core/prepare/span_features.h"

struct creation {
	struct fric_current *current;
	const double *positions;
	const struct fric_kernels *kernels;
	const struct feature_tables *tables;
	struct energy_scale scale;
	bool ordinary; /* doubles are accurate enough for the barrier's numbers */
	atomic_size_t n_skipped;
};

/* A span in preparation. Below, j counts its contacts. */
struct gathering {
	const struct creation *task;
	struct span span;
	uint8_t code[FRIC_SPAN];
	struct span_features features;
	double rest[FRIC_SPAN];    /* of the distance */
	double extreme[FRIC_SPAN]; /* 1: doubles may not be accurate enough for the energy */
};

static const struct fric_contacts *contacts_of(const struct gathering *d)
{
	return d->task->current->contacts;
}

/* ---- positions ---- */

/* Planes have their origin and normal as points 1 and 2. */
static void load_planes(const struct gathering *d, double position[FRIC_MAX_STENCIL][3][FRIC_SPAN])
{
	const struct fric_contacts *c = contacts_of(d);
	const size_t first = d->span.begin - c->start[FRIC_PLANE_VERTEX];
	for (size_t a = 0; a < 3; a++) {
		memcpy(position[1][a], c->plane[3 + a] + first, d->span.n * sizeof(double));
		memcpy(position[2][a], c->plane[a] + first, d->span.n * sizeof(double));
	}
}

static void load_positions(const struct gathering *d, double position[FRIC_MAX_STENCIL][3][FRIC_SPAN])
{
	const struct fric_contacts *c = contacts_of(d);
	const size_t n = d->span.n, dim = (size_t)c->dim;
	for (int k = 0; k < stencil_size_of(d->span.type); k++) {
		const int32_t *vertices = c->vertices[k] + d->span.begin;
		for (size_t j = 0; j < n; j++) {
			const double *p = d->task->positions + (size_t)vertices[j] * dim;
			position[k][0][j] = p[0];
			position[k][1][j] = p[1];
			position[k][2][j] = dim == 3 ? p[2] : 0;
		}
	}
	if (d->span.type == FRIC_PLANE_VERTEX)
		load_planes(d, position);
}

/* ---- features ---- */

static double mollifier_at(const struct gathering *d, size_t j)
{
	const struct fric_contacts *c = contacts_of(d);
	return c->mollifier.data && d->span.type == FRIC_EDGE_EDGE ? *column_at(c->mollifier, d->span.begin + j) : 0;
}

/* Notes which features are searched. @return whether any is */
static bool note_searched(struct gathering *d)
{
	const struct fric_contacts *c = contacts_of(d);
	const bool has_choice = d->span.type != FRIC_VERTEX_VERTEX && d->span.type != FRIC_PLANE_VERTEX;
	bool any = has_choice && c->features_from == FRIC_FEATURES_SEARCH;
	memset(d->features.searched, any, d->span.n);
	if (any || !c->mollifier.data || d->span.type != FRIC_EDGE_EDGE)
		return any;
	for (size_t j = 0; j < d->span.n; j++)
		any |= d->features.searched[j] = mollifier_at(d, j) > 0;
	return any;
}

/* Whether the edges of contact j are so nearly parallel that its mollifier is below 1. */
static bool is_mollified(const struct gathering *d, size_t j)
{
	const double mollifier = mollifier_at(d, j);
	double p[FRIC_MAX_STENCIL][3];
	if (!(mollifier > 0))
		return false;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		copy_position(&d->features, k, j, p[k]);
	return fricp_edges_within((const double *const[]){p[0], p[1], p[2], p[3]}, mollifier);
}

static void find_features(struct gathering *d)
{
	struct fric_current *current = d->task->current;
	const struct span_features *f = &d->features;
	const uint8_t all = (uint8_t)((1u << stencil_size_of(d->span.type)) - 1);
	fricp_find_features(d->task->kernels, d->task->tables, contacts_of(d), d->span, &d->features);
	for (size_t j = 0; j < d->span.n; j++) {
		const size_t i = d->span.begin + j;
		const bool failed = f->searched[j] && !f->members[j];
		d->code[j] = failed ? FRIC_E_NOT_FINITE : FRIC_OK;
		current->feature[i] = f->members[j] ? f->members[j] : all;
		current->form[i] = !failed && is_mollified(d, j) ? FORM_MOLLIFIED : 0;
	}
}

/* ---- gaps ---- */

static enum gap_kind kind_of(enum fric_type type)
{
	static const enum gap_kind kinds[N_GEOMETRIES] = {[TWO_POINTS] = GAP_POINTS,
	                                                  [POINT_LINE] = GAP_LINE,
	                                                  [TWO_LINES] = GAP_LINES,
	                                                  [POINT_TRIANGLE] = GAP_TRIANGLE,
	                                                  [POINT_PLANE] = GAP_PLANE};
	return kinds[geometry_of(type)];
}

static int n_points(enum gap_kind kind)
{
	static const int n[GAP_N_KINDS] = {2, 3, 4, 4, 3};
	return n[kind];
}

static uint8_t curved(const struct gathering *d, enum gap_kind kind)
{
	const bool flat = contacts_of(d)->dim == 2;
	if (kind == GAP_POINTS)
		return flat ? FORM_CURVED_FIRST : FORM_CURVED_FIRST | FORM_CURVED_SECOND;
	return kind == GAP_LINE && !flat ? FORM_CURVED_SECOND : 0;
}

static void put_gap(struct gap_workspace *w, size_t m, const struct gap *g)
{
	const double n[3] = {g->normal.x, g->normal.y, g->normal.z}, t[3] = {g->first.x, g->first.y, g->first.z};
	w->closest_point[0][m] = g->a;
	w->closest_point[1][m] = g->b;
	for (int a = 0; a < 3; a++) {
		w->normal[a][m] = n[a];
		w->first[a][m] = t[a];
	}
	for (int e = 0; e < 4; e++)
		w->slide[e][m] = g->slide[e];
	w->distance[m] = g->distance;
	w->rest[m] = g->rest;
}

/* Finds gap m of a workspace, that of contact j, in 113 bits. */
static void find_gap(struct gathering *d, enum gap_kind kind, struct gap_workspace *w, size_t m, size_t j)
{
	double p[FRIC_MAX_STENCIL][3];
	struct gap gap = {0};
	for (int v = 0; v < n_points(kind); v++)
		for (int a = 0; a < 3; a++)
			p[v][a] = w->position[v][a][m];
	d->code[j] =
		(uint8_t)fricp_gap(kind, !d->features.searched[j], (const double *const[]){p[0], p[1], p[2], p[3]}, &gap);
	put_gap(w, m, &gap);
	d->extreme[j] = !gap_scale(gap.distance);
}

#define POINT(k) ((struct v3){w->position[k][0][i], w->position[k][1][i], w->position[k][2][i]})
#define PLAIN_GAPS(kind, ...) \
	case kind: GAP_LOOP(w, __VA_ARGS__) break;

/* The plain form of the kernels. */
static void plain_gaps(enum gap_kind kind, struct gap_workspace *w)
{
	switch (kind) {
		FOR_GAPS(PLAIN_GAPS)
	default: break;
	}
}

/* Computes the gaps of a workspace. @param of  [n] the contacts' places in the span; NULL: all in order */
static void run_gaps(struct gathering *d, enum gap_kind kind, const uint8_t *of, struct gap_workspace *w)
{
	if (d->task->kernels->gaps[kind])
		d->task->kernels->gaps[kind](w);
	else
		plain_gaps(kind, w);
	for (size_t m = 0; m < w->n; m++) {
		const size_t j = of ? of[m] : m;
		d->extreme[j] = 0;
		if (w->good[m] == 0)
			find_gap(d, kind, w, m, j);
		d->rest[j] = w->rest[m];
	}
}

/* ---- gaps of given features in space: in place ---- */

static void find_given_gaps(struct gathering *d)
{
	struct fric_current *current = d->task->current;
	const enum gap_kind kind = kind_of(d->span.type);
	const size_t begin = d->span.begin, n = d->span.n;
	struct gap_workspace w;
	w.n = n;
	w.distance = current->distance + begin;
	for (int m = 0; m < 2; m++)
		w.closest_point[m] = current->closest_point[m] + begin;
	for (int a = 0; a < 3; a++) {
		w.normal[a] = current->normal[a] + begin;
		w.first[a] = current->tangent[a] + begin;
	}
	for (int e = 0; e < 4; e++)
		w.slide[e] = current->slide[e] + begin;
	load_positions(d, w.position);
	memset(current->feature + begin, (1 << stencil_size_of(d->span.type)) - 1, n);
	memset(current->form + begin, curved(d, kind), n);
	memset(d->code, FRIC_OK, n);
	run_gaps(d, kind, NULL, &w);
}

/* ---- gaps of any features ---- */

/* Results of a workspace before they are stored. */
struct gap_results {
	double closest_point[2][FRIC_SPAN], normal[3][FRIC_SPAN], first[3][FRIC_SPAN], slide[4][FRIC_SPAN],
		distance[FRIC_SPAN];
};

static void open_results(struct gap_results *r, struct gap_workspace *w)
{
	for (int m = 0; m < 2; m++)
		w->closest_point[m] = r->closest_point[m];
	for (int a = 0; a < 3; a++) {
		w->normal[a] = r->normal[a];
		w->first[a] = r->first[a];
	}
	for (int e = 0; e < 4; e++)
		w->slide[e] = r->slide[e];
	w->distance = r->distance;
}

/* Stores a gap, whose coordinates are those of the feature. If the feature's sides are exchanged, so are the signs of n
 * and of the second tangent. */
static void store_gap(struct gathering *d, size_t j, const struct gap_results *r, size_t m, bool in_plane)
{
	struct fric_current *current = d->task->current;
	const struct feature *f = d->features.of[j];
	const size_t i = d->span.begin + j;
	const double sign = f->exchanged ? -1 : 1, own[2] = {r->closest_point[0][m], r->closest_point[1][m]};
	double at[2] = {own[0], own[1]};
	if (d->features.searched[j])
		feature_closest_point(f, own, at);
	UNROLL
	for (int c = 0; c < 2; c++) {
		const struct feature_coordinate of = f->coordinate[c];
		current->closest_point[c][i] = at[c];
		current->slide[c][i] = sign * of.slope * r->slide[of.of][m];
		current->slide[2 + c][i] = of.slope * r->slide[2 + of.of][m];
	}
	UNROLL
	for (int a = 0; a < 3; a++) {
		current->normal[a][i] = sign * r->normal[a][m];
		current->tangent[a][i] = r->first[a][m];
	}
	if (in_plane) {
		current->tangent[0][i] = -current->normal[1][i];
		current->tangent[1][i] = current->normal[0][i];
		current->tangent[2][i] = 0;
	}
	current->distance[i] = r->distance[m];
}

/* Finds the gaps of some contacts of the span, all of one kind. */
static void find_gaps(struct gathering *d, enum gap_kind kind, const struct alike *alike)
{
	struct gap_results results;
	struct gap_workspace w;
	const bool in_plane = contacts_of(d)->dim == 2 && kind != GAP_LINE;
	const uint8_t form = curved(d, kind);
	w.n = alike->n;
	open_results(&results, &w);
	fricp_gather_positions(&d->features, alike, n_points(kind), w.position);
	run_gaps(d, kind, alike->at, &w);
	for (size_t m = 0; m < alike->n; m++) {
		d->task->current->form[d->span.begin + alike->at[m]] |= form;
		store_gap(d, alike->at[m], &results, m, in_plane);
	}
}

static void find_searched_gaps(struct gathering *d)
{
	struct alike alike[GAP_N_KINDS];
	for (int kind = 0; kind < GAP_N_KINDS; kind++)
		alike[kind].n = 0;
	load_positions(d, d->features.position);
	find_features(d);
	for (size_t j = 0; j < d->span.n; j++)
		if (d->code[j] == FRIC_OK) {
			struct alike *a = &alike[kind_of(d->features.of[j]->type)];
			a->at[a->n++] = (uint8_t)j;
		}
	for (enum gap_kind kind = 0; kind < GAP_N_KINDS; kind++)
		if (alike[kind].n)
			find_gaps(d, kind, &alike[kind]);
}

static void find_all_gaps(struct gathering *d)
{
	const bool searched = note_searched(d);
	if (searched || contacts_of(d)->dim == 2)
		find_searched_gaps(d);
	else
		find_given_gaps(d);
}

/* ---- energies ---- */

static struct energy extreme_energy(const struct fric_barrier *barrier, double distance, double rest, double weight)
{
	const struct energy_scale_l scale = energy_scale_of_l(barrier);
	struct energy_scale_l weighted = scale;
	weighted.force *= weight;
	return energy_at_l(barrier->type, &weighted, (long double)distance + rest, energy_gap_l(&scale, distance, rest),
	                   energy_left_l(&scale, distance, rest));
}

static bool is_finite_energy(const struct energy *e)
{
	return (e->energy * 0 + e->slope * 0) + e->curvature * 0 == 0;
}

/* Evaluates the barrier at contact j. */
static enum fric_code find_energy(const struct gathering *d, size_t j, struct energy *energy)
{
	const struct creation *task = d->task;
	const struct fric_contacts *c = contacts_of(d);
	const size_t i = d->span.begin + j;
	const double distance = task->current->distance[i], rest = d->rest[j], weight = *column_at(c->weight, i);
	const double gap = energy_gap(&task->scale, distance, rest), left = energy_left(&task->scale, distance, rest);
	if (!(gap > 0))
		return FRIC_E_PENETRATION;
	*energy = energy_at(c->barrier.type, &task->scale, distance, gap, left);
	*energy = (struct energy){weight * energy->energy, weight * energy->slope, weight * energy->curvature};
	if (!task->ordinary || d->extreme[j] != 0 || (weight != 0 && !gap_scale(fabs(weight))))
		*energy = extreme_energy(&c->barrier, distance, rest, weight);
	return is_finite_energy(energy) ? FRIC_OK : FRIC_E_NOT_FINITE;
}

static void store_energy(const struct gathering *d, size_t j, const struct energy *energy)
{
	struct fric_current *current = d->task->current;
	const size_t i = d->span.begin + j;
	current->energy[i] = energy->energy;
	current->slope[i] = energy->slope;
	current->curvature[i] = energy->curvature;
}

/* Evaluates the barrier at all contacts of the span in a kernel.
 * @return whether all of them are within dmin and in the range of doubles, so that nothing else is left to do */
static bool run_kernel(struct gathering *d)
{
	const struct creation *task = d->task;
	const struct fric_contacts *c = contacts_of(d);
	const size_t begin = d->span.begin;
	struct energy_workspace w = {.n = d->span.n,
	                             .distance = task->current->distance + begin,
	                             .weight = column_at(c->weight, begin),
	                             .energy = task->current->energy + begin,
	                             .slope = task->current->slope + begin,
	                             .curvature = task->current->curvature + begin};
	bool fine = task->ordinary;
	for (size_t j = 0; j < d->span.n; j++)
		fine &= d->code[j] == FRIC_OK && d->extreme[j] == 0;
	if (!fine || !task->kernels->energies)
		return false;
	memcpy(w.rest, d->rest, sizeof(w.rest));
	task->kernels->energies(c->barrier.type, &task->scale, &w);
	for (size_t j = 0; j < d->span.n; j++)
		fine &= (w.gap[j] > 0) & ((w.weight[j] == 0) | gap_scale(fabs(w.weight[j])));
	return fine && all_finite(w.energy, w.n) && all_finite(w.slope, w.n) && all_finite(w.curvature, w.n);
}

static void find_energies(struct gathering *d)
{
	if (run_kernel(d))
		return;
	for (size_t j = 0; j < d->span.n; j++) {
		struct energy energy = {0};
		if (d->code[j] == FRIC_OK)
			d->code[j] = (uint8_t)find_energy(d, j, &energy);
		store_energy(d, j, &energy);
	}
}

/* ---- all contacts ---- */

/* Leaves out a contact: all its results are zero. */
static void skip(struct fric_current *current, size_t i, enum fric_code code)
{
	static const struct energy none = {0};
	const struct gap gap = {0};
	for (int m = 0; m < 2; m++)
		current->closest_point[m][i] = 0;
	for (int e = 0; e < 4; e++)
		current->slide[e][i] = gap.slide[e];
	for (int a = 0; a < 3; a++)
		current->normal[a][i] = current->tangent[a][i] = 0;
	current->distance[i] = 0;
	current->energy[i] = none.energy;
	current->slope[i] = none.slope;
	current->curvature[i] = none.curvature;
	current->feature[i] = current->form[i] = 0;
	current->at.skipped[i] = (uint8_t)code;
}

/* Skips faulty contacts, and those that were skipped before; otherwise reports the first fault. */
static void settle(struct gathering *d, size_t *n_skipped, struct fault *fault)
{
	struct fric_current *current = d->task->current;
	const struct fric_contacts *c = contacts_of(d);
	if (!c->n_skipped && !some_bits(d->code, d->span.n)) {
		memcpy(current->at.skipped + d->span.begin, c->skipped + d->span.begin, d->span.n);
		return;
	}
	for (size_t j = 0; j < d->span.n && fault->code == FRIC_OK; j++) {
		const size_t i = d->span.begin + j;
		const enum fric_code before = skip_reason(c, i), here = (enum fric_code)d->code[j];
		current->at.skipped[i] = c->skipped[i];
		if (before != FRIC_OK) {
			skip(current, i, before);
		} else if (here != FRIC_OK && c->skips && *fric_reason(here)) {
			skip(current, i, here);
			(*n_skipped)++;
		} else if (here != FRIC_OK) {
			*fault = (struct fault){here, i};
		}
	}
}

static void create_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	struct creation *task = data;
	size_t n_skipped = 0;
	(void)chunk;
	for (size_t at = begin; at < end && fault->code == FRIC_OK;) {
		struct gathering d;
		d.task = task;
		d.span = next_span(task->current->contacts, at, end);
		find_all_gaps(&d);
		find_energies(&d);
		settle(&d, &n_skipped, fault);
		at += d.span.n;
	}
	if (n_skipped)
		atomic_fetch_add_explicit(&task->n_skipped, n_skipped, memory_order_relaxed);
}

/* ---- memory ---- */

enum { N_COLUMNS = 2 + 4 + 3 + 3 + 4 }; /* of doubles */

static size_t padded(size_t bytes)
{
	return (bytes + FRIC_ALIGNMENT - 1) / FRIC_ALIGNMENT * FRIC_ALIGNMENT;
}

/* Assigns the arrays in a block of arrays_bytes. */
static void carve(struct fric_current *current, size_t n, size_t n_positions)
{
	const size_t column = padded(n * sizeof(double)) / sizeof(double), bytes = padded(n);
	double **const columns[N_COLUMNS] = {&current->closest_point[0],
	                                     &current->closest_point[1],
	                                     &current->distance,
	                                     &current->energy,
	                                     &current->slope,
	                                     &current->curvature,
	                                     &current->normal[0],
	                                     &current->normal[1],
	                                     &current->normal[2],
	                                     &current->tangent[0],
	                                     &current->tangent[1],
	                                     &current->tangent[2],
	                                     &current->slide[0],
	                                     &current->slide[1],
	                                     &current->slide[2],
	                                     &current->slide[3]};
	double *at = current->arrays;
	for (int e = 0; e < N_COLUMNS; e++, at += column)
		*columns[e] = at;
	current->positions = at;
	at += padded(n_positions * sizeof(double)) / sizeof(double);
	current->feature = (uint8_t *)at;
	current->form = current->feature + bytes;
	current->at.skipped = current->form + bytes;
}

static struct fric_current *allocate(const struct fric_memory *memory, const struct fric_contacts *contacts)
{
	const size_t n = contacts->n, n_positions = contacts->n_vertices * (size_t)contacts->dim;
	struct fric_current *current = calloc(1, sizeof(*current));
	if (!current)
		return NULL;
	current->memory = memory;
	current->arrays_bytes = N_COLUMNS * padded(n * sizeof(double)) + padded(n_positions * sizeof(double)) +
	                        3 * padded(n);
	current->arrays = memory_take(memory, current->arrays_bytes);
	if (!current->arrays) {
		free(current);
		return NULL;
	}
	current->contacts = contacts;
	current->at = *contacts;
	carve(current, n, n_positions);
	for (int m = 0; m < 2; m++)
		current->at.closest_point[m] = current->closest_point[m];
	return current;
}

/* Makes the contacts as friction sees them: without normal forces where contacts are skipped here. */
static bool leave_out(struct fric_current *current)
{
	const struct fric_contacts *c = current->contacts;
	current->lagged = *c;
	current->lagged.skipped = current->at.skipped;
	current->lagged.n_skipped += current->n_skipped;
	current->skips_more = true;
	double *force = memory_take(current->memory, padded(c->n * sizeof(double)));
	if (!force)
		return false;
	for (size_t i = 0; i < c->n; i++)
		force[i] = current->at.skipped[i] ? 0 : *column_at(c->normal_force, i);
	current->lagged.normal_force = (struct column){force, 1};
	return true;
}

void fric_current_free(struct fric_current *current)
{
	if (!current)
		return;
	if (current->skips_more)
		memory_give(current->memory, current->lagged.normal_force.data, padded(current->at.n * sizeof(double)));
	memory_give(current->memory, current->arrays, current->arrays_bytes);
	free(current);
}

enum fric_code fric_current_create(const struct fric_context *context, const struct fric_contacts *contacts,
                                   const double *positions, struct fric_current **current, struct fric_error *error)
{
	struct fric_current *made = allocate(context->memory, contacts);
	*current = NULL;
	if (!made)
		return report_code(FRIC_E_MEMORY, error);
	struct feature_tables tables;
	struct creation task = {.current = made,
	                        .positions = positions,
	                        .kernels = fricp_kernels_of(context),
	                        .tables = &tables,
	                        .scale = energy_scale_of(&contacts->barrier),
	                        .ordinary = energy_is_ordinary(&contacts->barrier)};
	fricp_list_all_features(contacts, &tables);
	memcpy(made->positions, positions, contacts->n_vertices * (size_t)contacts->dim * sizeof(double));
	const struct fault fault = fricp_parallel_contacts(context, contacts, create_chunk, &task);
	made->n_skipped = atomic_load(&task.n_skipped);
	enum fric_code code = fricp_report_fault(contacts, fault, error);
	if (code == FRIC_OK && made->n_skipped && !leave_out(made)) {
		made->skips_more = false;
		code = report_code(FRIC_E_MEMORY, error);
	}
	if (code == FRIC_OK)
		*current = made;
	else
		fric_current_free(made);
	return code;
}

enum fric_code fric_current_skipped(const struct fric_current *current, enum fric_type type, size_t contact)
{
	return is_of_bodies(type) ? FRIC_OK : skip_reason(&current->at, current->at.start[type] + contact);
}

size_t fric_current_n_skipped(const struct fric_current *current)
{
	return current->n_skipped;
}
