/**
 * Counts all memory of the program, and can refuse some of it to a schedule. Replaces malloc, mmap and their like, also
 * for the libraries.
 */
#ifndef SIMULATOR_MEMORY_H
#define SIMULATOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct memory_counts {
	long long n_blocks; /* allocated by malloc and not freed yet */
	long long bytes;    /* total size of these blocks */
	long long mapped_bytes;
	long long peak_bytes; /* maximum of bytes and mapped_bytes together since memory_forget_peak */
	long long n_failed;   /* allocations refused so far */
};

/* Starts to count. The program must be single-threaded from here on. */
void memory_start(void);
struct memory_counts memory_counts(void);
void memory_forget_peak(void);

/* Marks the service's code: its allocations may be refused, the simulator's own never are. */
void memory_enter_service(void);
void memory_leave_service(void);

/* Grants the service's next `first` allocations and then refuses `n`. n 0: refuses none */
void memory_refuse(size_t first, size_t n);

#endif
