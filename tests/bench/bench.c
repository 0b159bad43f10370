/* Measures the core in nanoseconds per contact, compared with the plain yardstick and with the memory's speed, all in
 * one run; see `usage`. Prints one JSON object per line.
 * Figures are medians in warm memory (tests/bench/warm.h). Each round runs everything once, so that a machine that is
 * slow for a while slows down everything alike. The scalar kernels are left out above 100000 contacts, and for
 * derivatives, where they are the plain form, above 1000. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/stream.h"
#include "tests/bench/mix.h"
#include "tests/bench/warm.h"
#include "tests/bench/yardstick.h"

static const char usage[] =
	"usage: bench [--mesh NAME] [--kept] [--transition NAME] [--law NAME] [--own-mu] [--kernels NAME] [--only NAME] [N ...]\n"
	"N: numbers of contacts, by default 1000 10000 100000 1000000\n"
	"  --mesh NAME        mix (the default), sheets, pile, shuffled, random: tests/bench/mix.h\n"
	"  --kept             with a schedule that is kept, made for two threads\n"
	"  --transition NAME  the law: cubic (the default), quadratic, peak; the yardstick keeps to cubic\n"
	"  --law NAME         smooth (the default), stribeck, exponential, curve (of 16 points), adhesion\n"
	"  --own-mu           every contact has coefficients of its own, the yardstick's excepted\n"
	"  --kernels NAME     these alone: avx512, avx2, baseline, scalar\n"
	"  --only NAME        measurements that contain NAME\n";

struct options {
	enum fric_transition transition;
	enum fric_law_type law;
	enum mesh mesh;
	bool own_mu, kept;
	const char *kernels, *only; /* NULL: no restriction */
};

static const char *const laws[] = {[FRIC_SMOOTH] = "smooth",
                                   [FRIC_STRIBECK] = "stribeck",
                                   [FRIC_EXPONENTIAL] = "exponential",
                                   [FRIC_CURVE] = "curve",
                                   [FRIC_ADHESION] = "adhesion"};
enum { N_LAWS = sizeof(laws) / sizeof(laws[0]), N_POINTS = 16 };

static const char *const transitions[] = {[FRIC_CUBIC] = "cubic", [FRIC_QUADRATIC] = "quadratic", [FRIC_PEAK] = "peak"};
enum { N_TRANSITIONS = sizeof(transitions) / sizeof(transitions[0]) };

enum { N_VECTORS = 8 };
enum { N_ROUNDS = 5, MOST_RUNS = 9, N_VARIANTS = 8 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Data of a measurement. */
struct setup {
	struct options options;
	struct mix mix;
	struct fric_batch with_barrier;
	struct fric_context context;
	struct fric_contacts *contacts;
	struct fric_query query;
	struct fric_pattern *pattern;
	struct fric_schedule *schedule;
	struct yard_contact *yard;
	double potential, *gradient, *inner, *weights, *values, *data, *mu, *curve;
	int32_t *rows, *cols;
	size_t n_triplets;
	/* Contexts and arrays for derivatives of these contacts, and of the same contacts with a barrier. */
	struct fric_contacts *barrier_contacts;
	struct fric_derivation derivation, barrier_derivation;
	struct fric_differential by_velocities, by_positions, by_all, by_barrier;
	double potential_tangent, *gradient_tangent, *tangents, *cotangents;
	double *vectors, *products; /* [N_VECTORS, n_dofs] */
};

static void must(enum fric_code code)
{
	if (code == FRIC_OK)
		return;
	fprintf(stderr, "bench: error %d\n", (int)code);
	exit(1);
}

static struct fric_error error;

static void yardstick_gradient(struct setup *s)
{
	s->potential = yard_gradient(s->yard, s->mix.n, s->mix.velocities, s->gradient, s->mix.n_vertices);
}

static void yardstick_triplets(struct setup *s)
{
	yard_triplets(s->yard, s->mix.n, s->mix.velocities, s->rows, s->cols, s->values);
}

static void prepare(struct setup *s)
{
	struct fric_contacts *contacts;
	must(fric_prepare(&s->context, &s->mix.batch, &contacts, &error));
	fric_contacts_free(contacts);
}

static void prepare_barrier(struct setup *s)
{
	struct fric_contacts *contacts;
	must(fric_prepare(&s->context, &s->with_barrier, &contacts, &error));
	fric_contacts_free(contacts);
}

static void potential(struct setup *s)
{
	must(fric_evaluate(&s->context, s->contacts, &s->query, &s->potential, NULL, &error));
}

static void gradient(struct setup *s)
{
	must(fric_evaluate(&s->context, s->contacts, &s->query, &s->potential, s->gradient, &error));
}

static void gradient_alone(struct setup *s)
{
	must(fric_evaluate(&s->context, s->contacts, &s->query, NULL, s->gradient, &error));
}

static void inner(struct setup *s, enum fric_projection projection)
{
	must(fric_hessian_inner(&s->context, s->contacts, &s->query, projection, s->inner, &error));
}

static struct fric_factors factors_in(struct setup *s)
{
	struct fric_factors factors;
	double *weights = s->weights, *bases = s->values, *inner = s->inner;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(s->contacts, type);
		factors.weights[type] = weights;
		factors.tangent_basis[type] = bases;
		factors.inner[type] = inner;
		weights += n * (size_t)fric_stencil_size(type);
		bases += 6 * n;
		inner += 3 * n;
	}
	return factors;
}

/* The parts of a response: weights, bases, inner matrices. */
static void factors(struct setup *s)
{
	const struct fric_factors rows = factors_in(s);
	must(fric_hessian_factors(&s->context, s->contacts, &s->query, FRIC_PROJECT_CLAMP, &rows, &error));
}

static void triplets(struct setup *s)
{
	inner(s, FRIC_PROJECT_NONE);
	must(fric_hessian_triplets(&s->context, s->contacts, s->inner, FRIC_FULL, s->rows, s->cols, s->values, &error));
}

static void csr(struct setup *s)
{
	struct fric_pattern *pattern;
	inner(s, FRIC_PROJECT_NONE);
	must(fric_pattern_create(&s->context, s->contacts, FRIC_FULL, &pattern, &error));
	must(fric_hessian_csr(&s->context, s->contacts, s->inner, pattern, s->data, &error));
	fric_pattern_free(pattern);
}

static void csr_values(struct setup *s)
{
	inner(s, FRIC_PROJECT_NONE);
	must(fric_hessian_csr(&s->context, s->contacts, s->inner, s->pattern, s->data, &error));
}

static void products(struct setup *s)
{
	must(fric_hessian_products(&s->context, s->contacts, &s->query, FRIC_PROJECT_NONE, N_VECTORS, s->vectors,
	                           s->products, &error));
}

static void jvp(struct setup *s, const struct fric_derivation *derivation, const struct fric_differential *tangents)
{
	must(fric_jvp(&s->context, derivation, tangents, &s->potential, s->gradient, &s->potential_tangent,
	              s->gradient_tangent, &error));
}

static void jvp_velocities(struct setup *s)
{
	jvp(s, &s->derivation, &s->by_velocities);
}

static void jvp_positions(struct setup *s)
{
	jvp(s, &s->derivation, &s->by_positions);
}

static void jvp_barrier(struct setup *s)
{
	jvp(s, &s->barrier_derivation, &s->by_positions);
}

/* The derivatives with respect to positions, coefficients and normal forces, or the fields that these depend on. */
static void vjp(struct setup *s)
{
	must(fric_vjp(&s->context, &s->derivation, 1, s->mix.velocities, &s->potential, s->gradient, &s->by_all, &error));
}

static void vjp_barrier(struct setup *s)
{
	must(fric_vjp(&s->context, &s->barrier_derivation, 1, s->mix.velocities, &s->potential, s->gradient, &s->by_barrier,
	              &error));
}

static void position_jacobian(struct setup *s)
{
	must(fric_position_jacobian_csr(&s->context, &s->derivation, s->pattern, s->data, &error));
}

static void position_jacobian_barrier(struct setup *s)
{
	must(fric_position_jacobian_csr(&s->context, &s->barrier_derivation, s->pattern, s->data, &error));
}

/* A lower bound: reads as many bytes as lagged contacts have, once. */
static void read_contacts(struct setup *s)
{
	const double *x = (const double *)(const void *)s->yard;
	double sum[4] = {0};
	for (size_t i = 0; i + 4 <= 11 * s->mix.n; i += 4)
		for (size_t l = 0; l < 4; l++)
			sum[l] += x[i + l];
	s->potential = sum[0] + sum[1] + sum[2] + sum[3];
}

/* A lower bound for triplets: writes as many bytes. */
static void write_triplets(struct setup *s)
{
	memset(s->rows, 0, s->n_triplets * sizeof(int32_t));
	memset(s->cols, 0, s->n_triplets * sizeof(int32_t));
	memset(s->values, 0, s->n_triplets * sizeof(double));
}

/* The same, bypassing the caches except for the lines at both ends. */
static void stream(void *to, size_t bytes)
{
	static const char zeros[STREAM_LINE];
	char *const end = (char *)to + bytes;
	for (char *at = (char *)to + (STREAM_LINE - (uintptr_t)to % STREAM_LINE); at + STREAM_LINE <= end;
	     at += STREAM_LINE)
		stream_line(at, zeros);
}

static void stream_triplets(struct setup *s)
{
	stream(s->rows, s->n_triplets * sizeof(int32_t));
	stream(s->cols, s->n_triplets * sizeof(int32_t));
	stream(s->values, s->n_triplets * sizeof(double));
	stream_end();
}

static const struct measurement {
	const char *name;
	void (*run)(struct setup *);
	bool is_ours; /* measured for every kernel and number of threads */
	bool is_slow; /* its scalar form uses long double and is measured only up to 1000 contacts */
} measurements[] = {
	{"yardstick_gradient", yardstick_gradient, false, false},
	{"yardstick_triplets", yardstick_triplets, false, false},
	{"floor_read_contacts", read_contacts, false, false},
	{"floor_write_triplets", write_triplets, false, false},
	{"floor_stream_triplets", stream_triplets, false, false},
	{"prepare", prepare, true, false},
	{"prepare_barrier", prepare_barrier, true, false},
	{"potential", potential, true, false},
	{"potential_gradient", gradient, true, false},
	{"gradient", gradient_alone, true, false},
	{"factors", factors, true, false},
	{"triplets", triplets, true, false},
	{"csr", csr, true, false},
	{"csr_values", csr_values, true, false},
	{"products_8", products, true, false},
	{"jvp_velocities", jvp_velocities, true, true},
	{"jvp_positions", jvp_positions, true, true},
	{"jvp_positions_barrier", jvp_barrier, true, true},
	{"vjp", vjp, true, true},
	{"vjp_barrier", vjp_barrier, true, true},
	{"position_jacobian_csr", position_jacobian, true, true},
	{"position_jacobian_csr_barrier", position_jacobian_barrier, true, true},
};

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* One measurement, with one set of kernels and one number of threads. */
struct series {
	const struct measurement *what;
	const char *kernels; /* "-" for the yardstick and the lower bounds */
	int n_threads, n;
	double times[N_ROUNDS * MOST_RUNS]; /* [n] nanoseconds per contact */
};

/* The first run warms up. */
static void measure_round(struct setup *s, struct series *series)
{
	const int runs = s->mix.n >= 1000000 ? 1 : s->mix.n >= 100000 ? 3 : MOST_RUNS;
	s->context.kernels = fric_kernels_find(series->kernels);
	s->context.n_threads = series->n_threads;
	for (int i = -1; i < runs; i++) {
		const double start = now();
		series->what->run(s);
		if (i >= 0)
			series->times[series->n++] = (now() - start) / (double)s->mix.n;
	}
}

static void fill_yard(struct setup *s)
{
	size_t at = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = fric_group_size(s->contacts, type), k = (size_t)fric_stencil_size(type);
		double *weights = warm_array(n * k, sizeof(double)), *bases = warm_array(6 * n, sizeof(double));
		must(fric_stencil_weights(&s->context, s->contacts, type, weights, &error));
		must(fric_contact_output(&s->context, s->contacts, &s->query, type, FRIC_OUT_TANGENT_BASIS, bases, &error));
		for (size_t i = 0; i < n; i++, at++) {
			struct yard_contact *c = &s->yard[at];
			c->n_vertices = (int32_t)k;
			memcpy(c->vertices, s->mix.batch.groups[type].vertices + i * k, k * sizeof(int32_t));
			memcpy(c->weights, weights + i * k, k * sizeof(double));
			memcpy(c->tangent_basis, bases + 6 * i, 6 * sizeof(double));
			c->force = s->mix.normal_force[at];
			c->mu_s = s->mix.batch.friction.mu_s;
			c->mu_k = s->mix.batch.friction.mu_k;
			c->eps_v = s->mix.batch.friction.eps_v;
		}
		free(weights);
		free(bases);
	}
}

/* Coefficients per contact, which vary around those of the mix. */
static void give_own_mu(struct setup *s)
{
	size_t at = 0;
	s->mu = warm_array(2 * s->mix.n, sizeof(double));
	for (size_t i = 0; i < s->mix.n; i++) {
		const double part = (double)(i * 389 % 1000) / 1000;
		s->mu[2 * i] = s->mix.batch.friction.mu_s * (0.8 + 0.4 * part);
		s->mu[2 * i + 1] = s->mix.batch.friction.mu_k * (1.2 - 0.4 * part * part);
	}
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		struct fric_group *g = &s->mix.batch.groups[type];
		g->mu_s = (struct fric_values){s->mu + 2 * at, 2};
		g->mu_k = (struct fric_values){s->mu + 2 * at + 1, 2};
		at += g->n;
	}
}

/* A law that decays over the speeds of the mix, or a curve of N_POINTS over them. */
static void give_law(struct setup *s, enum fric_law_type type)
{
	struct fric_law *law = &s->mix.batch.friction.law;
	s->curve = warm_array(2 * N_POINTS, sizeof(double));
	for (int k = 0; k < N_POINTS; k++) {
		s->curve[k] = 0.2e-3 * k;
		s->curve[N_POINTS + k] = 0.6 + 0.4 / (1 + k);
	}
	law->type = type;
	law->stribeck_speed = 1e-3;
	law->curve = (struct fric_curve){N_POINTS, s->curve, s->curve + N_POINTS, NULL};
	if (type == FRIC_CURVE || type == FRIC_ADHESION)
		s->mix.batch.friction.mu_k = s->mix.batch.friction.mu_s;
}

/* The fields with respect to which derivatives are taken: a coefficient of the batch, or coefficients of contacts. */
static void give_differentials(struct setup *s)
{
	const size_t n_dofs = 3 * s->mix.n_vertices;
	size_t at = 0;
	s->tangents = warm_array(n_dofs, sizeof(double));
	s->vectors = warm_array(N_VECTORS * n_dofs, sizeof(double));
	s->products = warm_array(N_VECTORS * n_dofs, sizeof(double));
	for (size_t i = 0; i < N_VECTORS * n_dofs; i++)
		s->vectors[i] = s->mix.velocities[(i * 7 + i / n_dofs) % n_dofs];
	s->cotangents = warm_array(n_dofs + 3 * s->mix.n + 8, sizeof(double));
	s->gradient_tangent = warm_array(n_dofs, sizeof(double));
	for (size_t i = 0; i < n_dofs; i++)
		s->tangents[i] = s->mix.velocities[n_dofs - 1 - i];
	s->by_velocities.fields[FRIC_WRT_VELOCITIES] = s->by_positions.fields[FRIC_WRT_POSITIONS] = s->tangents;
	s->by_all.fields[FRIC_WRT_POSITIONS] = s->cotangents;
	double *rest = s->cotangents + n_dofs, *rows = rest + 8;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++) {
		const size_t n = s->mix.batch.groups[type].n;
		if (n && s->options.own_mu) {
			s->by_all.rows[type][FRIC_ROW_MU_S] = rows + s->mix.n + at;
			s->by_all.rows[type][FRIC_ROW_MU_K] = rows + 2 * s->mix.n + at;
		}
		if (n)
			s->by_all.rows[type][FRIC_ROW_NORMAL_FORCE] = rows + at;
		at += n;
	}
	if (!s->options.own_mu) {
		s->by_all.fields[FRIC_WRT_MU_S] = rest;
		s->by_all.fields[FRIC_WRT_MU_K] = rest + 1;
	}
	s->by_barrier = s->by_all;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		s->by_barrier.rows[type][FRIC_ROW_NORMAL_FORCE] = NULL;
	for (int b = 0; b < 3; b++)
		s->by_barrier.fields[(int)FRIC_WRT_DHAT + b] = rest + 2 + b;
}

static void set_up(struct setup *s, struct options options, size_t n)
{
	*s = (struct setup){.options = options, .context.n_threads = 1};
	mix_make(n, options.mesh, &s->mix);
	s->mix.batch.friction.law.transition = options.transition;
	give_law(s, options.law);
	if (options.own_mu)
		give_own_mu(s);
	s->with_barrier = s->mix.batch;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		s->with_barrier.groups[type].normal_force.data = NULL;
	s->query = (struct fric_query){.velocities = s->mix.velocities};
	must(fric_prepare(&s->context, &s->mix.batch, &s->contacts, &error));
	must(fric_pattern_create(&s->context, s->contacts, FRIC_FULL, &s->pattern, &error));
	const struct fric_context two = {.n_threads = 2};
	if (options.kept)
		must(fric_schedule_create(&two, s->contacts, &s->schedule, &error));
	s->query.schedule = s->schedule;
	s->n_triplets = fric_n_triplets(s->contacts, FRIC_FULL);
	s->yard = warm_array(n, sizeof(*s->yard));
	s->gradient = warm_array(3 * s->mix.n_vertices, sizeof(double));
	s->inner = warm_array(3 * n, sizeof(double));
	s->weights = warm_array(4 * n, sizeof(double));
	s->rows = warm_array(s->n_triplets, sizeof(int32_t));
	s->cols = warm_array(s->n_triplets, sizeof(int32_t));
	s->values = warm_array(s->n_triplets + 6 * n, sizeof(double));
	s->data = warm_array(fric_pattern_n_entries(s->pattern), sizeof(double));
	fill_yard(s);
	must(fric_prepare(&s->context, &s->with_barrier, &s->barrier_contacts, &error));
	s->derivation = (struct fric_derivation){.batch = &s->mix.batch, .contacts = s->contacts, .query = &s->query};
	s->barrier_derivation =
		(struct fric_derivation){.batch = &s->with_barrier, .contacts = s->barrier_contacts, .query = &s->query};
	give_differentials(s);
}

static void tear_down(struct setup *s)
{
	void *const arrays[] = {
		s->yard,  s->gradient,         s->inner,    s->weights,    s->rows,    s->cols,    s->values, s->data, s->mu,
		s->curve, s->gradient_tangent, s->tangents, s->cotangents, s->vectors, s->products};
	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		free(arrays[i]);
	fric_pattern_free(s->pattern);
	fric_schedule_free(s->schedule);
	fric_contacts_free(s->contacts);
	fric_contacts_free(s->barrier_contacts);
	mix_free(&s->mix);
}

static void print(const struct setup *s, struct series *series)
{
	qsort(series->times, (size_t)series->n, sizeof(*series->times), ascending);
	printf(
		"{\"n\": %zu, \"mesh\": \"%s\", \"kept\": %s, \"what\": \"%s\", \"kernels\": \"%s\", \"threads\": %d, \"law\": \"%s\", \"transition\": \"%s\", "
		"\"own_mu\": %s, "
		"\"ns_per_contact\": %.2f, \"least\": %.2f}\n",
		s->mix.n, mesh_names[s->options.mesh], s->options.kept ? "true" : "false", series->what->name, series->kernels,
		series->n_threads, laws[s->options.law], transitions[s->options.transition],
		s->options.own_mu ? "true" : "false", series->times[series->n / 2], series->times[0]);
	fflush(stdout);
}

/* @return number of variants */
static size_t list_variants(const struct setup *s, const struct measurement *m, struct series *out)
{
	static const char *const names[] = {"avx512", "avx2", "baseline", "scalar"};
	size_t n = 0;
	if (!m->is_ours) {
		out[n++] = (struct series){.what = m, .kernels = "-", .n_threads = 1};
		return n;
	}
	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		const size_t most = strcmp(names[k], "scalar") != 0 ? SIZE_MAX : m->is_slow ? 1000 : 100000;
		if (!fric_kernels_find(names[k]) || s->mix.n > most ||
		    (s->options.kernels && strcmp(s->options.kernels, names[k]) != 0))
			continue;
		for (int threads = 1; threads <= 2; threads++)
			out[n++] = (struct series){.what = m, .kernels = names[k], .n_threads = threads};
	}
	return n;
}

static void measure_all(struct setup *s)
{
	enum { N_MEASUREMENTS = sizeof(measurements) / sizeof(measurements[0]) };
	static struct series series[N_MEASUREMENTS * N_VARIANTS];
	size_t n = 0;
	for (size_t m = 0; m < N_MEASUREMENTS; m++)
		if (!s->options.only || strstr(measurements[m].name, s->options.only))
			n += list_variants(s, &measurements[m], series + n);
	for (int round = 0; round < N_ROUNDS; round++)
		for (size_t i = 0; i < n; i++)
			measure_round(s, &series[i]);
	for (size_t i = 0; i < n; i++)
		print(s, &series[i]);
}

static void refuse(void)
{
	fputs(usage, stderr);
	exit(2);
}

static int find_name(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return i;
	refuse();
	return 0;
}

/* Leaves optind at the first number of contacts. */
static struct options read_options(int argc, char **argv)
{
	static const struct option known[] = {{"help", no_argument, NULL, 'h'},
	                                      {"mesh", required_argument, NULL, 'm'},
	                                      {"kept", no_argument, NULL, 'p'},
	                                      {"transition", required_argument, NULL, 't'},
	                                      {"law", required_argument, NULL, 'l'},
	                                      {"own-mu", no_argument, NULL, 'o'},
	                                      {"kernels", required_argument, NULL, 'k'},
	                                      {"only", required_argument, NULL, 'y'},
	                                      {0}};
	struct options options = {.transition = FRIC_CUBIC};
	for (int given; (given = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		if (given == 'h') {
			fputs(usage, stdout);
			exit(0);
		}
		if (given == 't')
			options.transition = (enum fric_transition)find_name(optarg, transitions, N_TRANSITIONS);
		else if (given == 'l')
			options.law = (enum fric_law_type)find_name(optarg, laws, N_LAWS);
		else if (given == 'm')
			options.mesh = (enum mesh)find_name(optarg, mesh_names, N_MESHES);
		else if (given == 'p')
			options.kept = true;
		else if (given == 'o')
			options.own_mu = true;
		else if (given == 'k')
			options.kernels = optarg;
		else if (given == 'y')
			options.only = optarg;
		else
			refuse();
	}
	return options;
}

static size_t size_of(const char *text)
{
	char *end;
	const unsigned long n = strtoul(text, &end, 10);
	if (*end || n == 0)
		refuse();
	return n;
}

int main(int argc, char **argv)
{
	static const char *usual[] = {"1000", "10000", "100000", "1000000"};
	const struct options options = read_options(argc, argv);
	const int n_sizes = optind < argc ? argc - optind : 4;
	keep_memory_warm();
	for (int i = 0; i < n_sizes; i++) {
		struct setup s;
		set_up(&s, options, size_of(optind < argc ? argv[optind + i] : usual[i]));
		measure_all(&s);
		tear_down(&s);
	}
	return 0;
}
