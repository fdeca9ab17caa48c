/* names.h: the names that the tree used, each noted once. */
#ifndef JO_NAMES_H
#define JO_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* What was done with a name, as the tree named it: absolute, and otherwise as it
 * is, with its links, dots and doubled slashes, for that is how it has to be
 * asked for again. */
enum {
	JO_LOOKED = 1 << 0,   /* stat, access and the like */
	JO_READ = 1 << 1,     /* opened for reading */
	JO_RUN = 1 << 2,      /* executed, or read by the kernel to do so */
	JO_LISTED = 1 << 3,   /* a folder: its names were read */
	JO_TEXT = 1 << 4,     /* a link: its text was read */
	JO_PLAIN = 1 << 5,    /* looked at without following a link, and it is none */
	JO_SENT = 1 << 6,     /* its content is in the report */
	JO_LARGE = 1 << 7,    /* its content had to be, and is too large */
	JO_MADE = 1 << 8,     /* later the tree made, changed or removed it */
	JO_RELATIVE = 1 << 9, /* named relative to the folder that the command was started in */
	JO_ABSOLUTE = 1 << 10,
	JO_STATTED = 1 << 11,   /* looked at by a call that tells its time stamps */
	JO_PERMITTED = 1 << 12, /* it was asked what may be done with it */

	/* What follows a link to the end. */
	JO_FOLLOWED = JO_LOOKED | JO_READ | JO_RUN | JO_LISTED,
};

/* A file as stat saw it, just before the tree could. */
typedef struct jo_stamp {
	uint64_t dev, ino, size;
	int64_t mtime, ctime, taken; /* nanoseconds since 1970 */
	uint64_t mount;              /* id of the mount that no other has had since the start; 0: unknown */
	uint32_t mode;               /* 0: there is none, or nothing was asked about it */
	int32_t error;               /* why there is none, or cannot be read: an errno */
} jo_stamp;

/* jo_permit is whether something may be done with a name, as a process was told. */
typedef struct jo_permit {
	struct jo_permit *next;
	uint32_t how;   /* R_OK, W_OK and X_OK, and JO_EFFECTIVE */
	uint32_t error; /* why not, 0: it may */
} jo_permit;

/* JO_EFFECTIVE: by whom a process acts as, which open and exec go by, and not by whom it
 * belongs to, which access(2) asks about. */
enum { JO_EFFECTIVE = 8 };

/* Other questions, whose answers are no errors: which extended attributes there are, 0 for
 * none, else a digest of their names; and the flags that somebody may set (chattr). */
enum { JO_ATTRIBUTES = 16, JO_FLAGS = 32 };

typedef struct jo_name {
	char *path;
	uint32_t bits;
	uint64_t statted;  /* by which programs: bit i is program i, the last one all others */
	uint64_t programs; /* that did anything with it */
	uint64_t readers;  /* that opened it for reading */
	uint64_t asked;    /* that are in statted, and not only because it was on their way (walk.h) */
	jo_stamp stamp;    /* of what it leads to */
	char *text;        /* of a link that was read */
	jo_permit *permits;
} jo_name;

/* jo_name_of returns the entry of a path, making one if there is none. It stays
 * where it is. */
jo_name *jo_name_of(const char *path);

/* jo_name_next returns all entries, as jo_table_next does. */
jo_name *jo_name_next(size_t *at);

/* jo_name_text notes the text of a link. */
void jo_name_text(jo_name *name, const char *text, size_t length);

/* jo_name_permit notes what error there is if somebody wants to do something with a name,
 * jo_name_has_permit reports whether that is noted. */
int jo_name_has_permit(const jo_name *name, uint32_t how);
void jo_name_permit(jo_name *name, uint32_t how, uint32_t error);

/* jo_name_opened notes under which name a folder was opened whose path without
 * links is real; form is JO_RELATIVE or JO_ABSOLUTE. It returns another name by
 * which it was opened before, NULL if there is none. jo_name_folder returns the
 * last one, else real: what is done in an open folder is done under the name that
 * it was opened by. */
const char *jo_name_opened(const jo_name *name, const char *real, uint32_t form);
const char *jo_name_folder(const char *real, uint32_t *form);

/* jo_names_report writes JO_NAME records of everything. real is what turns a path
 * into one without links but the last, NULL where it cannot. */
void jo_names_report(const char *(*real)(const char *path));

#endif
