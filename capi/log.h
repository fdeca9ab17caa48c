/* log.h: lines for the host's log. The core queues them; the thread that called it
 * hands them to the host once it is back in C with no lock held. So a callback may
 * do what it likes. */
#ifndef JC_LOG_H
#define JC_LOG_H

#include <stdint.h>

/* jc_log_push queues a line. text is malloc'd, and taken. */
void jc_log_push(int32_t level, char *text);

/* jc_log_drain gives queued lines to the host's callback. Called by public
 * functions right before they return. */
void jc_log_drain(void);

#endif
