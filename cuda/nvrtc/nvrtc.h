/* nvrtc.h: a table of the NVRTC functions that are used, as NVRTC's header declares
 * them. They are found at run time. A table belongs to one opened library. */
#ifndef JC_NVRTC_H
#define JC_NVRTC_H

#include <stddef.h>

typedef void *jc_nvrtc_program;

typedef struct jc_nvrtc {
	int (*version)(int *major, int *minor);
	const char *(*error_string)(int status);
	int (*create)(jc_nvrtc_program *p, const char *source, const char *name, int headers, const char *const *texts,
		const char *const *names);
	int (*destroy)(jc_nvrtc_program *p);
	int (*add_expression)(jc_nvrtc_program p, const char *expression);
	int (*compile)(jc_nvrtc_program p, int options, const char *const *texts);
	int (*lowered_name)(jc_nvrtc_program p, const char *expression, const char **name);
	int (*log_size)(jc_nvrtc_program p, size_t *size);
	int (*log)(jc_nvrtc_program p, char *log);
	/* cubin, PTX, LTO-IR: in the order of Target. NULL where this version has none. */
	int (*size[3])(jc_nvrtc_program p, size_t *size);
	int (*get[3])(jc_nvrtc_program p, char *code);
} jc_nvrtc;

#endif
