/* Potential and gradient, and the derivatives of cotangent . result with respect to every entry of some fields. */
#include <math.h>

#include "core/base/memory.h"
#include "core/base/vectors.h"
#include "core/derive/blocks.h"
#include "core/derive/bodies.h"
#include "core/derive/point.h"
#include "core/derive/second.h"
#include "core/derive/spans.h"
#include "core/motion/dofs.h"
#include "core/prepare/coefficients.h"

/* Columns of a span that are kept for sums. Each comes from one place among a contact's cotangents. */
struct kept {
	size_t n;
	uint8_t place[N_PLACES];
	int column[N_PLACES]; /* < 0: not kept */
	int first_total;      /* first of the columns that are summed over contacts; the others follow it */
};

struct backward {
	const struct fric_context *context;
	struct point_task vertices;
	double psi;
	const double *cotangent; /* [n_dofs] */
	const struct second
		*second; /* NULL, or tangents along which a vjp with psi = 1 and cotangent 0 is differentiated */
	struct span_source source;
	struct kept kept;
	struct totals totals;
	struct table_pull *pulls; /* for a curve's values; NULL: not wanted */
};

static void keep(struct kept *kept, enum place first, int width)
{
	for (int m = 0; m < width; m++) {
		if (kept->column[(int)first + m] >= 0)
			continue;
		kept->place[kept->n] = (uint8_t)((int)first + m);
		kept->column[(int)first + m] = (int)kept->n++;
	}
}

/* ---- a span ---- */

static void fill_contact(const struct backward *task, enum fric_type type, size_t i, span_columns *columns, size_t j,
                         struct fault *fault)
{
	const struct point_task *vertices = &task->vertices;
	struct inputs cotangents;
	fricp_contact_cotangent(vertices, task->second ? &task->second->vertices : NULL, type, i, task->psi,
	                        task->cotangent, &cotangents);
	bool finite = write_rows(&vertices->links[type], i - vertices->contacts->start[type], &cotangents);
	for (size_t m = 0; m < task->kept.n; m++)
		finite &= round_all(&cotangents.at[task->kept.place[m]], 1, &columns[m][j]);
	if (!finite)
		*fault = (struct fault){FRIC_E_NOT_FINITE, i};
}

/* Runs the kernels.
 * @return as fricp_span_law; contacts for which doubles are not accurate enough have 0 in w->of.good */
static bool run_kernels(const struct backward *task, struct span span, struct cotangent_workspace *w)
{
	const struct kernel_task *kernel = &task->source.kernel;
	if (!fricp_span_inputs(&task->source, &task->vertices, span, &w->of, &w->moves))
		return false;
	w->by_law = task->source.by_law[span.type];
	w->psi = task->psi;
	kernel->kernels->gamma->relative(kernel->contacts, span, task->cotangent, w->gathered[0]);
	if (w->moves)
		fricp_span_along(kernel->contacts, span, task->cotangent, w->along);
	if (w->by_law)
		kernel->kernels->derivatives->law(&w->of, &w->by);
	kernel->kernels->derivatives->cotangent(span.type, w);
	return true;
}

/* The strength's cotangent over weight or normal force. Where the divisor is zero, the plain form takes over. */
static const double *over_column(struct column column, struct span span, struct cotangent_workspace *w, double *room)
{
	for (size_t j = 0; j < span.n; j++) {
		const double x = *column_at(column, span.begin + j);
		room[j] = x == 0 ? 0 : w->strength[j] / x;
		w->of.good[j] = x == 0 ? 0 : w->of.good[j];
	}
	return room;
}

static const double *times_strength(const double *by, size_t n, const struct cotangent_workspace *w, double *room)
{
	for (size_t j = 0; j < n; j++)
		room[j] = w->strength[j] * by[j];
	return room;
}

/* The kernels' cotangents for a place; NULL: all are zero. @param room  [FRIC_SPAN] */
static const double *cotangents_at(const struct fric_contacts *c, struct span span, int place,
                                   struct cotangent_workspace *w, double *room)
{
	const int member = (place - AT_POSITION) / 3;
	switch (place) {
	case AT_NORMAL_FORCE: return over_column(c->normal_force, span, w, room);
	case AT_WEIGHT: return over_column(c->weight, span, w, room);
	case AT_MU_S:
	case AT_MU_K:
	case AT_EPS_V: return w->by_law ? w->law[place - AT_MU_S] : NULL; /* not by_law: another group needs this column */
	case AT_DHAT:
	case AT_STIFFNESS:
	case AT_DMIN: return times_strength(w->of.barrier[place - AT_DHAT], span.n, w, room);
	case AT_RELATIVE:
	case AT_RELATIVE + 1:
	case AT_RELATIVE + 2: return w->relative[place - AT_RELATIVE];
	default: break;
	}
	const bool moves = place >= AT_POSITION && w->moves && member < fric_stencil_size(span.type);
	return moves ? w->position[member][(place - AT_POSITION) % 3] : NULL;
}

/* Copies numbers, and sum[j] += |x[j]|, which is not finite if any number is not. */
static void copy_numbers(const double *x, size_t n, size_t stride, double *out, double *sum)
{
	for (size_t j = 0; j < n; j++) {
		out[j * stride] = x ? x[j] : 0;
		sum[j] += fabs(out[j * stride]);
	}
}

static void store_cotangents(const struct backward *task, struct span span, struct cotangent_workspace *w,
                             span_columns *columns, double *sum)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const struct links *links = &task->vertices.links[span.type];
	double room[FRIC_SPAN];
	memset(sum, 0, span.n * sizeof(double));
	for (int l = 0; l < links->n; l++)
		if (links->link[l].stride)
			copy_numbers(cotangents_at(c, span, (int)links->link[l].first, w, room), span.n, links->link[l].stride,
			             links->link[l].data + (span.begin - c->start[span.type]) * links->link[l].stride, sum);
	for (size_t m = 0; m < task->kept.n; m++)
		copy_numbers(cotangents_at(c, span, task->kept.place[m], w, room), span.n, 1, columns[m], sum);
}

static void fill_span(void *data, struct span span, span_columns *columns, struct fault *fault)
{
	const struct backward *task = data;
	struct cotangent_workspace work;
	double sum[FRIC_SPAN];
	const bool by_kernel = task->source.by_kernel[span.type] && run_kernels(task, span, &work);
	if (by_kernel)
		store_cotangents(task, span, &work, columns, sum);
	for (size_t j = 0; j < span.n && fault->code == FRIC_OK; j++)
		if (!by_kernel || work.of.good[j] == 0 || !(sum[j] < 0x1p+900))
			fill_contact(task, span.type, span.begin + j, columns, j, fault);
}

/* ---- sums over contacts ---- */

static const double *column_of(const struct backward *task, span_columns *columns, int place)
{
	return columns[task->kept.column[place] - task->kept.first_total];
}

static void tally_links(struct backward *task, struct span span, span_columns *columns)
{
	const struct links *links = &task->vertices.links[span.type];
	for (int l = 0; l < links->n; l++)
		for (int m = 0; m < links->link[l].width && links->link[l].stride == 0; m++) {
			const double *x = column_of(task, columns, (int)links->link[l].first + m);
			long double sum = 0;
			for (size_t j = 0; j < span.n; j++)
				sum += x[j];
			task->totals.sum[links->link[l].total + (size_t)m] += sum;
		}
}

static void tally_curve(const struct backward *task, struct span span, span_columns *columns)
{
	const double *value = column_of(task, columns, AT_CURVE), *integral = column_of(task, columns, AT_CURVE + 1),
				 *x = column_of(task, columns, AT_CURVE_PLACE);
	for (size_t j = 0; j < span.n; j++)
		if (value[j] != 0 || integral[j] != 0)
			table_collect(&task->vertices.contacts->table, x[j], value[j], integral[j], task->pulls);
}

/* Adds to entries of the pair table. kind: 0 static, 1 kinetic */
static void tally_table(const struct backward *task, struct span span, span_columns *columns, int kind)
{
	const struct fric_contacts *c = task->vertices.contacts;
	double *out = task->vertices.differential->fields[FRIC_WRT_MATERIAL_MU_S + kind];
	const double *mu = column_of(task, columns, AT_MU_S + kind);
	for (size_t j = 0; j < span.n; j++)
		if (!c->skipped[span.begin + j])
			fricp_add_to_table(&task->vertices, span.type, span.begin + j, kind, mu[j], out);
}

static bool wants_table(const struct backward *task, int kind)
{
	return task->vertices.differential->fields[FRIC_WRT_MATERIAL_MU_S + kind] != NULL;
}

static void tally_span(void *data, struct span span, span_columns *columns)
{
	struct backward *task = data;
	tally_links(task, span, columns);
	if (task->pulls)
		tally_curve(task, span, columns);
	for (int kind = 0; kind < 2; kind++)
		if (wants_table(task, kind))
			tally_table(task, span, columns, kind);
}

/* ---- all contacts ---- */

/* Keeps the columns that sums over contacts need. */
static void keep_for_totals(struct backward *task)
{
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		for (int l = 0; l < task->vertices.links[type].n; l++)
			if (task->vertices.links[type].link[l].stride == 0)
				keep(&task->kept, task->vertices.links[type].link[l].first, task->vertices.links[type].link[l].width);
	if (task->pulls)
		keep(&task->kept, AT_CURVE, 3);
	for (int kind = 0; kind < 2; kind++)
		if (wants_table(task, kind))
			keep(&task->kept, (enum place)(AT_MU_S + kind), 1);
}

/* Adds sums at vertices for a field.
 * @param width  numbers per vertex
 * @param first, n_places  the cotangents that they come from */
static void add_sums(struct backward *task, struct blocks *blocks, enum fric_field field, int width, enum place first,
                     int n_places, int per_member)
{
	double *out = task->vertices.differential->fields[field];
	if (!out)
		return;
	/* These columns must be adjacent, and no other sum uses them. */
	const int column = (int)task->kept.n;
	keep(&task->kept, first, n_places);
	blocks->sums[blocks->n_sums++] = (struct vertex_sums){out, width, column, per_member};
}

static void find_columns(struct backward *task, struct blocks *blocks)
{
	const int dim = task->vertices.batch->dim;
	const enum fric_mu_source source = task->vertices.batch->friction.source;
	for (int m = 0; m < N_PLACES; m++)
		task->kept.column[m] = -1;
	add_sums(task, blocks, FRIC_WRT_VELOCITIES, dim, AT_RELATIVE, 3, 0);
	add_sums(task, blocks, FRIC_WRT_LAGGED_VELOCITIES, dim, AT_LAGGED, 3, 0);
	add_sums(task, blocks, FRIC_WRT_POSITIONS, dim, AT_POSITION, 3 * FRIC_MAX_STENCIL, 3);
	if (source == FRIC_MU_VERTEX) {
		add_sums(task, blocks, FRIC_WRT_VERTEX_MU_S, 1, AT_VERTEX_MU_S, FRIC_MAX_STENCIL, 1);
		add_sums(task, blocks, FRIC_WRT_VERTEX_MU_K, 1, AT_VERTEX_MU_K, FRIC_MAX_STENCIL, 1);
	}
	task->kept.first_total = (int)task->kept.n;
	keep_for_totals(task);
	blocks->n_columns = task->kept.n ? task->kept.n : 1;
	blocks->first_kept = (size_t)task->kept.first_total;
	blocks->n_kept = task->kept.n - blocks->first_kept;
}

/* The cotangents of a curve's factors. @return whether all fit a double */
static bool write_curve(const struct backward *task, long double *factors)
{
	const struct fric_contacts *c = task->vertices.contacts;
	double *out = task->vertices.differential->fields[FRIC_WRT_CURVE_FACTORS];
	fricp_table_cotangent(&c->law.curve, &c->table, task->pulls, factors);
	return round_all(factors, (int)c->table.n, out);
}

/* Writes the fields that depend on all contacts, including contacts of bodies. */
static bool write_sums(const struct backward *task, long double *factors)
{
	const struct fric_batch *batch = task->vertices.batch;
	const size_t n = batch->friction.n_materials * batch->friction.n_materials;
	bool finite = fricp_write_totals(batch, &task->totals, task->vertices.differential);
	for (int kind = 0; kind < 2; kind++)
		if (wants_table(task, kind))
			finite &= all_finite(task->vertices.differential->fields[FRIC_WRT_MATERIAL_MU_S + kind], n);
	return (!factors || write_curve(task, factors)) && finite;
}

static void clear_tables(const struct backward *task)
{
	const size_t n = task->vertices.batch->friction.n_materials * task->vertices.batch->friction.n_materials;
	for (int kind = 0; kind < 2; kind++)
		if (wants_table(task, kind))
			memset(task->vertices.differential->fields[FRIC_WRT_MATERIAL_MU_S + kind], 0, n * sizeof(double));
}

/* The vertices' part of a vjp. */
static enum fric_code vjp_of_vertices(struct backward *task, struct fric_error *error)
{
	const struct fric_contacts *c = task->vertices.contacts;
	struct blocks blocks = {.context = task->context,
	                        .contacts = c,
	                        .fill = fill_span,
	                        .tally = tally_span,
	                        .task = task,
	                        .schedule = task->source.derivation->query->schedule};
	find_columns(task, &blocks);
	return fricp_report_fault(c, fricp_blocks_run(&blocks), error);
}

static enum fric_code backward_over(const struct fric_derivation *derivation, struct backward *task,
                                    long double *factors, struct fric_error *error)
{
	task->totals = (struct totals){{0}};
	clear_tables(task);
	enum fric_code code = vjp_of_vertices(task, error);
	if (code == FRIC_OK && derivation->contacts->bodies)
		code = fricp_bodies_vjp(task->context, derivation, task->psi, task->cotangent, task->second,
		                        task->vertices.differential, &task->totals, task->pulls, error);
	if (code != FRIC_OK)
		return code;
	return write_sums(task, factors) ? FRIC_OK : report_code(FRIC_E_NOT_FINITE, error);
}

/* Allocates memory for a curve's cotangents if they are wanted, and runs the vjp. */
static enum fric_code backward_with_curve(const struct fric_derivation *derivation, struct backward *task,
                                          struct fric_error *error)
{
	const struct fric_contacts *c = task->vertices.contacts;
	const size_t bytes = c->table.n * (sizeof(struct table_pull) + sizeof(long double));
	if (!task->vertices.differential->fields[FRIC_WRT_CURVE_FACTORS] || !law_has(law_of(&c->law), LAW_MEASURED))
		return backward_over(derivation, task, NULL, error);
	task->pulls = memory_take_zeroed(task->context->memory, bytes);
	if (!task->pulls)
		return report_code(FRIC_E_MEMORY, error);
	const enum fric_code code = backward_over(derivation, task, (long double *)(task->pulls + c->table.n), error);
	memory_give(task->context->memory, task->pulls, bytes);
	return code;
}

static void prepare(const struct fric_derivation *derivation, const struct fric_differential *cotangents,
                    struct backward *task)
{
	fricp_point_task(derivation, cotangents, false, &task->vertices);
	task->source = fricp_span_source(task->context, derivation);
	if (!task->second)
		fricp_choose_kernels(&task->vertices, &task->source);
}

enum fric_code fric_vjp(const struct fric_context *context, const struct fric_derivation *derivation,
                        double potential_cotangent, const double *gradient_cotangent, double *potential,
                        double *gradient, const struct fric_differential *cotangents, struct fric_error *error)
{
	const struct fric_contacts *contacts = derivation->contacts;
	const size_t bytes = fric_n_dofs(contacts) * sizeof(double);
	struct backward task = {.context = context, .psi = potential_cotangent, .cotangent = gradient_cotangent};
	double *zeros = NULL;
	enum fric_code code = fric_evaluate(context, contacts, derivation->query, potential, gradient, error);
	if (code != FRIC_OK)
		return code;
	prepare(derivation, cotangents, &task);
	if (!gradient_cotangent && !(task.cotangent = zeros = fricp_take_zeroed(context, bytes)))
		return report_code(FRIC_E_MEMORY, error);
	code = backward_with_curve(derivation, &task, error);
	memory_give(context->memory, zeros, bytes);
	return code;
}

/* ---- second derivatives ---- */

bool fric_has_second(enum fric_field field)
{
	return field == FRIC_WRT_VELOCITIES || (field >= FRIC_WRT_EPS_V && field <= FRIC_WRT_MATERIAL_MU_K);
}

bool fric_row_has_second(enum fric_row row)
{
	return row <= FRIC_ROW_EPS_V;
}

enum fric_code fric_second_derivative_product(const struct fric_context *context,
                                              const struct fric_derivation *derivation,
                                              const struct fric_differential *tangents,
                                              const struct fric_differential *cotangents, struct fric_error *error)
{
	struct second second;
	struct backward task = {.context = context, .second = &second};
	fricp_second_prepare(derivation, tangents, &second);
	prepare(derivation, cotangents, &task);
	return backward_with_curve(derivation, &task, error);
}
