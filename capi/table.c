#include "core.h"

#include "_cgo_export.h"

const jc_core jitcache_private_core = {
	.size = sizeof(jc_core),
	.start = jcgo_start,
	.enter = jcgo_enter,
	.open = jcgo_open,
	.close = jcgo_close,
	.flush = jcgo_flush,
	.get = jcgo_get,
	.get_into = jcgo_get_into,
	.put = jcgo_put,
	.acquire = jcgo_acquire,
	.commit = jcgo_commit,
	.release = jcgo_release,
	.remove = jcgo_remove,
	.tend = jcgo_tend,
	.trim = jcgo_trim,
	.clear = jcgo_clear,
	.verify = jcgo_verify,
	.count = jcgo_count,
	.stats = jcgo_stats,
	.explain = jcgo_explain,
	.pin = jcgo_pin,
	.key_input = jcgo_key_input,
	.key_digest = jcgo_key_digest,
	.key_seal = jcgo_key_seal,
	.key_check = jcgo_key_check,
	.main = jcgo_main,
};
