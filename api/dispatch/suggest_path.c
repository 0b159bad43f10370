#include "api/dispatch/suggest_path.h"

#include <stdio.h>
#include <string.h>

#include "api/base/suggest.h"

/* Sets a fault that suggests a name from a list of the route, and names the path that returns that list. */
static bool fault_name(const struct api_match *match, api_lister *list, enum api_code code, struct api_fault *fault)
{
	const struct api_route *route = match->route;
	const char *name;
	char suggestion[API_SUGGESTION_SIZE];
	enum api_function_kind kind;
	struct api_suggestion near;
	api_suggest_start(&near, match->names[0]);
	for (int i = 0; list(i, &name, &kind); i++)
		api_suggest_offer(&near, name);
	return api_fault_set(fault, code, "there is nothing at \"%.200s\"%s GET %.*s lists the names", match->path,
	                     api_suggest_text(&near, ".", suggestion), (int)strcspn(route->path, "{") - 1, route->path);
}

/* Whether a path may be suggested: it contains no names, and its faults are problems. Paths of other protocols are left
 * out: their clients know the right paths, and a typing error in another path must not lead there. */
static bool is_told(const struct api_route *route)
{
	return !strchr(route->path, '{') && !route->fail;
}

/* Lists the paths that may be suggested: "/a, /b". */
static void list_paths(const struct api_table *table, char *out, size_t bytes)
{
	size_t at = 0;
	out[0] = '\0';
	for (int i = 0; i < table->n && at < bytes; i++)
		if (is_told(&table->rows[i]))
			at += (size_t)snprintf(out + at, bytes - at, "%s%s", at ? ", " : "", table->rows[i].path);
}

/* Lists the paths below a name that the beginning of this path matches: "/evaluate, /check". @return false if it
 * matches no name */
static bool list_below(const struct api_match *match, char *out, size_t bytes, int *n_folder)
{
	size_t at = 0;
	out[0] = '\0';
	*n_folder = 0;
	for (int i = 0; i < match->table->n; i++) {
		const struct api_route *route = &match->table->rows[i];
		const char *name = strchr(route->path, '{'), *close = strchr(route->path, '}');
		if (!name || !close || route->fail || route->is_folder ||
		    strncmp(match->path, route->path, (size_t)(name - route->path)) != 0)
			continue;
		*n_folder = (int)(name - route->path) - 1;
		if (close[1] == '/' && at < bytes)
			at += (size_t)snprintf(out + at, bytes - at, "%s%s", at ? ", " : "", close + 1);
	}
	return *n_folder;
}

/* Sets the fault of a path that begins like paths with a name, but continues differently. */
static bool fault_below(const struct api_match *match, int n_folder, const char *below, struct api_fault *fault)
{
	if (!match->path[n_folder + 1])
		return api_fault_set(fault, API_E_UNKNOWN_PATH,
		                     "there is nothing at \"%.200s\": a name is missing; GET %.*s lists them", match->path,
		                     n_folder, match->path);
	return api_fault_set(fault, API_E_UNKNOWN_PATH,
	                     "there is nothing at \"%.200s\": a name after %.*s/ must not contain \"/\"%s%s", match->path,
	                     n_folder, match->path, *below ? "; it may be followed by " : "", below);
}

bool api_suggest_path(const struct api_match *match, struct api_fault *fault)
{
	char paths[200], suggestion[API_SUGGESTION_SIZE];
	struct api_suggestion near;
	int n_folder;
	if (match->route && match->route->is_servers && match->is_plain) /* a server would not have passed it on */
		return api_fault_set(fault, API_E_UNKNOWN_PATH, "only the server has \"%.200s\"", match->path);
	if (match->route && match->route->names)
		return fault_name(match, match->route->names, API_E_UNKNOWN_FUNCTION, fault);
	if (match->route && match->route->files)
		return fault_name(match, match->route->files, API_E_UNKNOWN_PATH, fault);
	if (list_below(match, paths, sizeof(paths), &n_folder))
		return fault_below(match, n_folder, paths, fault);
	api_suggest_start(&near, match->path);
	for (int i = 0; i < match->table->n; i++)
		if (is_told(&match->table->rows[i]))
			api_suggest_offer(&near, match->table->rows[i].path);
	list_paths(match->table, paths, sizeof(paths));
	return api_fault_set(fault, API_E_UNKNOWN_PATH, "there is nothing at \"%.200s\"%s Paths here: %s", match->path,
	                     api_suggest_text(&near, ".", suggestion), paths);
}
