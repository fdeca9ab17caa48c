// Callbacks that leave by another way than return.
#include "check.h"

#include <csetjmp>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

static int32_t throw_it(void *, jitcache_lease *) { throw std::runtime_error("the compiler says no"); }

static int32_t code(void *, jitcache_lease *l) { return jitcache_commit(l, "code", 4, nullptr, nullptr); }

static void exception_reaches_the_caller_and_the_lease_is_free()
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	for (int i = 0; i < 3; i++) {
		bool caught = false;
		try {
			jitcache_get_or_compile(c, k, -1, throw_it, nullptr, &b);
		} catch (const std::runtime_error &e) {
			caught = strcmp(e.what(), "the compiler says no") == 0;
		}
		CHECK(caught);
	}
	// With a C++ runtime of another kind it is given up at the next call, as after longjmp.
	if (dlsym(RTLD_DEFAULT, "__gcc_personality_v0") == nullptr)
		CHECK(jitcache_flush(c) == JITCACHE_OK);
	// Another thread gets the lease at once: the first has given it up.
	void *a[] = {c, k};
	pthread_t t;
	pthread_create(
		&t, nullptr,
		[](void *p) -> void * {
			jitcache_blob *mine;
			jitcache_lease *l;
			CHECK(jitcache_acquire((jitcache_cache *)((void **)p)[0], (jitcache_key *)((void **)p)[1], 0,
				      &mine, &l) == JITCACHE_LEASE);
			jitcache_lease_free(l);
			return nullptr;
		},
		a);
	pthread_join(t, nullptr);
	CHECK(jitcache_get_or_compile(c, k, -1, code, nullptr, &b) == JITCACHE_OK && blob_is(b, "code"));
	jitcache_key_free(k);
	jitcache_close(c);
}

static std::jmp_buf out;

static int32_t jump(void *, jitcache_lease *) { std::longjmp(out, 1); }

static void *other_gets_the_lease(void *p)
{
	jitcache_blob *b;
	jitcache_lease *l;
	CHECK(jitcache_acquire((jitcache_cache *)((void **)p)[0], (jitcache_key *)((void **)p)[1], 0, &b, &l) ==
		JITCACHE_LEASE);
	jitcache_lease_free(l);
	return nullptr;
}

static void from_another_thread(jitcache_cache *c, jitcache_key *k)
{
	void *a[] = {c, k};
	pthread_t t;
	pthread_create(&t, nullptr, other_gets_the_lease, a);
	pthread_join(t, nullptr);
}

static void longjmp_frees_the_lease_at_the_next_call()
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x"), *other = make_key("y");
	jitcache_blob *b;
	if (setjmp(out) == 0) {
		jitcache_get_or_compile(c, k, -1, jump, nullptr, &b);
		CHECK(!"not reached");
	}
	jitcache_get(c, other, &b);
	from_another_thread(c, k);
	CHECK(jitcache_get_or_compile(c, k, -1, code, nullptr, &b) == JITCACHE_OK && blob_is(b, "code"));
	jitcache_key_free(k);
	jitcache_key_free(other);
	jitcache_close(c);
}

static void *jump_and_end(void *p)
{
	jitcache_blob *b;
	std::jmp_buf here;
	memcpy(&here, &out, sizeof here);
	if (setjmp(out) == 0)
		jitcache_get_or_compile(
			(jitcache_cache *)((void **)p)[0], (jitcache_key *)((void **)p)[1], -1, jump, nullptr, &b);
	return nullptr;
}

static void longjmp_frees_the_lease_at_the_threads_end()
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	void *a[] = {c, k};
	pthread_t t;
	pthread_create(&t, nullptr, jump_and_end, a);
	pthread_join(t, nullptr);
	from_another_thread(c, k);
	jitcache_key_free(k);
	jitcache_close(c);
}

struct nested {
	jitcache_cache *c;
	jitcache_key *inner, *outer;
};

// A call from inside a callback comes from below: the outer lease is in use.
static int32_t call_inside(void *p, jitcache_lease *l)
{
	nested *n = (nested *)p;
	jitcache_blob *b;
	CHECK(jitcache_get_or_compile(n->c, n->inner, -1, code, nullptr, &b) == JITCACHE_OK && blob_is(b, "code"));
	CHECK(jitcache_get(n->c, n->inner, &b) == JITCACHE_OK && blob_is(b, "code"));
	return jitcache_commit(l, "outer", 5, nullptr, nullptr);
}

static void nested_calls_keep_the_outer_lease()
{
	jitcache_cache *c = open_cache("0");
	nested n = {c, make_key("inner"), make_key("outer")};
	jitcache_blob *b;
	CHECK(jitcache_get_or_compile(c, n.outer, -1, call_inside, &n, &b) == JITCACHE_OK && blob_is(b, "outer"));
	jitcache_key_free(n.inner);
	jitcache_key_free(n.outer);
	jitcache_close(c);
}

static int32_t throw_inside(void *p, jitcache_lease *)
{
	nested *n = (nested *)p;
	jitcache_blob *b;
	return jitcache_get_or_compile(n->c, n->inner, -1, throw_it, nullptr, &b);
}

static int32_t jump_inside(void *p, jitcache_lease *)
{
	nested *n = (nested *)p;
	jitcache_blob *b;
	return jitcache_get_or_compile(n->c, n->inner, -1, jump, nullptr, &b);
}

// Leaving two callbacks at once frees both leases.
static void leave_both(jitcache_compile_fn leave)
{
	jitcache_cache *c = open_cache("0");
	nested n = {c, make_key("inner"), make_key("outer")};
	jitcache_blob *b;
	volatile bool caught = false;
	if (setjmp(out) == 0) {
		try {
			jitcache_get_or_compile(c, n.outer, -1, leave, &n, &b);
		} catch (const std::runtime_error &) {
			caught = true;
		}
	}
	CHECK(caught == (leave == throw_inside));
	CHECK(jitcache_flush(c) == JITCACHE_OK); // the next call, which longjmp needs
	from_another_thread(c, n.inner);
	from_another_thread(c, n.outer);
	jitcache_key_free(n.inner);
	jitcache_key_free(n.outer);
	jitcache_close(c);
}

static void exception_through_two_callbacks_frees_both_leases() { leave_both(throw_inside); }
static void longjmp_over_two_callbacks_frees_both_leases() { leave_both(jump_inside); }

static int32_t commit_and_throw(void *, jitcache_lease *l)
{
	CHECK(jitcache_commit(l, "code", 4, nullptr, nullptr) == JITCACHE_OK);
	throw std::runtime_error("after the commit");
}

static void exception_after_the_commit_keeps_the_result()
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	jitcache_blob *b;
	bool caught = false;
	try {
		jitcache_get_or_compile(c, k, -1, commit_and_throw, nullptr, &b);
	} catch (const std::runtime_error &) {
		caught = true;
	}
	CHECK(caught);
	CHECK(jitcache_get(c, k, &b) == JITCACHE_OK && blob_is(b, "code"));
	jitcache_key_free(k);
	jitcache_close(c);
}

enum { THREADS = 8 };
static int calls;

// Every thread but the last fails by an exception; nobody else compiles meanwhile.
static int32_t throw_but_once(void *p, jitcache_lease *l)
{
	int *inside = (int *)p;
	CHECK(__atomic_add_fetch(inside, 1, __ATOMIC_SEQ_CST) == 1);
	usleep(2000);
	int call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
	__atomic_sub_fetch(inside, 1, __ATOMIC_SEQ_CST);
	if (call < THREADS)
		throw std::runtime_error("not me");
	return jitcache_commit(l, "code", 4, nullptr, nullptr);
}

static void *ask_or_fail(void *p)
{
	void **a = (void **)p;
	jitcache_blob *b = nullptr;
	try {
		CHECK(jitcache_get_or_compile((jitcache_cache *)a[0], (jitcache_key *)a[1], 5000, throw_but_once, a[2],
			      &b) == JITCACHE_OK);
		CHECK(blob_is(b, "code"));
	} catch (const std::runtime_error &) {
		__atomic_add_fetch((int *)a[3], 1, __ATOMIC_SEQ_CST);
	}
	return nullptr;
}

static void threads_that_fail_hand_the_lease_on()
{
	jitcache_cache *c = open_cache("0");
	jitcache_key *k = make_key("x");
	int inside = 0, failed = 0;
	void *a[] = {c, k, &inside, &failed};
	pthread_t t[THREADS];
	calls = 0;
	for (pthread_t &i : t)
		pthread_create(&i, nullptr, ask_or_fail, a);
	for (pthread_t i : t)
		pthread_join(i, nullptr);
	CHECK(failed == THREADS - 1 && calls == THREADS);
	jitcache_key_free(k);
	jitcache_close(c);
}

int main(int argc, char **argv)
{
	RUN(exception_reaches_the_caller_and_the_lease_is_free);
	RUN(longjmp_frees_the_lease_at_the_next_call);
	RUN(longjmp_frees_the_lease_at_the_threads_end);
	RUN(nested_calls_keep_the_outer_lease);
	RUN(exception_through_two_callbacks_frees_both_leases);
	RUN(longjmp_over_two_callbacks_frees_both_leases);
	RUN(exception_after_the_commit_keeps_the_result);
	RUN(threads_that_fail_hand_the_lease_on);
	DONE;
}
