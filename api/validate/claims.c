/* Checks somebody else's results, which are to be compared. */
#include "api/validate/request.h"

static struct api_field part_of(const struct api_field *hessian, int rule)
{
	return api_ruled(hessian, &api_claimed_hessian, rule);
}

/* Requires the members of the format, and no others. */
static bool check_members(struct api_request_check *w, const struct api_field *hessian, bool is_compressed)
{
	static const char *const why[] = {"triplets consist of rows, cols and values",
	                                  "csr and bsr consist of indptr, indices and data"};
	bool ok = true;
	for (int rule = API_MATRIX_ROWS; rule <= API_MATRIX_DATA; rule++) {
		const struct api_field field = part_of(hessian, rule);
		if ((rule >= API_MATRIX_INDPTR) == is_compressed)
			ok &= api_check_present(w->check, &field, why[is_compressed]);
		else if (field.node)
			ok = api_fault_at(w->check->fault, API_E_WITHOUT_EFFECT, &field.path, "%s", why[is_compressed]);
	}
	return ok;
}

static bool check_shape(struct api_request_check *w, const struct api_field *shape, size_t n_dof)
{
	const int32_t *lengths;
	if (!api_check_indices(w->check, shape, 2, 0, INT32_MAX, "length", &lengths))
		return false;
	for (size_t i = 0; lengths && i < 2; i++)
		if ((size_t)lengths[i] != n_dof)
			return api_fault_entry(w->check, API_E_WRONG_SHAPE, shape, i, "the Hessian is %zu x %zu", n_dof, n_dof);
	return true;
}

/* Starts ascend from 0 to the number of entries. */
static bool check_starts(struct api_request_check *w, const struct api_field *field, size_t n_rows, size_t n)
{
	const int32_t *starts = w->query->claims.indptr;
	for (size_t i = 0; i <= n_rows; i++) {
		if (i % API_SPAN == 0 && api_check_stopped(w->check))
			return false;
		const size_t least = i ? (size_t)starts[i - 1] : 0, most = i && i < n_rows ? n : i ? n : 0;
		if ((size_t)starts[i] < least || (size_t)starts[i] > most || (i == n_rows && (size_t)starts[i] != n))
			return api_fault_entry(w->check, API_E_OUT_OF_RANGE, field, i,
			                       "starts of rows must ascend from 0 to the number of columns, %zu: got %d", n,
			                       (int)starts[i]);
	}
	return true;
}

/* Reads [n], or [n, dim, dim]. */
static void check_numbers(struct api_request_check *w, const struct api_field *field, size_t dim)
{
	const struct api_shape shape = {.n = w->query->claims.n, .n_inner = dim ? 2 : 0, .inner = {dim, dim}};
	struct fric_values values;
	api_check_values(w->check, field, &shape, &values);
	w->query->claims.values = values.data;
}

static void check_triplets(struct api_request_check *w, const struct api_field *hessian, size_t n_dof)
{
	struct api_claims *to = &w->query->claims;
	const struct api_field rows = part_of(hessian, API_MATRIX_ROWS), cols = part_of(hessian, API_MATRIX_COLS),
						   values = part_of(hessian, API_MATRIX_VALUES);
	if (!api_check_rows(w->check, &rows, 0, &to->n))
		return;
	api_check_indices(w->check, &rows, to->n, 0, n_dof, "DOF", &to->rows);
	api_check_indices(w->check, &cols, to->n, 0, n_dof, "DOF", &to->cols);
	check_numbers(w, &values, 0);
}

static void check_compressed(struct api_request_check *w, const struct api_field *hessian, size_t n_dof)
{
	struct api_claims *to = &w->query->claims;
	const struct api_field indptr = part_of(hessian, API_MATRIX_INDPTR), indices = part_of(hessian, API_MATRIX_INDICES),
						   data = part_of(hessian, API_MATRIX_DATA);
	const bool blocks = to->format == API_BSR;
	const size_t n_rows = blocks ? w->n_vertices : n_dof;
	if (!api_check_rows(w->check, &indices, 0, &to->n))
		return;
	if (api_check_indices(w->check, &indptr, n_rows + 1, 0, INT32_MAX, "start of a row", &to->indptr))
		check_starts(w, &indptr, n_rows, to->n);
	api_check_indices(w->check, &indices, to->n, 0, n_rows, blocks ? "vertex" : "DOF", &to->indices);
	check_numbers(w, &data, blocks ? w->dim : 0);
}

static void check_hessian(struct api_request_check *w, struct api_field *hessian)
{
	const size_t n_dof = api_n_dofs(w->dim, w->n_vertices, w->n_twists);
	int format = API_TRIPLETS;
	if (!api_check_inner(w->check, hessian))
		return;
	const struct api_field word = part_of(hessian, API_MATRIX_FORMAT), shape = part_of(hessian, API_MATRIX_SHAPE);
	if (!api_check_word(w->check, &word, &format) || !check_members(w, hessian, format != API_TRIPLETS))
		return;
	w->query->claims.format = (enum api_hessian_format)format;
	if (w->dim == API_UNKNOWN_LENGTH || w->n_vertices == API_UNKNOWN_LENGTH || w->n_twists == API_UNKNOWN_LENGTH)
		return;
	if (format == API_BSR && w->n_twists != 0 && !api_check_without_bodies(w->check, &word))
		return;
	check_shape(w, &shape, n_dof);
	if (format == API_TRIPLETS)
		check_triplets(w, hessian, n_dof);
	else
		check_compressed(w, hessian, n_dof);
}

void api_check_claims(struct api_request_check *w)
{
	struct api_claims *to = &w->query->claims;
	struct api_field claims = api_request_field(w, API_REQUEST_CLAIMS);
	to->tolerance = FRIC_TOLERANCE;
	if (!api_check_inner(w->check, &claims))
		return;
	const struct api_field potential = api_ruled(&claims, &api_claims, API_CLAIMED_POTENTIAL),
						   gradient = api_ruled(&claims, &api_claims, API_CLAIMED_GRADIENT),
						   body_gradient = api_ruled(&claims, &api_claims, API_CLAIMED_BODY_GRADIENT),
						   tolerance = api_ruled(&claims, &api_claims, API_CLAIMED_TOLERANCE);
	struct api_field hessian = api_ruled(&claims, &api_claims, API_CLAIMED_HESSIAN);
	to->given = true;
	to->has_potential = api_check_real(w->check, &potential, &to->potential) && potential.node;
	api_check_per_vertex(w->check, &gradient, w->n_vertices, w->dim, &to->gradient);
	api_check_per_body(w->check, &body_gradient, w->n_twists, w->dim, &to->body_gradient);
	check_hessian(w, &hessian);
	if (!potential.node && !gradient.node && !body_gradient.node && !hessian.node)
		api_fault_at(w->check->fault, API_E_MISSING_FIELD, &claims.path,
		             "expected at least one of potential, gradient, body_gradient, hessian");
	if (api_check_real(w->check, &tolerance, &to->tolerance) && !(to->tolerance < 1))
		api_fault_at(w->check->fault, API_E_OUT_OF_RANGE, &tolerance.path, "\"tolerance\" must be less than 1");
}
