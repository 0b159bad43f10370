/* The operation of /v1/sets/{name}/contacts: the contacts of a set from a mesh. */
#include "api/base/account.h"
#include "api/compute/finding.h"
#include "api/dispatch/cost.h"
#include "api/problem.h"
#include "api/routes/operations.h"
#include "api/routes/sets.h"

/* A request that lists the contacts of a set. */
struct listing {
	bool merge;
	struct fric_found *found; /* merged contacts, until they are lent to the answer */
};

static void check_merge(struct api_job *job, struct api_check *check, const struct api_field *url_query)
{
	struct listing *l = job->more;
	const struct api_field merge = api_ruled(url_query, &api_contacts_url_query, 0);
	api_check_bool(check, &merge, &l->merge);
}

static bool decode_listing(struct api_job *job)
{
	const struct api_path root = {0}, mesh = {&root, "mesh", 0};
	job->facts = job->set->facts;
	if (!job->set->neighbours)
		return api_fault_at(job->fault, API_E_MISSING_FIELD, &mesh,
		                    "\"mesh\" is missing from the set's document: its contacts are those that were sent");
	return api_job_url_query(job, &api_contacts_url_query, check_merge);
}

static bool find_merged(struct api_job *job)
{
	struct listing *l = job->more;
	const struct api_neighbours *n = job->set->neighbours;
	const struct fric_finding finding = {.distance = n->dhat, .min_distance = n->dmin, .merge = true};
	job->contacts = job->set->contacts;
	if (!l->merge || fric_find(&job->context, n->mesh, n->positions, &finding, &l->found, &job->error) == FRIC_OK)
		return true;
	return api_fault_finding(job->fault, &job->error, 0);
}

/* A copy in the arena, because a long answer may outlive the set. @return NULL with a fault, or if there is nothing */
static const void *copied(struct api_job *job, const void *values, size_t n, size_t size)
{
	void *copy = n && values ? api_job_array(job, n, size) : NULL;
	if (copy && !api_account_copy(copy, values, n * size)) {
		api_fault_no_memory(job->fault);
		return NULL;
	}
	return copy;
}

static void copy_group(struct api_job *job, enum fric_type type, struct fric_group *g)
{
	const size_t k = (size_t)fric_stencil_size(type);
	g->vertices = copied(job, g->vertices, g->n * k, sizeof(*g->vertices));
	g->weight.data = copied(job, g->weight.data, g->n, sizeof(double));
	g->mollifier.data = copied(job, g->mollifier.data, g->n, sizeof(double));
	g->anchor.data = copied(job, g->anchor.data, g->n * job->facts.dim, sizeof(double));
}

static bool list_merged(struct api_job *job, struct fric_group groups[FRIC_N_VERTEX_TYPES])
{
	struct listing *l = job->more;
	const struct api_neighbours *n = job->set->neighbours;
	const struct api_found_planes planes = {{n->normals, n->dim}, {n->origins, n->dim}};
	const struct fric_found *found = l->found;
	api_render_lend_found(job, &l->found);
	api_render_found_counts(job, n->n_vertices, found);
	return api_found_groups(&job->arena, n->dim, found, &planes, groups, job->fault);
}

static bool list_neighbours(struct api_job *job, struct fric_group groups[FRIC_N_VERTEX_TYPES])
{
	const struct api_neighbours *n = job->set->neighbours;
	api_render_found_counts(job, n->n_vertices, n->found);
	if (!api_neighbour_groups(&job->arena, n, groups, job->fault))
		return false;
	for (enum fric_type type = 0; type < FRIC_N_VERTEX_TYPES; type++)
		copy_group(job, type, &groups[type]);
	return !job->fault->status;
}

static bool list_contacts(struct api_job *job)
{
	const struct listing *l = job->more;
	const bool has_anchors = !l->merge && job->set->neighbours->has_anchors;
	struct fric_group groups[FRIC_N_VERTEX_TYPES];
	if (!(l->merge ? list_merged : list_neighbours)(job, groups))
		return false;
	api_render_found(job, job->facts.dim, groups, has_anchors);
	return true;
}

static void weigh_listing(const struct api_job *job, struct api_work *work)
{
	enum { NUMBERS = 8 };
	api_work_add_set(work, job->set);
	work->contact_ns += API_COST_PAIR;
	work->pairs_ns += API_COST_PAIR * (uint64_t)job->set->neighbours->n_primitives;
	work->n_numbers += NUMBERS * api_work_contacts(work);
}

static bool get_contacts(const struct api_call *call)
{
	static const struct api_steps steps = {decode_listing, find_merged, list_contacts, weigh_listing, false};
	struct listing listing = {.merge = true};
	const bool ok = api_run(call, &steps, &listing);
	fric_found_free(listing.found);
	return ok;
}

/* clang-format off */
const struct api_operation api_get_contacts = {
	.handler = get_contacts, .is_large = api_set_query_is_large, .url_query = &api_contacts_url_query,
	.answers = API_OBJECTS(&api_contacts_answer), .is_timed = true, .id = "setContacts", .tag = "sets",
	.summary = "The contacts of a set from a mesh",
	.description = "As /v1/contacts at the set's positions.",
};
/* clang-format on */
