#include "parallel.h"

#include "contacts.h"

static bool stopped(const struct fric_context *context)
{
	return context->stop && atomic_load_explicit(context->stop, memory_order_relaxed);
}

static void run_chunk(size_t chunk, size_t n, chunk_work *work, void *task, struct fault *fault)
{
	const size_t begin = chunk * FRIC_CHUNK, end = begin + FRIC_CHUNK < n ? begin + FRIC_CHUNK : n;
	work(task, chunk, begin, end, fault);
}

static struct fault run_serially(const struct fric_context *context, size_t n, chunk_work *work, void *task)
{
	struct fault fault = {FRIC_OK, SIZE_MAX};
	for (size_t chunk = 0; chunk < n_chunks(n) && fault.code == FRIC_OK; chunk++) {
		if (stopped(context))
			return (struct fault){FRIC_E_STOPPED, SIZE_MAX};
		run_chunk(chunk, n, work, task, &fault);
	}
	return fault;
}

/* A serial run opens no parallel region: a thread that does gets a pool of its own from libgomp, and keeps it. */
struct fault parallel_chunks(const struct fric_context *context, size_t n, chunk_work *work, void *task)
{
	if (context->n_threads == 1 || n_chunks(n) <= 1)
		return run_serially(context, n, work, task);
	struct fault lowest = {FRIC_OK, SIZE_MAX};
	bool was_stopped = false;
#pragma omp parallel for num_threads(context->n_threads) schedule(dynamic) reduction(|| : was_stopped)
	for (size_t chunk = 0; chunk < n_chunks(n); chunk++) {
		struct fault fault = {FRIC_OK, SIZE_MAX};
		if (stopped(context)) {
			was_stopped = true;
			continue;
		}
		run_chunk(chunk, n, work, task, &fault);
		if (fault.code == FRIC_OK)
			continue;
#pragma omp critical(fric_lowest_fault)
		if (fault.position < lowest.position)
			lowest = fault;
	}
	return was_stopped ? (struct fault){FRIC_E_STOPPED, SIZE_MAX} : lowest;
}

void parallel_parts(const struct fric_context *context, size_t n, void (*work)(void *task, int part, int n_parts),
                    void *task)
{
	if (context->n_threads == 1 || n_chunks(n) <= 1) {
		work(task, 0, 1);
		return;
	}
	const int n_parts = context->n_threads;
#pragma omp parallel for num_threads(n_parts) schedule(static, 1)
	for (int part = 0; part < n_parts; part++)
		work(task, part, n_parts);
}

enum fric_code report_fault(const struct fric_contacts *contacts, struct fault fault, struct fric_error *error)
{
	if (fault.code == FRIC_OK || fault.position >= contacts->n)
		return report_code(fault.code, error);
	const enum fric_type type = contact_type(contacts, fault.position);
	*error = (struct fric_error){fault.code, type, (int64_t)(fault.position - contacts->start[type])};
	return fault.code;
}

enum fric_code report_code(enum fric_code code, struct fric_error *error)
{
	if (code != FRIC_OK)
		*error = (struct fric_error){code, FRIC_VERTEX_VERTEX, -1};
	return code;
}
