#include "api/pages/assets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PAGE "text/html; charset=utf-8"
#define STYLE "text/css; charset=utf-8"
#define SCRIPT "text/javascript; charset=utf-8"
#define ICON "image/svg+xml; charset=utf-8"

#define ASSETS(X) \
	X(index, "/", "index.html", PAGE) \
	X(style, "/explorer/explorer.css", "explorer.css", STYLE) \
	X(icon, "/explorer/icon.svg", "icon.svg", ICON) \
	X(main, "/explorer/explorer.js", "explorer.js", SCRIPT) \
	X(link, "/explorer/link.js", "link.js", SCRIPT) \
	X(take, "/explorer/take.js", "take.js", SCRIPT) \
	X(picture, "/explorer/picture.js", "picture.js", SCRIPT) \
	X(start, "/explorer/start.js", "start.js", SCRIPT) \
	X(laws, "/explorer/laws.js", "laws.js", SCRIPT) \
	X(batch, "/explorer/batch.js", "batch.js", SCRIPT) \
	X(batch_contacts, "/explorer/batch_contacts.js", "batch_contacts.js", SCRIPT) \
	X(batch_examples, "/explorer/batch_examples.js", "batch_examples.js", SCRIPT) \
	X(batch_lists, "/explorer/batch_lists.js", "batch_lists.js", SCRIPT) \
	X(batch_scene, "/explorer/batch_scene.js", "batch_scene.js", SCRIPT) \
	X(batch_text, "/explorer/batch_text.js", "batch_text.js", SCRIPT) \
	X(motion, "/explorer/motion.js", "motion.js", SCRIPT) \
	X(motion_worker, "/explorer/motion_worker.js", "motion_worker.js", SCRIPT) \
	X(scenes, "/explorer/scenes.js", "scenes.js", SCRIPT) \
	X(chart, "/explorer/chart.js", "chart.js", SCRIPT) \
	X(columns, "/explorer/columns.js", "columns.js", SCRIPT) \
	X(fit, "/explorer/fit.js", "fit.js", SCRIPT) \
	X(service, "/explorer/service.js", "service.js", SCRIPT) \
	X(controls, "/explorer/controls.js", "controls.js", SCRIPT) \
	X(svg, "/explorer/svg.js", "svg.js", SCRIPT) \
	X(plot, "/explorer/plot.js", "plot.js", SCRIPT) \
	X(exchange, "/explorer/exchange.js", "exchange.js", SCRIPT) \
	X(balance, "/explorer/balance.js", "balance.js", SCRIPT) \
	X(friction_laws, "/explorer/friction_laws.js", "friction_laws.js", SCRIPT) \
	X(points, "/explorer/points.js", "points.js", SCRIPT) \
	X(law_plots, "/explorer/law_plots.js", "law_plots.js", SCRIPT) \
	X(ellipse, "/explorer/ellipse.js", "ellipse.js", SCRIPT) \
	X(incline, "/explorer/incline.js", "incline.js", SCRIPT) \
	X(spy, "/explorer/spy.js", "spy.js", SCRIPT)

#ifndef API_WEB
#define API_WEB "web/" /* where the Makefile does not strip the files, as for static checks */
#endif

/* Includes a file with .incbin, because ISO C does not guarantee string literals of this length. Paths are relative to
 * the directory in which make runs. */
#define INCLUDE(name, path, file, type) \
	__asm__(".pushsection .rodata\n" \
	        ".globl api_asset_" #name "\n.hidden api_asset_" #name "\napi_asset_" #name ":\n" \
	        ".incbin \"" API_WEB file "\"\n" \
	        ".globl api_asset_" #name "_end\n.hidden api_asset_" #name "_end\napi_asset_" #name "_end:\n" \
	        ".byte 0\n.popsection\n"); \
	extern const char api_asset_##name[], api_asset_##name##_end[];
ASSETS(INCLUDE)
#undef INCLUDE

static const struct api_asset assets[] = {
#define ROW(name, path, file, type) {path, type, api_asset_##name, api_asset_##name##_end},
	ASSETS(ROW)
#undef ROW
};

const struct api_asset *api_asset_find(const char *path)
{
	for (size_t i = 0; i < sizeof assets / sizeof assets[0]; i++)
		if (!strcmp(path, assets[i].path))
			return &assets[i];
	return NULL;
}

/* Hashes with FNV-1a: clients do not choose the bytes, so the hash need not resist attacks. */
void api_asset_tag(const struct api_asset *asset, char tag[API_ETAG])
{
	uint64_t hash = 0xcbf29ce484222325;
	for (const char *at = asset->bytes; at < asset->end; at++)
		hash = (hash ^ (unsigned char)*at) * 0x100000001b3;
	snprintf(tag, API_ETAG, "\"%016" PRIx64 "\"", hash);
}
