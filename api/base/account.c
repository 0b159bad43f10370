#include "api/base/account.h"

#include <string.h>

_Thread_local struct api_account *api_account_current;

void api_account_open(struct api_account *account, struct api_budget *budget, const atomic_bool *stop,
                      size_t held_bytes)
{
	*account = (struct api_account){.budget = budget, .stop = stop, .taken_bytes = held_bytes};
	if (budget) {
		api_budget_take_anyway(budget, API_ACCOUNT_FIRST);
		account->taken_bytes += API_ACCOUNT_FIRST;
		account->spare_bytes = API_ACCOUNT_FIRST;
	}
	api_account_current = account;
}

void api_account_close(struct api_account *account)
{
	api_account_current = NULL;
	if (account->spare_bytes)
		api_budget_give(account->budget, account->spare_bytes);
	account->spare_bytes = 0;
}

static bool take(struct api_account *account, size_t bytes)
{
	if (!api_budget_take(account->budget, bytes))
		return false;
	account->taken_bytes += bytes;
	account->spare_bytes += bytes;
	return true;
}

/* The request needs more than the whole budget, so retrying is useless. */
static bool refuse(struct api_account *account, size_t missing)
{
	const size_t most = account->budget->most_bytes;
	account->never_fits |= missing > most || account->taken_bytes > most - missing;
	return false;
}

bool api_account_take_more(struct api_budget *budget, size_t bytes)
{
	struct api_account *account = api_account_of(budget);
	if (!account)
		return api_budget_take(budget, bytes);
	const size_t missing = bytes - account->spare_bytes;
	const bool taken = (missing < API_ACCOUNT_STEP && take(account, API_ACCOUNT_STEP)) || take(account, missing);
	if (!taken)
		return refuse(account, missing);
	account->spare_bytes -= bytes;
	return true;
}

void api_account_settle(struct api_account *account)
{
	const size_t bytes = account->spare_bytes - API_ACCOUNT_STEP;
	api_budget_give(account->budget, bytes);
	account->taken_bytes -= bytes;
	account->spare_bytes -= bytes;
}

enum { AT_A_TIME = 1 << 20 }; /* bytes between two checks of the stop flag: some hundred microseconds in fresh memory */

bool api_account_copy(void *to, const void *from, size_t bytes)
{
	for (size_t at = 0, n; at < bytes; at += n) {
		if (api_account_is_stopped())
			return false;
		n = bytes - at < AT_A_TIME ? bytes - at : AT_A_TIME;
		if (from)
			memcpy((char *)to + at, (const char *)from + at, n);
		else
			memset((char *)to + at, 0, n);
	}
	return true;
}

bool api_account_zero(void *block, size_t bytes)
{
	return api_account_copy(block, NULL, bytes);
}

bool api_account_copy_body(void *to, const void *from, size_t bytes)
{
	if (api_account_current)
		api_account_current->copied_bytes += bytes;
	return api_account_copy(to, from, bytes);
}
