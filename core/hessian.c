#include "hessian.h"

#include <math.h>

#include "block.h"

struct inner_task {
	struct block_task block;
	double *inner;
};

static inline __attribute__((always_inline)) void store_rows(const struct kernel_block *block, size_t m, size_t n, double *out)
{
	for (size_t j = 0; j < n; j++)
		for (size_t e = 0; e < m; e++)
			*out++ = block->inner[e][j];
}

static void inner_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct inner_task *task = data;
	const size_t m = (size_t)fric_inner_size(task->block.contacts->dim);
	struct kernel_block block;
	(void)chunk;
	for (size_t at = begin; at < end;) {
		const struct span span = next_span(task->block.contacts, at, end);
		if (!block_run(&task->block, span, &block, fault))
			return;
		if (m == 3)
			store_rows(&block, 3, span.n, task->inner + at * 3);
		else
			store_rows(&block, 1, span.n, task->inner + at);
		at += span.n;
	}
}

enum fric_code fric_hessian_inner(const struct fric_context *context, const struct fric_contacts *contacts,
                                  const double *velocities, enum fric_projection projection, double *inner,
                                  struct fric_error *error)
{
	struct inner_task task = {{contacts, kernels_of(context), velocities, false, BLOCK_INNER, projection}, inner};
	return report_fault(contacts, parallel_chunks(context, contacts->n, inner_chunk, &task), error);
}

void hessian_core_block(const struct fric_contacts *contacts, const double *inner, size_t i, double block[9])
{
	double *const *p = contacts->tangent_basis;
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
