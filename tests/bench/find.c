/* Finding contacts of meshes: what fric_mesh_create and fric_find take per triangle, for meshes of several shapes and
 * growing sizes, on one thread and two. One JSON object per line on standard output. Arguments: numbers of triangles.
 * Least of several runs, in elapsed time and in time of processors; bytes are the most that is taken at a time beside
 * the mesh, the contacts that are found and what they are merged from. */
#include <math.h>
#include <stdatomic.h>
#include <time.h>

#include "core/fric.h"
#include "tests/bench/warm.h"

enum { N_RUNS = 5, SPHERE_RINGS = 16, SPHERE_VERTICES = 2 + (SPHERE_RINGS - 1) * 2 * SPHERE_RINGS };

struct mesh {
	size_t n_vertices, n_faces;
	double *positions;
	int32_t *faces;
	double distance;
};

static double clock_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t state = 88172645463325252u;

static double uniform(double low, double high)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return low + (high - low) * ((double)((state * 2685821657736338717u) >> 11) * 0x1p-53);
}

/* ---- meshes ---- */

static int32_t add_vertex(struct mesh *m, double x, double y, double z)
{
	double *p = m->positions + 3 * m->n_vertices;
	p[0] = x;
	p[1] = y;
	p[2] = z;
	return (int32_t)m->n_vertices++;
}

static void add_face(struct mesh *m, int32_t a, int32_t b, int32_t c)
{
	int32_t *f = m->faces + 3 * m->n_faces++;
	f[0] = a;
	f[1] = b;
	f[2] = c;
}

static void add_triangle(struct mesh *m, const double *centre, double size, double thin)
{
	double along[3], across[3];
	for (int d = 0; d < 3; d++) {
		along[d] = uniform(-size, size);
		across[d] = uniform(-size, size) * thin;
	}
	int32_t v[3];
	for (int k = 0; k < 3; k++) {
		const double a = k == 0 ? -0.5 : 0.5, b = k == 1 ? 1 : 0;
		v[k] = add_vertex(m, centre[0] + a * along[0] + b * across[0], centre[1] + a * along[1] + b * across[1],
		                  centre[2] + a * along[2] + b * across[2]);
	}
	add_face(m, v[0], v[1], v[2]);
}

static void make_uniform(struct mesh *m, size_t n)
{
	const double size = 0.5 * pow((double)n, -1. / 3);
	for (size_t i = 0; i < n; i++)
		add_triangle(m, (const double[]){uniform(0, 1), uniform(0, 1), uniform(0, 1)}, size, 1);
	m->distance = 0.05 * size;
}

/* Clusters, each with triangles of its own size. */
static void make_clusters(struct mesh *m, size_t n)
{
	enum { CLUSTERS = 20 };
	double smallest = 1;
	for (size_t c = 0; c < CLUSTERS; c++) {
		const double extent = pow(10, uniform(-4, -1)), size = 0.5 * extent * pow((double)n / CLUSTERS, -1. / 3);
		const double at[3] = {uniform(0, 1), uniform(0, 1), uniform(0, 1)};
		smallest = fmin(smallest, size);
		for (size_t i = 0; i < n / CLUSTERS; i++)
			add_triangle(
				m, (const double[]){at[0] + uniform(0, extent), at[1] + uniform(0, extent), at[2] + uniform(0, extent)},
				size, 1);
	}
	m->distance = 0.05 * smallest;
}

static void make_slivers(struct mesh *m, size_t n)
{
	const double size = pow((double)n, -1. / 3);
	for (size_t i = 0; i < n; i++)
		add_triangle(m, (const double[]){uniform(0, 1), uniform(0, 1), uniform(0, 1)}, size, 1e-3);
	m->distance = 0.02 * size;
}

/* Four sheets above each other, nearer than an edge is long. */
static void make_sheets(struct mesh *m, size_t n)
{
	const int32_t side = (int32_t)sqrt((double)n / 8);
	const double edge = 1. / side;
	for (int32_t sheet = 0; sheet < 4; sheet++) {
		const int32_t start = (int32_t)m->n_vertices;
		for (int32_t i = 0; i <= side; i++)
			for (int32_t j = 0; j <= side; j++)
				add_vertex(m, (i + uniform(-0.2, 0.2)) * edge, (j + uniform(-0.2, 0.2)) * edge,
				           (0.2 * sheet + uniform(0, 0.1)) * edge);
		for (int32_t i = 0; i < side; i++)
			for (int32_t j = 0; j < side; j++) {
				const int32_t v = start + i * (side + 1) + j, w = v + side + 1;
				add_face(m, v, v + 1, w);
				add_face(m, w + 1, w, v + 1);
			}
	}
	m->distance = 0.12 * edge;
}

static void add_sphere(struct mesh *m, const double *centre, double radius)
{
	const int32_t around = 2 * SPHERE_RINGS, start = (int32_t)m->n_vertices;
	const double pi = acos(-1);
	for (int32_t i = 1; i < SPHERE_RINGS; i++)
		for (int32_t j = 0; j < around; j++) {
			const double a = pi * i / SPHERE_RINGS, b = pi * (2 * j + i) / around;
			add_vertex(m, centre[0] + radius * sin(a) * cos(b), centre[1] + radius * sin(a) * sin(b),
			           centre[2] + radius * cos(a));
		}
	const int32_t top = add_vertex(m, centre[0], centre[1], centre[2] + radius);
	const int32_t bottom = add_vertex(m, centre[0], centre[1], centre[2] - radius);
	for (int32_t j = 0; j < around; j++) {
		const int32_t k = (j + 1) % around, last = start + (SPHERE_RINGS - 2) * around;
		add_face(m, top, start + j, start + k);
		add_face(m, bottom, last + k, last + j);
		for (int32_t i = 0; i < SPHERE_RINGS - 2; i++) {
			const int32_t row = start + i * around, next = row + around;
			add_face(m, row + j, next + j, row + k);
			add_face(m, next + k, row + k, next + j);
		}
	}
}

/* Balls that nearly touch. */
static void make_pile(struct mesh *m, size_t n)
{
	const size_t each = 2 * 2 * SPHERE_RINGS * (SPHERE_RINGS - 1), side = (size_t)ceil(cbrt((double)(n / each)));
	const double radius = 1, gap = 0.01;
	for (size_t i = 0; i < n / each; i++) {
		const size_t at[3] = {i % side, i / side % side, i / side / side};
		double centre[3];
		for (int d = 0; d < 3; d++)
			centre[d] = (double)at[d] * (2 * radius + gap) + uniform(0, gap);
		add_sphere(m, centre, radius);
	}
	m->distance = 0.02;
}

static const struct {
	const char *name;
	void (*make)(struct mesh *m, size_t n);
} shapes[] = {{"uniform", make_uniform},
              {"clusters", make_clusters},
              {"slivers", make_slivers},
              {"sheets", make_sheets},
              {"pile", make_pile}};

enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* ---- memory ---- */

static atomic_size_t taken, most;

static void *take(void *pool, size_t bytes)
{
	(void)pool;
	const size_t now = atomic_fetch_add(&taken, bytes) + bytes;
	size_t before = atomic_load(&most);
	while (now > before && !atomic_compare_exchange_weak(&most, &before, now))
		;
	return aligned_alloc(64, (bytes / 64 + 1) * 64);
}

static void give(void *pool, void *block, size_t bytes)
{
	(void)pool;
	atomic_fetch_sub(&taken, bytes);
	free(block);
}

static const struct fric_memory memory = {take, give, NULL};

/* ---- measurement ---- */

struct figures {
	double mesh, wall, cpu; /* ns */
	size_t n_contacts, bytes;
};

static void must(enum fric_code code)
{
	if (code == FRIC_OK)
		return;
	fprintf(stderr, "find: code %d\n", (int)code);
	exit(1);
}

static size_t bytes_of_contacts(const struct fric_found *found, size_t *n)
{
	size_t bytes = 0;
	*n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n_type = fric_found_of(found, type).n;
		*n += n_type;
		bytes += n_type * (24 + 4 * (size_t)fric_stencil_size(type));
	}
	return bytes;
}

static void measure(const struct mesh *m, int threads, struct figures *least)
{
	const struct fric_surface surface = {
		.dim = 3, .n_vertices = m->n_vertices, .n_faces = m->n_faces, .faces = m->faces};
	const struct fric_context context = {.n_threads = threads, .memory = &memory};
	const struct fric_finding finding = {.distance = m->distance, .merge = true};
	struct fric_mesh *mesh;
	struct fric_found *found;
	struct fric_error error;
	const double created = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	must(fric_mesh_create(&context, &surface, &mesh, &error));
	const size_t before = atomic_load(&taken);
	atomic_store(&most, before);
	const double wall = clock_of(CLOCK_MONOTONIC), cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	must(fric_find(&context, mesh, m->positions, &finding, &found, &error));
	const double end = clock_of(CLOCK_MONOTONIC), cpu_end = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	const size_t answer = bytes_of_contacts(found, &least->n_contacts);
	least->mesh = fmin(least->mesh, cpu - created);
	least->wall = fmin(least->wall, end - wall);
	least->cpu = fmin(least->cpu, cpu_end - cpu);
	const size_t peak = atomic_load(&most) - before;
	least->bytes = peak > answer ? peak - answer : 0;
	fric_found_free(found);
	fric_mesh_free(mesh);
}

static void run(size_t n, size_t shape)
{
	struct mesh m = {.positions = warm_array(9 * n + 3000, sizeof(double)),
	                 .faces = warm_array(3 * n + 3000, sizeof(int32_t))};
	shapes[shape].make(&m, n);
	for (int threads = 1; threads <= 2; threads++) {
		struct figures f = {INFINITY, INFINITY, INFINITY, 0, 0};
		for (int i = 0; i < N_RUNS; i++)
			measure(&m, threads, &f);
		const double per = (double)m.n_faces;
		printf("{\"shape\": \"%s\", \"triangles\": %zu, \"vertices\": %zu, \"threads\": %d, \"contacts\": %zu, "
		       "\"ns_per_triangle\": %.1f, \"cpu_ns_per_triangle\": %.1f, \"mesh_ns_per_triangle\": %.1f, "
		       "\"bytes_per_triangle\": %.1f}\n",
		       shapes[shape].name, m.n_faces, m.n_vertices, threads, f.n_contacts, f.wall / per, f.cpu / per,
		       f.mesh / per, (double)f.bytes / per);
		fflush(stdout);
	}
	free(m.positions);
	free(m.faces);
}

int main(int argc, char **argv)
{
	keep_memory_warm();
	const char *only = getenv("SHAPE");
	for (size_t shape = 0; shape < N_SHAPES; shape++)
		for (int i = 1; i < argc && (!only || !strcmp(only, shapes[shape].name)); i++)
			run(strtoul(argv[i], NULL, 10), shape);
	return 0;
}
