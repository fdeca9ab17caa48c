/* request.h: what the tracer is asked to do. observe/request.go writes it. */
#ifndef JO_REQUEST_H
#define JO_REQUEST_H

#include <stdint.h>

/* Flags of a request. */
enum {
	JO_PLAIN_RUN = 1,   /* do not observe */
	JO_INHERIT = 2,     /* the command gets the descriptors that the tracer was started with */
	JO_PASS = 4,        /* output goes to descriptors 1 and 2 too, while the command runs */
	JO_DEFAULTS = 8,    /* no signal is ignored or blocked when the command starts */
	JO_STOPS_ONLY = 32, /* no notices, as on a kernel before 5.6: for tests */
	JO_ROUNDS = 64,     /* the command works in rounds: round.h */
	JO_TERMINALS = 128, /* if output goes to a terminal, the command sees one */
	JO_HERMETIC = 512,  /* the command is shown one second as all times: hermetic.h */
	JO_FAILURES = 256,  /* a front runs its KEEP program also after a command that has failed */
};

/* A request is this struct, as it lies in memory, followed by strings that end in a NUL:
 * the folder, the arguments, the environment, the table of decider.h. */
typedef struct jo_head {
	uint32_t magic, flags;
	int32_t report, done; /* descriptors: a file for the report, a pipe that gets a byte when that is complete */
	int32_t out, err;     /* descriptors: files for what the command prints */
	uint32_t narguments, nvariables;
	int32_t channel;     /* a descriptor that the command gets and that is no input; -1: none */
	uint32_t working_ms; /* how long the rest of the tree may work on after the command (watch.h) */
	uint64_t blocked;    /* signals that are blocked when the command starts */
	int64_t second;      /* with JO_HERMETIC the one that is shown, since 1970 */
	uint32_t ndeciders, unused;
} jo_head;

#define JO_MAGIC UINT32_C(0x31524f4a) /* JOR1 */

typedef struct jo_request {
	jo_head head;
	char *folder;
	char **arguments, **variables, **deciders; /* each with a NULL at its end */
} jo_request;

/* jo_request_read reads a request from a file and closes the file. It returns 0 if it cannot read
 * one. */
int jo_request_read(int fd, jo_request *r);

#endif
