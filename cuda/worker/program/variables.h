/* variables.h: the environment, a variable at a time for who asks for it.
 *
 * The symbols of an executable come before libc's: so NVRTC's getenv is this
 * program's. What it asks for by name is noted, and it is given nothing else: in
 * environ are only variables of the C library's, which it reads by itself. */
#ifndef JW_VARIABLES_H
#define JW_VARIABLES_H

/* jw_variables_begin forgets all variables, jw_variables_set adds one, NAME=VALUE. */
void jw_variables_begin(void);
void jw_variables_set(const char *variable);

/* jw_variables_tell adds to the message which variables were asked for. */
void jw_variables_tell(void);

#endif
