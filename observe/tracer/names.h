/* names.h: what the tree did with which names, each noted once. */
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
	JO_STATTED = 1 << 11, /* looked at by a call that tells its time stamps */

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

typedef struct jo_name {
	char *path;
	uint32_t length, bits;
	uint64_t statted;  /* by which programs: bit i is program i, the last one all others */
	uint64_t programs; /* that did anything with it */
	jo_stamp stamp; /* of what it leads to */
	char *text;     /* of a link that was read */
} jo_name;

/* jo_name_of returns the entry of a path, making one if there is none; fresh
 * says which. It stays where it is. */
jo_name *jo_name_of(const char *path, int *fresh);

/* jo_name_folder returns the name under which a folder was opened last whose path
 * without links is real, else real: what is done in an open folder is done under
 * the name that it was opened by. form gets JO_RELATIVE or JO_ABSOLUTE. */
const char *jo_name_folder(const char *real, uint32_t *form);
void jo_name_opened(jo_name *name, const char *real, uint32_t form);

/* jo_name_text notes the text of a link. */
void jo_name_text(jo_name *name, const char *text, size_t length);

/* ---- what the tree made */

enum {
	JO_CREATED = 1 << 0,  /* there was none, or what there was is gone */
	JO_REPLACED = 1 << 1, /* there was one, of which nothing is left: truncated, removed, renamed over */
	JO_CHANGED = 1 << 2,  /* there was one, and it was changed in place */
	JO_REMOVED = 1 << 3,  /* it is gone, as far as the tracer knows */
	JO_FOLDER = 1 << 4,   /* it is a folder */
};

/* jo_written returns what the tree made of a file, 0 for nothing; real is a path
 * without links. jo_written_in also looks whether it made a folder above. */
uint32_t jo_written(const char *real);
uint32_t jo_written_in(const char *real);
void jo_write(const char *real, uint32_t set, uint32_t clear);

/* jo_wrote_any says whether the tree has made anything. jo_may_be_written says of a
 * path, however it leads there, that jo_written_in may find something; it knows
 * without asking the disk that most paths are not it. */
int jo_wrote_any(void);
int jo_may_be_written(const char *path);

/* jo_names_report writes JO_NAME and JO_WRITTEN records of everything. real is
 * what turns a path into one without links but the last, NULL where it cannot. */
void jo_names_report(const char *(*real)(const char *path));

#endif
