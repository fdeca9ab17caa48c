/* jitcache.h: a persistent compile cache for programs that compile while they
 * run.
 *
 * It stores what a compiler made (a cubin, a shared library, an object file)
 * under a key that covers everything the result depends on, and gives it back
 * in microseconds: in the same process, in the next process, in another rank.
 *
 *	#include <jitcache.h>
 *
 *	jitcache_cache *cache;
 *	jitcache_key *key;
 *	jitcache_blob *code;
 *	jitcache_open(NULL, &cache);
 *	jitcache_key_new(&key);
 *	jitcache_key_add(key, "source", source, strlen(source));
 *	jitcache_key_add(key, "arch", "sm_90", 5);
 *	jitcache_get_or_compile(cache, key, -1, compile, source, &code);
 *	if (code != NULL)
 *		use(jitcache_blob_data(code), jitcache_blob_size(code));
 *
 * Link with -ljitcache. This header is the manual: only what it documents is
 * part of the interface. It compiles as C99 and as C++11.
 *
 * CAVEATS
 *
 * - The cache never fails the program. A full disk, a damaged entry, another
 *   user's file: each is a miss, or a result that is not stored, with a reason
 *   (jitcache_last_miss). A negative status means wrong use, no memory, no
 *   runtime after fork, or a bug of the library. After a bug every call returns
 *   that status, except lookups of entries in memory, and the host goes on.
 * - Fork. Handles work in a forked child. The first call there that needs a
 *   runtime starts one for the child (1.5 to 5 ms). If that cannot be done, the
 *   call returns JITCACHE_ERR_FORK. Do not fork in a signal handler and call
 *   this library in that child. A child of vfork may only exec.
 * - Threads. Every function may be called from any thread. But only one thread
 *   at a time may build a key or an options object, or move a cursor.
 *   Releasing a handle while another thread uses that same handle is wrong use.
 * - The library contains a Go runtime: five to eleven threads, which take none
 *   of the host's signals, and 1.6 GB of address space that is reserved, not
 *   used. Go ends a process that cannot provide these: soon after loading if
 *   ulimit -v or -u is low, later if a thread cannot be created. The Python
 *   package and forked children check ulimit -v first; if it is too low, they
 *   go on without a cache.
 *   The runtime handles SIGSEGV, SIGBUS and SIGFPE, and passes those that are
 *   not its own on to the host. The host's handlers may interrupt a call, with
 *   or without SA_ONSTACK; nested handlers have 192 KiB of stack together. They
 *   must not call the library.
 *   A thread without an alternate stack (sigaltstack) gets one of 256 KiB.
 *   The library cannot be unloaded; dlclose does nothing. glibc only.
 * - Descriptors. The library keeps one open, of its own file. The host may close
 *   it (closefrom, close_range).
 * - Network file systems. A cache there is right as long as rename is atomic;
 *   sizes and counters are approximate, and lock files are kept on the node.
 *   Put the cache on a disk of the node if there is one.
 * - Entries are code. A directory that others can write is not used without
 *   consent: options "shared" and "trust".
 *
 * OWNERSHIP
 *
 * Handles are opaque words, not pointers to memory; they are never NULL. Each
 * is released once, with the function named at its type. A handle that was
 * released, is of another type or was never made gives JITCACHE_ERR_HANDLE, and
 * NULL gives JITCACHE_ERR_ARGUMENT; releasing NULL is fine. A function sets its
 * out-parameters with the statuses it names for them; after any other status
 * they are NULL (0). Strings are UTF-8 and end in a NUL; the library copies what
 * it keeps.
 *
 * COMPATIBILITY
 *
 * Statuses, reasons and options keep their numbers and names for ever.
 * Functions are added, never changed: programs built against an older header
 * of the same soname run. Since 0.1 unless a function says otherwise.
 */
#ifndef JITCACHE_H
#define JITCACHE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef JITCACHE_API
#define JITCACHE_API __attribute__((visibility("default")))
#endif

/* The version of this header. jitcache_version() returns the library's. */
#define JITCACHE_VERSION_MAJOR 0
#define JITCACHE_VERSION_MINOR 1
#define JITCACHE_VERSION_PATCH 0
#define JITCACHE_VERSION "0.1.0"

/* Rises when functions are added. A program built against this header needs a
 * library whose jitcache_abi_version() is at least this. */
#define JITCACHE_ABI_VERSION 1

/* ------------------------------------------------------------------ statuses
 *
 * 0 is success, positive is an expected outcome, negative an error. Treat
 * unknown positive ones as JITCACHE_MISS, unknown negative ones as errors. */

#define JITCACHE_OK 0         /* done; the entry is there */
#define JITCACHE_MISS 1       /* there is no usable entry; see jitcache_last_miss */
#define JITCACHE_LEASE 2      /* there is no entry, and the caller must compile it */
#define JITCACHE_BUSY 3       /* not done yet; perhaps another thread or process compiles it: call again */
#define JITCACHE_TIMEOUT 4    /* the time is up: compile, under a lease that locks nothing */
#define JITCACHE_NOT_STORED 5 /* the result is right but was not stored; see jitcache_last_miss */
#define JITCACHE_TOO_SMALL 6  /* the buffer is too small; the needed size was returned */

#define JITCACHE_ERR_ARGUMENT (-1)    /* an argument that must not be NULL is, or one is out of range */
#define JITCACHE_ERR_HANDLE (-2)      /* a handle that was released, or is of another type */
#define JITCACHE_ERR_OPTION (-3)      /* an unknown option, or a bad value */
#define JITCACHE_ERR_KEY (-4)         /* a label used twice, or too long; a packed key that is malformed */
#define JITCACHE_ERR_FROZEN (-5)      /* the key or request was used already: nothing can be added */
#define JITCACHE_ERR_ATTRIBUTES (-6)  /* attributes that are not a JSON object */
#define JITCACHE_ERR_INPUT (-7)       /* a file that a key is to be made of cannot be read */
#define JITCACHE_ERR_PATH (-8)        /* no place on this machine for a path to a blob */
#define JITCACHE_ERR_MAINTENANCE (-9) /* trim, clear or verify could not do its work */
#define JITCACHE_ERR_MEMORY (-10)     /* no memory */
#define JITCACHE_ERR_FORK (-11)       /* a forked child in which no runtime could be started */
#define JITCACHE_ERR_INTERNAL (-12)   /* a bug of the library: it has stopped working, the host goes on */
#define JITCACHE_ERR_COMPILE (-20)    /* the compiler refused the source (jitcache_cuda.h) */

/* Why a lookup missed or a result was not stored: jitcache_last_miss(). */
#define JITCACHE_REASON_NONE 0
#define JITCACHE_REASON_ABSENT 1       /* no entry under the key */
#define JITCACHE_REASON_TRUNCATED 2    /* the file does not end in a whole footer */
#define JITCACHE_REASON_CHECKSUM 3     /* payload, attributes or footer are damaged */
#define JITCACHE_REASON_FOREIGN_KEY 4  /* the file is another key's entry */
#define JITCACHE_REASON_NEWER_FORMAT 5 /* written by a later format */
#define JITCACHE_REASON_PERMISSION 6   /* the system does not allow it */
#define JITCACHE_REASON_NOT_REGULAR 7  /* not a file but a directory, pipe or device */
#define JITCACHE_REASON_WRONG_OWNER 8  /* another user may have written it */
#define JITCACHE_REASON_SYMLINK 9      /* a symbolic link below the cache's root */
#define JITCACHE_REASON_MALFORMED 10   /* intact, but lengths or attributes make no sense */
#define JITCACHE_REASON_IO 11          /* the system reported another error */
#define JITCACHE_REASON_NO_MEMORY 12
#define JITCACHE_REASON_OFF 13           /* JITCACHE=0 */
#define JITCACHE_REASON_REFRESH 14       /* JITCACHE=refresh: every lookup misses */
#define JITCACHE_REASON_FORK 15          /* no runtime in a forked child */
#define JITCACHE_REASON_UNAVAILABLE 16   /* Python only: the library cannot be used */
#define JITCACHE_REASON_TOO_LARGE 17     /* larger than the cap */
#define JITCACHE_REASON_READ_ONLY 18     /* the cache was opened for reading, or cannot be written */
#define JITCACHE_REASON_NO_SPACE 19      /* the disk, its inodes or a quota are used up */
#define JITCACHE_REASON_INPUT_CHANGED 20 /* a file that the key read has changed since */
#define JITCACHE_REASON_NO_DIRECTORY 21  /* no usable directory: in memory only */
#define JITCACHE_REASON_DESCRIPTORS 22   /* too many open files */
#define JITCACHE_REASON_INTERNAL 23      /* as JITCACHE_ERR_INTERNAL */
#define JITCACHE_REASON_UNREPEATABLE 24  /* the compile cannot be repeated, or cannot be observed */
#define JITCACHE_REASON_SIGNATURE 25     /* no trusted key has signed it, or a withdrawn key has */
#define JITCACHE_REASON_REMOTE_OFF 26    /* a remote that may have it has failed, and is not asked for a while */
#define JITCACHE_REASON_REMOTE_BUDGET 27 /* the time that may be spent on remotes that do not answer is used up */

/* jitcache_status_name returns the name of a status ("miss"), and "unknown" for
 * any other number. The text is constant. */
JITCACHE_API const char *jitcache_status_name(int32_t status);

/* jitcache_reason_name returns the name of a reason ("checksum"), "" for
 * JITCACHE_REASON_NONE, and "unknown" for any other number. The text is
 * constant. */
JITCACHE_API const char *jitcache_reason_name(int32_t reason);

/* jitcache_last_miss returns the reason of this thread's last JITCACHE_MISS,
 * JITCACHE_LEASE, JITCACHE_TIMEOUT or JITCACHE_NOT_STORED. */
JITCACHE_API int32_t jitcache_last_miss(void);

/* jitcache_last_error returns one line about this thread's last negative
 * status, "" if there was none. It is valid until this thread's next negative
 * status. */
JITCACHE_API const char *jitcache_last_error(void);

/* jitcache_abi_version returns the library's JITCACHE_ABI_VERSION. */
JITCACHE_API uint32_t jitcache_abi_version(void);

/* jitcache_version returns the library's JITCACHE_VERSION. */
JITCACHE_API const char *jitcache_version(void);

/* ------------------------------------------------------------------- opening */

/* Options for jitcache_open: names and values, both as text. Released with
 * jitcache_options_free. */
typedef struct jitcache_options jitcache_options;

/* An open cache. Released with jitcache_close. */
typedef struct jitcache_cache jitcache_cache;

/* jitcache_options_new makes an empty set of options in *options.
 * OK; ERR_ARGUMENT: options is NULL; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_options_new(jitcache_options **options);

/* jitcache_options_set sets one option; setting it again replaces the value.
 *
 *	directory    where entries are kept. Default: $JITCACHE_DIR, else
 *	             $XDG_CACHE_HOME/jitcache, else ~/.cache/jitcache
 *	max_size     cap of the directory, in bytes or as "500M", "5Gi"; "0" is
 *	             unlimited. Stored with the directory; without "directory" it
 *	             never lowers what is stored. Default 5 GiB
 *	memory_size  cap of what this process keeps in memory, written like
 *	             max_size; "0" keeps nothing. Default 256 MiB
 *	durable      "1": fsync what is stored
 *	shared       "1": trust every user who may write the directory
 *	readonly     "1": store nothing
 *	trust        ids of other users whose entries are used, "1000,1001"
 *	lock_dir     where lock files go, if not into the directory
 *	file_system  "local" or "network", if the system reports the wrong one
 *
 * Values are checked by jitcache_open.
 * OK; ERR_ARGUMENT: name or value is NULL; ERR_HANDLE; ERR_OPTION: there is no
 * such option; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_options_set(jitcache_options *options, const char *name, const char *value);

/* jitcache_options_free releases options; open caches do not need them. */
JITCACHE_API void jitcache_options_free(jitcache_options *options);

/* jitcache_open opens a cache. options may be NULL. The environment is read
 * now: JITCACHE (on, 0, readonly, refresh; overrides the options), JITCACHE_DIR,
 * JITCACHE_SIZE, JITCACHE_MEMORY, JITCACHE_LOG, JITCACHE_LOG_FILE,
 * JITCACHE_SHARED, JITCACHE_TRUST, JITCACHE_LAYERS, JITCACHE_REMOTE,
 * JITCACHE_LOCK_DIR, JITCACHE_FS, JITCACHE_KEYS, JITCACHE_NAMESPACE,
 * JITCACHE_SIGNING_KEY_FILE. So are the settings of the user and of the machine
 * (docs/sharing.md). If the directory has no entry, a lookup goes on to the
 * layers and remotes. jitcache_put, jitcache_remove and cursors concern the
 * directory alone.
 *
 * It is not an error if the directory cannot be used, or must not be used because
 * others may write it. The cache then keeps results in memory only, for as long
 * as the process runs. A warning says so once and names the remedy
 * (jitcache_set_log). With memory_size 0 the cache then keeps nothing.
 *
 * The same directory may be opened several times; each open cache has its own
 * tier in memory.
 * OK; ERR_ARGUMENT: cache is NULL; ERR_HANDLE; ERR_OPTION: a bad value;
 * ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_open(const jitcache_options *options, jitcache_cache **cache);

/* jitcache_close writes the counters and closes the cache. If calls of other
 * threads, leases or jobs still use the cache, the last of them to end does that
 * work; jitcache_close does not wait for it. Blobs stay valid. A process may exit
 * without a call of jitcache_close.
 * OK; ERR_ARGUMENT: cache is NULL; ERR_HANDLE. */
JITCACHE_API int32_t jitcache_close(jitcache_cache *cache);

/* ---------------------------------------------------------------------- keys
 *
 * A key is a set of labelled components; their order does not matter. Add
 * everything that the result depends on: the source, the options in order, the
 * target, the compiler itself (jitcache_key_add_tool). Leave out everything else:
 * paths, times, process ids, the working directory.
 *
 * A key is built by one thread. Its first use freezes it; from then on any
 * thread may use it, for any number of calls. */

/* A key. Released with jitcache_key_free. */
typedef struct jitcache_key jitcache_key;

/* jitcache_key_new makes a key without components in *key.
 * OK; ERR_ARGUMENT: key is NULL; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_key_new(jitcache_key **key);

/* jitcache_key_from_digest makes a key from 32 bytes: those of another key
 * (jitcache_key_hex), or a hash that the caller has computed. The key has no
 * components, so its misses cannot be explained.
 * OK; ERR_ARGUMENT: an argument is NULL; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_key_from_digest(const uint8_t digest[32], jitcache_key **key);

/* jitcache_key_add adds a component of size bytes. The label has 1 to 1024
 * bytes; a key has each label once. data may be NULL if size is 0.
 * OK; ERR_ARGUMENT: key, label or data is NULL; ERR_HANDLE; ERR_KEY: the label is
 * empty, too long or used twice; ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_key_add(jitcache_key *key, const char *label, const void *data, size_t size);

/* jitcache_key_add_file adds the content of a file. The path is not part of the
 * key. The file is read now, and checked again when a result is stored under the
 * key. If it has changed in between, nobody knows which content was compiled, and
 * the result is not stored (JITCACHE_REASON_INPUT_CHANGED).
 * OK; ERR_ARGUMENT: an argument is NULL; ERR_HANDLE; ERR_KEY; ERR_FROZEN;
 * ERR_INPUT: the file cannot be read; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_key_add_file(jitcache_key *key, const char *label, const char *path);

/* jitcache_key_add_tool adds the identity of a compiler or library: its GNU
 * build id if it is an ELF file that has one, else its content. A name without a
 * slash is looked up in PATH, as execvp does.
 * Statuses as jitcache_key_add_file. */
JITCACHE_API int32_t jitcache_key_add_tool(jitcache_key *key, const char *label, const char *path);

/* jitcache_key_add_packed adds several components at once, in the packed form
 * that docs/format.md specifies ("Components"); they may have types other than
 * bytes. It is for bindings to other languages.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_KEY: malformed, or a label used twice;
 * ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_key_add_packed(jitcache_key *key, const void *packed, size_t size);

/* jitcache_key_set_name sets what the user would call the result ("saxpy"), at
 * most 1024 bytes. It is not part of the key. To explain a miss, the key is
 * compared with that of the last entry of the same name.
 * OK; ERR_ARGUMENT: an argument is NULL; ERR_HANDLE; ERR_KEY: too long;
 * ERR_FROZEN; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_key_set_name(jitcache_key *key, const char *name);

/* jitcache_key_set_kind sets the kind of the entry ("cubin", "native"), for
 * statistics and jitcache_clear: 1 to 16 of a-z, 0-9, '_', '-', '.'. It is not
 * part of the key. Default "generic".
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_KEY: not a kind; ERR_FROZEN. */
JITCACHE_API int32_t jitcache_key_set_kind(jitcache_key *key, const char *kind);

/* jitcache_key_hex freezes the key and writes its 64 hexadecimal digits and a
 * NUL.
 * OK; ERR_ARGUMENT: an argument is NULL; ERR_HANDLE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_key_hex(jitcache_key *key, char out[65]);

/* jitcache_key_save freezes the key and writes it to buffer in the form that
 * docs/format.md specifies ("Sealed key"). jitcache_key_load makes the same key
 * from these bytes, in this or another process. *size gets their number.
 * OK; ERR_ARGUMENT: key or size is NULL; ERR_HANDLE; TOO_SMALL: capacity is
 * less than *size, and nothing was written; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_key_save(jitcache_key *key, void *buffer, size_t capacity, size_t *size);

/* jitcache_key_load makes a key from the bytes that jitcache_key_save wrote. The
 * key is frozen.
 * OK; ERR_ARGUMENT: an argument is NULL; ERR_KEY: malformed; ERR_MEMORY;
 * ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_key_load(const void *saved, size_t size, jitcache_key **key);

/* jitcache_key_free releases a key. Calls and leases that use it continue. */
JITCACHE_API void jitcache_key_free(jitcache_key *key);

/* --------------------------------------------------------------------- blobs */

/* The bytes of an entry: immutable, counted, valid until released, usable from
 * any thread, also after the cache was closed and after the entry was evicted.
 * Released with jitcache_blob_release. */
typedef struct jitcache_blob jitcache_blob;

/* jitcache_blob_data returns the payload, aligned to 64 bytes and followed by a
 * NUL that its size does not include. NULL for a bad handle. */
JITCACHE_API const void *jitcache_blob_data(const jitcache_blob *blob);

/* jitcache_blob_size returns the number of bytes, 0 for a bad handle. */
JITCACHE_API size_t jitcache_blob_size(const jitcache_blob *blob);

/* jitcache_blob_attributes returns the JSON text that was stored with the
 * entry, "" if there was none or for a bad handle. Valid as long as the blob. */
JITCACHE_API const char *jitcache_blob_attributes(const jitcache_blob *blob);

/* jitcache_blob_kind and jitcache_blob_name return the kind and the name of the
 * entry, "" for a bad handle. Valid as long as the blob. */
JITCACHE_API const char *jitcache_blob_kind(const jitcache_blob *blob);
JITCACHE_API const char *jitcache_blob_name(const jitcache_blob *blob);

/* jitcache_blob_path makes a path to the payload, for dlopen and for tools that
 * take files. The path can be opened for as long as the blob is held, even after
 * the entry was evicted. It may be in the cache directory: if somebody removes
 * the whole directory, the path is gone too. A process never gets the same path
 * twice. An ELF payload may be followed by some hundred bytes that ELF readers
 * ignore. The string is valid as long as the blob.
 * OK; ERR_ARGUMENT: an argument is NULL; ERR_HANDLE; ERR_PATH: neither the
 * cache, the temp directory nor memory can hold it; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_blob_path(jitcache_blob *blob, const char **path);

/* jitcache_blob_retain adds a reference, which is released like the first. */
JITCACHE_API void jitcache_blob_retain(jitcache_blob *blob);

/* jitcache_blob_release drops a reference. The last one frees the blob. */
JITCACHE_API void jitcache_blob_release(jitcache_blob *blob);

/* ------------------------------------------------------------------- lookups */

/* jitcache_get looks an entry up. The bytes were verified when they were read.
 * OK: *blob is the entry; MISS; ERR_ARGUMENT: an argument is NULL; ERR_HANDLE;
 * ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_get(jitcache_cache *cache, jitcache_key *key, jitcache_blob **blob);

/* jitcache_get_data is jitcache_get, jitcache_blob_data and jitcache_blob_size in
 * one call, for bindings whose calls are slow. *data and *size are set with OK
 * only.
 * Statuses as jitcache_get. */
JITCACHE_API int32_t jitcache_get_data(
	jitcache_cache *cache, jitcache_key *key, jitcache_blob **blob, const void **data, size_t *size);

/* jitcache_get_into looks an entry up and copies its payload into buffer. *size
 * gets the size of the payload. If the cache keeps nothing in memory, the payload
 * is read from the file straight into buffer; a buffer that is 1 KiB larger than
 * the payload makes that one read. The bytes of buffer after the payload are
 * undefined.
 * OK; TOO_SMALL: capacity is less than *size; MISS; errors as jitcache_get. */
JITCACHE_API int32_t jitcache_get_into(
	jitcache_cache *cache, jitcache_key *key, void *buffer, size_t capacity, size_t *size);

/* Replace an existing entry. Without this flag a good entry is kept. After the
 * call has returned, no new lookup in this cache returns the old entry. Other
 * open caches, in this process or another, may return it for as long as they
 * hold it in memory. */
#define JITCACHE_REPLACE 1u

/* jitcache_put stores size bytes. attributes is a JSON object that lookups
 * return with the entry, or NULL. flags is 0 or JITCACHE_REPLACE.
 * OK: the entry is there now; NOT_STORED: see jitcache_last_miss; ERR_ARGUMENT:
 * cache or key is NULL, data is NULL and size is not 0, or an unknown flag;
 * ERR_HANDLE; ERR_ATTRIBUTES; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_put(jitcache_cache *cache, jitcache_key *key, const void *data, size_t size,
	const char *attributes, uint32_t flags);

/* jitcache_put_compiled is jitcache_put for a result that was compiled without a
 * lease on its key, because the key is known only after the compile, say. The
 * statistics count a compile that took so many nanoseconds, and every hit on the
 * entry as the same time saved. Returns what jitcache_put returns. */
JITCACHE_API int32_t jitcache_put_compiled(jitcache_cache *cache, jitcache_key *key, const void *data, size_t size,
	const char *attributes, uint32_t flags, uint64_t nanoseconds);

/* ------------------------------------------------------------- one compile
 *
 * Many threads and processes may ask for the same missing key at once. One of
 * them compiles, the others take its result. If it dies, the next takes over. */

/* The right to compile a key. jitcache_commit or jitcache_lease_free ends it.
 * It may be passed to another thread. */
typedef struct jitcache_lease jitcache_lease;

/* jitcache_acquire looks an entry up, and asks for the lease if it is missing.
 * One call waits for at most 100 ms, so that the caller can handle its own
 * signals. After JITCACHE_BUSY call again with the time that is left.
 *
 * timeout_ms is how long to wait for another holder. 0 tries once. With -1 the
 * wait ends when the holder is done, at once when it dies, when it has been
 * stopped for 10 seconds, or when it has taken 30 minutes.
 *
 * A thread that holds a lease never waits, because two threads that wait for each
 * other would wait for ever. It gets a lease that locks nothing.
 *
 * OK: *blob is the entry; LEASE: compile, and commit *lease; BUSY; TIMEOUT:
 * compile, *lease locks nothing; ERR_ARGUMENT: a pointer is NULL, or timeout_ms
 * is below -1; ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_acquire(
	jitcache_cache *cache, jitcache_key *key, int64_t timeout_ms, jitcache_blob **blob, jitcache_lease **lease);

/* jitcache_commit stores the result. It ends the lease with every status except
 * ERR_HANDLE. blob may be NULL; otherwise *blob gets the bytes, stored or not.
 * attributes is as in jitcache_put.
 * OK; NOT_STORED; ERR_ARGUMENT: lease or data is NULL; ERR_HANDLE;
 * ERR_ATTRIBUTES: nothing is stored; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_commit(
	jitcache_lease *lease, const void *data, size_t size, const char *attributes, jitcache_blob **blob);

/* jitcache_lease_free gives a lease up: the next that waits compiles. NULL is
 * fine, and so is a lease that was committed. */
JITCACHE_API void jitcache_lease_free(jitcache_lease *lease);

/* The function that jitcache_get_or_compile calls to compile. It commits the
 * lease once and returns the status of the commit. If it returns without a
 * commit, the lease is given up, and jitcache_get_or_compile returns the same
 * status. It runs on the calling thread, with no lock held and no Go frame on the
 * stack. So it may call any function of this header, throw C++ exceptions, and
 * take its time. */
typedef int32_t (*jitcache_compile_fn)(void *user, jitcache_lease *lease);

/* jitcache_get_or_compile looks an entry up, waits while another thread or
 * process compiles it (timeout_ms as in jitcache_acquire), and calls compile if
 * it gets the lease. The lease belongs to this function.
 *
 * If compile leaves by a C++ exception, the lease is given up on the way. If it
 * leaves by longjmp, which runs no cleanups, or by an exception of a C++ runtime
 * that does not come with libgcc_s, the lease is given up at this thread's next
 * call of the library from the same or an outer frame, or at the thread's end.
 *
 * OK: *blob is the entry; NOT_STORED: *blob is what compile made; ERR_ARGUMENT;
 * ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL; any other status that compile
 * returned. */
JITCACHE_API int32_t jitcache_get_or_compile(jitcache_cache *cache, jitcache_key *key, int64_t timeout_ms,
	jitcache_compile_fn compile, void *user, jitcache_blob **blob);

/* --------------------------------------------------------------- maintenance */

/* jitcache_remove removes an entry. After jitcache_remove and jitcache_clear
 * lookups behave as they do after JITCACHE_REPLACE.
 * OK; MISS: there was no entry; NOT_STORED: it cannot be removed, see
 * jitcache_last_miss; ERR_ARGUMENT; ERR_HANDLE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_remove(jitcache_cache *cache, jitcache_key *key);

/* jitcache_trim counts the directory again, evicts entries beyond the cap, and
 * removes files that dead processes have left.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MAINTENANCE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_trim(jitcache_cache *cache);

/* jitcache_clear removes the entries of a kind, or all entries if kind is NULL.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MAINTENANCE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_clear(jitcache_cache *cache, const char *kind);

/* jitcache_verify reads every entry and removes damaged ones. report may be
 * NULL; otherwise *report gets a JSON object {"entries", "bytes", "bad":
 * [{"path", "reason"}], "removed"}.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MAINTENANCE; ERR_MEMORY; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_verify(jitcache_cache *cache, jitcache_blob **report);

/* jitcache_count counts the entries by listing the directory.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MAINTENANCE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_count(jitcache_cache *cache, uint64_t *entries);

/* An iterator over the entries of a directory. Used by one thread at a time, in
 * a forked child too; released with jitcache_cursor_free. */
typedef struct jitcache_cursor jitcache_cursor;

/* jitcache_cursor_new makes a cursor before the first entry of a kind, or of any
 * kind if kind is NULL. The cursor needs the cache to be open.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY. */
JITCACHE_API int32_t jitcache_cursor_new(jitcache_cache *cache, const char *kind, jitcache_cursor **cursor);

/* jitcache_cursor_next moves to the next entry in the order of keys, and returns
 * it as `jitcache ls -json` prints it, a JSON object: {"key", "kind", "name",
 * "size" of the bytes, "file_size", "created", "used", "compile_seconds", "owner",
 * "path", "attributes"}. It reads only one block of the entry's file.
 *
 * A cursor takes 32 bytes for every 256 entries of the directory. An entry that
 * is stored or removed meanwhile is returned once or not at all. Entries that
 * cannot be read are skipped (jitcache_verify finds them), and so are entries
 * that are in memory only.
 * OK; BUSY: the call has skipped 64 entries that are of another kind or cannot be
 * read, and returns so that the host can handle signals: call again; MISS: there
 * are no more; ERR_ARGUMENT; ERR_HANDLE: the cursor's or the cache's; ERR_MEMORY;
 * ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_cursor_next(jitcache_cursor *cursor, jitcache_blob **json);

/* jitcache_cursor_free releases a cursor. */
JITCACHE_API void jitcache_cursor_free(jitcache_cursor *cursor);

/* jitcache_stats returns the counters as a JSON object, as `jitcache stats
 * --json` prints them.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_stats(jitcache_cache *cache, jitcache_blob **json);

/* jitcache_explain returns a JSON object that says whether a key would hit, and
 * in which components it differs from the last entry of the same name: {"key",
 * "name", "hit", "reason", "last_key", "last_stored", "changed", "added",
 * "removed"}. No counter changes.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_MEMORY; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_explain(jitcache_cache *cache, jitcache_key *key, jitcache_blob **json);

/* jitcache_flush writes the counters of this process to the directory. The
 * library does so by itself at jitcache_close, at exit, and every ten seconds of
 * use.
 * OK; ERR_ARGUMENT; ERR_HANDLE; ERR_FORK; ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_flush(jitcache_cache *cache);

/* ------------------------------------------------------- hosts with a tier
 *
 * For a binding that keeps results itself, so that it can return them again
 * without a call of the library. */

/* jitcache_epoch returns the address of a word that changes whenever an entry
 * leaves the cache's tier in memory or is replaced there. As long as the word is
 * the same, the results that a binding keeps are current. The address is valid
 * until the cache is closed. NULL if the cache has no such tier, or for a bad
 * handle. */
JITCACHE_API const volatile uint64_t *jitcache_epoch(jitcache_cache *cache);

/* jitcache_used counts n hits on an entry that the caller has returned itself,
 * and makes the entry the most recently used.
 * OK; MISS: the tier does not have the entry any more, or there is no tier; the
 * hits are then counted for the key's kind; ERR_ARGUMENT; ERR_HANDLE; ERR_FORK;
 * ERR_INTERNAL. */
JITCACHE_API int32_t jitcache_used(jitcache_cache *cache, jitcache_key *key, uint64_t n);

/* ----------------------------------------------------------------- the rest */

#define JITCACHE_LOG_WARNING 1
#define JITCACHE_LOG_INFO 2
#define JITCACHE_LOG_MISS 3
#define JITCACHE_LOG_DEBUG 4

/* Receives one line of the log; text is valid during the call. */
typedef void (*jitcache_log_fn)(void *user, int32_t level, const char *text);

/* jitcache_set_log makes the library pass warnings to fn, each once per process.
 * NULL ends that. A thread that has called the library calls fn right before that
 * call returns, with no lock held; fn may call the library. The lines that
 * JITCACHE_LOG asks for go to standard error or JITCACHE_LOG_FILE, not to fn.
 * Always OK. */
JITCACHE_API int32_t jitcache_set_log(jitcache_log_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
