/**
 * All memory of the program is counted, and a schedule may have some of it refused: malloc, mmap and their like are
 * replaced, for the libraries as well.
 */
#ifndef SIMULATOR_MEMORY_H
#define SIMULATOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory_counts {
	long long n_blocks; /* of malloc's, not freed yet */
	long long bytes;    /* in them */
	long long mapped_bytes;
	long long peak_bytes; /* most of both together since memory_forget_peak */
	long long n_failed;   /* that were refused so far */
};

/* From here on, with one thread. */
void memory_start(void);
struct memory_counts memory_counts(void);
void memory_forget_peak(void);

/* While the service runs, what it asks for may be refused; what the simulator does for itself never is. */
void memory_enter_service(void);
void memory_leave_service(void);

/* Of what the service asks for from now on, `first` are granted and then `n` refused. n 0: none any more */
void memory_refuse(size_t first, size_t n);

#endif
