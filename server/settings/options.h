/** The options of frictiond, as they are in effect. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include "api/api.h"
#include "server/access/gate.h"
#include "server/settings/list.h"

#include <stdbool.h>

/* Names of the inner loops; "best" leaves the choice to the core. */
#define SRV_KERNELS "best, avx512, avx2, baseline, scalar"

enum srv_command { SRV_SERVE, SRV_CHECK, SRV_HEALTH };

/* Strings are borrowed from argv, the environment or config_text. A word is stored as its position: kernels in
 * SRV_KERNELS, log_level and log_format in enum srv_level and srv_log_format. */
struct srv_options {
#define SRV_TEXT_MEMBER const char *
#define SRV_COUNT_MEMBER long long
#define SRV_BYTES_MEMBER long long
#define SRV_WORD_MEMBER long long
#define SRV_PORT_MEMBER long long
#define SRV_MODE_MEMBER long long
#define SRV_MEMBER(member, kind, ...) kind##_MEMBER member;
	SRV_OPTIONS(SRV_MEMBER)
	bool port_is_given; /* set explicitly, rather than by default */
	struct srv_gate_settings gate;
	const char *config;       /* file from which options were read; NULL: none */
	char *config_text;        /* text of that file, to which strings point */
	enum srv_command command; /* check and health accept all of the above as well */
	/* For `frictiond check`: */
	bool json;          /* --json */
	bool derivatives;   /* --derivatives */
	const char *claims; /* path of a document with claims (--claims); NULL: none */
	const char *file;   /* path of the request; "-" is standard input */
	/* For `frictiond health`: */
	bool ready; /* --ready */
	long long timeout_seconds;
};

enum srv_exit_code {
	SRV_CODE_OK = 0,     /* stopped by a signal, or printed the requested text */
	SRV_CODE_FAILED = 1, /* failed to run; check: derivatives disagree; health: not healthy, or an option is invalid */
	SRV_CODE_BAD = 2,    /* an option is invalid, whatever its source; check: the comparison was not possible */
};

/* Frees config_text, which invalidates the strings. */
void srv_options_free(struct srv_options *options);

/* The settings that clients can see; without kernels, pool and description. */
struct api_service srv_service(const struct srv_options *options);

/* Threads of the HTTP library. Unix-domain sockets together with TLS need as many again. */
long long srv_library_threads(const struct srv_options *options);

/* The word of --kernels. */
const char *srv_kernels_name(const struct srv_options *options);

#endif
