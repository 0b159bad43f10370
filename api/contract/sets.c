/* Collision sets as resources. */
#include "api/contract/rules.h"

/* clang-format off */
const struct api_object api_set_patch = {
	"CollisionSetPatch",
	"A merge patch (RFC 7396) of a CollisionSet: objects are merged member by member, null takes a member away, anything"
	" else replaces what was there as a whole.",
	NULL, 0, -1, "{'additionalProperties': true}"};

enum { DESCRIBED, LISTED };
static const struct api_rule set_rules[] = {
	TEXT("name", "as in the path"),
	TEXT("version", "32 hexadecimal digits that follow from what was sent; as in Collision-Set-Version"),
	COUNT("n_vertices", "rows of everything that has one for each vertex"),
	N_BODIES("rows of body_positions; there if those were sent"),
	COUNT("n_collisions", "contacts of all groups, skipped ones too"),
	{.name = "groups", .kind = API_OBJECT, .objects = ONE(api_group_counts), .required = true,
	 .meaning = "contacts by group"},
	COUNT("idle_seconds", "the limit that it falls under: unused for longer, it is forgotten"),
	SKIPPED_AS("the first 16 contacts that are skipped; there, perhaps empty, if skipping was asked for"),
	{.name = "n_skipped", .kind = API_INTEGER, .meaning = "how many there are; beside skipped"},
	{.name = "bytes", .kind = API_INTEGER, .required = true, .types = BIT(LISTED), .meaning = "all that it takes"},
};
const struct api_object api_set_answer = {
	"CollisionSetDescription", "What a set is.", set_rules, N_OF(set_rules), DESCRIBED, NULL};
static const struct api_object listed_set = {
	"ListedCollisionSet", "What a set is, and what it takes.", set_rules, N_OF(set_rules), LISTED, NULL};
static const struct api_rule set_list_rules[] = {
	{.name = "sets", .kind = API_LIST, .objects = ONE(listed_set), .required = true,
	 .meaning = "the caller's own, by name in byte order"},
	COUNT("bytes", "that the caller's sets take"),
	COUNT("limit_bytes", "that they may take"),
};
const struct api_object api_set_list_answer = OBJECT("CollisionSetList", "The caller's sets.", set_list_rules);
