/**
 * JSON Schema (2020-12) generated from the tables of fields.
 */
#ifndef API_SCHEMA_H
#define API_SCHEMA_H

#include <jansson.h>

#include "api/api.h"
#include "api/contract/fields.h"

/* A tree under construction. `failed` is sticky: it is set when memory runs out, and checked once at the end. */
struct api_schemas {
	const struct api_service *service; /* provides the limits */
	json_t *components;                /* all schemas by name; borrowed */
	bool is_request;                   /* for a request: arrays may be flat, and one row may be sent for all */
	bool in_frame;                     /* for a frame: arrays may be references */
	bool failed;
};

/* Adds value and returns it, as api_render_add does. Takes over the reference; NULL marks a failure. */
json_t *api_schema_set(struct api_schemas *schemas, json_t *object, const char *name, json_t *value);
json_t *api_schema_append(struct api_schemas *schemas, json_t *list, json_t *value);
/* Makes {"$ref": "#/components/KIND/NAME"}. */
json_t *api_schema_ref(const char *kind, const char *name);
/* Makes {"anyOf": forms}, or returns the only form. Takes over the list. */
json_t *api_schema_any_of(struct api_schemas *schemas, json_t *forms);
/* Makes a string. Arguments as for printf. */
__attribute__((format(printf, 1, 2))) json_t *api_schema_text(const char *format, ...);

/* Makes a {"$ref": ...} to a schema among the components, and first adds the schema if it is missing. */
json_t *api_schema_of(struct api_schemas *schemas, const struct api_object *object);
/* Makes the schema of one field with its description. type: the type of the object that has the field */
json_t *api_schema_field(struct api_schemas *schemas, const struct api_rule *rule, int type);
/* Makes the constraints that a dimension adds to the fields of a request: lengths of rows, and fields that do not exist
 * in it. */
json_t *api_schema_of_dimension(struct api_schemas *schemas, const struct api_object *object, int dim);
/* Makes the schema of a reference to an array of a frame. */
json_t *api_schema_reference(void);

#endif
