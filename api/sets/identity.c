#include "api/sets/identity.h"

#include <string.h>

#define XXH_STATIC_LINKING_ONLY /* for the type of the state of a hash over several parts */
#include <xxhash.h>

#include "core/fric.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "stencils are hashed as they lie in memory");

/* The input of a version, piece by piece. A long piece is replaced by its hash, so that the input stays short. */
struct pieces {
	char bytes[256];
	size_t n;
};

static void append(struct pieces *pieces, const void *bytes, size_t n)
{
	memcpy(pieces->bytes + pieces->n, bytes, n);
	pieces->n += n;
}

static void append_text(struct pieces *pieces, const char *text)
{
	append(pieces, text, strlen(text));
}

static void append_integer(struct pieces *pieces, uint64_t value)
{
	append(pieces, &value, sizeof(value));
}

static XXH128_canonical_t hash(const void *bytes, size_t n)
{
	XXH128_canonical_t canonical;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes, n));
	return canonical;
}

static void append_hash(struct pieces *pieces, const void *bytes, size_t n)
{
	const XXH128_canonical_t canonical = hash(bytes, n);
	append(pieces, canonical.digest, sizeof(canonical.digest));
}

static void append_hash_of_parts(struct pieces *pieces, const struct api_part *parts, size_t n_parts)
{
	XXH3_state_t state;
	XXH128_canonical_t canonical;
	if (n_parts == 1) {
		append_hash(pieces, parts->bytes, parts->n);
		return;
	}
	XXH3_INITSTATE(&state);
	XXH3_128bits_reset(&state);
	for (size_t i = 0; i < n_parts; i++)
		XXH3_128bits_update(&state, parts[i].bytes, parts[i].n);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&state));
	append(pieces, canonical.digest, sizeof(canonical.digest));
}

static void print(const struct pieces *pieces, char version[API_VERSION_BYTES])
{
	static const char digits[] = "0123456789abcdef";
	const XXH128_canonical_t canonical = hash(pieces->bytes, pieces->n);
	for (size_t i = 0; i < sizeof(canonical.digest); i++) {
		*version++ = digits[canonical.digest[i] >> 4];
		*version++ = digits[canonical.digest[i] & 15];
	}
	*version = '\0';
}

static const char *name_of(enum api_format format)
{
	return format == API_FRAME ? "frame " : "json ";
}

void api_version_of_body(enum api_format format, const struct api_part *parts, size_t n_parts,
                         char version[API_VERSION_BYTES])
{
	struct pieces pieces = {.n = 0};
	append_text(&pieces, "body ");
	append_text(&pieces, name_of(format));
	append_hash_of_parts(&pieces, parts, n_parts);
	print(&pieces, version);
}

void api_version_of_patch(const char *before, enum api_format format, const struct api_part *parts, size_t n_parts,
                          char version[API_VERSION_BYTES])
{
	struct pieces pieces = {.n = 0};
	append_text(&pieces, "patch ");
	append_text(&pieces, name_of(format));
	append(&pieces, before, strnlen(before, API_VERSION_BYTES - 1));
	append_hash_of_parts(&pieces, parts, n_parts);
	print(&pieces, version);
}

static void append_groups(struct pieces *pieces, const struct fric_batch *batch, int begin, int end)
{
	for (int type = begin; type < end; type++) {
		const struct fric_group *group = &batch->groups[type];
		append_integer(pieces, group->n);
		append_hash(pieces, group->vertices,
		            group->n * (size_t)fric_stencil_size((enum fric_type)type) * sizeof(*group->vertices));
	}
}

void api_stencils_identify(const struct fric_batch *batch, char version[API_VERSION_BYTES])
{
	struct pieces pieces = {.n = 0};
	append_text(&pieces, "stencils ");
	append_integer(&pieces, (uint64_t)batch->dim);
	append_integer(&pieces, batch->n_vertices);
	append_groups(&pieces, batch, 0, FRIC_N_VERTEX_TYPES);
	if (batch->n_bodies) {
		append_integer(&pieces, batch->n_bodies);
		append_groups(&pieces, batch, FRIC_N_VERTEX_TYPES, FRIC_N_TYPES);
	}
	print(&pieces, version);
}

bool api_is_version(const char *text)
{
	return strlen(text) == API_VERSION_BYTES - 1 && text[strspn(text, "0123456789abcdef")] == '\0';
}

bool api_is_set_name(const char *name)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~-";
	const size_t n = strspn(name, allowed);
	return name[n] == '\0' && n >= 1 && n <= 64 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}
