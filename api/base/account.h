/**
 * What one request takes from a budget, and whether it is still wanted. While a request is handled its thread has an
 * account, which takes from the budget in steps: small blocks are then counted without touching anything that threads
 * share. What is taken or given back on other threads, or later, is counted in the budget itself.
 */
#ifndef API_ACCOUNT_H
#define API_ACCOUNT_H

#include "api/base/budget.h"

enum {
	API_ACCOUNT_FIRST = 16 << 10, /* that a request has in any case: a probe or a refusal takes no more */
	API_ACCOUNT_STEP = 64 << 10,
	API_ACCOUNT_MOST_SPARE = 2 * API_ACCOUNT_STEP,
};

struct api_account {
	struct api_budget *budget; /* NULL: there is no ceiling */
	const atomic_bool *stop;   /* raised when the answer is no longer wanted; or NULL */
	size_t taken_bytes;        /* from the budget, including those that the request held before it had an account */
	size_t spare_bytes;        /* of those, not in use */
	bool never_fits;           /* it wanted more than all requests together may have */
};

/* This thread's, or NULL. It is looked up for every block, so it is a single word at a fixed place. */
extern _Thread_local struct api_account *api_account_current __attribute__((tls_model("initial-exec")));

/* The account becomes the thread's; its first bytes count from now on. @param held_bytes what the request has taken
 * from the budget already: its body */
void api_account_open(struct api_account *account, struct api_budget *budget, const atomic_bool *stop,
                      size_t held_bytes);
/* What is still in use stays taken: it belongs to the answer and is given back when that is freed. */
void api_account_close(struct api_account *account);

/* For the functions below, when the thread's account is not enough. */
bool api_account_take_more(struct api_budget *budget, size_t bytes);
void api_account_settle(struct api_account *account);

static inline struct api_account *api_account_of(const struct api_budget *budget)
{
	struct api_account *account = api_account_current;
	return account && account->budget == budget ? account : NULL;
}

/* All of it, or nothing and false. budget NULL: there is no ceiling */
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

/* Whether the request that this thread handles is no longer wanted. Anything that takes longer than a few milliseconds
 * has to ask. */
static inline bool api_account_is_stopped(void)
{
	const struct api_account *account = api_account_current;
	return account && account->stop && atomic_load_explicit(account->stop, memory_order_relaxed);
}

/* Large arrays are set to zero, and copied, in pieces. @return false if the request was stopped before the end: the rest
 * of the pages has not been touched then */
bool api_account_zero(void *block, size_t bytes);
bool api_account_copy(void *to, const void *from, size_t bytes);

#endif
