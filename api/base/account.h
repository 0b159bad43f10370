/**
 * A request's share of a budget, and its stop flag. While a request is handled its thread has an account, which takes
 * from the budget in steps, so that small blocks are counted without touching anything shared between threads. Memory
 * taken or returned on other threads, or later, is counted in the budget directly.
 */
#ifndef API_ACCOUNT_H
#define API_ACCOUNT_H

#include "api/base/budget.h"

enum {
	API_ACCOUNT_FIRST = 16 << 10, /* granted to every request; probes and refusals need no more */
	API_ACCOUNT_STEP = 64 << 10,
	API_ACCOUNT_MOST_SPARE = 2 * API_ACCOUNT_STEP,
};

struct api_account {
	struct api_budget *budget; /* NULL: unlimited */
	const atomic_bool *stop;   /* raised when the client no longer waits; or NULL */
	size_t taken_bytes;        /* taken from the budget, including what the request held before the account was
	                            * opened */
	size_t spare_bytes;        /* the unused part of taken_bytes */
	size_t copied_bytes;       /* bytes of the request's body that were copied */
	bool never_fits;           /* the request wanted more than the whole budget */
};

/* This thread's account, or NULL. It is read for every block, so it is a single word at a fixed address. */
extern _Thread_local struct api_account *api_account_current __attribute__((tls_model("initial-exec")));

/* Makes this the account of the thread; its first bytes count from now on.
 * @param held_bytes  what the request has already taken from the budget: its body */
void api_account_open(struct api_account *account, struct api_budget *budget, const atomic_bool *stop,
                      size_t held_bytes);
/* Closes the account. Memory still in use stays counted: it belongs to the response and is returned when that is
 * freed. */
void api_account_close(struct api_account *account);

/* The slow path of the functions below, used when the thread's account is exhausted. */
bool api_account_take_more(struct api_budget *budget, size_t bytes);
void api_account_settle(struct api_account *account);

static inline struct api_account *api_account_of(const struct api_budget *budget)
{
	struct api_account *account = api_account_current;
	return account && account->budget == budget ? account : NULL;
}

/* Takes all bytes, or takes none and returns false. budget NULL: unlimited */
static inline bool api_account_take(struct api_budget *budget, size_t bytes)
{
	struct api_account *account = budget ? api_account_of(budget) : NULL;
	if (!account || bytes > account->spare_bytes)
		return !budget || api_account_take_more(budget, bytes);
	account->spare_bytes -= bytes;
	return true;
}

static inline void api_account_give(struct api_budget *budget, size_t bytes)
{
	struct api_account *account = budget ? api_account_of(budget) : NULL;
	if (!account) {
		api_budget_give(budget, bytes);
		return;
	}
	account->spare_bytes += bytes;
	if (account->spare_bytes > API_ACCOUNT_MOST_SPARE)
		api_account_settle(account);
}

/* Whether the client no longer waits for this thread's request. Check it in any loop that takes more than a few
 * milliseconds. */
static inline bool api_account_is_stopped(void)
{
	const struct api_account *account = api_account_current;
	return account && account->stop && atomic_load_explicit(account->stop, memory_order_relaxed);
}

/* Zero or copy large arrays in pieces. A copy of NULL is zeros.
 * @return false if the request was stopped before the end; the remaining pages are then untouched */
bool api_account_zero(void *block, size_t bytes);
bool api_account_copy(void *to, const void *from, size_t bytes);
/* As api_account_copy, for a part of the request's body. */
bool api_account_copy_body(void *to, const void *from, size_t bytes);

#endif
