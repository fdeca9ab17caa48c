/* signal_stack.h: a stack for the host's signal handlers. */
#ifndef JC_SIGNAL_STACK_H
#define JC_SIGNAL_STACK_H

/* jc_signal_stack_make gives the calling thread an alternate stack and returns it. It
 * returns NULL if the thread has one already, or there is no memory. */
char *jc_signal_stack_make(void);

/* jc_signal_stack_free frees the stack that jc_signal_stack_make returned when the
 * thread ends. stack may be NULL. */
void jc_signal_stack_free(char *stack);

#endif
