/* The whole of api_handle. Input: a byte each for route, method, types and settings; up to a line feed, a part of the
 * target (what follows the path of the route); the rest is the body. */
#include "api/base/pool.h"
#include "api/codec/media.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/judge.h"

static const char *const routes[] = {"/v1/evaluate",
                                     "/v1/functions/smooth_mu",
                                     "/v1/functions/smooth_friction_f0",
                                     "/v1/functions/anisotropic_mu_eff_from_tau_aniso",
                                     "/v1/functions/anisotropic_mu_eff_f",
                                     "/v1/functions/anisotropic_x_from_tau_aniso",
                                     "/v1/functions/smooth_mu_f2_x_minus_mu_f1_over_x3",
                                     "/v1/functions",
                                     "/v1/functions/",
                                     "/v1/info",
                                     "/healthz",
                                     "/readyz",
                                     "/v1/",
                                     "",
                                     "/v1/check",
                                     "/v1/functions/law_force",
                                     "/Info",
                                     "/ModelInfo",
                                     "/InputSizes",
                                     "/OutputSizes",
                                     "/Evaluate",
                                     "/Gradient",
                                     "/ApplyJacobian",
                                     "/ApplyHessian",
                                     "/v1/jvp",
                                     "/v1/vjp",
                                     "/v1/contacts"};
static const char *const methods[] = {"POST", "GET", "HEAD", "PUT", ""};
static const char *const contents[] = {
	api_media_json, api_media_frame, NULL, "application/json; charset=utf-8", "text/plain", ""};
static const char *const accepts[] = {NULL,
                                      api_media_json,
                                      api_media_frame,
                                      "*/*",
                                      "application/*;q=0.5, text/html",
                                      "text/html",
                                      "application/json;q=0",
                                      "application/vnd.frictiond.frame;q=0.3,*/*;q=0.2"};
static const char *const kernels[] = {"best", "scalar", "baseline", "avx2"};

#define CHOOSE(list, byte) (list)[(byte) % (sizeof(list) / sizeof((list)[0]))]

/* The bits of the settings choose threads, the response limit, the pool and kernels. */
static struct api_service service_of(uint8_t settings)
{
	static struct api_pool *pool;
	struct api_service service = {.n_threads = settings & 1 ? 2 : 1,
	                              .max_json_bytes = 1 << 20,
	                              .max_frame_bytes = 1 << 20,
	                              .max_answer_bytes = settings & 16 ? 2000 : 16 << 20};
	if (!pool)
		pool = api_pool_create(64 << 20, NULL);
	service.pool = settings & 2 ? pool : NULL;
	if (!api_choose_kernels(&service, kernels[settings >> 2 & 3]))
		service.kernels = NULL;
	return service;
}

static char *handle(const struct api_service *service, const struct api_request *request, struct api_response *response)
{
	memset(response, 0xAB, sizeof(*response));
	api_handle(service, request, response);
	char *body = fuzz_body(response);
	fuzz_judge(service, request, response, body);
	return body;
}

/* One build returns the same bytes for a request with any threads, memory and kernels. */
static void handle_again(const struct api_request *request, uint8_t settings, const struct api_response *first,
                         const char *first_body)
{
	struct api_response response;
	const struct api_service service = service_of((uint8_t)(settings ^ 0x0F));
	char *body = handle(&service, request, &response);
	if (strncmp(request->target, "/v1/info", strlen("/v1/info")) != 0) /* /v1/info reports the threads */
		fuzz_same_answers(first, first_body, &response, body);
	free(body);
	api_response_free(&response);
}

/* Builds the target in a block of exactly its size. */
static char *target_of(struct fuzz_input *input, const char *route)
{
	const uint8_t *line = memchr(input->at, '\n', fuzz_left(input)), *end = line ? line : input->at;
	const size_t n = (size_t)(end - input->at), bytes = strlen(route);
	char *target = calloc(bytes + n + 1, 1);
	FUZZ_CHECK(target, "out of memory");
	memcpy(target, route, bytes);
	if (n)
		memcpy(target + bytes, input->at, n);
	input->at = line ? line + 1 : input->at;
	return target;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input input = {data, data + size};
	const uint8_t route = fuzz_byte(&input), method = fuzz_byte(&input), types = fuzz_byte(&input),
				  settings = fuzz_byte(&input);
	const struct api_service service = service_of(settings);
	const atomic_bool stop = true;
	char *target = target_of(&input, CHOOSE(routes, route)), *copy = fuzz_copy(input.at, fuzz_left(&input));
	struct api_request request = {.method = CHOOSE(methods, method),
	                              .target = target,
	                              .content_type = CHOOSE(contents, types),
	                              .accept = CHOOSE(accepts, types >> 3),
	                              .request_id = "id",
	                              .body = copy,
	                              .body_bytes = fuzz_left(&input),
	                              .stop = settings >> 5 == 7 ? &stop : NULL};
	struct api_response response;
	char *body = handle(&service, &request, &response);
	if (settings & 32)
		handle_again(&request, settings, &response, body);
	(void)api_is_large(&service, &request);
	free(body);
	api_response_free(&response);
	free(target);
	free(copy);
	return 0;
}
