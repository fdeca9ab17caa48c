/* names.h: the names that the tree used, each noted once. */
#ifndef JO_NAMES_H
#define JO_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* What was done with a name. Names are made absolute, and are otherwise as the tree wrote
 * them, with links, dots and doubled slashes, because a lookup must ask for them in the
 * same way. */
enum {
	JO_LOOKED = 1 << 0,     /* stat, access and the like */
	JO_READ = 1 << 1,       /* opened for reading */
	JO_RUN = 1 << 2,        /* executed, or read by the kernel for that */
	JO_LISTED = 1 << 3,     /* a folder: its names were read */
	JO_TEXT = 1 << 4,       /* a link: its text was read */
	JO_PLAIN = 1 << 5,      /* looked at without following links, and it is no link */
	JO_SENT = 1 << 6,       /* its content is in the report */
	JO_LARGE = 1 << 7,      /* its content should be in the report, but is too large */
	JO_MADE = 1 << 8,       /* the tree made, changed or removed it later */
	JO_RELATIVE = 1 << 9,   /* named relative to the command's first folder, or to one entered by a relative path */
	JO_ABSOLUTE = 1 << 10,  /* named by an absolute path */
	JO_STATTED = 1 << 11,   /* looked at by a call that returns its time stamps */
	JO_PERMITTED = 1 << 12, /* a call asked what may be done with it */

	/* The uses that follow links to the end. */
	JO_FOLLOWED = JO_LOOKED | JO_READ | JO_RUN | JO_LISTED,
};

/* What stat said of a file just before the tree looked at it. */
typedef struct jo_stamp {
	uint64_t dev, ino, size;
	int64_t mtime, ctime, taken; /* nanoseconds since 1970 */
	uint64_t mount;              /* id of the mount, never used again until the next boot; 0: unknown */
	uint32_t mode;               /* 0: nothing is there, or nobody asked */
	int32_t error;               /* an errno: why nothing is there, or why it cannot be read */
} jo_stamp;

/* jo_permit is a question about a name, and the answer that a process got. */
typedef struct jo_permit {
	struct jo_permit *next;
	uint32_t how;   /* R_OK, W_OK and X_OK, and JO_EFFECTIVE; or one of the other questions below */
	uint32_t error; /* 0: it may be done; else an errno; of the other questions the value */
} jo_permit;

/* JO_EFFECTIVE asks for the effective user, as open and exec do, and not for the real one, as
 * access(2) does. */
enum { JO_EFFECTIVE = 8 };

/* Other questions, whose answers are values: what jo_attributes returns, and what jo_flags
 * returns (attributes.h), and how its file system is mounted (jo_mounted). */
enum { JO_ATTRIBUTES = 16, JO_FLAGS = 32, JO_MOUNTED = 128 };

typedef struct jo_name {
	char *path;
	uint32_t bits;
	/* Masks of programs: bit i stands for program i, the last bit for all others. */
	uint64_t statted;  /* they asked for its time stamps */
	uint64_t programs; /* they did anything with it */
	uint64_t readers;  /* they opened it for reading, and not just their loader did (loader.h) */
	uint64_t asked;    /* they are in statted or readers, and not just because they resolved links (walk.h) or
	                      imported a module (import.h) */
	jo_stamp stamp;    /* of what it leads to */
	char *text;        /* of a link that was read */
	jo_permit *permits;
} jo_name;

/* jo_name_of returns the entry of a path, and makes one if there is none. Entries never
 * move. */
jo_name *jo_name_of(const char *path);

/* jo_name_next returns the entries one after the other, as jo_table_next does. */
jo_name *jo_name_next(size_t *at);

/* jo_name_text notes the text of a link. */
void jo_name_text(jo_name *name, const char *text, size_t length);

/* jo_name_has_permit reports whether an answer to the question how is noted for a name.
 * jo_name_permit notes one. */
int jo_name_has_permit(const jo_name *name, uint32_t how);
void jo_name_permit(jo_name *name, uint32_t how, uint32_t error);

/* jo_name_opened notes the name under which a folder was opened. real is the folder's path
 * without links; form is JO_RELATIVE or JO_ABSOLUTE. It returns another name under which the
 * folder was opened before, NULL if there is none. jo_name_folder returns the last such name,
 * else real: names relative to a descriptor are noted below it. */
const char *jo_name_opened(const jo_name *name, const char *real, uint32_t form);
const char *jo_name_folder(const char *real, uint32_t *form);

/* jo_names_report writes the JO_NAME records of all names. real turns a path into one whose
 * folders are no links; it returns NULL if it cannot. */
void jo_names_report(const char *(*real)(const char *path));

#endif
