#include "server/work/team.h"

#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A thread that is started only to find out whether it can be. */
struct trial {
	pthread_mutex_t *barrier;
	pthread_t thread;
	pid_t id;
};

static void *stand(void *argument)
{
	struct trial *trial = argument;
	trial->id = (pid_t)syscall(SYS_gettid);
	pthread_mutex_lock(trial->barrier);
	pthread_mutex_unlock(trial->barrier);
	return NULL;
}

/* A joined thread counts against limits until the kernel has released it, shortly afterwards, when its id disappears. A
 * debugger may delay that, so the wait is bounded. */
static void await_release(pid_t id)
{
	const struct timespec moment = {.tv_nsec = 100000};
	for (int i = 0; i < 20000 && syscall(SYS_tgkill, getpid(), id, 0) == 0; i++)
		nanosleep(&moment, NULL);
}

/* Starts all threads together, as the team will run. @return the number started */
static int start_trials(struct trial *trials, int n, pthread_mutex_t *barrier)
{
	for (int i = 0; i < n; i++) {
		trials[i].barrier = barrier;
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

/* Counts how many of n threads can be started. @return -1 if memory runs out */
static int count_available(int n)
{
	pthread_mutex_t barrier = PTHREAD_MUTEX_INITIALIZER;
	struct trial *trials = calloc((size_t)n + 1, sizeof *trials);
	if (!trials)
		return -1;
	pthread_mutex_lock(&barrier);
	const int started = start_trials(trials, n, &barrier);
	pthread_mutex_unlock(&barrier);
	end_trials(trials, started);
	pthread_mutex_destroy(&barrier);
	free(trials);
	return started;
}

/* Opens a region. OMP_DYNAMIC would let its size vary with the machine's load; OMP_THREAD_LIMIT may make it smaller
 * than requested. @return its size */
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

/* ---- the team of an admission's worker ---- */

/* The task of starting the team. It is the worker's first job, because a team belongs to the thread that opens
 * regions. */
struct start {
	struct srv_job job; /* must be the first member: converted to and from srv_job */
	int wanted, spare, size;
	sem_t done;
};

static void start_there(struct srv_job *job)
{
	struct start *start = (struct start *)(void *)job;
	start->size = srv_team_start(start->wanted, start->spare);
}

static void tell(struct srv_job *job, bool computed)
{
	struct start *start = (struct start *)(void *)job;
	(void)computed;
	sem_post(&start->done);
}

int srv_team_start_for(struct srv_admission *admission, int wanted, int spare)
{
	struct start start = {.job = {.compute = start_there, .finish = tell}, .wanted = wanted, .spare = spare};
	sem_init(&start.done, 0, 0);
	if (srv_admission_reserve(admission)) {
		srv_admission_submit(admission, &start.job);
		while (sem_wait(&start.done) != 0)
			;
	}
	sem_destroy(&start.done);
	return start.size;
}
