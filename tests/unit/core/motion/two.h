/**
 * Two contacts of any one type, on five vertices; vertex 0 is in neither of them.
 */
#ifndef TESTS_TWO_H
#define TESTS_TWO_H

#include "core/contacts/span.h"
#include "tests/unit/core/check.h"

enum { N_VERTICES = 5 };

struct two {
	struct fric_contacts contacts;
	struct span span;
	int32_t vertices[FRIC_MAX_STENCIL][2];
	double closest_point[2][2];
	struct span_extent extents[FRIC_N_VERTEX_TYPES];
	int32_t sweep[1], reached[1], blocks[1], listed[2]; /* one span, one block */
};

static inline void make_two(struct two *t, int dim, enum fric_type type, double a, double b)
{
	static const int32_t vertices[FRIC_MAX_STENCIL][2] = {{3, 4}, {1, 3}, {4, 2}, {2, 1}};
	*t = (struct two){.contacts = {.dim = dim, .n_vertices = N_VERTICES, .n = 2}, .span = {type, 2, 0}};
	t->contacts.extents = t->extents;
	t->extents[type] = (struct span_extent){0, N_VERTICES, 0, 0, 0};
	t->contacts.n_spans = 1;
	t->contacts.sweep = t->sweep;
	t->contacts.reached = t->reached;
	t->contacts.blocks = t->blocks;
	t->contacts.listed = t->listed;
	t->sweep[0] = (int32_t)type;
	t->listed[1] = 1;
	for (int k = 0; k < FRIC_MAX_STENCIL; k++) {
		t->contacts.vertices[k] = t->vertices[k];
		for (int i = 0; i < 2 && k < fric_stencil_size(type); i++) {
			struct span_extent *extent = &t->extents[type];
			const int32_t v = t->vertices[k][i] = vertices[k][i];
			extent->lowest = v < extent->lowest ? v : extent->lowest;
			extent->highest = v > extent->highest ? v : extent->highest;
		}
	}
	for (int m = 0; m < 2; m++) {
		t->contacts.closest_point[m] = t->closest_point[m];
		for (int i = 0; i < 2 && m < fric_closest_point_size(type); i++)
			t->closest_point[m][i] = m == i ? a : b;
	}
	for (int g = (int)type; g < FRIC_N_VERTEX_TYPES; g++)
		t->contacts.start[g + 1] = 2;
}

/* Small integers make all sums exact. */
static const double integers[N_VERTICES * 3] = {1, -2, 3, 5, -8, 13, -21, 34, 55, 8, 4, -2, -16, 32, 7};

#endif
