/* Compares the query of GET /v1/functions/NAME with a POST of the same parameters. Input: a byte for the function, then
 * the query. */
#include "api/base/json_memory.h"
#include "api/codec/media.h"
#include "api/compute/functions.h"
#include "api/numbers/numbers.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/judge.h"

static const char *const names[] = {"smooth_mu",
                                    "smooth_friction_f0",
                                    "smooth_friction_f2_x_minus_f1_over_x3",
                                    "anisotropic_x_from_tau_aniso",
                                    "anisotropic_mu_eff_f",
                                    "anisotropic_mu_eff_from_tau_aniso",
                                    "smooth_mu_f2_x_minus_mu_f1_over_x3",
                                    "law_potential",
                                    "law_force_derivative"};

static const struct api_service service = {
	.n_threads = 1, .max_json_bytes = 1 << 20, .max_frame_bytes = 1 << 20, .max_answer_bytes = 16 << 20};

/* ---- a second parser of queries ---- */

static int digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* @return false for a broken escape or a NUL */
static bool decode(const char *from, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		if (from[i] != '%') {
			*out++ = from[i];
			continue;
		}
		const int high = i + 2 < n ? digit(from[i + 1]) : -1, low = i + 2 < n ? digit(from[i + 2]) : -1;
		if (high < 0 || low < 0 || high + low == 0)
			return false;
		*out++ = (char)(16 * high + low);
		i += 2;
	}
	*out = '\0';
	return true;
}

/* Reads a number in JSON's grammar; NULL if the text is not one. */
static json_t *number_of(const char *text, size_t n)
{
	struct api_number number;
	const bool plus = n > 1 && *text == '+' && text[1] != '-';
	text += plus;
	n -= plus;
	if (api_number_read(text, text + n, &number) != API_NUMBER_OK || number.end != text + n)
		return NULL;
	return json_real(number.value);
}

static json_t *numbers_of(const char *text, bool list)
{
	json_t *array = json_array();
	for (;; text++) {
		const size_t n = strcspn(text, ",");
		json_t *number = number_of(text, n);
		if (!number || json_array_append_new(array, number)) {
			json_decref(array);
			return NULL;
		}
		text += n;
		if (!*text)
			break;
	}
	if (list || json_array_size(array) > 1)
		return array;
	json_t *number = json_incref(json_array_get(array, 0));
	json_decref(array);
	return number;
}

static json_t *value_of(const char *name, const char *text, bool first)
{
	if (strcmp(name, "law") != 0 && strcmp(name, "mu_transition") != 0 && strcmp(name, "no_mu") != 0)
		return numbers_of(text, first);
	return !strcmp(text, "true") ? json_true() : !strcmp(text, "false") ? json_false() : json_string(text);
}

/* The index of a parameter; -1 if unknown. */
static int place_of(const char *name, const struct api_object *known)
{
	int place = 0;
	for (int i = 0; i < known->n_rules; i++) {
		if (!api_rule_applies(&known->rules[i], known))
			continue;
		if (!strcmp(name, known->rules[i].name))
			return place;
		place++;
	}
	return -1;
}

/* A document with the parameters; NULL if the query is invalid. */
static json_t *document_of(const char *url_query, const struct api_object *known)
{
	json_t *document = json_object();
	char *name = malloc(strlen(url_query) + 1), *value = malloc(strlen(url_query) + 1);
	bool ok = name && value;
	for (const char *p = url_query; ok && *p;) {
		const size_t n = strcspn(p, "&"), n_name = strcspn(p, "=") < n ? strcspn(p, "=") : n;
		if (n > 0) {
			const bool valued = n_name < n;
			ok = decode(p, n_name, name) && decode(p + n_name + valued, n - n_name - valued, value) &&
			     place_of(name, known) >= 0 && !json_object_get(document, name) &&
			     !json_object_set_new(document, name, value_of(name, value, place_of(name, known) == 0));
		}
		p += n;
		p += *p == '&';
	}
	free(name);
	free(value);
	if (ok)
		return document;
	json_decref(document);
	return NULL;
}

/* ---- one input ---- */

static void check_post(const char *target, json_t *document, const struct api_response *expected,
                       const char *expected_body)
{
	char *text = json_dumps(document, JSON_REAL_PRECISION(17)), *path = strndup(target, strcspn(target, "?"));
	const struct api_request request = {.method = "POST",
	                                    .target = path,
	                                    .content_type = api_media_json,
	                                    .body = text,
	                                    .body_bytes = text ? strlen(text) : 0};
	struct api_response response;
	FUZZ_CHECK(text && path, "out of memory");
	api_handle(&service, &request, &response);
	char *body = fuzz_body(&response);
	FUZZ_CHECK(response.status == expected->status, "POST %s: %d: %s", text, response.status, body);
	if (response.status == 200)
		fuzz_same_answers(expected, expected_body, &response, body);
	free(body);
	api_response_free(&response);
	api_json_memory_give(text);
	free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, data + size};
	const char *name = names[fuzz_below(&input, sizeof(names) / sizeof(names[0]))];
	char *target = calloc(fuzz_left(&input) + 128, 1);
	FUZZ_CHECK(target, "out of memory");
	const int bytes = snprintf(target, 128, "/v1/functions/%s?", name);
	if (fuzz_left(&input))
		memcpy(target + bytes, input.at, fuzz_left(&input));
	target = realloc(target, strlen(target) + 1);
	const struct api_request request = {.method = "GET", .target = target, .request_id = "id"};
	const struct api_object *known = api_function_parameters(api_function_find(name));
	struct api_response response;
	api_handle(&service, &request, &response);
	char *body = fuzz_body(&response);
	fuzz_judge(&service, &request, &response, body);
	json_t *document = document_of(target + bytes, known);
	FUZZ_CHECK(document || response.status != 200, "%s is not a query", target);
	if (document)
		check_post(target, document, &response, body);
	json_decref(document);
	free(body);
	api_response_free(&response);
	free(target);
	return 0;
}
