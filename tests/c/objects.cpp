// jitcache.hpp as a C++ host uses it. CUDA is left to tests/cuda.
#include "objects.h"

#include <stdexcept>
#include <thread>
#include <vector>

using jitcache::Blob;
using jitcache::Cache;
using jitcache::Error;
using jitcache::Key;
using jitcache::Lease;
using jitcache::Options;

static Key key_of(const char *text)
{
	Key key;
	key.add("source", text);
	return key;
}

static void what_is_put_is_there()
{
	Cache cache = open_it();
	const Key key = key_of("x");
	CHECK(!cache.get(key) && jitcache_last_miss() == JITCACHE_REASON_ABSENT);
	CHECK(cache.put(key, "code", "{\"a\": 1}") == JITCACHE_OK);
	Blob blob = cache.get(key);
	CHECK(blob.str() == "code" && blob.size() == 4 && std::string(blob.begin(), blob.end()) == "code");
	CHECK(strcmp(blob.attributes(), "{\"a\": 1}") == 0 && strcmp(blob.kind(), "generic") == 0);
	CHECK(cache.put(key, "other", nullptr, JITCACHE_REPLACE) == JITCACHE_OK && cache.get(key).str() == "other");
	CHECK(cache.remove(key) == JITCACHE_OK && cache.remove(key) == JITCACHE_MISS);
	CHECK(cache.put_compiled(key, "timed", std::chrono::seconds(7)) == JITCACHE_OK &&
		cache.get(key).str() == "timed");
	CHECK(cache.remove(key) == JITCACHE_OK);
	CHECK(blob.str() == "code" && *blob.path() == '/');
}

static void bytes_are_whatever_has_bytes()
{
	Cache cache = open_it();
	const Key key = key_of("x");
	auto is_code = [&] {
		Blob blob = cache.get(key);
		cache.remove(key);
		return blob.str() == "code";
	};
	const char text[] = "code and more";
	cache.put(key, std::string("code"));
	CHECK(is_code());
	cache.put(key, std::vector<char>{'c', 'o', 'd', 'e'});
	CHECK(is_code());
	cache.put(key, std::vector<uint16_t>{0x6f63, 0x6564}); // little-endian, as every machine here
	CHECK(is_code());
	cache.put(key, std::make_pair(text, 4));
	CHECK(is_code());
	cache.put(key, {text, 4});
	CHECK(is_code());
	cache.put(key, std::vector<char>());
	CHECK(cache.get(key) && cache.get(key).size() == 0);
}

static void blobs_are_shared_and_outlive_the_cache()
{
	Blob blob, copy;
	CHECK(!blob && blob.size() == 0 && blob.str().empty());
	{
		Cache cache = open_it();
		cache.put(key_of("x"), "code");
		blob = cache.get(key_of("x"));
	}
	copy = blob;
	CHECK(copy.handle() == blob.handle());
	Blob &same = blob;
	blob = same;
	Blob moved = std::move(blob);
	CHECK(!blob && moved.str() == "code");
	moved = Blob();
	CHECK(copy.str() == "code" && static_cast<const void *>(copy.data()) == jitcache_blob_data(copy.handle()));
}

static void handles_are_released_once()
{
	Cache cache = open_it();
	jitcache_key *raw = nullptr;
	{
		Key key = key_of("x"), other = std::move(key);
		CHECK(!key && other);
		raw = other.handle();
		key = std::move(other);
		CHECK(key.handle() == raw && jitcache_key_add(raw, "more", "", 0) == JITCACHE_OK);
	}
	CHECK(jitcache_key_add(raw, "late", "", 0) == JITCACHE_ERR_HANDLE);
	Key kept(key_of("y").release()); // taken from one, given to the other
	CHECK(kept.hex() == key_of("y").hex() && kept.hex().size() == 64);
	jitcache_cache *closed = cache.handle();
	cache = Cache();
	CHECK(jitcache_flush(closed) == JITCACHE_ERR_HANDLE);
}

static void wrong_use_throws()
{
	Cache cache = open_it();
	Key key = key_of("x");
	CHECK(status_of([&] { key.add("source", "again"); }) == JITCACHE_ERR_KEY);
	CHECK(status_of([&] { key.add_file("file", "/does/not/exist"); }) == JITCACHE_ERR_INPUT);
	CHECK(status_of([&] { key.add_tool("cc", "/bin/sh").name("x").kind("no kind"); }) == JITCACHE_ERR_KEY);
	cache.get(key);
	CHECK(status_of([&] { key.add("more", ""); }) == JITCACHE_ERR_FROZEN);
	CHECK(status_of([&] { cache.put(key, "x", "no json"); }) == JITCACHE_ERR_ATTRIBUTES);
	CHECK(status_of([&] { Options().set("no such option", ""); }) == JITCACHE_ERR_OPTION);
	CHECK(status_of([&] { Cache::open(Options().set("max_size", "much")); }) == JITCACHE_ERR_OPTION);
	// Nothing is no handle.
	CHECK(status_of([&] { cache.get(Key()); }) < 0 && status_of([&] { Cache().get(key); }) < 0);
	CHECK(status_of([] { Blob().path(); }) < 0 && status_of([] { Lease().commit("x"); }) < 0);
}

static void compile_is_called_once()
{
	Cache cache = open_it();
	int calls = 0;
	auto compile = [&] { return calls++, std::string("code"); };
	for (int i = 0; i < 3; i++)
		CHECK(cache.get_or_compile(key_of("x"), compile).str() == "code" && calls == 1);
	auto fill = [&](std::string &code) {
		code = "filled";
		return calls++, JITCACHE_OK;
	};
	for (int i = 0; i < 3; i++)
		CHECK(cache.get_or_compile(key_of("y"), fill, 0).str() == "filled" && calls == 2);
	const std::vector<char> kept(3, 'k');
	auto point = [&] { return std::make_pair(kept.data(), kept.size()); };
	CHECK(cache.get_or_compile(key_of("z"), point).str() == "kkk");
}

static void what_compile_throws_arrives_and_the_lease_is_free()
{
	Cache cache = open_it();
	const Key key = key_of("x");
	for (int i = 0; i < 3; i++) {
		bool caught = false;
		try {
			cache.get_or_compile(key, []() -> std::string { throw std::runtime_error("says no"); });
		} catch (const std::runtime_error &e) {
			caught = strcmp(e.what(), "says no") == 0;
		}
		CHECK(caught);
	}
	auto refuse = [](std::string &) { return -1234; };
	int32_t status = 0;
	try {
		cache.get_or_compile(key, refuse);
	} catch (const Error &e) {
		status = e.status();
	}
	CHECK(status == -1234);
	CHECK(!cache.get_or_compile(key, [](std::string &) { return 99; }));
	std::thread([&] {
		Blob blob;
		Lease lease;
		CHECK(cache.acquire(key, blob, lease, 0) == JITCACHE_LEASE && lease && !blob);
	}).join();
	CHECK(cache.get_or_compile(key, [] { return "code"; }).str() == "code");
}

static void leases_wait_for_each_other()
{
	Cache cache = open_it();
	const Key key = key_of("x");
	Blob blob, theirs;
	Lease lease;
	CHECK(cache.acquire(key, blob, lease) == JITCACHE_LEASE);
	std::thread other([&] {
		Lease mine;
		Blob none;
		CHECK(cache.acquire(key, none, mine, 150) == JITCACHE_TIMEOUT && mine && !none);
		CHECK(cache.acquire(key, none, mine, 0) == JITCACHE_TIMEOUT);
		mine = Lease();
		CHECK(cache.acquire(key, theirs, mine) == JITCACHE_OK && !mine);
	});
	std::this_thread::sleep_for(std::chrono::milliseconds(400)); // longer than a call of C waits
	CHECK(lease.commit("code", "{\"by\": \"me\"}").str() == "code" && !lease);
	other.join();
	CHECK(theirs.str() == "code" && strcmp(theirs.attributes(), "{\"by\": \"me\"}") == 0);
}

static void one_of_many_threads_compiles()
{
	Cache cache = open_it();
	const Key key = key_of("x");
	std::vector<std::thread> threads;
	int calls = 0;
	for (int i = 0; i < 8; i++)
		threads.emplace_back([&] {
			Blob blob = cache.get_or_compile(key, [&] { return ++calls, std::string(100000, 'x'); });
			CHECK(blob.size() == 100000);
		});
	for (std::thread &t : threads)
		t.join();
	CHECK(calls == 1);
}

static void what_is_not_stored_is_handed_back()
{
	Cache cache = Cache::open(Options().set("directory", check_dir).set("memory_size", "0").set("max_size", "100"));
	CHECK(cache.get_or_compile(key_of("x"), [] { return "0123456789"; }).str() == "0123456789");
	CHECK(jitcache_last_miss() == JITCACHE_REASON_TOO_LARGE);
}

static void compile_errors_have_a_log()
{
	bool caught = false;
	try {
		jitcache::check(JITCACHE_ERR_COMPILE);
	} catch (const jitcache::CompileError &e) {
		caught = e.status() == JITCACHE_ERR_COMPILE && e.log().empty();
	}
	CHECK(caught);
	CHECK(jitcache::check(JITCACHE_NOT_STORED) == JITCACHE_NOT_STORED);
}

int main(int argc, char **argv)
{
	RUN(what_is_put_is_there);
	RUN(bytes_are_whatever_has_bytes);
	RUN(blobs_are_shared_and_outlive_the_cache);
	RUN(handles_are_released_once);
	RUN(wrong_use_throws);
	RUN(compile_is_called_once);
	RUN(what_compile_throws_arrives_and_the_lease_is_free);
	RUN(leases_wait_for_each_other);
	RUN(one_of_many_threads_compiles);
	RUN(what_is_not_stored_is_handed_back);
	RUN(compile_errors_have_a_log);
	DONE;
}
