/* round.c: ends a round, and writes its report. */
#include "round.h"

#include <time.h>

#include "control.h"
#include "keeper.h"
#include "look.h"
#include "names.h"
#include "output.h"
#include "real.h"
#include "report.h"
#include "use.h"
#include "written.h"

static int in_rounds;

void jo_round_start(int rounds) { in_rounds = rounds; }

void jo_round_report(int status, int failure, uint32_t flags)
{
	if ((flags & JO_UNOBSERVED) == 0) {
		if (!jo_use_blind())
			jo_look_settle();
		jo_names_report(jo_real);
		jo_written_report();
		jo_use_report();
	}
	jo_report_begin(JO_END);
	jo_report_u32((uint32_t)status);
	jo_report_u32((uint32_t)failure);
	jo_report_u32(flags);
	jo_report_end();
	jo_report_flush();
}

enum { MOMENT_MS = 500 };

int jo_round_leaves(void)
{
	static struct timespec began;
	struct timespec now;
	if (!in_rounds || !jo_keeper_died() || JO_WITHOUT(LEAVING))
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (began.tv_sec == 0)
		began = now;
	return (now.tv_sec - began.tv_sec) * 1000 + (now.tv_nsec - began.tv_nsec) / 1000000 < MOMENT_MS;
}

int jo_round_mark(void)
{
	if (!in_rounds)
		return 0;
	jo_output_pass();
	jo_round_report(0, 0, 0);
	/* Anything may change before the next round, also where folders really are. */
	jo_real_moved(0);
	return 1;
}
