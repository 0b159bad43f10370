#include "server/settings/options.h"

#include <stdlib.h>

const char *srv_kernels_name(const struct srv_options *options)
{
	static const char *const names[] = {"best", "avx512", "avx2", "baseline", "scalar"}; /* as in SRV_KERNELS */
	return names[options->kernels];
}

long long srv_library_threads(const struct srv_options *options)
{
	return options->gate.tls_cert ? 2 * options->io_threads : options->io_threads;
}

struct api_service srv_service(const struct srv_options *options)
{
	return (struct api_service){.n_threads = (int)options->threads,
	                            .max_json_bytes = (size_t)options->max_json_bytes,
	                            .max_frame_bytes = (size_t)options->max_frame_bytes,
	                            .max_answer_bytes = (size_t)options->max_answer_bytes,
	                            .max_contacts = (size_t)options->max_contacts,
	                            .max_vertices = (size_t)options->max_vertices};
}

void srv_options_free(struct srv_options *options)
{
	free(options->config_text);
	options->config_text = NULL;
}
