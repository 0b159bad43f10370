#include "api/pages/pages.h"

#include <stdlib.h>

#include "api/dispatch/answer.h"
#include "api/pages/assets.h"

bool api_page_exists(const struct api_match *match)
{
	return api_asset_find(match->path);
}

/* Adds headers by which the page may contact only this service, and no other page may embed it. */
void api_page_headers(struct api_response *response)
{
	static const struct {
		const char *name, *value;
	} headers[] = {
		{"Cache-Control", "no-cache"},
		{"Content-Security-Policy",
	     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
	     "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Referrer-Policy", "no-referrer"},
		{"X-Content-Type-Options", "nosniff"},
	};
	for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
		api_response_add_header(response, headers[i].name, headers[i].value);
}

static bool get_asset(const struct api_call *call)
{
	struct api_response *response = call->response;
	const struct api_asset *asset = api_asset_find(call->request->match->path);
	char tag[API_ETAG];
	api_asset_tag(asset, tag);
	api_page_headers(response);
	api_response_add_header(response, "ETag", tag);
	response->parts = malloc(sizeof *response->parts);
	if (!response->parts)
		return false;
	response->status = api_tag_is_known(call->request->if_none_match, tag) ? 304 : 200;
	response->content_type = response->status == 200 ? asset->type : NULL;
	response->parts[0] = (struct api_part){asset->bytes, (size_t)(asset->end - asset->bytes)};
	response->n_parts = 1;
	response->body_bytes = response->parts[0].n;
	return true;
}

/* clang-format off */
const struct api_operation api_get_page = {
	.handler = get_asset, .has_tag = true, .content = "{'text/html': {'schema': {'type': 'string'}}}",
	.id = "explorer", .tag = "service", .summary = "The explorer, a page for trying out the service",
	.description = "With an ETag. Requires no token.",
};
const struct api_operation api_get_file = {
	.handler = get_asset, .has_tag = true,
	.content = "{'text/javascript': {'schema': {'type': 'string'}}, 'text/css': {'schema': {'type': 'string'}},"
	           " '*/*': {'schema': {}}}",
	.id = "explorerFile", .tag = "service", .summary = "The explorer's scripts and styles",
	.description = "With an ETag. Requires no token.",
};
/* clang-format on */
