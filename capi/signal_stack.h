/* signal_stack.h: a stack for the host's signal handlers. */
#ifndef JC_SIGNAL_STACK_H
#define JC_SIGNAL_STACK_H

/* jc_signal_stack_make gives the calling thread an alternate stack and returns it;
 * NULL if it has one, or there is no memory. */
char *jc_signal_stack_make(void);

/* jc_signal_stack_free frees at a thread's end what jc_signal_stack_make returned,
 * which may be NULL. */
void jc_signal_stack_free(char *stack);

#endif
