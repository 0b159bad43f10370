/* A CSR pattern as rows of blocks. In the first row of a vertex every block has its first entry, in triangles too. */
#include "core/assemble/pattern.h"
#include "core/motion/dofs.h"

struct blocks {
	const struct fric_pattern *pattern;
	const int64_t *indptr;
	int32_t *indices;
};

size_t fric_pattern_n_blocks(const struct fric_pattern *pattern)
{
	size_t n = 0;
	for (size_t v = 0; v < pattern->n_vertices; v++)
		n += fricp_pattern_n_blocks(pattern, v);
	return n;
}

static void index_chunk(void *data, size_t chunk, size_t begin, size_t end, struct fault *fault)
{
	const struct blocks *task = data;
	const struct fric_pattern *p = task->pattern;
	const size_t width = (size_t)n_vertex_dofs(p->dim);
	(void)chunk;
	(void)fault;
	for (size_t v = begin; v < end; v++) {
		const int32_t *columns = p->indices + p->indptr[vertex_dof(p->dim, v)];
		int32_t *out = task->indices + task->indptr[v];
		for (size_t i = 0; i < (size_t)(task->indptr[v + 1] - task->indptr[v]); i++)
			out[i] = columns[i * width] / (int32_t)width;
	}
}

enum { BETWEEN_STOPS = 1 << 16 }; /* vertices */

enum fric_code fric_pattern_blocks(const struct fric_context *context, const struct fric_pattern *pattern,
                                   int64_t *indptr, int32_t *indices, struct fric_error *error)
{
	struct blocks task = {pattern, indptr, indices};
	indptr[0] = 0;
	for (size_t v = 0; v < pattern->n_vertices; v++) {
		if (v % BETWEEN_STOPS == 0 && fricp_stop_raised(context))
			return report_code(FRIC_E_STOPPED, error);
		indptr[v + 1] = indptr[v] + (int64_t)fricp_pattern_n_blocks(pattern, v);
	}
	if (!indices)
		return FRIC_OK;
	return report_code(fricp_parallel_chunks(context, pattern->n_vertices, index_chunk, &task).code, error);
}
