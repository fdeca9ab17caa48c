/* shown.c: puts times into the answers of stat. */
#include "shown.h"

#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "clock.h"
#include "control.h"
#include "handle.h"
#include "hermetic.h"
#include "wait.h"

/* answer_at returns which argument of a call is the address of a struct stat or struct statx, -1 for other calls. */
static int answer_at(long nr)
{
	switch (nr) {
	case SYS_fstat: return 1;
	case SYS_newfstatat: return 2;
	case SYS_statx: return 4;
#ifdef __x86_64__
	case SYS_stat:
	case SYS_lstat: return 1;
#endif
	default: return -1;
	}
}

int jo_shown_stops(long nr) { return answer_at(nr) >= 0 || jo_wait_is(nr) || nr == SYS_restart_syscall; }

/* show_stat and show_statx put the second into an answer. They return 0 if they cannot. */
static int show_stat(jo_process *p, uint64_t at)
{
	struct stat st;
	if (!jo_process_read(p, at, &st, sizeof st))
		return 0;
	st.st_atim = st.st_mtim = st.st_ctim = (struct timespec){jo_hermetic_second(), 0};
	return jo_process_write(p, at, &st, sizeof st);
}

static int show_statx(jo_process *p, uint64_t at)
{
	/* linux/stat.h: the bits of stx_mask, and where the four struct statx_timestamp are. */
	static const struct {
		uint32_t bit, offset;
	} times[] = {{0x20 /* STATX_ATIME */, 64}, {0x800 /* _BTIME */, 80}, {0x80 /* _CTIME */, 96},
		{0x40 /* _MTIME */, 112}};
	unsigned char all[128];
	const int64_t second = jo_hermetic_second();
	uint32_t mask;
	if (!jo_process_read(p, at, all, sizeof all))
		return 0;
	memcpy(&mask, all, sizeof mask);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (mask & times[i].bit) {
			memset(all + times[i].offset, 0, 16);
			memcpy(all + times[i].offset, &second, sizeof second);
		}
	return jo_process_write(p, at, all, sizeof all);
}

/* What the result register of a wait holds that a signal has interrupted and the kernel can continue
 * (ERESTART_RESTARTBLOCK): it does so at the same time, unless a handler ran. */
enum { TO_BE_CONTINUED = -516 };

int jo_shown_call(jo_process *p, const jo_stop *s)
{
	int at = answer_at(s->number), waits = jo_wait_is(s->number);
	p->shown.open = 0; /* the call before has ended, or its thread */
	if (jo_clock_call(p, s, jo_wait_long()))
		return JO_GO_ON;
	if (s->number == SYS_restart_syscall && p->shown.again) {
		p->shown.open = 1;
		return JO_WAIT_FOR_END;
	}
	int wants = jo_handle_call(p, s->number, s->arguments);
	if ((at < 0 && !waits) || !jo_hermetic() || (wants > JO_GO_ON && wants != JO_ANSWERED))
		return wants;
	p->shown = (jo_shown){.open = 1, .call = (int)s->number, .argument = -1, .at = at < 0 ? 0 : s->arguments[at]};
	if (waits)
		jo_wait_begins(p, s);
	if (wants != JO_ANSWERED)
		return JO_WAIT_FOR_END;
	jo_shown_left(p, 0);
	return wants;
}

void jo_shown_left(jo_process *p, int64_t result)
{
	jo_shown *shown = &p->shown;
	if (!shown->open)
		return;
	if (jo_wait_is(shown->call))
		jo_wait_ends(p, result);
	else if (result == 0 && jo_hermetic() && !JO_WITHOUT(FILETIMES) &&
		 !(shown->call == SYS_statx ? show_statx(p, shown->at) : show_stat(p, shown->at)))
		jo_hermetic_end(p, "the times of a file cannot be shown");
	shown->open = 0;
	shown->again = result == TO_BE_CONTINUED;
}
