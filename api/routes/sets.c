#include "api/routes/sets.h"

#include <stdio.h>
#include <string.h>

#include "api/base/account.h"
#include "api/compute/job.h"
#include "api/problem.h"
#include "api/dispatch/answer.h"
#include "api/dispatch/cost.h"
#include "api/dispatch/format.h"
#include "api/sets/identity.h"
#include "api/sets/merge.h"
#include "api/sets/archive.h"

/* ---- which set ---- */

static const char *name_of(const struct api_request *request)
{
	return request->match->names[0];
}

static bool check_name(const struct api_call *call)
{
	const struct api_path root = {0}, name = {&root, "name", 0};
	return api_is_set_name(name_of(call->request)) ||
	       api_fault_at(
			   call->fault, API_E_MALFORMED_NAME, &name,
			   "a set's name consists of 1 to 64 characters out of A-Z a-z 0-9 . _ ~ -, but is not \".\" or \"..\"");
}

static struct api_kept *hold(const struct api_service *service, const struct api_request *request, bool uses)
{
	return service->sets ? api_sets_hold(service->sets, request->caller, name_of(request), uses) : NULL;
}

static void add_version(struct api_response *response, const struct api_kept *kept)
{
	api_response_add_header(response, "Collision-Set-Version", kept->version);
}

static bool fault_unknown(const struct api_call *call)
{
	return api_fault_set(call->fault, API_E_UNKNOWN_SET,
	                     "there is no set \"%s\" (any more): PUT it as a whole. Sets are forgotten when they have not"
	                     " been used for a while, or to make room",
	                     name_of(call->request));
}

static bool fault_changed(const struct api_call *call, const struct api_kept *kept)
{
	return api_fault_set(call->fault, API_E_SET_CHANGED, "the set is version %s, not \"%.64s\"",
	                     kept ? kept->version : "none: no set has this name", call->request->if_version);
}

static bool is_wanted(const struct api_request *request, const struct api_kept *kept)
{
	return !request->if_version || (kept && strcmp(request->if_version, kept->version) == 0);
}

/* Finds the set that the path names, and checks that it has the version that the request requires. Always adds the
 * version to the response.
 * @param uses  whether this counts as use
 * @return held; NULL with *fault: 422 (no name), 404, 412 */
static struct api_set *find_set(const struct api_call *call, bool uses)
{
	if (!check_name(call))
		return NULL;
	struct api_kept *kept = hold(call->service, call->request, uses && !call->request->was_deferred);
	if (!kept) {
		fault_unknown(call);
		return NULL;
	}
	add_version(call->response, kept);
	if (is_wanted(call->request, kept))
		return api_set_of(kept);
	fault_changed(call, kept);
	api_kept_release(kept);
	return NULL;
}

bool api_run(const struct api_call *call, const struct api_steps *steps, void *more)
{
	if (!call->request->match->route->is_conditional)
		return api_job_run(call, steps, NULL, more);
	struct api_set *set = find_set(call, true);
	const bool ok = set && api_job_run(call, steps, set, more);
	api_kept_release(set ? &set->kept : NULL);
	return ok;
}

bool api_set_is_large(const struct api_service *service, const struct api_request *request, uint64_t contact_ns)
{
	struct api_work work = {.contact_ns = contact_ns};
	struct api_kept *kept = hold(service, request, false);
	if (kept) {
		api_work_add_set(&work, api_set_of(kept));
		work.document_bytes = api_set_of(kept)->document.n;
	}
	api_kept_release(kept);
	return api_work_is_large(&work);
}

/* ---- describing a set ---- */

static void describe_skipped(struct api_render *r, json_t *object, const struct api_set *set)
{
	json_t *list = api_render_add(r, object, "skipped", json_array());
	for (size_t i = 0; i < set->n_first_skipped; i++)
		api_render_one_skipped(r, list, &set->first_skipped[i]);
	api_render_integer(r, object, "n_skipped", (int64_t)fric_n_skipped(set->contacts));
}

static void describe_mesh(struct api_render *r, json_t *object, const struct api_set *set)
{
	if (api_neighbours_n(set->neighbours))
		api_render_number(r, object, "min_distance", fric_found_min_distance(set->neighbours->found));
	else
		api_render_add(r, object, "min_distance", json_null());
	api_render_number(r, object, "margin", set->facts.margin);
}

static void describe(struct api_render *r, json_t *object, const char *name, const struct api_set *set,
                     const struct api_sets *sets)
{
	api_render_add(r, object, "name", json_string(name));
	api_render_add(r, object, "version", json_string(set->kept.version));
	api_render_integer(r, object, "n_vertices", (int64_t)fric_n_vertices(set->contacts));
	api_render_bodies(r, object, &set->facts);
	api_render_integer(r, object, "n_collisions", (int64_t)fric_n_contacts(set->contacts));
	json_t *groups = api_render_add(r, object, "groups", json_object());
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++)
		if (set->facts.has_group[type])
			api_render_integer(r, groups, fric_type_name(type), (int64_t)fric_group_size(set->contacts, type));
	api_render_integer(r, object, "idle_seconds", api_sets_limits(sets)->idle_seconds);
	if (set->neighbours)
		describe_mesh(r, object, set);
	if (set->facts.skip_degenerate)
		describe_skipped(r, object, set);
}

static bool have_set(struct api_job *job)
{
	job->contacts = job->set->contacts;
	return true;
}

static bool describe_set(struct api_job *job)
{
	describe(&job->render, job->render.document.root, name_of(job->request), job->set, job->service->sets);
	return true;
}

/* Responds with a set that exists. */
static bool answer_set(const struct api_call *call, struct api_set *set)
{
	static const struct api_steps steps = {NULL, have_set, describe_set, NULL, false};
	return api_job_run(call, &steps, set, NULL);
}

static bool get_set(const struct api_call *call)
{
	struct api_set *set = find_set(call, false);
	const bool ok = set && answer_set(call, set);
	api_kept_release(set ? &set->kept : NULL);
	return ok;
}

/* ---- PUT, PATCH and the end of a step ---- */

/* A set on its way into the store. */
struct putting {
	const char *name, *caller;
	char version[API_VERSION_BYTES]; /* its future version */
	struct api_kept *old;            /* the current set of that name, held; or NULL */
	const struct api_steps *steps;
	struct api_document patch; /* empty for PUT */
	struct api_lagged_velocities lagged_velocities;
	const double *next_anchors[FRIC_N_VERTEX_TYPES]; /* of the old set's contacts in a mesh; NULL: its own */
	struct api_set *made;                            /* the new set, until it is in the store */
	struct api_kept *stored;                         /* held */
	bool changed;                                    /* another request has changed the set of this name: start again */
};

static bool check_set(struct api_job *job, const json_t *patch, struct api_lagged_velocities *lagged_velocities)
{
	struct api_check check = api_job_check(job);
	check.patch = patch;
	return api_check_set(&check, &job->lagged, lagged_velocities, &job->facts);
}

static bool decode_put(struct api_job *job)
{
	struct putting *p = job->more;
	return api_job_read(job) && check_set(job, NULL, &p->lagged_velocities);
}

/* Keeps the document that was read as the patch, for the old set, whose document must not be too large. */
static bool take_patch(struct api_job *job)
{
	struct putting *p = job->more;
	p->patch = job->document;
	job->document = (struct api_document){0};
	return api_job_admit_document(job, api_set_of(p->old));
}

/* Merges the patch into the document of the old set. */
static bool merge_patch(struct api_job *job)
{
	struct putting *p = job->more;
	return api_archive_read(&api_set_of(p->old)->document, &job->arena, &job->document, job->fault) &&
	       api_merge(&job->document, &p->patch, job->fault) && check_set(job, p->patch.root, &p->lagged_velocities);
}

static bool decode_patch(struct api_job *job)
{
	return api_job_read(job) && take_patch(job) && merge_patch(job);
}

/* The end of a step is a question to the old set, about anchors, and a patch, which gets these. */
static bool decode_advance(struct api_job *job)
{
	struct putting *p = job->more;
	struct api_check check = api_job_check(job);
	job->set = api_set_of(p->old);
	job->facts = job->set->facts;
	if (!api_job_read(job) || !api_check_request(&check, API_SET_ADVANCE, &job->facts, &job->lagged, &job->query, NULL))
		return false;
	json_object_del(job->document.root, "velocities"); /* fails harmlessly if it is absent */
	json_object_del(job->document.root, "body_velocities");
	return take_patch(job);
}

/* The old set's contacts in a mesh whose anchors are carried over, if it is patched. */
static const struct api_neighbours *before(const struct api_job *job, const struct api_neighbours *now)
{
	const struct putting *p = job->more;
	const struct api_neighbours *old = p->patch.root ? api_set_of(p->old)->neighbours : NULL;
	return old && old->has_anchors && old->dim == now->dim && old->n_vertices == now->n_vertices ? old : NULL;
}

static bool carry_anchors(struct api_job *job, struct api_neighbours *now)
{
	const struct putting *p = job->more;
	const struct api_neighbours *old = before(job, now);
	struct fric_group from[FRIC_N_VERTEX_TYPES], to[FRIC_N_VERTEX_TYPES];
	if (!api_neighbours_anchor(now, job->fault))
		return false;
	if (!old && !job->lagged.previous)
		return true;
	if (!api_neighbour_groups(&job->arena, now, to, job->fault))
		return false;
	if (job->lagged.previous)
		memcpy(from, job->lagged.previous, sizeof(from));
	else if (!api_neighbour_groups(&job->arena, old, from, job->fault))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		if (p->next_anchors[type])
			from[type].anchor.data = p->next_anchors[type];
	const enum fric_code code = fric_carry_anchors(&job->context, (int)now->dim, now->n_vertices, now->positions, from,
	                                               to, now->anchors, &job->error);
	return code == FRIC_OK || api_fault_core(job->fault, &job->error);
}

/* The old set's neighbours, if finding does not depend on what the patch changes (friction, for example); else NULL. */
static struct api_neighbours *found_before(const struct api_job *job)
{
	static const char *const members[] = {"mesh", "positions", "previous"};
	const struct putting *p = job->more;
	struct api_neighbours *old = p->patch.root ? api_set_of(p->old)->neighbours : NULL;
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_object_get(p->patch.root, members[i]))
			return NULL;
	return old && api_neighbours_suit(old, &job->lagged) ? api_neighbours_hold(old) : NULL;
}

static struct api_neighbours *find_anew(struct api_job *job)
{
	struct api_neighbours *found =
		api_neighbours_create(&job->context, job->service->pool, &job->lagged, api_job_most_pairs(job), job->fault);
	if (!found || !job->lagged.anchors || carry_anchors(job, found))
		return found;
	api_neighbours_release(found);
	return NULL;
}

/* Completes a document with a mesh by its contacts, as if they had been sent. */
static bool add_contacts(struct api_job *job, struct api_neighbours *found)
{
	if (!api_fill_groups(&job->arena, found, &job->lagged, job->fault))
		return false;
	api_state_facts(&job->lagged, &job->facts);
	job->facts.positions = found->positions;
	job->facts.is_in_mesh = found->is_in_mesh;
	return true;
}

static bool prepare_put(struct api_job *job)
{
	struct putting *p = job->more;
	struct api_neighbours *found = NULL;
	if (job->lagged.has_mesh) {
		found = found_before(job);
		found = found ? found : find_anew(job);
		if (!found || !add_contacts(job, found)) {
			api_neighbours_release(found);
			return false;
		}
	}
	p->made = api_set_create(&job->context, job->service->pool, &job->lagged.batch, &p->lagged_velocities, &job->facts,
	                         found, job->fault);
	if (!p->made)
		return false;
	job->contacts = p->made->contacts;
	json_object_del(job->document.root, "previous"); /* fails harmlessly if it is absent */
	memcpy(p->made->kept.version, p->version, sizeof(p->version));
	return api_job_may_skip(job) &&
	       api_set_finish(p->made, &job->document, &job->arena, p->old ? api_set_of(p->old) : NULL, job->fault);
}

/* Evaluates the anchors of a group's contacts for the next step. @return NULL with a fault */
static double *next_anchors(struct api_job *job, enum fric_type type)
{
	double *anchors = api_job_array(job, fric_group_size(job->contacts, type) * job->facts.dim, sizeof(*anchors));
	return anchors && api_job_output(job, type, FRIC_OUT_ANCHOR, anchors) ? anchors : NULL;
}

static bool patch_anchors(struct api_job *job)
{
	struct putting *p = job->more;
	for (enum fric_type type = 0; type < FRIC_N_TYPES; type++) {
		const size_t n = fric_group_size(job->contacts, type);
		const double *anchors = n ? next_anchors(job, type) : NULL;
		if (n && !anchors)
			return false;
		if (job->set->neighbours && type < FRIC_N_VERTEX_TYPES)
			p->next_anchors[type] = anchors;
		else if (n && !api_patch_add(&p->patch, fric_type_name(type), "anchor", anchors, n, job->facts.dim, job->fault))
			return false;
	}
	return true;
}

static bool prepare_advance(struct api_job *job)
{
	return api_job_prepare(job) && patch_anchors(job) && merge_patch(job) && prepare_put(job);
}

static void weigh_advance(const struct api_job *job, struct api_work *work)
{
	api_job_weigh(job, work);
	work->contact_ns += API_COST_SUMS; /* anchors */
	if (job->set->neighbours)
		work->pairs_ns += API_COST_PAIR * (uint64_t)job->set->neighbours->n_primitives;
	api_work_add_document(work, job->set);
}

static bool fault_too_large(const struct api_call *call, size_t bytes)
{
	const struct api_sets_limits *limits = api_sets_limits(call->service->sets);
	return api_fault_set(call->fault, API_E_SET_TOO_LARGE,
	                     "the set would take %zu bytes; all sets of a caller may take %zu (--set-bytes-per-caller), all"
	                     " together %zu (--set-bytes)",
	                     bytes, limits->bytes_per_caller, limits->bytes);
}

static bool store(const struct api_call *call, struct putting *p)
{
	struct api_kept *kept = &p->made->kept;
	const enum api_put put = api_sets_put(call->service->sets, p->caller, p->name, kept, p->old);
	switch (put) {
	case API_PUT_CREATED:
	case API_PUT_REPLACED: break;
	case API_PUT_CHANGED:
		p->changed = true;
		return api_fault_set(call->fault, API_E_SET_CHANGED, "the set has changed");
	case API_PUT_TOO_LARGE: return fault_too_large(call, kept->bytes);
	case API_PUT_NO_ROOM:
		return api_fault_set(
			call->fault, API_E_SETS_FULL,
			"there is no room for the set at the moment: the others are in use (--set-bytes, --sets; of one caller"
			" --set-bytes-per-caller, --sets-per-caller)");
	case API_PUT_NO_MEMORY: return api_fault_no_memory(call->fault);
	}
	p->stored = kept;
	p->made = NULL;
	return true;
}

static bool compute_put(struct api_job *job)
{
	const struct putting *p = job->more;
	describe(&job->render, job->render.document.root, p->name, p->made, job->service->sets);
	return !job->render.failed || api_fault_no_memory(job->fault);
}

static void let_go(struct putting *p)
{
	api_document_free(&p->patch);
	if (p->made)
		api_set_free(p->made);
	api_kept_release(p->stored);
	api_kept_release(p->old);
	p->made = NULL;
	p->stored = p->old = NULL;
}

/* Responds with a set that was already stored. */
static bool answer_kept(const struct api_call *call, const struct putting *p)
{
	const bool ok = answer_set(call, api_set_of(p->old));
	add_version(call->response, p->old);
	return ok;
}

static void add_location(struct api_response *response, const char *name)
{
	char location[sizeof("/v1/sets/") + API_SET_NAME_BYTES];
	snprintf(location, sizeof(location), "/v1/sets/%s", name);
	api_response_add_header(response, "Location", location);
}

/* Prints the answer first, because that can fail, and nothing must have changed then. */
static bool run(const struct api_call *call, struct putting *p)
{
	bool ok = api_job_run(call, p->steps, NULL, p);
	if (ok && !store(call, p)) {
		api_response_free(call->response);
		ok = false;
	}
	if (!ok) {
		if (p->old)
			add_version(call->response, p->old);
		return false;
	}
	add_version(call->response, p->stored);
	if (!p->old) {
		call->response->status = 201;
		add_location(call->response, p->name);
	}
	return true;
}

static bool must_be_free(const struct api_request *request)
{
	return request->if_none_match && strcmp(request->if_none_match, "*") == 0;
}

/* Whether the request has already been carried out: the set exists, and it replaced the version that the request
 * names. */
static bool was_put(const struct api_request *request, const struct putting *p)
{
	return p->old && strcmp(p->old->version, p->version) == 0 &&
	       (is_wanted(request, p->old) || (*p->old->before && strcmp(request->if_version, p->old->before) == 0));
}

static bool refuse_changed(const struct api_call *call, const struct putting *p)
{
	if (p->old)
		add_version(call->response, p->old);
	return fault_changed(call, p->old);
}

static bool refuse_taken(const struct api_call *call, const struct putting *p)
{
	add_version(call->response, p->old);
	return api_fault_set(call->fault, API_E_SET_EXISTS, "a set \"%s\" exists already", p->name);
}

static bool put_once(const struct api_call *call, struct putting *p)
{
	const struct api_request *request = call->request;
	p->old = hold(call->service, request, false);
	if (p->old && must_be_free(request))
		return refuse_taken(call, p);
	if (was_put(request, p)) {
		api_kept_release(hold(call->service, request, true)); /* counts as use */
		return answer_kept(call, p);
	}
	if (!is_wanted(request, p->old))
		return refuse_changed(call, p);
	return run(call, p);
}

static bool patch_once(const struct api_call *call, struct putting *p)
{
	const struct api_request *request = call->request;
	struct api_part whole;
	size_t n_parts;
	p->old = hold(call->service, request, !request->was_deferred);
	if (!p->old)
		return fault_unknown(call);
	if (request->if_version && !api_is_version(request->if_version))
		return refuse_changed(call, p);
	const struct api_part *parts = api_body_parts(request, &whole, &n_parts);
	api_version_of_patch(request->if_version ? request->if_version : p->old->version, request->formats->body, parts,
	                     n_parts, p->version);
	if (request->if_version && strcmp(p->old->version, p->version) == 0)
		return answer_kept(call, p);
	if (!is_wanted(request, p->old))
		return refuse_changed(call, p);
	return run(call, p);
}

typedef bool attempt(const struct api_call *call, struct putting *p);

/* Starts again if another request came first. One of them always succeeds, so this ends. */
static bool put_until_done(const struct api_call *call, attempt *once, const struct api_steps *steps)
{
	const struct api_request *request = call->request;
	struct putting p = {.name = name_of(request), .caller = request->caller, .steps = steps};
	struct api_part whole;
	size_t n_parts;
	bool ok;
	if (!call->service->sets)
		return api_fault_set(call->fault, API_E_SETS_FULL, "this service keeps no sets");
	const struct api_part *parts = api_body_parts(request, &whole, &n_parts);
	api_version_of_body(request->formats->body, parts, n_parts, p.version);
	do {
		p.changed = false;
		ok = once(call, &p);
		let_go(&p);
		if (p.changed && !api_account_is_stopped()) {
			api_fault_clear(call->fault);
			api_response_clear(call->response);
		}
	} while (p.changed && !api_account_is_stopped());
	return ok;
}

static bool put_set(const struct api_call *call)
{
	static const struct api_steps steps = {decode_put, prepare_put, compute_put, api_job_weigh, false};
	return check_name(call) && put_until_done(call, put_once, &steps);
}

static bool patch_set(const struct api_call *call)
{
	static const struct api_steps steps = {decode_patch, prepare_put, compute_put, api_job_weigh, false};
	return check_name(call) && put_until_done(call, patch_once, &steps);
}

static bool advance_set(const struct api_call *call)
{
	static const struct api_steps steps = {decode_advance, prepare_advance, compute_put, weigh_advance, false};
	return check_name(call) && put_until_done(call, patch_once, &steps);
}

/* ---- DELETE ---- */

static bool delete_set(const struct api_call *call)
{
	bool removed = false;
	while (!removed) {
		call->response->n_headers = 0;
		struct api_set *set = find_set(call, false);
		if (!set)
			return false;
		removed = api_sets_remove(call->service->sets, call->request->caller, name_of(call->request), &set->kept);
		api_kept_release(&set->kept);
	}
	call->response->status = 204;
	return true;
}

/* ---- the list ---- */

static void list_sets(struct api_render *r, const struct api_sets *sets, const struct api_listed *listed, size_t n)
{
	json_t *list = api_render_add(r, r->document.root, "sets", json_array());
	for (size_t i = 0; i < n && !r->failed; i++) {
		json_t *object = api_render_append(r, list, json_object());
		describe(r, object, listed[i].name, api_set_of(listed[i].kept), sets);
		api_render_integer(r, object, "bytes", (int64_t)listed[i].bytes);
	}
}

static struct api_work work_of_list(const struct api_service *service, const struct api_request *request)
{
	struct api_work work = {0};
	api_work_add_list(&work, service->sets ? api_sets_of_caller(service->sets, request->caller) : 0);
	return work;
}

static bool list_is_large(const struct api_service *service, const struct api_request *request)
{
	const struct api_work work = work_of_list(service, request);
	return api_work_is_large(&work);
}

/* Judges the list again, because sets may have been added since the head was judged. Only printing takes longer than
 * sorting them. */
static bool admit_list(const struct api_call *call)
{
	const struct api_work work = work_of_list(call->service, call->request);
	return api_cost_admit(call->service, &work, call->fault);
}

/* Judges the list once the sets are held, because only then the skipped contacts are known. */
static bool admit_listed(const struct api_call *call, const struct api_listed *listed, size_t n)
{
	enum { NODES_OF_SKIPPED = 4 };
	struct api_work work = {0};
	api_work_add_list(&work, n);
	for (size_t i = 0; i < n; i++)
		work.n_nodes += NODES_OF_SKIPPED * api_set_of(listed[i].kept)->n_first_skipped;
	return api_cost_admit(call->service, &work, call->fault);
}

static bool get_sets(const struct api_call *call)
{
	struct api_arena arena = {.pool = call->service->pool};
	struct api_render render = {0};
	struct api_listed *listed = NULL;
	size_t n = 0, bytes = 0;
	if (!admit_list(call))
		return false;
	if (call->service->sets &&
	    !api_sets_list(call->service->sets, call->request->caller, &arena, &listed, &n, &bytes)) {
		api_arena_free(&arena);
		return api_fault_no_memory(call->fault);
	}
	bool ok = admit_listed(call, listed, n) && api_render_start(&render, &arena);
	if (ok) {
		list_sets(&render, call->service->sets, listed, n);
		api_render_integer(&render, render.document.root, "bytes", (int64_t)bytes);
		api_render_integer(&render, render.document.root, "limit_bytes",
		                   call->service->sets ? (int64_t)api_sets_limits(call->service->sets)->bytes_per_caller : 0);
	}
	ok = api_answer_finish(call, &render, ok);
	for (size_t i = 0; i < n; i++)
		api_kept_release(listed[i].kept);
	api_arena_free(&arena);
	return ok;
}

/* ---- costs ---- */

bool api_set_query_is_large(const struct api_service *service, const struct api_request *request)
{
	return api_cost_of_body(service, request) || api_set_is_large(service, request, API_COST_SUMS);
}

/* ---- the operations ---- */

/* clang-format off */
#define ONE_VERTEX_SET "'dim': 3, 'n_vertices': 1, 'friction': {'eps_v': 0.5, 'mu': 0.5}, " \
	"'collisions': {'plane_vertex': {'vertices': [0], 'plane_normal': [0, 0, 1], 'normal_force': 8," \
	" 'anchor': [0, 0, 0]}}"

const struct api_operation api_get_sets = {
	.handler = get_sets, .refuses_url_query = true, .is_large = list_is_large,
	.answers = API_OBJECTS(&api_set_list_answer), .id = "listSets", .tag = "sets",
	.summary = "Lists the caller's collision sets", .description = "Sorted by name, in byte order.",
};
const struct api_operation api_get_set = {
	.handler = get_set, .refuses_url_query = true, .answers = API_OBJECTS(&api_set_answer), .answers_json = true,
	.is_timed = true, .id = "getSet", .tag = "sets", .summary = "Describes a collision set",
	.description = "Does not count as use of the set.",
};
const struct api_operation api_put_set = {
	.handler = put_set, .refuses_url_query = true, .is_large = api_cost_of_body,
	.requests = API_OBJECTS(&api_stencil_document, &api_mesh_document),
	.answers = API_OBJECTS(&api_set_answer), .answers_json = true, .is_timed = true, .has_location = true,
	.id = "putSet", .tag = "sets", .summary = "Prepares contacts and keeps them under a name",
	.description = "Takes the lagged part of a request to /v1/evaluate, and replaces a set of that name as a whole. A"
		" set is a cache, not the only copy: the service may forget it, and then returns 404, unknown_set."
		" Repeating is safe, and costs nothing if the same set exists already.",
	.examples = API_EXAMPLES(
		{"one_vertex", "A vertex on a floor; with normal_force given, positions are not"
			" required", "{" ONE_VERTEX_SET "}", NULL,
		 201}),
};
const struct api_operation api_patch_set = {
	.handler = patch_set, .refuses_url_query = true, .is_large = api_set_query_is_large,
	.requests = API_OBJECTS(&api_set_patch), .answers = API_OBJECTS(&api_set_answer), .answers_json = true,
	.merges = true, .is_timed = true, .id = "patchSet", .tag = "sets",
	.summary = "Changes fields of a set, and prepares it anew",
	.description = "JSON Merge Patch (RFC 7396): objects are merged, null removes a member, and an array is replaced as"
		" a whole. The merged document is validated as a whole; if it is invalid, the set stays unchanged.",
	.examples = API_EXAMPLES(
		{"force", "Changes the normal force only",
		 "{'collisions': {'plane_vertex': {'normal_force': 10}}}", NULL, 200}),
};
const struct api_operation api_advance_set = {
	.handler = advance_set, .refuses_url_query = true, .is_large = api_set_query_is_large,
	.requests = API_OBJECTS(&api_set_advance), .answers = API_OBJECTS(&api_set_answer), .answers_json = true,
	.is_timed = true, .id = "advanceSet", .tag = "sets",
	.summary = "Ends a time step: takes over anchors and positions, and prepares the set anew",
	.description = "The anchors of all contacts become those that the output anchor has at these velocities, and the"
		" other fields replace those of the set, as with PATCH. All of this happens, or nothing. All groups that have"
		" contacts must have anchors. Repeating is safe with If-Collision-Set-Version.",
	.examples = API_EXAMPLES(
		{"end_of_step", "A contact that sticks keeps its deflection",
		 "{'velocities': [[0.25, 0, 0]], 'positions': [[0.25, 0, 0]]}", NULL, 200}),
};
const struct api_operation api_delete_set = {
	.handler = delete_set, .refuses_url_query = true, .status = 204, .id = "deleteSet", .tag = "sets",
	.summary = "Deletes a set", .description = "Requests in progress still complete.",
};
/* clang-format on */
