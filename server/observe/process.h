/** Resource usage of this process, from /proc. */
#ifndef SERVER_PROCESS_H
#define SERVER_PROCESS_H

#include <stdint.h>

/* A value that cannot be read is 0. */
struct srv_process {
	double start_seconds; /* Unix time */
	double cpu_seconds;   /* used by all threads, in user and system mode */
	uint64_t resident_bytes, virtual_bytes;
	uint64_t n_threads;
	uint64_t n_open_files, max_open_files;
};

void srv_process_read(struct srv_process *process);

#endif
