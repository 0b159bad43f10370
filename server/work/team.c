#include "server/work/team.h"

#include <errno.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Threads that are there only to be counted. */
struct trial {
	pthread_mutex_t *gate;
	pthread_t thread;
	pid_t id;
};

static void *stand(void *argument)
{
	struct trial *trial = argument;
	trial->id = (pid_t)syscall(SYS_gettid);
	pthread_mutex_lock(trial->gate);
	pthread_mutex_unlock(trial->gate);
	return NULL;
}

/* A thread that was joined counts against limits until the kernel has done with it, a little later: it has no id then. A
 * debugger may keep it for longer, so this does not wait for ever. */
static void await_release(pid_t id)
{
	const struct timespec moment = {.tv_nsec = 100000};
	for (int i = 0; i < 20000 && syscall(SYS_tgkill, getpid(), id, 0) == 0; i++)
		nanosleep(&moment, NULL);
}

/* All at one time, since that is how they are to be. */
static int start_trials(struct trial *trials, int n, pthread_mutex_t *gate)
{
	for (int i = 0; i < n; i++) {
		trials[i].gate = gate;
		if (pthread_create(&trials[i].thread, NULL, stand, &trials[i]) != 0)
			return i;
	}
	return n;
}

static void end_trials(struct trial *trials, int n)
{
	for (int i = 0; i < n; i++)
		pthread_join(trials[i].thread, NULL);
	for (int i = 0; i < n; i++)
		await_release(trials[i].id);
}

/* How many of n threads can be had. */
static int count_available(int n)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct trial *trials = calloc((size_t)n + 1, sizeof *trials);
	if (!trials)
		return -1;
	pthread_mutex_lock(&gate);
	const int started = start_trials(trials, n, &gate);
	pthread_mutex_unlock(&gate);
	end_trials(trials, started);
	pthread_mutex_destroy(&gate);
	free(trials);
	return started;
}

/* OMP_DYNAMIC would let the size change with the machine's load, OMP_THREAD_LIMIT makes it less than was asked for. */
static int open_region(int n_threads)
{
	int size = 1;
	omp_set_dynamic(false);
	if (n_threads > 1) {
#pragma omp parallel num_threads(n_threads)
#pragma omp master
		size = omp_get_num_threads();
	}
	return size;
}

int srv_team_start(int wanted, int spare)
{
	const int available = count_available(wanted - 1 + spare);
	return available < spare ? 0 : open_region(1 + available - spare);
}
