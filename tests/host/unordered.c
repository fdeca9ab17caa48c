/* The table of handles without the order that its atomics give: a race that
 * must be seen. */
#include <stdatomic.h>

#define memory_order_acquire memory_order_relaxed
#define memory_order_release memory_order_relaxed
#define memory_order_acq_rel memory_order_relaxed
#include "../../capi/handles.c"
