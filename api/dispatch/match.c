#include "api/dispatch/match.h"

#include <string.h>

#include "api/base/utf8.h"
#include "api/validate/url_query.h"

/* A message quotes 200 characters of a path, each of which may have come as %XX. */
_Static_assert(API_PATH_BYTES > 3 * 200, "messages never show what is cut off");

static void keep_name(struct api_match *match, int i, const char *text, size_t n, bool judged)
{
	const size_t bytes = n < API_NAME_BYTES ? n : API_NAME_BYTES - 1;
	memcpy(match->names[i], text, bytes);
	match->names[i][bytes] = '\0';
	match->is_broken |= !judged && (bytes < n || !api_is_utf8(match->names[i]));
}

/* Takes the part of *path that matches a name. close: the name's '}' */
static bool take_name(const struct api_route *route, const char *close, const char **path, struct api_match *match,
                      int i)
{
	const bool rest = route->is_folder && close[1] == '\0';
	const size_t n = rest ? strlen(*path) : strcspn(*path, "/");
	keep_name(match, i, *path, n, route->pattern);
	*path += n;
	return n > 0 || rest;
}

static bool leads_to(const struct api_route *route, struct api_match *match)
{
	const char *path = match->path, *row = route->path;
	match->is_broken = false;
	for (int i = 0; i < API_MAX_NAMES; i++)
		match->names[i][0] = '\0';
	for (int i = 0; *row; row++) {
		if (*row != '{') {
			if (*path++ != *row)
				return false;
			continue;
		}
		row = strchr(row, '}');
		if (!take_name(route, row, &path, match, i++))
			return false;
	}
	return *path == '\0';
}

static const struct api_route *find(const struct api_table *table, struct api_match *match)
{
	for (int i = 0; i < table->n; i++)
		if (leads_to(&table->rows[i], match))
			return &table->rows[i];
	return NULL;
}

void api_match_in(const struct api_table *table, const char *target, struct api_match *match)
{
	const size_t bytes = strcspn(target, "?"), kept = bytes < API_PATH_BYTES ? bytes : API_PATH_BYTES - 1;
	match->table = table;
	match->is_broken = false;
	match->url_query = target[bytes] ? target + bytes + 1 : "";
	memcpy(match->path, target, kept);
	match->path[kept] = '\0';
	const bool is_decoded = api_percent_decode(match->path);
	match->route = find(table, match);
	match->is_broken |= !is_decoded;
	match->is_plain = match->route && !strncmp(target, match->route->path, strcspn(match->route->path, "{"));
}
