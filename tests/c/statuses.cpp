// jitcache.hpp without exceptions: built with -fno-exceptions, every error is a status.
#include "check.h"

#include <jitcache.hpp>

using jitcache::Blob;
using jitcache::Cache;
using jitcache::Key;
using jitcache::Lease;
using jitcache::Options;

static_assert(!JITCACHE_EXCEPTIONS, "nothing is to throw here");

static void open_it(Cache &cache)
{
	Options options;
	CHECK(options.try_set("directory", check_dir) == JITCACHE_OK);
	CHECK(options.try_set("memory_size", "1Mi") == JITCACHE_OK);
	CHECK(Cache::try_open(cache, options) == JITCACHE_OK && cache);
}

static Key key_of(const std::string &text)
{
	Key key;
	CHECK(key.try_add("source", text) == JITCACHE_OK);
	return key;
}

static void statuses_are_those_of_c()
{
	Cache cache;
	Blob blob;
	Key key = key_of("x");
	std::string hex;
	CHECK(cache.try_get(key, blob) < 0);
	open_it(cache);
	CHECK(cache.try_get(Key(), blob) < 0 && Key().try_hex(hex) < 0 && hex.empty());
	CHECK(key.try_add("source", "again") == JITCACHE_ERR_KEY);
	CHECK(key.try_add_file("file", "/does/not/exist") == JITCACHE_ERR_INPUT);
	CHECK(key.try_add_tool("sh", "/bin/sh") == JITCACHE_OK && key.try_name("x") == JITCACHE_OK);
	CHECK(key.try_kind("cubin") == JITCACHE_OK && key.try_hex(hex) == JITCACHE_OK && hex.size() == 64);
	CHECK(key.try_kind("late") == JITCACHE_ERR_FROZEN);
	CHECK(cache.try_get(key, blob) == JITCACHE_MISS && !blob);
	CHECK(cache.try_put(key, "code") == JITCACHE_OK);
	CHECK(cache.try_get(key, blob) == JITCACHE_OK && blob.str() == "code" && strcmp(blob.name(), "x") == 0);
	const char *path = nullptr;
	CHECK(blob.try_path(path) == JITCACHE_OK && *path == '/');
	CHECK(cache.try_remove(key) == JITCACHE_OK && cache.try_remove(key) == JITCACHE_MISS);
}

static void compile_says_by_its_status_that_it_failed()
{
	Cache cache;
	Blob blob;
	const Key key = key_of("x");
	open_it(cache);
	CHECK(cache.try_get_or_compile(key, [](std::string &) { return -1234; }, blob) == -1234 && !blob);
	auto fill = [](std::string &code) { return code = "code", JITCACHE_OK; };
	CHECK(cache.try_get_or_compile(key, fill, blob) == JITCACHE_OK && blob.str() == "code");
	auto refuse = [](std::string &) { return -1; };
	CHECK(cache.try_get_or_compile(key, refuse, blob) == JITCACHE_OK && blob.str() == "code");
	CHECK(cache.try_get_or_compile(key_of("y"), [] { return "bytes"; }, blob) == JITCACHE_OK);
	CHECK(blob.str() == "bytes");
}

static void leases_are_given_up_with_their_object()
{
	Cache cache;
	Blob blob;
	const Key key = key_of("x");
	open_it(cache);
	for (int i = 0; i < 2; i++) {
		Lease lease;
		CHECK(cache.try_acquire(key, blob, lease, 0) == JITCACHE_LEASE && lease && !blob);
	}
	Lease lease;
	CHECK(cache.try_acquire(key, blob, lease, 0) == JITCACHE_LEASE);
	CHECK(lease.try_commit("code", blob) == JITCACHE_OK && !lease && blob.str() == "code");
	CHECK(lease.try_commit("code", blob) < 0 && !blob);
}

int main(int argc, char **argv)
{
	RUN(statuses_are_those_of_c);
	RUN(compile_says_by_its_status_that_it_failed);
	RUN(leases_are_given_up_with_their_object);
	DONE;
}
