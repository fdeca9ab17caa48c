/* wire.h: messages between the library and the worker, through the channel.
 *
 * A message is its size, as 8 bytes, and parts: a letter, a size of 8 bytes, and
 * bytes. Numbers are little-endian. cuda/worker/wire.go has the other end. */
#ifndef JW_WIRE_H
#define JW_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* The letters of what the worker receives. The first message has variables; each other
 * one is a program to compile. */
enum {
	JW_VARIABLE = 'v', /* NAME=VALUE, for jw_variables_set */
	JW_SHOWN = 'f',    /* NVRTC gets the name of the folder that it works in */
	JW_UMASK = 'm',    /* 4 bytes */
	JW_NAME = 'N',     /* the name of the source */
	JW_SOURCE = 's',
	JW_HEADER = 'h',     /* the name of a header */
	JW_TEXT = 't',       /* the text of the header before */
	JW_EXPRESSION = 'e', /* a name expression */
	JW_OPTION = 'o',
	JW_TARGET = 'T', /* "CUBIN", "PTX", "LTOIR" */
};

/* The letters of what the worker answers. */
enum {
	JW_VERSION = 'V', /* two times 4 bytes: NVRTC has been loaded */
	JW_CALL = 'C',    /* the call that failed: of the loader, or of NVRTC */
	JW_STATUS = 'S',  /* 4 bytes: its status */
	JW_WHY = 'W',     /* the text for that status */
	JW_LOG = 'l',     /* the compiler's log */
	JW_CODE = 'c',
	JW_LOWERED = 'w', /* the lowered name of each expression, in their order */
	JW_ASKED = 'a',   /* the name of a variable that was asked for since the start */
	JW_MAPPED = 'M',  /* the file of a library that is loaded */
};

/* A part of a received message. A NUL follows its bytes. */
typedef struct jw_part {
	char letter;
	char *data;
	size_t size;
} jw_part;

/* jw_receive waits for a message, and returns its parts and their number; they are valid
 * until the next call. It returns 0 when the host has gone. */
int jw_receive(int fd, jw_part **parts, size_t *n);

/* jw_add adds a part to the message that jw_send sends. */
void jw_add(char letter, const void *data, size_t size);
void jw_add_text(char letter, const char *text);
void jw_add_number(char letter, uint32_t number);
void jw_send(int fd);

#endif
