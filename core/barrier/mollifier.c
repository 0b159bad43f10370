#include "core/barrier/mollifier.h"

#include <math.h>
#include <string.h>

#include "core/barrier/energy.h"
#include "core/base/inline.h"
#include "core/motion/stencil.h"

/* The edges and their cross product. Nearly parallel edges need double-double. */
struct edges {
	double a[3], b[3], v[3], c;
};

static struct v3 point(const double *p)
{
	return (struct v3){p[0], p[1], p[2]};
}

static void store(struct v3 from, double to[3])
{
	to[0] = from.x;
	to[1] = from.y;
	to[2] = from.z;
}

static struct edges edges_of(const double *const p[FRIC_MAX_STENCIL])
{
	const struct dd3 a = dd3_between(point(p[0]), point(p[1]), 1), b = dd3_between(point(p[2]), point(p[3]), 1);
	const struct v3 v = dd3_rounded(dd3_cross(a, b));
	struct edges e = {.c = v3_dot(v, v)};
	store(dd3_rounded(a), e.a);
	store(dd3_rounded(b), e.b);
	store(v, e.v);
	return e;
}

static struct edges edges_at(const struct fric_current *current, size_t i)
{
	const double *p[FRIC_MAX_STENCIL];
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		p[k] = current->positions + 3 * (size_t)current->at.vertices[k][i];
	return edges_of(p);
}

static struct mollifier mollifier_of(const struct fric_current *current, size_t i, const struct edges *e)
{
	const double mu = *column_at(current->at.mollifier, i), x = e->c / mu;
	return (struct mollifier){(2 - x) * x, 2 * (1 - x) / mu, -2 / (mu * mu)};
}

struct mollifier fricp_mollifier(const struct fric_current *current, size_t i)
{
	const struct edges e = edges_at(current, i);
	return mollifier_of(current, i, &e);
}

static void cross(const double a[3], const double b[3], double c[3])
{
	for (int x = 0; x < 3; x++)
		c[x] = a[(x + 1) % 3] * b[(x + 2) % 3] - a[(x + 2) % 3] * b[(x + 1) % 3];
}

/* dc/da and dc/db */
static void change(const struct edges *e, double by_a[3], double by_b[3])
{
	cross(e->b, e->v, by_a);
	cross(e->v, e->a, by_b);
	for (int x = 0; x < 3; x++) {
		by_a[x] *= 2;
		by_b[x] *= 2;
	}
}

void fricp_mollified_gradient(const struct fric_current *current, size_t i, double gradient[FRIC_MAX_STENCIL][3])
{
	const struct edges e = edges_at(current, i);
	const struct mollifier m = mollifier_of(current, i, &e);
	double w[FRIC_MAX_STENCIL], by[2][3];
	contact_weights(&current->at, FRIC_EDGE_EDGE, i, w);
	change(&e, by[0], by[1]);
	for (int k = 0; k < FRIC_MAX_STENCIL; k++)
		for (int x = 0; x < 3; x++)
			gradient[k][x] = m.value * current->slope[i] * (w[k] * current->normal[x][i]) +
			                 (k % 2 ? 1 : -1) * (current->energy[i] * m.first * by[k / 2][x]);
}

/* ---- Hessian ---- */

enum { N_WEIGHTS = 3, N_MOTIONS = N_MOLLIFIED_MOTIONS };
#define ROOT_HALF 0x1.6a09e667f3bcdp-1
static const double weights[N_WEIGHTS][FRIC_MAX_STENCIL] = {
	{-ROOT_HALF, ROOT_HALF, 0, 0}, {0, 0, -ROOT_HALF, ROOT_HALF}, {0.5, 0.5, -0.5, -0.5}};

typedef double matrix[N_MOTIONS][N_MOTIONS];

/* A vector of motions: weights of the members, times a direction. */
static void motion(const double w[FRIC_MAX_STENCIL], const double *const direction[3], size_t i, double out[N_MOTIONS])
{
	for (int e = 0; e < N_WEIGHTS; e++) {
		double share = 0;
		for (int k = 0; k < FRIC_MAX_STENCIL; k++)
			share += weights[e][k] * w[k];
		for (int x = 0; x < 3; x++)
			out[3 * e + x] = share * direction[x][i];
	}
}

/* m += a b^T + b a^T, of which the lower triangle is computed. */
static void add_product(const double *a, const double *b, matrix m)
{
	for (int p = 0; p < N_MOTIONS; p++)
		for (int q = 0; q <= p; q++)
			m[p][q] += a[p] * b[q] + b[p] * a[q];
}

/* out := s a + t b */
static void combine(double s, const double *a, double t, const double *b, double out[N_MOTIONS])
{
	for (int p = 0; p < N_MOTIONS; p++)
		out[p] = s * a[p] + t * b[p];
}

/* Second derivatives of the distance, times `slope`. */
static void add_distance(const struct fric_current *current, size_t i, double factor, matrix m)
{
	double w[FRIC_MAX_STENCIL], second[3];
	const double *const n[3] = {current->normal[0], current->normal[1], current->normal[2]};
	const double at[3] = {n[0][i], n[1][i], n[2][i]};
	double t[2][3];
	for (int x = 0; x < 3; x++)
		t[0][x] = current->tangent[x][i];
	cross(at, t[0], second);
	for (int x = 0; x < 3; x++)
		t[1][x] = second[x];
	contact_weights(&current->at, FRIC_EDGE_EDGE, i, w);
	for (int a = 0; a < 2; a++) {
		const double slide[2] = {current->slide[2 * a][i], current->slide[2 * a + 1][i]};
		const double omega[FRIC_MAX_STENCIL] = {-slide[0], slide[0], slide[1], -slide[1]};
		const double *const tangent[3] = {&t[a][0], &t[a][1], &t[a][2]};
		const double s = -factor * current->slope[i], d = current->distance[i];
		double u[N_MOTIONS], p[N_MOTIONS], by[N_MOTIONS];
		motion(w, tangent, 0, u);
		motion(omega, n, i, p);
		if (current->form[i] & (a == 0 ? FORM_CURVED_FIRST : FORM_CURVED_SECOND)) {
			combine(-s / (2 * d), u, 0, u, by);
			add_product(u, by, m);
		} else {
			combine(s, u, s * d / 2, p, by);
			add_product(p, by, m);
		}
	}
}

/* Second derivatives of c, times a factor. a and b are sqrt(2) times the first two motions. */
static void add_second(const struct edges *e, double factor, matrix m)
{
	double aa = 0, ab = 0, bb = 0;
	for (int x = 0; x < 3; x++) {
		aa += e->a[x] * e->a[x];
		ab += e->a[x] * e->b[x];
		bb += e->b[x] * e->b[x];
	}
	for (int x = 0; x < 3; x++)
		for (int y = 0; y < 3; y++) {
			const double same = x == y;
			const double mixed = 4 * e->a[x] * e->b[y] - 2 * e->b[x] * e->a[y] - 2 * ab * same;
			m[x][y] += 2 * factor * (2 * (bb * same - e->b[x] * e->b[y]));
			m[3 + x][3 + y] += 2 * factor * (2 * (aa * same - e->a[x] * e->a[y]));
			m[3 + y][x] += 2 * factor * mixed;
		}
}

static double lower(matrix m, int p, int q)
{
	return p > q ? m[p][q] : m[q][p];
}

/* Each member takes part in the motion of its edge and in that of the middles. */
static int edge_of(int member)
{
	return member / 2;
}

void fricp_mollified_block(double m[N_MOTIONS][N_MOTIONS], double *block)
{
	for (int i = 1; i < FRIC_MAX_STENCIL; i++)
		for (int j = 1; j <= i; j++) {
			const int p = 3 * edge_of(i), q = 3 * edge_of(j), both = 3 * (N_WEIGHTS - 1);
			const double own = weights[edge_of(i)][i], middle = weights[N_WEIGHTS - 1][i];
			const double other = weights[edge_of(j)][j], with = weights[N_WEIGHTS - 1][j];
			for (int x = 0; x < 3; x++)
				for (int y = 0; y < (i == j ? x + 1 : 3); y++)
					*block++ = own * (other * lower(m, p + x, q + y) + with * lower(m, p + x, both + y)) +
					           middle * (other * lower(m, both + x, q + y) + with * lower(m, both + x, both + y));
		}
}

void fricp_mollified_matrix(const struct fric_current *current, size_t i, double sum[N_MOTIONS][N_MOTIONS])
{
	const struct edges e = edges_at(current, i);
	const struct mollifier m = mollifier_of(current, i, &e);
	const double *const n[3] = {current->normal[0], current->normal[1], current->normal[2]};
	double w[FRIC_MAX_STENCIL], by[2][3], g[N_MOTIONS], h[N_MOTIONS] = {0}, with_g[N_MOTIONS], with_h[N_MOTIONS];
	memset(sum, 0, sizeof(matrix));
	contact_weights(&current->at, FRIC_EDGE_EDGE, i, w);
	motion(w, n, i, g);
	change(&e, by[0], by[1]);
	for (int x = 0; x < 6; x++)
		h[x] = 2 * ROOT_HALF * by[x / 3][x % 3];
	combine(m.value * current->curvature[i] / 2, g, current->slope[i] * m.first, h, with_g);
	combine(current->energy[i] * m.second / 2, h, 0, h, with_h);
	add_product(g, with_g, sum);
	add_product(h, with_h, sum);
	add_distance(current, i, m.value, sum);
	add_second(&e, current->energy[i] * m.first, sum);
	for (int p = 0; p < N_MOTIONS; p++)
		for (int q = 0; q < p; q++)
			sum[q][p] = sum[p][q];
}
