#undef _FORTIFY_SOURCE
#include "tests/simulator/threads.h"

#include "api/base/account.h"
#include "tests/simulator/clock.h"
#include "tests/simulator/memory.h"
#include "tests/simulator/real.h"
#include "tests/simulator/sockets.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#define LEAVE_STACK(save, to, n) __sanitizer_start_switch_fiber(save, to, n)
#define ENTER_STACK(save, from, n) __sanitizer_finish_switch_fiber(save, from, n)
#else
#define LEAVE_STACK(save, to, n) ((void)(save), (void)(to), (void)(n))
#define ENTER_STACK(save, from, n) ((void)(save), (void)(from), (void)(n))
#endif

enum { MOST_THREADS = 16, STACK_BYTES = 1 << 20 };

enum state { NONE, READY, ON_CONDITION, IN_POLL, ENDED };

struct thread {
	enum state state;
	ucontext_t context;
	void *stack, *fake_stack;
	void *(*run)(void *);
	void *argument, *result;
	pthread_cond_t *condition;
	struct pollfd *fds;
	nfds_t n_fds;
	size_t n_events;  /* value at which none of the descriptors was ready */
	long long due_ns; /* -1: no time limit */
	bool timed_out;
};

static bool simulated;
static struct chance *chance;
static size_t preempts;
static bool held;
static struct thread threads[MOST_THREADS];
static struct thread *current; /* NULL: the main thread */
static ucontext_t main_context;
static void *main_fake_stack;
static const void *main_stack;
static size_t main_stack_bytes;

void threads_start(struct chance *of_schedule)
{
	simulated = true;
	chance = of_schedule;
}

void threads_preempt(size_t one_in)
{
	preempts = one_in;
}

void threads_hold(bool hold)
{
	held = hold;
}

/* ---- switching stacks ---- */

static void enter(struct thread *thread)
{
	current = thread;
	LEAVE_STACK(&main_fake_stack, thread->stack, STACK_BYTES);
	swapcontext(&main_context, &thread->context);
	ENTER_STACK(main_fake_stack, NULL, NULL);
	current = NULL;
}

static void leave(struct thread *thread, bool for_ever)
{
	LEAVE_STACK(for_ever ? NULL : &thread->fake_stack, main_stack, main_stack_bytes);
	swapcontext(&thread->context, &main_context);
	ENTER_STACK(thread->fake_stack, &main_stack, &main_stack_bytes);
}

static void begin(void)
{
	struct thread *thread = current;
	ENTER_STACK(NULL, &main_stack, &main_stack_bytes);
	thread->result = thread->run(thread->argument);
	thread->state = ENDED;
	leave(thread, true);
}

/* ---- runnable threads ---- */

static bool is_due(const struct thread *thread)
{
	return thread->due_ns >= 0 && clock_now_ns() >= thread->due_ns;
}

static bool is_ready(struct thread *thread)
{
	if (thread->n_events == sockets_n_events())
		return false;
	thread->n_events = sockets_n_events();
	if (sockets_poll(thread->fds, thread->n_fds) == 0)
		return false;
	thread->n_events--;
	return true;
}

static bool can_run(struct thread *thread)
{
	switch (thread->state) {
	case READY: return true;
	case ON_CONDITION: return is_due(thread);
	case IN_POLL: return is_due(thread) || is_ready(thread);
	case NONE:
	case ENDED: break;
	}
	return false;
}

static void run(struct thread *thread)
{
	thread->timed_out = thread->state != READY;
	thread->state = READY;
	memory_enter_service();
	enter(thread);
	memory_leave_service();
}

bool threads_run(void)
{
	struct thread *ready[MOST_THREADS];
	size_t n = 0;
	for (size_t i = 0; i < MOST_THREADS; i++)
		if (can_run(&threads[i]))
			ready[n++] = &threads[i];
	if (n > 0)
		run(ready[n > 1 ? chance_below(chance, n) : 0]);
	return n > 0;
}

/* Runs other threads until one of them releases what the calling thread needs. */
static void wait_for_others(void)
{
	if (current) {
		leave(current, false);
	} else if (!threads_run()) {
		fprintf(stderr, "simulator: every thread waits for another one\n");
		abort();
	}
}

/* Not while a memory account is open: accounts are thread-local, and all simulated threads share one real thread. */
static void perhaps_preempt(void)
{
	if (current && preempts && !held && !api_account_current && chance_one_in(chance, preempts))
		leave(current, false);
}

/* ---- replacements of the C library's functions ---- */

static void *stack_for(struct thread *thread)
{
	if (thread->stack)
		return thread->stack;
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	void *stack = REAL(mmap)(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	return thread->stack = stack == MAP_FAILED ? NULL : stack;
}

int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	if (!simulated)
		return REAL(pthread_create)(id, attributes, start, argument);
	size_t i = 0;
	while (i < MOST_THREADS && threads[i].state != NONE)
		i++;
	if (i == MOST_THREADS || !stack_for(&threads[i]))
		return EAGAIN;
	struct thread *thread = &threads[i];
	thread->state = READY;
	thread->run = start;
	thread->argument = argument;
	getcontext(&thread->context);
	thread->context.uc_stack = (stack_t){.ss_sp = thread->stack, .ss_size = STACK_BYTES};
	makecontext(&thread->context, begin, 0);
	*id = i + 1;
	return 0;
}

int pthread_join(pthread_t id, void **result)
{
	if (id == 0 || id > MOST_THREADS)
		return REAL(pthread_join)(id, result);
	struct thread *thread = &threads[id - 1];
	while (thread->state != ENDED)
		wait_for_others();
	thread->state = NONE;
	if (result)
		*result = thread->result;
	return 0;
}

int pthread_mutex_lock(pthread_mutex_t *lock)
{
	if (!simulated)
		return REAL(pthread_mutex_lock)(lock);
	perhaps_preempt();
	int error;
	while ((error = REAL(pthread_mutex_trylock)(lock)) == EBUSY)
		wait_for_others();
	return error;
}

int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	const int error = REAL(pthread_mutex_unlock)(lock);
	if (simulated)
		perhaps_preempt();
	return error;
}

static int wait_on(pthread_cond_t *condition, pthread_mutex_t *lock, long long due_ns)
{
	struct thread *thread = current;
	if (!thread)
		abort(); /* the main thread serves connections, and must not wait */
	thread->condition = condition;
	thread->due_ns = due_ns;
	thread->state = ON_CONDITION;
	REAL(pthread_mutex_unlock)(lock);
	leave(thread, false);
	const bool timed_out = thread->timed_out;
	while (REAL(pthread_mutex_trylock)(lock) == EBUSY)
		wait_for_others();
	return timed_out ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock)
{
	return simulated ? wait_on(condition, lock, -1) : REAL(pthread_cond_wait)(condition, lock);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until)
{
	return simulated ? wait_on(condition, lock, until->tv_sec * 1000000000LL + until->tv_nsec)
	                 : REAL(pthread_cond_timedwait)(condition, lock, until);
}

static void wake(pthread_cond_t *condition, bool all)
{
	for (size_t i = 0; i < MOST_THREADS; i++)
		if (threads[i].state == ON_CONDITION && threads[i].condition == condition) {
			threads[i].state = READY;
			if (!all)
				return;
		}
}

int pthread_cond_signal(pthread_cond_t *condition)
{
	if (!simulated)
		return REAL(pthread_cond_signal)(condition);
	wake(condition, false);
	return 0;
}

int pthread_cond_broadcast(pthread_cond_t *condition)
{
	if (!simulated)
		return REAL(pthread_cond_broadcast)(condition);
	wake(condition, true);
	return 0;
}

int sem_wait(sem_t *semaphore)
{
	if (!simulated)
		return REAL(sem_wait)(semaphore);
	while (sem_trywait(semaphore) != 0)
		wait_for_others();
	return 0;
}

int poll(struct pollfd *fds, nfds_t n, int ms)
{
	if (!simulated)
		return REAL(poll)(fds, n, ms);
	if (current && ms != 0) {
		current->fds = fds;
		current->n_fds = n;
		current->n_events = sockets_n_events() - 1;
		current->due_ns = ms < 0 ? -1 : clock_now_ns() + 1000000LL * ms;
		current->state = IN_POLL;
		leave(current, false);
	}
	return sockets_poll(fds, n);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes); /* poll as compiled with -D_FORTIFY_SOURCE */

int __poll_chk(struct pollfd *fds, nfds_t n, int ms, size_t bytes)
{
	if (n * sizeof *fds > bytes)
		abort();
	return poll(fds, n, ms);
}

/* A thread's request to change its scheduling must not affect the only real thread. */
long syscall(long number, ...)
{
	va_list arguments;
	long a[6];
	va_start(arguments, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	return simulated && number == SYS_sched_setattr ? 0 : REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
