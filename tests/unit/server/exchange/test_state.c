#include "server/exchange/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* All steps, with their causes. */
static const enum srv_state steps[][2] = {
	{SRV_OPENED, SRV_RECEIVING},                          /* head accepted */
	{SRV_OPENED, SRV_DECIDED},                            /* refused, or complete without a body */
	{SRV_OPENED, SRV_ABORTED},    {SRV_OPENED, SRV_OVER}, /* response by the library itself */
	{SRV_RECEIVING, SRV_DECIDED},                         /* body too long, late or without memory; queue full */
	{SRV_RECEIVING, SRV_QUEUED},  {SRV_RECEIVING, SRV_COMPUTING}, /* in place */
	{SRV_RECEIVING, SRV_ABORTED}, {SRV_RECEIVING, SRV_OVER},      /* client gone */
	{SRV_DECIDED, SRV_DECIDED},                                   /* fault in a chunk of a body that is being dropped */
	{SRV_DECIDED, SRV_ANSWERING}, {SRV_DECIDED, SRV_SENT},        {SRV_DECIDED, SRV_ABORTED},
	{SRV_DECIDED, SRV_OVER},      {SRV_QUEUED, SRV_COMPUTING},    {SRV_QUEUED, SRV_READY}, /* given up */
	{SRV_QUEUED, SRV_ABORTED},    {SRV_COMPUTING, SRV_READY},     {SRV_COMPUTING, SRV_ABORTED},
	{SRV_COMPUTING, SRV_QUEUED},  {SRV_COMPUTING, SRV_DECIDED}, /* turned out too large to compute in place */
	{SRV_READY, SRV_ANSWERING},   {SRV_READY, SRV_SENT},        /* the library closes an idle connection first */
	{SRV_READY, SRV_ABORTED},     {SRV_READY, SRV_OVER},          {SRV_ANSWERING, SRV_OVER},
	{SRV_SENT, SRV_OVER},         {SRV_ABORTED, SRV_OVER},
};

static bool is_listed(enum srv_state from, enum srv_state to)
{
	for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
		if (steps[i][0] == from && steps[i][1] == to)
			return true;
	return false;
}

static void test_all_steps_and_no_others(void **state)
{
	(void)state;
	for (int from = 0; from < SRV_N_STATES; from++)
		for (int to = 0; to < SRV_N_STATES; to++) {
			const enum srv_state a = (enum srv_state)from, b = (enum srv_state)to;
			if (srv_state_may(a, b) != is_listed(a, b))
				fail_msg("%s -> %s", srv_state_name(a), srv_state_name(b));
		}
}

/* The states reachable from one state, as bits. */
static unsigned reach(enum srv_state from)
{
	unsigned found = 1u << from;
	for (int round = 0; round < SRV_N_STATES; round++)
		for (int a = 0; a < SRV_N_STATES; a++)
			for (int b = 0; b < SRV_N_STATES; b++)
				if (found >> a & 1 && srv_state_may((enum srv_state)a, (enum srv_state)b))
					found |= 1u << b;
	return found;
}

static void test_every_state_is_met_and_left(void **state)
{
	(void)state;
	assert_int_equal(reach(SRV_OPENED), (1u << SRV_N_STATES) - 1);
	assert_int_equal(reach(SRV_OVER), 1u << SRV_OVER);
	for (int from = 0; from < SRV_N_STATES; from++)
		assert_true(reach((enum srv_state)from) >> SRV_OVER & 1);
}

static void test_at_most_one_answer_is_sent(void **state)
{
	(void)state;
	const unsigned says = 1u << SRV_ANSWERING | 1u << SRV_SENT;
	assert_int_equal(reach(SRV_ANSWERING) & says, 1u << SRV_ANSWERING);
	assert_int_equal(reach(SRV_SENT) & says, 1u << SRV_SENT);
	assert_int_equal(reach(SRV_ABORTED) & says, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_steps_and_no_others),
		cmocka_unit_test(test_every_state_is_met_and_left),
		cmocka_unit_test(test_at_most_one_answer_is_sent),
	};
	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
