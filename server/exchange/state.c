#include "server/exchange/state.h"

#define TO(state) (1u << SRV_##state)

/* All permitted steps. DECIDED may follow itself: a later fault of the request replaces the response. */
static const struct {
	const char *name;
	unsigned next;
} states[SRV_N_STATES] = {
	[SRV_OPENED] = {"opened", TO(RECEIVING) | TO(DECIDED) | TO(ABORTED) | TO(OVER)},
	[SRV_RECEIVING] = {"receiving", TO(DECIDED) | TO(QUEUED) | TO(COMPUTING) | TO(ABORTED) | TO(OVER)},
	[SRV_DECIDED] = {"decided", TO(DECIDED) | TO(ANSWERING) | TO(SENT) | TO(ABORTED) | TO(OVER)},
	[SRV_QUEUED] = {"queued", TO(COMPUTING) | TO(READY) | TO(ABORTED)},
	[SRV_COMPUTING] = {"computing", TO(READY) | TO(QUEUED) | TO(DECIDED) | TO(ABORTED)},
	[SRV_READY] = {"ready", TO(ANSWERING) | TO(SENT) | TO(ABORTED) | TO(OVER)},
	[SRV_ANSWERING] = {"answering", TO(OVER)},
	[SRV_SENT] = {"said", TO(OVER)},
	[SRV_ABORTED] = {"mute", TO(OVER)},
	[SRV_OVER] = {"over", 0},
};

bool srv_state_may(enum srv_state from, enum srv_state to)
{
	return states[from].next >> to & 1;
}

const char *srv_state_name(enum srv_state state)
{
	return states[state].name;
}
