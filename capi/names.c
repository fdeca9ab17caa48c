/* names.c: statuses and reasons as text. */
#include "core.h"

const char *jitcache_status_name(int32_t status)
{
	switch (status) {
	case JITCACHE_OK: return "ok";
	case JITCACHE_MISS: return "miss";
	case JITCACHE_LEASE: return "lease";
	case JITCACHE_BUSY: return "busy";
	case JITCACHE_TIMEOUT: return "timeout";
	case JITCACHE_NOT_STORED: return "not stored";
	case JITCACHE_TOO_SMALL: return "too small";
	case JITCACHE_ERR_ARGUMENT: return "argument";
	case JITCACHE_ERR_HANDLE: return "handle";
	case JITCACHE_ERR_OPTION: return "option";
	case JITCACHE_ERR_KEY: return "key";
	case JITCACHE_ERR_FROZEN: return "frozen";
	case JITCACHE_ERR_ATTRIBUTES: return "attributes";
	case JITCACHE_ERR_INPUT: return "input";
	case JITCACHE_ERR_PATH: return "path";
	case JITCACHE_ERR_MAINTENANCE: return "maintenance";
	case JITCACHE_ERR_MEMORY: return "memory";
	case JITCACHE_ERR_FORK: return "fork";
	case JITCACHE_ERR_INTERNAL: return "internal";
	case JITCACHE_ERR_COMPILE: return "compile";
	case JITCACHE_ERR_REFUSED: return "refused";
	case JITCACHE_ERR_LIBRARY: return "library";
	case JITCACHE_ERR_DRIVER: return "driver";
	}
	return "unknown";
}

/* The texts of store.Reason; TestReasonsAreTheSameInCAndGo compares the two. */
const char *jitcache_reason_name(int32_t reason)
{
	switch (reason) {
	case JITCACHE_REASON_NONE: return "";
	case JITCACHE_REASON_ABSENT: return "absent";
	case JITCACHE_REASON_TRUNCATED: return "truncated";
	case JITCACHE_REASON_CHECKSUM: return "checksum";
	case JITCACHE_REASON_FOREIGN_KEY: return "foreign key";
	case JITCACHE_REASON_NEWER_FORMAT: return "newer format";
	case JITCACHE_REASON_PERMISSION: return "permission";
	case JITCACHE_REASON_NOT_REGULAR: return "not a regular file";
	case JITCACHE_REASON_WRONG_OWNER: return "wrong owner";
	case JITCACHE_REASON_SYMLINK: return "symlink";
	case JITCACHE_REASON_MALFORMED: return "malformed";
	case JITCACHE_REASON_IO: return "i/o error";
	case JITCACHE_REASON_NO_MEMORY: return "no memory";
	case JITCACHE_REASON_OFF: return "off";
	case JITCACHE_REASON_REFRESH: return "refresh";
	case JITCACHE_REASON_FORK: return "fork";
	case JITCACHE_REASON_UNAVAILABLE: return "unavailable";
	case JITCACHE_REASON_TOO_LARGE: return "too large";
	case JITCACHE_REASON_READ_ONLY: return "read-only";
	case JITCACHE_REASON_NO_SPACE: return "no space";
	case JITCACHE_REASON_INPUT_CHANGED: return "input changed";
	case JITCACHE_REASON_NO_DIRECTORY: return "no directory";
	case JITCACHE_REASON_DESCRIPTORS: return "too many open files";
	case JITCACHE_REASON_INTERNAL: return "internal error";
	case JITCACHE_REASON_UNREPEATABLE: return "not repeatable";
	case JITCACHE_REASON_SIGNATURE: return "no trusted signature";
	case JITCACHE_REASON_REMOTE_OFF: return "remote off";
	case JITCACHE_REASON_REMOTE_BUDGET: return "remote budget spent";
	}
	return "unknown";
}

uint32_t jitcache_abi_version(void) { return JITCACHE_ABI_VERSION; }

const char *jitcache_version(void) { return JITCACHE_VERSION; }
