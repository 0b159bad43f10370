#include "api/compute/notes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/compute/job.h"
#include "core/fric_mollifier.h"
#include "core/law/law.h"

/* The notes being taken on one document. */
struct taking {
	struct api_job *job;
	const struct fric_batch *batch;
	struct api_notes *notes;
	struct api_check check; /* checks the document; notes are recorded as its faults, and so get pointers like errors */
	struct api_field root, friction;
};

enum { TEXT_BYTES = 32 };

/* Prints a number briefly, for messages. */
static const char *brief(double value, char text[TEXT_BYTES])
{
	snprintf(text, TEXT_BYTES, "%.4g", value);
	return text;
}

/* Assigns a code to the next text. @return whether there is room for this text */
static bool begin(struct taking *t, enum api_note code)
{
	const int n = t->notes->texts.n_errors;
	if (n == API_MAX_ERRORS)
		return false;
	t->notes->codes[n] = code;
	return true;
}

#define NOTE(t, code, field, flat, ...) \
	(begin(t, code) ? (void)api_fault_entry(&(t)->check, API_E_OUT_OF_RANGE, field, flat, __VA_ARGS__) : (void)0)

/* ---- coefficients ---- */

/* Static and kinetic coefficients sent together, or one number that sets both. */
struct pair {
	struct api_field mu, s, k;
	struct fric_values of_s, of_k;
	size_t n, width;
};

/* The largest force before sliding, per normal force, for eps_v = 1. Searches a grid, and then the interval around its
 * maximum. */
static double hold(const struct fric_law *law, double mu_s, double mu_k)
{
	enum { GRID = 64, ROUNDS = 80 };
	double best = 1;
	for (int i = 1; i <= GRID; i++)
		if (fric_law_force((double)i / GRID, mu_s, mu_k, 1, law) > fric_law_force(best, mu_s, mu_k, 1, law))
			best = (double)i / GRID;
	double low = best - 1.0 / GRID, high = fmin(1, best + 1.0 / GRID);
	for (int i = 0; i < ROUNDS; i++) {
		const double a = low + (high - low) / 3, b = high - (high - low) / 3;
		if (fric_law_force(a, mu_s, mu_k, 1, law) < fric_law_force(b, mu_s, mu_k, 1, law))
			low = a;
		else
			high = b;
	}
	return fric_law_force(high, mu_s, mu_k, 1, law);
}

/* @return whether a note was taken */
static bool note_hold(struct taking *t, const struct pair *p, size_t flat, double mu_s, double mu_k)
{
	static const double enough = 0.9; /* fraction of mu_s */
	const struct fric_law *law = &t->batch->friction.law;
	char s[TEXT_BYTES], k[TEXT_BYTES], held[TEXT_BYTES];
	if (law->type != FRIC_SMOOTH || law->transition == FRIC_PEAK || mu_k >= enough * mu_s)
		return false;
	const double most = hold(law, mu_s, mu_k);
	if (most >= enough * mu_s)
		return false;
	NOTE(t, API_HOLDS_LESS_THAN_MU_S, &p->s, flat,
	     "mu_s %s with mu_k %s and the transition %s holds only %s: the transition peak would hold %s", brief(mu_s, s),
	     brief(mu_k, k), api_friction.rules[API_FRICTION_TRANSITION].words[law->transition], brief(most, held), s);
	return true;
}

static bool note_order(struct taking *t, const struct pair *p, size_t flat, double mu_s, double mu_k)
{
	char s[TEXT_BYTES], k[TEXT_BYTES];
	if (mu_k <= mu_s)
		return false;
	NOTE(t, API_MU_K_ABOVE_MU_S, &p->k, flat,
	     "mu_k %s is above mu_s %s: kinetic friction rarely exceeds static friction; are they swapped?", brief(mu_k, k),
	     brief(mu_s, s));
	return true;
}

static bool note_size(struct taking *t, const struct api_field *field, size_t flat, double mu)
{
	static const double most = 5;
	char text[TEXT_BYTES];
	if (mu <= most)
		return false;
	NOTE(t, API_LARGE_COEFFICIENT, field, flat,
	     "a coefficient of %s is above 5: even rubber on rubber stays below; is it an angle, or in percent?",
	     brief(mu, text));
	return true;
}

static double at(const struct fric_values *values, size_t i, size_t j)
{
	return values->data[i * values->stride + j];
}

static size_t flat_of(const struct fric_values *values, size_t i, size_t width, size_t j)
{
	return values->stride ? i * width + j : j;
}

static bool wanted(struct taking *t, size_t i)
{
	return i % API_SPAN != 0 || !api_check_stopped(&t->check);
}

static void take_pair(struct taking *t, const struct pair *p)
{
	const bool many = p->of_s.stride || p->of_k.stride;
	const struct api_field *s_field = p->mu.node ? &p->mu : &p->s;
	bool held = false, ordered = false, large_s = false, large_k = p->mu.node;
	if (!p->of_s.data || !p->of_k.data)
		return;
	for (size_t i = 0; i < (many ? p->n : 1) && wanted(t, i); i++)
		for (size_t j = 0; j < p->width; j++) {
			const double s = at(&p->of_s, i, j), k = at(&p->of_k, i, j);
			const size_t s_flat = flat_of(&p->of_s, i, p->width, j), k_flat = flat_of(&p->of_k, i, p->width, j);
			held = held || note_hold(t, p, s_flat, s, k);
			ordered = ordered || note_order(t, p, k_flat, s, k);
			large_s = large_s || note_size(t, s_field, s_flat, s);
			large_k = large_k || note_size(t, &p->k, k_flat, k);
		}
}

/* mu, mu_s and mu_k are three consecutive rules. */
static struct pair pair_of(const struct api_field *object, const struct api_object *rules, int mu, struct fric_values s,
                           struct fric_values k, size_t n)
{
	return (struct pair){.mu = api_ruled(object, rules, mu),
	                     .s = api_ruled(object, rules, mu + 1),
	                     .k = api_ruled(object, rules, mu + 2),
	                     .of_s = s,
	                     .of_k = k,
	                     .n = n,
	                     .width = 1};
}

static bool uses_friction(const struct fric_batch *batch)
{
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (batch->groups[type].n && !batch->groups[type].mu_s.data)
			return true;
	return false;
}

static void take_friction(struct taking *t)
{
	const struct fric_friction *f = &t->batch->friction;
	const struct api_field materials = api_ruled(&t->friction, &api_friction, API_FRICTION_MATERIALS);
	const size_t m = f->n_materials;
	struct pair pair = {0};
	if (!uses_friction(t->batch))
		return;
	switch (f->source) {
	case FRIC_MU_NONE: return;
	case FRIC_MU_SCALAR:
		pair = pair_of(&t->friction, &api_friction, API_FRICTION_MU, (struct fric_values){&f->mu_s, 0},
		               (struct fric_values){&f->mu_k, 0}, 1);
		break;
	case FRIC_MU_VERTEX:
		pair = pair_of(&t->friction, &api_friction, API_FRICTION_VERTEX_MU, (struct fric_values){f->vertex_mu_s, 1},
		               (struct fric_values){f->vertex_mu_k, 1}, t->batch->n_vertices);
		break;
	case FRIC_MU_TABLE:
		pair = pair_of(&materials, &api_materials, API_MATERIALS_MU, (struct fric_values){f->material_mu_s, 1},
		               (struct fric_values){f->material_mu_k, 1}, m * m);
		break;
	}
	take_pair(t, &pair);
}

static void take_coefficients(struct taking *t, const struct api_field *group, enum fric_type type)
{
	const struct fric_group *g = &t->batch->groups[type];
	const struct api_object *rules = &api_groups[type];
	const struct pair own = pair_of(group, rules, API_GROUP_MU, g->mu_s, g->mu_k, g->n);
	const struct pair ellipse = {.s = api_ruled(group, rules, API_GROUP_MU_S_ANISO),
	                             .k = api_ruled(group, rules, API_GROUP_MU_K_ANISO),
	                             .of_s = g->mu_s_aniso,
	                             .of_k = g->mu_k_aniso,
	                             .n = g->n,
	                             .width = 2};
	take_pair(t, &own);
	take_pair(t, &ellipse);
}

/* ---- anchors ---- */

static double eps_v_of(const struct fric_batch *batch, const struct fric_group *g, size_t i)
{
	return g->eps_v.data ? at(&g->eps_v, i, 0) : batch->friction.eps_v;
}

static double length(const struct fric_values *values, size_t i, int dim)
{
	double sum = 0;
	for (int a = 0; a < dim; a++)
		sum = hypot(sum, at(values, i, (size_t)a));
	return sum;
}

/* The longest anchor that an earlier step can have returned: eps_v, or the reach of bonds, enlarged by mu_aniso. */
static double longest_anchor(const struct fric_batch *batch, const struct fric_group *g, size_t i)
{
	const double reach = law_has(law_of(&batch->friction.law), LAW_BREAKS) ? LAW_REACH : 1, rounding = 1 + 1e-9;
	double scale = 1;
	for (int a = 0; g->mu_aniso.data && a < batch->dim - 1; a++)
		scale = fmin(scale, at(&g->mu_aniso, i, (size_t)a));
	return reach * rounding * eps_v_of(batch, g, i) / scale;
}

static void take_anchors(struct taking *t, const struct api_field *group, enum fric_type type)
{
	const struct fric_group *g = &t->batch->groups[type];
	const struct api_field field = api_ruled(group, &api_groups[type], API_GROUP_ANCHOR);
	char is[TEXT_BYTES], eps[TEXT_BYTES];
	for (size_t i = 0; g->anchor.data && i < g->n && wanted(t, i); i++) {
		const double anchor = length(&g->anchor, i, t->batch->dim);
		if (anchor <= longest_anchor(t->batch, g, i))
			continue;
		const struct api_path row = {&field.path, NULL, g->anchor.stride ? i : 0};
		const bool nested = api_document_array(t->check.document, field.node)->rank > 1;
		if (!begin(t, API_ANCHOR_LONGER_THAN_EPS_V))
			return;
		api_fault_at(
			t->check.fault, API_E_OUT_OF_RANGE, nested ? &row : &field.path,
			"the anchor of contact %zu is %s long, and eps_v is %s: no step returns such a long anchor; do they have"
			" the same unit, and was a sum of anchors sent?",
			i, brief(anchor, is), brief(eps_v_of(t->batch, g, i), eps));
		return;
	}
}

/* ---- speeds ---- */

/* The slip ratios of a group's contacts, and their coefficients. */
struct slips {
	double *ratio, *mu_s, *mu_k;
	bool are_finite; /* false: no notes are based on them */
};

static bool read_slips(struct taking *t, enum fric_type type, struct slips *slips)
{
	struct api_job *job = t->job;
	const struct {
		enum fric_output output;
		double **to;
	} read[] = {{FRIC_OUT_SLIP_RATIO, &slips->ratio}, {FRIC_OUT_MU_S, &slips->mu_s}, {FRIC_OUT_MU_K, &slips->mu_k}};
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
		*read[i].to = api_job_array(job, fric_group_size(job->contacts, type), sizeof(double));
		if (!*read[i].to)
			return false;
		const enum fric_code code = fric_contact_output(&job->context, job->contacts, &job->asked, type, read[i].output,
		                                                *read[i].to, &job->error);
		slips->are_finite &= code != FRIC_E_NOT_FINITE;
		if (code != FRIC_E_NOT_FINITE && !api_job_core(job, code))
			return false;
	}
	return true;
}

/* Takes a note if drag exceeds Coulomb friction at most contacts that slip. The anchor's part of the slip, at most
 * eps_v, causes no drag, so it is subtracted. */
static void take_drag(struct taking *t, const struct api_field *group, enum fric_type type, const struct slips *slips)
{
	const struct fric_group *g = &t->batch->groups[type];
	const struct api_field own = api_ruled(group, &api_groups[type], API_GROUP_VISCOUS),
						   all = api_ruled(&t->friction, &api_friction, API_FRICTION_VISCOUS);
	size_t n_slip = 0, n_drag = 0, first = 0;
	for (size_t i = 0; i < g->n && wanted(t, i); i++) {
		const double eps_v = eps_v_of(t->batch, g, i), y = (slips->ratio[i] - (g->anchor.data ? 1 : 0)) * eps_v;
		const double nu = g->viscous.data ? at(&g->viscous, i, 0) : t->batch->friction.law.viscous;
		const bool drags = y > 0 && nu * y > fmax(slips->mu_s[i], slips->mu_k[i]);
		n_slip += y > 0;
		first = drags && n_drag == 0 ? i : first;
		n_drag += drags;
	}
	if (2 * n_drag > n_slip)
		NOTE(t, API_VISCOUS_OUTWEIGHS_COULOMB, own.node ? &own : &all, own.node ? flat_of(&g->viscous, first, 1, 0) : 0,
		     "at these speeds the viscous term of %zu of %zu slipping contacts in %s exceeds their Coulomb"
		     " friction; its unit is 1 / velocity",
		     n_drag, n_slip, fric_type_name(type));
}

struct speeds {
	size_t n_slip, n_slow;
	enum fric_type type; /* the type of the first slow contact */
	size_t contact;
};

static void count_speeds(struct taking *t, enum fric_type type, const struct slips *slips, struct speeds *speeds)
{
	static const double slow = 1e-3;
	const size_t n = t->batch->groups[type].n;
	for (size_t i = 0; i < n && wanted(t, i); i++) {
		const bool slips_slowly = slips->ratio[i] > 0 && slips->ratio[i] < slow;
		if (slips_slowly && speeds->n_slow == 0) {
			speeds->type = type;
			speeds->contact = i;
		}
		speeds->n_slip += slips->ratio[i] > 0;
		speeds->n_slow += slips_slowly;
	}
}

static void note_speeds(struct taking *t, const struct speeds *speeds)
{
	const struct fric_group *g = &t->batch->groups[speeds->type];
	const struct api_field collisions = api_ruled(&t->root, &api_request, API_REQUEST_COLLISIONS),
						   group = api_ruled(&collisions, &api_collisions, (int)speeds->type),
						   own = api_ruled(&group, &api_groups[speeds->type], API_GROUP_EPS_V),
						   all = api_ruled(&t->friction, &api_friction, API_FRICTION_EPS_V);
	if (2 * speeds->n_slow <= speeds->n_slip)
		return;
	NOTE(t, API_SPEEDS_FAR_BELOW_EPS_V, own.node ? &own : &all,
	     own.node ? flat_of(&g->eps_v, speeds->contact, 1, 0) : 0,
	     "%zu of %zu slipping contacts are slower than a thousandth of eps_v: are the velocities displacements, which"
	     " require eps_v times the time step?",
	     speeds->n_slow, speeds->n_slip);
}

/* Positions in place of velocities have the same bits, and are not all 0. */
static bool are_equal(const struct taking *t, const double *velocities, const double *positions)
{
	const size_t n = t->batch->n_vertices * (size_t)t->batch->dim;
	bool moves = false;
	if (!velocities || !positions)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (i % API_SPAN == 0 && api_account_is_stopped())
			return false;
		if (!(velocities[i] == positions[i]))
			return false;
		moves |= velocities[i] != 0;
	}
	return moves;
}

/* The place is /velocities of the request, for a set of the query. */
static void take_velocities(struct taking *t)
{
	const struct api_query *q = &t->job->query;
	const struct api_path root = {0}, path = {&root, "velocities", 0};
	const bool lagged = are_equal(t, q->velocities, t->batch->positions);
	if ((lagged || are_equal(t, q->velocities, q->current_positions)) && begin(t, API_VELOCITIES_EQUAL_POSITIONS))
		api_fault_at(t->check.fault, API_E_OUT_OF_RANGE, &path,
		             "velocities are equal to %s, bit by bit: were positions sent in place of velocities or"
		             " displacements?",
		             lagged ? "positions" : "current_positions");
}

/* ---- all notes ---- */

static bool take_group(struct taking *t, enum fric_type type, struct speeds *speeds)
{
	const struct api_field collisions = api_ruled(&t->root, &api_request, API_REQUEST_COLLISIONS),
						   group = api_ruled(&collisions, &api_collisions, (int)type);
	struct slips slips = {.are_finite = true};
	if (t->batch->groups[type].n == 0)
		return true;
	take_coefficients(t, &group, type);
	take_anchors(t, &group, type);
	if (!read_slips(t, type, &slips))
		return false;
	if (slips.are_finite) {
		take_drag(t, &group, type, &slips);
		count_speeds(t, type, &slips, speeds);
	}
	return true;
}

bool api_notes_take(struct api_job *job, const struct api_document *document, const struct fric_batch *batch,
                    struct api_notes *notes)
{
	struct taking t = {.job = job,
	                   .batch = batch,
	                   .notes = notes,
	                   .check = {.document = document, .arena = &job->arena, .fault = &notes->texts},
	                   .root = {.node = document->root}};
	struct speeds speeds = {0};
	api_fault_clear(&notes->texts);
	if (!(job->query.terms & FRIC_TERM_FRICTION))
		return true; /* all notes concern friction */
	t.friction = api_ruled(&t.root, &api_request, API_REQUEST_FRICTION);
	take_friction(&t);
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (!take_group(&t, type, &speeds))
			return false;
	note_speeds(&t, &speeds);
	take_velocities(&t);
	return !api_account_is_stopped() || api_fault_stopped(job->fault);
}

void api_notes_render(struct api_job *job, const struct api_notes *notes)
{
	struct api_render *r = &job->render;
	json_t *list = api_render_add(r, r->document.root, "notes", json_array());
	for (int i = 0; i < notes->texts.n_errors; i++) {
		json_t *note = api_render_append(r, list, json_object());
		api_render_add(r, note, "code", json_string(api_note_codes[notes->codes[i]]));
		api_render_add(r, note, "pointer", json_string(notes->texts.errors[i].pointer));
		api_render_add(r, note, "detail", json_string(notes->texts.errors[i].detail));
	}
}
