/* log.h: lines for the host's log. The core queues them. The thread that has called
 * the core passes them to the host's callback when it is back in C and holds no
 * lock, so that the callback may do anything. */
#ifndef JC_LOG_H
#define JC_LOG_H

#include <stdint.h>

/* jc_log_push queues a line. text is malloc'd; the queue frees it. */
void jc_log_push(int32_t level, char *text);

/* jc_log_drain passes queued lines to the host's callback. Public functions call it
 * right before they return. */
void jc_log_drain(void);

#endif
