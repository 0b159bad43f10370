#include "api/contract/route.h"

#include <stdio.h>
#include <string.h>

static const char *const method_names[API_N_METHODS] = {"GET", "POST", "PUT", "PATCH", "DELETE"};

const struct api_operation *api_operation_of(const struct api_route *route, const char *method)
{
	const char *name = strcmp(method, "HEAD") ? method : "GET";
	for (int i = 0; i < API_N_METHODS; i++)
		if (!strcmp(name, method_names[i]))
			return route->methods[i];
	return NULL;
}

static void add(char allow[API_ALLOW_BYTES], const char *name)
{
	const size_t at = strlen(allow);
	snprintf(allow + at, API_ALLOW_BYTES - at, "%s%s", at ? ", " : "", name);
}

static void add_method(char allow[API_ALLOW_BYTES], enum api_method method)
{
	add(allow, method_names[method]);
	if (method == API_GET)
		add(allow, "HEAD");
}

void api_route_allow(const struct api_route *route, char allow[API_ALLOW_BYTES])
{
	const struct api_table table = {route, 1};
	api_table_allow(&table, allow);
}

static bool has_method(const struct api_table *table, enum api_method method)
{
	for (int i = 0; i < table->n; i++)
		if (table->rows[i].methods[method])
			return true;
	return false;
}

void api_table_allow(const struct api_table *table, char allow[API_ALLOW_BYTES])
{
	allow[0] = '\0';
	for (enum api_method method = 0; method < API_N_METHODS; method++)
		if (has_method(table, method))
			add_method(allow, method);
}
