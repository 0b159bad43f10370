/**
 * The scene that comes with the service: what models of UM-Bridge (bridge.h) are about that name no collision set. Two
 * blocks and a floor, as meshes and as rigid bodies, with contacts of every type; docs/um-bridge.md describes it.
 */
#ifndef API_SCENE_H
#define API_SCENE_H

#include "api/codec/document.h"
#include "api/validate/question.h"

/* What api_check_set finds out about it. */
extern const struct api_set_facts api_scene_facts;

/**
 * Its document, as that of a collision set.
 * @param document  to be freed with api_document_free
 * @return false with *fault: 503
 */
bool api_scene_read(struct api_pool *pool, struct api_document *document, struct api_fault *fault);

#endif
