/* wire.h: messages between the library and the worker, through the channel.
 *
 * A message is its size, as 8 bytes, and parts: a letter, a size of 8 bytes, and
 * bytes. Numbers are little-endian. cuda/worker/wire.go has the other end. */
#ifndef JW_WIRE_H
#define JW_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Letters of what comes in. The first message is variables; each other one is a
 * program to compile. */
enum {
	JW_VARIABLE = 'v', /* NAME=VALUE, for who asks for it */
	JW_SHOWN = 'f',    /* NVRTC is told the folder that it works in, if it asks */
	JW_UMASK = 'm',    /* 4 bytes */
	JW_NAME = 'N',     /* of the source */
	JW_SOURCE = 's',
	JW_HEADER = 'h',     /* the name of a header, */
	JW_TEXT = 't',       /* and its text, next */
	JW_EXPRESSION = 'e', /* a name expression */
	JW_OPTION = 'o',
	JW_TARGET = 'T', /* "CUBIN", "PTX", "LTOIR" */
};

/* Letters of what goes out. */
enum {
	JW_VERSION = 'V', /* two times 4 bytes: NVRTC has been loaded */
	JW_CALL = 'C',    /* the call that has failed: of the loader, or of NVRTC */
	JW_STATUS = 'S',  /* 4 bytes: what it has returned */
	JW_WHY = 'W',     /* its words for that */
	JW_LOG = 'l',     /* what the compiler said */
	JW_CODE = 'c',
	JW_LOWERED = 'w', /* the name of each expression, in their order */
	JW_ASKED = 'a',   /* the name of a variable that was asked for since the start */
	JW_MAPPED = 'M',  /* the file of a library that is loaded */
};

/* A part that came in. There is a NUL behind its bytes. */
typedef struct jw_part {
	char letter;
	char *data;
	size_t size;
} jw_part;

/* jw_receive waits for a message, and returns its parts and their number; they last
 * until the next call. It ends the process when nobody is there any more. */
size_t jw_receive(int fd, jw_part **parts);

/* jw_add adds a part to the message that jw_send sends. */
void jw_add(char letter, const void *data, size_t size);
void jw_add_text(char letter, const char *text);
void jw_add_number(char letter, uint32_t number);
void jw_send(int fd);

#endif
