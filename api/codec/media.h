/**
 * Media types in Content-Type and Accept (RFC 9110).
 */
#ifndef API_MEDIA_H
#define API_MEDIA_H

#include <stdbool.h>

extern const char api_media_json[];  /* "application/json" */
extern const char api_media_merge[]; /* "application/merge-patch+json" */
extern const char api_media_frame[]; /* "application/vnd.frictiond.frame" */

/* Whether the header's type is `type` ("application/json"), ignoring parameters and case. False for NULL. */
bool api_media_is(const char *content_type, const char *type);

/* Quality 0..1 that an Accept header gives to `type`: by the most specific range that matches; 0 if none does. */
double api_media_quality(const char *accept, const char *type);

#endif
