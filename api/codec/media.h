/**
 * Parses media types in Content-Type and Accept (RFC 9110).
 */
#ifndef API_MEDIA_H
#define API_MEDIA_H

#include <stdbool.h>

extern const char api_media_json[];  /* "application/json" */
extern const char api_media_merge[]; /* "application/merge-patch+json" */
extern const char api_media_frame[]; /* "application/vnd.frictiond.frame" */

/* Whether the header names `type` ("application/json"), ignoring parameters and case. False for NULL. */
bool api_media_is(const char *content_type, const char *type);

/* The quality 0..1 that an Accept header assigns to `type` in the most specific matching range; 0 if none matches. */
double api_media_quality(const char *accept, const char *type);

#endif
