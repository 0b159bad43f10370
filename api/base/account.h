/**
 * What one request takes from a budget, and whether it is still wanted. While a request is handled its thread has an
 * account, which takes from the budget in steps: small blocks are then counted without a word to other threads. What is
 * taken or given back on other threads, or later, is counted at the budget itself.
 */
#ifndef API_ACCOUNT_H
#define API_ACCOUNT_H

#include "api/base/budget.h"

enum {
	API_ACCOUNT_FIRST = 16 << 10, /* that a request has whatever the budget says: a probe or a refusal takes no more */
	API_ACCOUNT_STEP = 64 << 10,
	API_ACCOUNT_MOST_SPARE = 2 * API_ACCOUNT_STEP,
};

struct api_account {
	struct api_budget *budget; /* NULL: there is no ceiling */
	const atomic_bool *stop;   /* raised when the answer is no longer wanted; or NULL */
	size_t taken_bytes;        /* from the budget, those that the request held before it had an account included */
	size_t spare_bytes;        /* of them, not in use */
	bool never_fits;           /* it wanted more than there is for all requests together */
};

/* This thread's, or NULL. Looked up for every block: as one word at a fixed place. */
extern _Thread_local struct api_account *api_account_current __attribute__((tls_model("initial-exec")));

/* The account becomes the thread's, and its first bytes count already. @param held_bytes  what the request has taken from the budget already: its body */
void api_account_open(struct api_account *account, struct api_budget *budget, const atomic_bool *stop, size_t held_bytes);
/* What is still in use stays taken: it belongs to the answer, and whoever frees it gives it back. */
void api_account_close(struct api_account *account);

/* For the functions below, when the thread's account cannot do it alone. */
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

/* Whether the request that this thread handles is no longer wanted. Whatever takes longer than some milliseconds asks. */
static inline bool api_account_is_stopped(void)
{
	const struct api_account *account = api_account_current;
	return account && account->stop && atomic_load_explicit(account->stop, memory_order_relaxed);
}

#endif
