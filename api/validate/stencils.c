#include "api/validate/stencils.h"

#include "api/codec/array.h"

/* Reports the rows in which a member appears twice. */
static void fault_repeated(struct api_check *check, const struct api_field *field, const struct api_stencils *of,
                           const int32_t *rows, size_t i, size_t end)
{
	for (; i < end && !api_fault_is_full(check->fault); i++) {
		const int32_t *v = rows + i * of->k;
		const struct api_path row = {&field->path, NULL, i};
		size_t a = 1, b = 0;
		if (api_rows_are_distinct(v, 1, of->k))
			continue;
		while (v[a] != v[b])
			if (++b == a)
				a++, b = 0;
		api_fault_at(check->fault, of->code, &row, "%s %zu%s%s: %s %d appears twice", of->noun, i,
		             of->group ? " of " : "", of->group ? of->group : "", of->member, v[a]);
	}
}

static void check_distinct(struct api_check *check, const struct api_field *field, const struct api_stencils *of,
                           const int32_t *rows, size_t n_rows)
{
	for (size_t i = 0, n; i < n_rows; i += n) {
		n = n_rows - i < API_SPAN ? n_rows - i : API_SPAN;
		if (!api_rows_are_distinct(rows + i * of->k, n, of->k))
			fault_repeated(check, field, of, rows, i, i + n);
		if (api_check_stopped(check) || api_fault_is_full(check->fault))
			return;
	}
}

void api_check_stencils(struct api_check *check, const struct api_field *field, const struct api_stencils *stencils,
                        size_t n, const int32_t **out)
{
	if (api_check_indices(check, field, n, stencils->k == 1 ? 0 : stencils->k, stencils->members, stencils->what,
	                      out) &&
	    *out)
		check_distinct(check, field, stencils, *out, n);
}

static bool is_zero(const double *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (row[i] != 0)
			return false;
	return true;
}

void api_check_directions(struct api_check *check, const struct api_field *field, const struct fric_values *values,
                          size_t n, size_t dim, enum api_code code, const char *detail)
{
	const size_t n_rows = !values->data ? 0 : values->stride ? n : 1;
	for (size_t i = 0; i < n_rows && !api_fault_is_full(check->fault); i++) {
		if (i % API_SPAN == 0 && api_check_stopped(check))
			return;
		if (!is_zero(values->data + i * values->stride, dim))
			continue;
		const struct api_array *array = api_document_array(check->document, field->node);
		const struct api_path entry = {&field->path, NULL, i};
		api_fault_at(check->fault, code, array->rank > 1 ? &entry : &field->path, "%s", detail);
	}
}

bool api_check_exists(struct api_check *check, const struct api_field *field, size_t dim)
{
	const struct api_rule *rule = field->rule;
	return !rule->only || dim == API_UNKNOWN_LENGTH || (size_t)rule->only == dim ||
	       api_fault_at(check->fault, API_E_WRONG_DIMENSION, &field->path, "\"%s\" exists in %dD only", rule->name,
	                    rule->only);
}
