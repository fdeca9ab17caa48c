/* variables.h: gives NVRTC the environment, one variable at a time.
 *
 * The symbols of an executable come before libc's, so NVRTC calls this program's
 * getenv. The program notes which variables NVRTC asks for, and NVRTC gets no others:
 * environ has only variables for the C library, which reads them itself. */
#ifndef JW_VARIABLES_H
#define JW_VARIABLES_H

/* jw_variables_begin removes all variables; jw_variables_set adds one, NAME=VALUE. */
void jw_variables_begin(void);
void jw_variables_set(const char *variable);

/* jw_variables_tell adds to the message which variables were asked for. */
void jw_variables_tell(void);

#endif
