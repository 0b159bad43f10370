/* Collision sets as resources. */
#include "api/contract/rules.h"

/* clang-format off */
const struct api_object api_set_patch = {
	"CollisionSetPatch",
	"A merge patch (RFC 7396) of a CollisionSet: objects are merged member by member, null removes a member, and any"
	" other value replaces the old one as a whole.",
	NULL, 0, -1, "{'additionalProperties': true}"};

enum { DESCRIBED, LISTED };
static const struct api_rule set_rules[] = {
	TEXT("name", "name in the path"),
	TEXT("version", "32 hexadecimal digits derived from what was sent, as in Collision-Set-Version"),
	COUNT("n_vertices", "number of vertices: rows of every field with a row per vertex"),
	N_BODIES("number of bodies, if body_positions were sent"),
	COUNT("n_collisions", "number of contacts in all groups, including skipped ones"),
	{.name = "groups", .kind = API_OBJECT, .objects = ONE(api_group_counts), .required = true,
	 .meaning = "number of contacts per group"},
	COUNT("idle_seconds", "the set is forgotten after this time without use"),
	SKIPPED_AS("the first 16 skipped contacts; present, possibly empty, with on_degenerate skip"),
	{.name = "min_distance", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .or_null = true, .unit = LENGTH,
	 .meaning = "of a set from a mesh: the least distance found at positions; null without contacts"},
	{.name = "margin", .kind = API_NUMBER, .range = API_NON_NEGATIVE, .unit = LENGTH,
	 .meaning = "of a set from a mesh: twice the distance that vertices may move from positions"},
	{.name = "n_skipped", .kind = API_INTEGER, .meaning = "number of skipped contacts; accompanies skipped"},
	{.name = "bytes", .kind = API_INTEGER, .required = true, .types = BIT(LISTED), .meaning = "memory of the set"},
};
const struct api_object api_set_answer = {
	"CollisionSetDescription", "Description of a set.", set_rules, N_OF(set_rules), DESCRIBED, NULL};
static const struct api_object listed_set = {
	"ListedCollisionSet", "Description of a set, with its memory.", set_rules, N_OF(set_rules), LISTED, NULL};
const struct api_object api_contacts_url_query = OBJECT("SetContactsQuery", "Selects the contacts.",
	{.name = "merge", .kind = API_BOOL,
	 .meaning = "true: contacts closer than dhat + dmin, merged by closest feature; false: the set's list of pairs, with"
	 	" anchors; default true"});
const struct api_object api_set_list_answer = OBJECT("CollisionSetList", "The caller's sets.",
	{.name = "sets", .kind = API_LIST, .objects = ONE(listed_set), .required = true,
	 .meaning = "the caller's own sets, by name in byte order"},
	COUNT("bytes", "memory of the caller's sets"),
	COUNT("limit_bytes", "limit on the memory of the caller's sets"));
