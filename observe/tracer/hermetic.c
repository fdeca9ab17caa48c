/* hermetic.c: whether the mode is on. */
#include "hermetic.h"

#include "report.h"
#include "use.h"

static int on;
static int64_t second;

void jo_hermetic_start(int64_t shown)
{
	on = 1;
	second = shown;
}

int jo_hermetic(void) { return on && !jo_use_blind(); }

int64_t jo_hermetic_second(void) { return second; }

void jo_hermetic_end(const jo_process *p, const char *why)
{
	if (!on)
		return;
	on = 0;
	jo_use(p, JO_USE_HERMETIC, why);
}
