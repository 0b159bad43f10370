/** The options of frictiond, as they are in effect. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "api/api.h"
#include "server/access/gate.h"

#include <stdbool.h>

/* The inner loops by name; with "best" the core chooses. */
#define SRV_KERNELS "best, avx512, avx2, baseline, scalar"

enum srv_command { SRV_SERVE, SRV_CHECK, SRV_HEALTH };

struct srv_options {
	const char *host;      /* like all texts borrowed from argv, the environment or config_text */
	bool port_is_given;    /* and not the default */
	long long port;        /* 0: a free one; -1: none */
	const char *unix_path; /* NULL: none */
	long long unix_mode;
	long long threads;
	long long max_json_bytes;
	long long max_frame_bytes;
	long long max_answer_bytes;
	long long max_contacts;
	long long max_vertices;
	long long memory_bytes;
	long long set_bytes;
	long long set_bytes_per_caller;
	long long sets;
	long long sets_per_caller;
	long long set_idle_seconds;
	long long connections;
	long long connections_per_address;
	long long deadline_seconds;
	long long receive_seconds;
	long long send_seconds;
	long long io_threads;
	long long queue_requests;
	long long queue_bytes;
	long long pool_bytes;
	long long idle_seconds;
	long long drain_seconds;
	long long kernels;    /* position in SRV_KERNELS */
	long long log_level;  /* enum srv_level */
	long long log_format; /* enum srv_log_format */
	struct srv_gate_settings gate;
	const char *config;       /* the file that options were read from; NULL: none */
	char *config_text;        /* private */
	enum srv_command command; /* check and health take all of the above as well */
	/* Of `frictiond check`: */
	bool json;        /* --json */
	bool derivatives; /* --derivatives */
	const char *file; /* the request's; "-" is standard input */
	/* Of `frictiond health`: */
	bool ready; /* --ready */
	long long timeout_seconds;
};

/* Exit codes. */
enum srv_exit_code {
	SRV_CODE_OK = 0,     /* stopped by a signal, or printed what was requested */
	SRV_CODE_FAILED = 1, /* could not run; check: does not agree; health: not healthy, or an option is wrong */
	SRV_CODE_BAD = 2,    /* an option is wrong, wherever it was given; check: could not be checked */
};

/* The texts are no longer valid. */
void srv_options_free(struct srv_options *options);

/* What the options promise to clients; without kernels, pool and description. */
struct api_service srv_service(const struct srv_options *options);

/* Threads of the HTTP library: beside TLS, connections over Unix-domain sockets have as many again. */
long long srv_library_threads(const struct srv_options *options);

/* The word given for --kernels. */
const char *srv_kernels_name(const struct srv_options *options);

#endif
