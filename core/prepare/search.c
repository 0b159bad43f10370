#include "core/prepare/search.h"

#include <string.h>

#include "core/prepare/span_features.h"

/* The mollifier of contact j, 0 if it has none. */
static double mollifier_at(const struct drafts *d, size_t j)
{
	const bool has = d->span.type == FRIC_EDGE_EDGE && d->group->mollifier.data;
	return has ? *row_at(d, d->group->mollifier, j) : 0;
}

static bool is_searched(const struct drafts *d, size_t j)
{
	return d->task->batch->closest_features == FRIC_FEATURES_SEARCH || mollifier_at(d, j) > 0;
}

static void load(const struct drafts *d, struct span_features *f)
{
	const int dim = d->task->batch->dim;
	for (size_t j = 0; j < d->span.n; j++)
		f->searched[j] = is_searched(d, j);
	for (int v = 0; v < stencil_size_of(d->span.type); v++)
		for (size_t j = 0; j < d->span.n; j++) {
			const double *p = position_at(d, j, v);
			f->position[v][0][j] = p[0];
			f->position[v][1][j] = p[1];
			f->position[v][2][j] = dim == 3 ? p[2] : 0;
		}
}

/* Stores the geometry of a feature as the contact's. Closest points are clamped only if searched. */
static void store(const struct drafts *d, const struct span_features *f, size_t j, struct fric_geometry *g)
{
	const double own[2] = {g->closest_point[0], g->closest_point[1]};
	if (f->members[j])
		feature_closest_point(f->of[j], own, g->closest_point);
	store_geometry(d, j, g);
}

static enum fric_code find_one(const struct drafts *d, const struct span_features *f, size_t j)
{
	const struct feature *feature = f->of[j];
	struct fric_geometry g = {0};
	const double *p[FRIC_MAX_STENCIL] = {0};
	for (int k = 0; k < stencil_size_of(feature->type); k++)
		p[k] = position_at(d, j, feature->member[k]);
	const enum fric_code code =
		fricp_stencil_geometry(feature->type, d->task->batch->dim, p, !d->group->normal_force.data, &g);
	store(d, f, j, &g);
	return code;
}

/* Results of a geometry kernel. */
struct results {
	double closest_point[2][FRIC_SPAN], tangent_basis[6][FRIC_SPAN], distance[FRIC_SPAN];
};

static void run_kernel(const struct drafts *d, enum fric_type type, const struct span_features *f,
                       const struct alike *alike, struct geometry_workspace *work, struct results *results)
{
	work->n = alike->n;
	fricp_gather_positions(f, alike, stencil_size_of(type), work->position);
	for (int m = 0; m < 2; m++)
		work->closest_point[m] = results->closest_point[m];
	for (int e = 0; e < 6; e++)
		work->tangent_basis[e] = results->tangent_basis[e];
	work->distance = results->distance;
	d->task->kernels->geometry[!d->group->normal_force.data][geometry_of(type)](work);
}

static void store_result(const struct drafts *d, const struct span_features *f, size_t j, const struct results *results,
                         size_t m)
{
	struct fric_geometry g = {.closest_point = {results->closest_point[0][m], results->closest_point[1][m]},
	                          .distance = results->distance[m]};
	for (int e = 0; e < 6; e++)
		g.tangent_basis[e] = results->tangent_basis[e][m];
	store(d, f, j, &g);
}

/* Finds the geometry of contacts whose features are of one type. */
static void find_alike(struct drafts *d, enum fric_type type, const struct span_features *f, const struct alike *alike)
{
	const bool by_kernel = d->task->batch->dim == 3 && d->task->kernels->geometry[0][geometry_of(type)];
	struct geometry_workspace work;
	struct results results;
	if (by_kernel)
		run_kernel(d, type, f, alike, &work, &results);
	for (size_t m = 0; m < alike->n; m++) {
		const size_t j = alike->at[m];
		if (by_kernel && work.good[m] != 0)
			store_result(d, f, j, &results, m);
		else
			d->code[j] = (uint8_t)find_one(d, f, j);
	}
}

/* Without a feature, because a difference of coordinates does not fit a double, the whole stencil has the same fault. */
void fricp_search_geometries(struct drafts *d)
{
	struct span_features f;
	struct alike alike[FRIC_N_VERTEX_TYPES];
	for (int type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		alike[type].n = 0;
	load(d, &f);
	fricp_find_features(d->task->kernels, d->task->tables, d->task->contacts, d->span, &f);
	memcpy(d->task->contacts->feature + d->span.begin, f.members, d->span.n);
	memset(d->code, FRIC_OK, d->span.n);
	for (size_t j = 0; j < d->span.n; j++) {
		struct alike *a = &alike[f.of[j]->type];
		a->at[a->n++] = (uint8_t)j;
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (alike[type].n)
			find_alike(d, type, &f, &alike[type]);
}

static bool is_mollified(const struct drafts *d, size_t j)
{
	const double mollifier = mollifier_at(d, j), *p[FRIC_MAX_STENCIL] = {0};
	if (!(mollifier > 0))
		return false;
	positions_at(d, j, p);
	return fricp_edges_within(p, mollifier);
}

void fricp_mark_mollified(struct drafts *d)
{
	for (size_t j = 0; j < d->span.n; j++)
		if (d->code[j] == FRIC_OK && is_mollified(d, j))
			d->code[j] = MOLLIFIED;
}

/* A contact as its feature sees it. */
struct found {
	struct feature feature;
	const double *p[FRIC_MAX_STENCIL]; /* positions of the feature's members */
};

static struct found found_at(const struct drafts *d, size_t j)
{
	const unsigned members = d->task->contacts->feature[d->span.begin + j];
	struct found f = {members ? fricp_feature_of(d->span.type, members, stencil_at(d, j)) : whole_stencil(d->span.type),
	                  {0}};
	for (int k = 0; k < stencil_size_of(f.feature.type); k++)
		f.p[k] = position_at(d, j, f.feature.member[k]);
	return f;
}

enum fric_code fricp_searched_grain(const struct drafts *d, size_t j, const double grain[3], double tangent_basis[6])
{
	const struct found f = found_at(d, j);
	return fricp_stencil_grain(f.feature.type, f.p, grain, tangent_basis);
}

void fricp_searched_uncertainty(const struct drafts *d, size_t j, double uncertainty[2])
{
	const struct fric_contacts *c = d->task->contacts;
	const struct found f = found_at(d, j);
	const size_t at = d->span.begin + j;
	double own[2] = {0}, closest_point[2] = {0};
	for (int m = 0; m < 2; m++)
		if (f.feature.coordinate[m].slope)
			closest_point[f.feature.coordinate[m].of] = f.feature.coordinate[m].slope *
			                                            (c->closest_point[m][at] - f.feature.coordinate[m].start);
	if (fric_closest_point_size(f.feature.type))
		fricp_derived_uncertainty(f.feature.type, d->task->batch->dim, f.p, closest_point, own);
	for (int m = 0; m < 2; m++)
		uncertainty[m] = f.feature.coordinate[m].slope ? own[f.feature.coordinate[m].of] : 0;
}
