/* driver.h: the state of the fake driver: contexts, modules, and its knobs. */
#ifndef CUDATEST_DRIVER_H
#define CUDATEST_DRIVER_H

#include "image.h"

#include <stdint.h>

/* The results of this driver: name, code and text. */
#define ERRORS(X) \
	X(SUCCESS, 0, "no error") \
	X(ERROR_INVALID_VALUE, 1, "invalid argument") \
	X(ERROR_OUT_OF_MEMORY, 2, "out of memory") \
	X(ERROR_NOT_INITIALIZED, 3, "initialization error") \
	X(ERROR_DEINITIALIZED, 4, "driver shutting down") \
	X(ERROR_STUB_LIBRARY, 34, "CUDA driver is a stub library") \
	X(ERROR_NO_DEVICE, 100, "no CUDA-capable device is detected") \
	X(ERROR_INVALID_DEVICE, 101, "invalid device ordinal") \
	X(ERROR_INVALID_IMAGE, 200, "device kernel image is invalid") \
	X(ERROR_INVALID_CONTEXT, 201, "invalid device context") \
	X(ERROR_NO_BINARY_FOR_GPU, 209, "no kernel image is available for execution on the device") \
	X(ERROR_INVALID_PTX, 218, "a PTX JIT compilation failed") \
	X(ERROR_UNSUPPORTED_PTX_VERSION, 222, "the provided PTX was compiled with an unsupported toolchain.") \
	X(ERROR_INVALID_HANDLE, 400, "invalid resource handle") \
	X(ERROR_NOT_FOUND, 500, "named symbol not found") \
	X(ERROR_ILLEGAL_ADDRESS, 700, "an illegal memory access was encountered") \
	X(ERROR_CONTEXT_IS_DESTROYED, 709, "context is destroyed") \
	X(ERROR_NOT_SUPPORTED, 801, "operation not supported") \
	X(ERROR_UNKNOWN, 999, "unknown error")

#define CODE(name, code, text) name = code,
enum { ERRORS(CODE) };

typedef struct context {
	uint64_t id; /* never reused; the pointer is */
	int device, alive, primary, refs;
} context;

typedef struct module {
	struct module *next;
	context *owner; /* NULL for a library, which belongs to no context */
	uint64_t owner_id;
	struct function *functions;
	unsigned char *image;
	size_t size;
} module;

typedef struct function {
	struct function *next;
	module *module;
	char name[];
} function;

/* enter begins each call: it takes the lock, logs the call, and returns the code to
 * fail with. leave ends the call. */
int enter(const char *call, int needs_init);
int leave(int code);

#define ENTER(needs_init) \
	do { \
		int code_ = enter(__func__, needs_init); \
		if (code_ != SUCCESS) \
			return leave(code_); \
	} while (0)

/* init is cuInit: once in a process, and not in its forked children. */
int init(void);

int capability(int device);
int is_device(int device);

/* The thread's current context; an error if there is none, or if it was destroyed. */
int current(context **out);
int push(context *c);
int pop(context **out); /* 0 if there is none */

int is_context(const context *c);
context *make(int device, int primary); /* NULL if there are too many */
context *primary(int device);           /* NULL if there is none */
void destroy(context *c);

int load(module **out, const void *image, context *owner, unsigned n, const int *options, void **values);
int is_live(const module *m);
void drop(module *m);
int find_function(function **out, module *m, const char *name);

#endif
