#include "core/assemble/hessian.h"

#include "core/assemble/rows.h"
#include "core/base/stream.h"
#include "core/bodies/hessian.h"
#include "core/contacts/ordinary.h"
#include "core/kernels/run.h"
#include "core/motion/stencil.h"
#include "core/order/sweep.h"

struct inner_task {
	struct kernel_task kernel;
	double *inner;
};

static void store_inner(const struct fric_contacts *c, struct span span, const struct workspace *work, double *out)
{
	const double *const columns[] = {work->inner[0], work->inner[1], work->inner[2]};
	if (c->dim == 3)
		interleave(columns, 3, 0, span.n, out);
	else
		interleave(columns, 1, 0, span.n, out);
}

static void inner_span(void *data, struct span span, struct fault *fault)
{
	const struct inner_task *task = data;
	const size_t m = (size_t)fric_inner_size(task->kernel.contacts->dim);
	struct workspace work;
	if (fricp_run_span(&task->kernel, span, &work, fault))
		store_inner(task->kernel.contacts, span, &work, task->inner + span.begin * m);
}

struct fault fricp_friction_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const struct fric_query *query, enum fric_projection projection, double *inner)
{
	struct inner_task task = {fricp_kernel_task(context, contacts, query, KERNEL_INNER), inner};
	task.kernel.projection = projection;
	return fricp_sweep_run(context, contacts, inner_span, &task);
}

struct factors_task {
	struct kernel_task kernel;
	const struct fric_factors *factors;
	bool streams; /* the factors do not fit into the caches */
};

enum { STREAM_FROM = 2 << 20 }; /* bytes */

static size_t factors_bytes(const struct fric_contacts *c)
{
	size_t n = 0;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		n += group_size(c, type) * (size_t)(fric_stencil_size(type) + c->dim * (c->dim - 1) + fric_inner_size(c->dim));
	return n * sizeof(double);
}

/* Rows of one factor of a span, collected before they are streamed. */
struct delivery {
	double rows[FRIC_SPAN * 6];
	double *to;
	bool streams;
};

static double *open_delivery(struct delivery *d, double *to, bool streams)
{
	d->to = to;
	d->streams = streams;
	return streams ? d->rows : to;
}

static void deliver(const struct delivery *d, size_t n)
{
	if (d->streams)
		stream_bytes((char *)d->to, (const char *)d->rows, n * sizeof(double));
}

static void store_factors(const struct factors_task *task, struct span span, const struct workspace *work)
{
	const struct fric_contacts *c = task->kernel.contacts;
	const struct fric_factors *f = task->factors;
	const size_t first = span.begin - c->start[span.type], end = span.begin + span.n;
	const size_t m = (size_t)fric_inner_size(c->dim), k = (size_t)fric_stencil_size(span.type),
				 p = (size_t)c->dim * (size_t)(c->dim - 1);
	struct delivery d;
	store_inner(c, span, work, open_delivery(&d, f->inner[span.type] + first * m, task->streams));
	deliver(&d, span.n * m);
	weight_rows(c, span.type, span.begin, end, open_delivery(&d, f->weights[span.type] + first * k, task->streams));
	deliver(&d, span.n * k);
	interleave_rows((const double *const *)c->tangent_basis, p, span.begin, end,
	                open_delivery(&d, f->tangent_basis[span.type] + first * p, task->streams));
	deliver(&d, span.n * p);
}

static void factors_span(void *data, struct span span, struct fault *fault)
{
	const struct factors_task *task = data;
	struct workspace work;
	const bool finite = fricp_run_span(&task->kernel, span, &work, fault);
	const size_t end = finite ? span.begin + span.n : fault->position;
	const size_t i = find_infinite_weight(task->kernel.contacts, span.type, span.begin, end);
	if (i < end)
		*fault = (struct fault){FRIC_E_NOT_FINITE, i};
	else if (finite)
		store_factors(task, span, &work);
}

static void factors_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct factors_task *task = data;
	struct sweep sweep = {task->kernel.contacts, factors_span, data};
	fricp_sweep_chunk(&sweep, chunk, begin, end, fault);
	if (task->streams)
		stream_end();
}

enum fric_code fric_hessian_factors(const struct fric_context *context, const struct fric_contacts *contacts,
                                    const struct fric_query *query, enum fric_projection projection,
                                    const struct fric_factors *factors, struct fric_error *error)
{
	const struct fric_contacts *c = contacts_for(contacts, query);
	struct factors_task task = {fricp_kernel_task(context, c, query, KERNEL_INNER), factors,
	                            streams(context, factors_bytes(contacts), STREAM_FROM)};
	task.kernel.projection = projection;
	const struct phase phase = {factors_chunk, contacts->n_spans, SWEEP_CHUNK, false, NULL};
	const int n_threads = fricp_team_size(context, contacts->n);
	const struct fault fault = fricp_parallel_phases(context, n_threads, &phase, 1, &task);
	if (fault.code != FRIC_OK || !contacts->bodies)
		return fricp_report_fault(contacts, fault, error);
	return fricp_bodies_inner(context, contacts, query, projection, NULL, factors, error);
}

int fric_body_inner_size(int dim)
{
	return (int)body_inner_size(dim);
}

/* fricp_core_block for numbers whose products may over- or underflow although the result does not. */
static void extreme_core_block(const struct fric_contacts *contacts, const double *inner, size_t i, double block[9])
{
	double *const *p = contacts->tangent_basis;
	const int dim = contacts->dim, m = dim - 1;
	const double *a = inner + (size_t)fric_inner_size(dim) * i;
	for (int r = 0; r < dim; r++) {
		const long double x = p[m * r][i], y = m == 2 ? p[m * r + 1][i] : 0;
		const long double ax = m == 2 ? a[0] * x + a[1] * y : a[0] * x, ay = m == 2 ? a[1] * x + a[2] * y : 0;
		for (int s = r; s < dim; s++)
			block[dim * r + s] = block[dim * s + r] = (double)(ax * p[m * s][i] + (m == 2 ? ay * p[m * s + 1][i] : 0));
	}
}

void fricp_core_block(const struct fric_contacts *contacts, const double *inner, size_t i, double block[9])
{
	double *const *p = contacts->tangent_basis;
	if (!has_unit_basis(contacts, i)) {
		extreme_core_block(contacts, inner, i, block);
		return;
	}
	if (contacts->dim == 2) {
		const double a = inner[i], x = p[0][i], y = p[1][i];
		block[0] = a * x * x;
		block[1] = block[2] = a * x * y;
		block[3] = a * y * y;
		return;
	}
	const double *a = inner + 3 * i;
	for (int r = 0; r < 3; r++) {
		const double x = p[2 * r][i], y = p[2 * r + 1][i], ax = a[0] * x + a[1] * y, ay = a[1] * x + a[2] * y;
		for (int s = r; s < 3; s++)
			block[3 * r + s] = block[3 * s + r] = ax * p[2 * s][i] + ay * p[2 * s + 1][i];
	}
}
