/**
 * The files of the explorer page (web/), which are compiled into the program.
 */
#ifndef API_ASSETS_H
#define API_ASSETS_H

enum { API_ETAG = 20 };

/* A file; all members are static. */
struct api_asset {
	const char *path; /* path in its URL */
	const char *type; /* Content-Type */
	const char *bytes, *end;
};

/* @return NULL if no file has this path */
const struct api_asset *api_asset_find(const char *path);

/* Sets a strong entity tag, quotes included. It changes with the bytes. */
void api_asset_tag(const struct api_asset *asset, char tag[API_ETAG]);

#endif
