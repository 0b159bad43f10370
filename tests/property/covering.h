/**
 * Covering arrays: each row chooses a level for every factor, and every two levels of every two factors occur together
 * in at least one row. Rows are found greedily: of several rows that contain a missing pair, the one that covers most
 * pairs is taken.
 */
#ifndef TESTS_COVERING_H
#define TESTS_COVERING_H

#include "tests/property/scene.h"

enum { MOST_FACTORS = 32, MOST_LEVELS = 8, MOST_ROWS = 400 };

struct row {
	int level[MOST_FACTORS];
};

struct factors {
	int n, n_levels[MOST_FACTORS];
	void (*repair)(struct row *row); /* turns an impossible row into a possible one; leaves possible rows unchanged */
};

struct covering {
	struct factors factors;
	int n_rows;
	struct row rows[MOST_ROWS];
	char covered[MOST_FACTORS][MOST_LEVELS][MOST_FACTORS][MOST_LEVELS];
};

static inline int new_pairs(const struct covering *c, const struct row *row)
{
	int n = 0;
	for (int f = 0; f < c->factors.n; f++)
		for (int g = 0; g < f; g++)
			n += !c->covered[f][row->level[f]][g][row->level[g]];
	return n;
}

static inline void add_row(struct covering *c, const struct row *row)
{
	assert_true(c->n_rows < MOST_ROWS);
	c->rows[c->n_rows++] = *row;
	for (int f = 0; f < c->factors.n; f++)
		for (int g = 0; g < c->factors.n; g++)
			c->covered[f][row->level[f]][g][row->level[g]] = 1;
}

static inline struct row random_row(const struct factors *f, struct rng *rng)
{
	struct row row = {{0}};
	for (int i = 0; i < f->n; i++)
		row.level[i] = (int)below(rng, (size_t)f->n_levels[i]);
	return row;
}

/* If two levels exclude each other, no row has both, and their pair counts as covered. */
static inline bool try_pair(struct covering *c, struct rng *rng, int f, int a, int g, int b)
{
	enum { TRIES = 60 };
	struct row best;
	int most = 0;
	for (int i = 0; i < TRIES; i++) {
		struct row row = random_row(&c->factors, rng);
		row.level[f] = a;
		row.level[g] = b;
		c->factors.repair(&row);
		if (row.level[f] != a || row.level[g] != b)
			continue;
		const int n = new_pairs(c, &row);
		if (n > most) {
			most = n;
			best = row;
		}
	}
	if (most > 0)
		add_row(c, &best);
	return most > 0;
}

static inline void cover(struct covering *c, struct factors factors, uint64_t seed)
{
	struct rng rng = {seed};
	*c = (struct covering){.factors = factors};
	for (int f = 0; f < factors.n; f++)
		for (int g = 0; g < f; g++)
			for (int a = 0; a < factors.n_levels[f]; a++)
				for (int b = 0; b < factors.n_levels[g]; b++)
					if (!c->covered[f][a][g][b])
						try_pair(c, &rng, f, a, g, b);
}

#endif
