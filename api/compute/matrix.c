#include "api/compute/matrix.h"

#include <string.h>

#include "api/dispatch/answer.h"

/* Checks the size before anything is computed. The pointer leads to the format, or to the place where its object would
 * be. */
static bool fits(struct api_job *job, const struct api_matrix *m, size_t bytes)
{
	const size_t most = job->service->max_answer_bytes;
	if (bytes <= most || !m->name)
		return bytes <= most || api_fault_too_long(job->fault, most);
	const struct api_field root = {.node = job->document.root}, choice = api_ruled(&root, &api_request, m->choice),
						   format = api_ruled(&choice, choice.rule->objects[0], 0);
	return api_fault_at(job->fault, API_E_ANSWER_TOO_LONG, choice.node ? &format.path : &choice.path,
	                    "the %s would take %zu bytes, more than the limit of %zu: use %sfewer contacts per request",
	                    m->name, bytes, most, m->advice);
}

static bool triplets(struct api_job *job, const struct api_matrix *m, json_t *object)
{
	const size_t n = m->n_triplets;
	struct api_render *r = &job->render;
	struct api_entries e = {0};
	if (!fits(job, m, n * ((m->without_places ? 0 : 2 * sizeof(*e.rows)) + (m->without_numbers ? 0 : sizeof(double)))))
		return false;
	if (!m->without_places &&
	    (!(e.rows = api_job_array(job, n, sizeof(*e.rows))) || !(e.cols = api_job_array(job, n, sizeof(*e.cols)))))
		return false;
	e.numbers = api_job_array(job, n, sizeof(*e.numbers));
	if (!e.numbers || !m->fill(job, &e))
		return false;
	if (!m->without_places) {
		api_render_add(r, object, "rows", api_render_array(r, API_I32, e.rows, n, 0, 0));
		api_render_add(r, object, "cols", api_render_array(r, API_I32, e.cols, n, 0, 0));
	}
	if (!m->without_numbers)
		api_render_add(r, object, "values", api_render_array(r, API_F64, e.numbers, n, 0, 0));
	return true;
}

/* A matrix in compressed rows of entries or of blocks. */
struct rows {
	size_t n_rows, n;
	const int64_t *indptr;
	const int32_t *indices;
	size_t width; /* size of a block; 0 for single entries */
};

static bool compressed(struct api_job *job, const struct api_matrix *m, const struct fric_pattern *pattern,
                       const struct rows *of, json_t *object)
{
	struct api_render *r = &job->render;
	struct api_entries e = {.pattern = pattern, .indptr = of->width ? of->indptr : NULL};
	const size_t n_numbers = of->n * (of->width ? of->width * of->width : 1);
	if (!m->without_numbers && (!(e.numbers = api_job_array(job, n_numbers, sizeof(*e.numbers))) || !m->fill(job, &e)))
		return false;
	if (!m->without_places) {
		api_render_add(r, object, "indptr", api_render_array(r, API_I64, of->indptr, of->n_rows + 1, 0, 0));
		api_render_add(r, object, "indices", api_render_array(r, API_I32, of->indices, of->n, 0, 0));
	}
	if (!m->without_numbers)
		api_render_add(r, object, "data", api_render_array(r, API_F64, e.numbers, of->n, of->width, of->width));
	return true;
}

static bool rows_fit(struct api_job *job, const struct api_matrix *m, size_t n_rows, size_t n, size_t numbers)
{
	return fits(job, m,
	            (m->without_places ? 0 : n_rows * sizeof(int64_t) + n * sizeof(int32_t)) +
	                (m->without_numbers ? 0 : n * numbers * sizeof(double)));
}

static bool csr(struct api_job *job, const struct api_matrix *m, json_t *object)
{
	const struct fric_pattern *pattern = api_job_pattern(job, m->places);
	if (!pattern)
		return false;
	const struct rows rows = {fric_pattern_n_rows(pattern), fric_pattern_n_entries(pattern),
	                          fric_pattern_indptr(pattern), fric_pattern_indices(pattern), 0};
	return rows_fit(job, m, rows.n_rows, rows.n, 1) && compressed(job, m, pattern, &rows, object);
}

static bool bsr(struct api_job *job, const struct api_matrix *m, json_t *object)
{
	const struct fric_pattern *pattern = api_job_pattern(job, m->places);
	const size_t dim = job->facts.dim, n_rows = job->facts.n_vertices, n = pattern ? fric_pattern_n_blocks(pattern) : 0;
	int64_t *indptr;
	int32_t *indices = NULL;
	if (!pattern || !rows_fit(job, m, n_rows, n, dim * dim))
		return false;
	if (!(indptr = api_job_array(job, n_rows + 1, sizeof(*indptr))) ||
	    (!m->without_places && !(indices = api_job_array(job, n, sizeof(*indices)))))
		return false;
	const struct rows rows = {n_rows, n, indptr, indices, dim};
	return api_job_core(job, fric_pattern_blocks(&job->context, pattern, indptr, indices, &job->error)) &&
	       compressed(job, m, pattern, &rows, object);
}

bool api_render_shape(struct api_job *job, const char *format, size_t n_cols, json_t *object)
{
	struct api_render *r = &job->render;
	int64_t *shape = object ? api_job_array(job, 2, sizeof(*shape)) : NULL;
	if (!shape)
		return false;
	shape[0] = (int64_t)api_job_n_dofs(job);
	shape[1] = (int64_t)n_cols;
	api_render_add(r, object, "format", json_string(format));
	api_render_add(r, object, "shape", api_render_array(r, API_I64, shape, 2, 0, 0));
	return true;
}

bool api_render_matrix(struct api_job *job, const struct api_matrix *m, const char *format, json_t *object)
{
	static const struct {
		const char *name;
		bool (*render)(struct api_job *, const struct api_matrix *, json_t *);
	} formats[] = {{"triplets", triplets}, {"csr", csr}, {"bsr", bsr}};
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, format))
			return api_render_shape(job, format, m->n_cols, object) && formats[i].render(job, m, object);
	return false;
}
