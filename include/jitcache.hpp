// jitcache.hpp: the interface of jitcache for C++11 and later. Header only.
//
//	jitcache::Cache cache = jitcache::Cache::open();
//	jitcache::Key key;
//	key.add("source", source).add("flags", flags).add_tool("compiler", "cc");
//	jitcache::Blob code = cache.get_or_compile(key, [&] { return compile(source, flags); });
//	use(code.data(), code.size());
//
//	jitcache::cuda::Request request(source, "axpy.cu");
//	request.option("-std=c++17").expression("axpy<float>");
//	jitcache::cuda::Function axpy = request.load(cache).function("axpy<float>");
//	cuLaunchKernel(axpy.as<CUfunction>(), ...);
//
// Link with -ljitcache. jitcache.h is the manual: it says what each option means
// and when a function returns which status. This header documents what C++ adds. It
// includes jitcache_cuda.hpp, which has the CUDA part.
//
// ERRORS. Most functions have two forms. try_get() returns a status of jitcache.h,
// and the results through references; by itself it throws only std::bad_alloc.
// get() returns the result, and throws Error for a negative status. Positive
// statuses are not errors, and jitcache_last_miss() has the reason. With
// JITCACHE_NO_EXCEPTIONS defined, or -fno-exceptions, only the try_ forms exist.
//
// OWNERSHIP. Objects own their handles, and release them when they are destroyed.
// All can be moved. Blob, Code, Module and Function can be copied too; copies share
// one handle. An object that was made without arguments, or moved from, holds
// nothing, and converts to false; calls on it return JITCACHE_ERR_ARGUMENT or
// JITCACHE_ERR_HANDLE. An object that receives a result releases what it held
// before. To call a C function that has no wrapper, pass handle(), and out() for
// an out-parameter:
//
//	jitcache_clear(cache.handle(), "cubin");
//	jitcache_stats(cache.handle(), json.out());
//
// THREADS. Several threads may call const functions of an object at the same time.
// Only one thread at a time may call other functions. A Lease may be moved to
// another thread.
//
// Since 0.1.
#ifndef JITCACHE_HPP
#define JITCACHE_HPP

#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "jitcache.h"
#include "jitcache_cuda.h"

// 1 if the forms that throw exist.
#if !defined(JITCACHE_NO_EXCEPTIONS) && (defined(__cpp_exceptions) || defined(__EXCEPTIONS))
#define JITCACHE_EXCEPTIONS 1
#include <stdexcept>
#else
#define JITCACHE_EXCEPTIONS 0
#endif

namespace jitcache
{

// A status of jitcache.h: JITCACHE_OK, JITCACHE_MISS, JITCACHE_ERR_ARGUMENT...
typedef int32_t Status;

#if JITCACHE_EXCEPTIONS

// A negative status. what() is the text that jitcache_last_error() had.
class JITCACHE_API Error : public std::runtime_error
{
public:
	explicit Error(Status status) : std::runtime_error(jitcache_last_error()), status_(status) {}
	Status status() const noexcept { return status_; } // JITCACHE_ERR_...

private:
	Status status_;
};

// The compiler refused the source: JITCACHE_ERR_COMPILE.
class JITCACHE_API CompileError : public Error
{
public:
	CompileError() : Error(JITCACHE_ERR_COMPILE), log_(jitcache_cuda_last_log()) {}
	const std::string &log() const noexcept { return log_; } // the compiler's whole output

private:
	std::string log_;
};

// check throws Error or CompileError for a negative status, and returns any other.
// The thread that got the status must call it before its next call of the library.
inline Status check(Status status)
{
	if (status == JITCACHE_ERR_COMPILE)
		throw CompileError();
	if (status < 0)
		throw Error(status);
	return status;
}

namespace detail
{

// returned calls a try_ form, and returns the result that it gives by reference.
template <typename T, typename F> T returned(F call)
{
	T result;
	check(call(result));
	return result;
}

} // namespace detail

#endif

// Bytes that the caller owns, for the time of a call. Made from a std::string, a
// std::vector or anything else that has data() and size(); from a pointer and a
// size, or a std::pair of them; or from a text that ends in a NUL.
struct Bytes {
	Bytes(const void *p, size_t n) : data(p == nullptr && n == 0 ? "" : p), size(n) {}
	Bytes(const char *text) : Bytes(text, text == nullptr ? 0 : std::strlen(text)) {}
	template <typename P, typename N> Bytes(const std::pair<P, N> &p) : Bytes(p.first, size_t(p.second)) {}
	template <typename C, typename = decltype(std::declval<const C &>().data())>
	Bytes(const C &c) : Bytes(c.data(), c.size() * sizeof *c.data())
	{
	}
	const void *data;
	size_t size;
};

// A text for the time of a call: a literal, or a std::string.
struct Text {
	Text(const char *text) : c_str(text) {}
	Text(const std::string &text) : c_str(text.c_str()) {}
	const char *c_str;
};

namespace detail
{

// The base of the classes below: the owner of a handle, or of nothing.
template <typename T, typename R, R (*Free)(T *)> class Handle
{
public:
	Handle() noexcept : handle_(nullptr) {}
	explicit Handle(T *handle) noexcept : handle_(handle) {} // owns it from now on
	Handle(Handle &&other) noexcept : handle_(other.release()) {}
	Handle &operator=(Handle &&other) noexcept
	{
		if (this != &other)
			*out() = other.release();
		return *this;
	}
	~Handle() { out(); }
	explicit operator bool() const noexcept { return handle_ != nullptr; }
	// handle returns the handle for calls of the C interface. The object still owns it.
	T *handle() const noexcept { return handle_; }
	// release returns the handle, which the caller now owns.
	T *release() noexcept
	{
		T *handle = handle_;
		handle_ = nullptr;
		return handle;
	}
	// out releases the handle that is held, and returns where to put another one.
	T **out() noexcept
	{
		if (handle_ != nullptr)
			Free(release());
		return &handle_;
	}

private:
	T *handle_;
};

} // namespace detail

// Options for Cache::open (jitcache_options_set has the list).
class Options : public detail::Handle<jitcache_options, void, jitcache_options_free>
{
public:
	using Handle::Handle;
	// set sets an option: set("directory", path).set("memory_size", "0").
	Status try_set(Text name, Text value)
	{
		const Status status = *this ? JITCACHE_OK : jitcache_options_new(out());
		return status == JITCACHE_OK ? jitcache_options_set(handle(), name.c_str, value.c_str) : status;
	}
#if JITCACHE_EXCEPTIONS
	Options &set(Text name, Text value) { return check(try_set(name, value)), *this; }
#endif
};

// What a result depends on. One thread builds it. Its first use freezes it; from then
// on any thread may use it. A Key without components holds nothing.
class Key : public detail::Handle<jitcache_key, void, jitcache_key_free>
{
public:
	using Handle::Handle;
	// add adds a component; each label may be used once (jitcache_key_add).
	Status try_add(Text label, Bytes b) { return with(jitcache_key_add, label.c_str, b.data, b.size); }
	// add_file adds the content of a file (jitcache_key_add_file).
	Status try_add_file(Text label, Text path) { return with(jitcache_key_add_file, label.c_str, path.c_str); }
	// add_tool adds the identity of a compiler or library (jitcache_key_add_tool).
	Status try_add_tool(Text label, Text path) { return with(jitcache_key_add_tool, label.c_str, path.c_str); }
	// name sets what the user would call the result ("saxpy"), kind sets the kind of
	// the entry ("cubin"). Neither is part of the key.
	Status try_name(Text name) { return with(jitcache_key_set_name, name.c_str); }
	Status try_kind(Text kind) { return with(jitcache_key_set_kind, kind.c_str); }
	// hex freezes the key and returns its 64 digits.
	Status try_hex(std::string &hex) const
	{
		char digits[65] = "";
		const Status status = jitcache_key_hex(handle(), digits);
		hex = digits;
		return status;
	}
#if JITCACHE_EXCEPTIONS
	Key &add(Text label, Bytes b) { return check(try_add(label, b)), *this; }
	Key &add_file(Text label, Text path) { return check(try_add_file(label, path)), *this; }
	Key &add_tool(Text label, Text path) { return check(try_add_tool(label, path)), *this; }
	Key &name(Text name) { return check(try_name(name)), *this; }
	Key &kind(Text kind) { return check(try_kind(kind)), *this; }
	std::string hex() const
	{
		return detail::returned<std::string>([&](std::string &s) { return try_hex(s); });
	}
#endif

private:
	template <typename... P, typename... A> Status with(Status (*call)(jitcache_key *, P...), A... a)
	{
		const Status status = *this ? JITCACHE_OK : jitcache_key_new(out());
		return status == JITCACHE_OK ? call(handle(), a...) : status;
	}
};

// The bytes of an entry: immutable, and valid as long as a copy of the Blob exists,
// even if the cache is closed or the entry evicted. Copying a Blob copies no bytes.
class Blob : public detail::Handle<jitcache_blob, void, jitcache_blob_release>
{
public:
	using Handle::Handle;
	Blob() noexcept {}
	Blob(Blob &&) noexcept = default;
	Blob(const Blob &other) noexcept : Handle(other.handle())
	{
		if (*this)
			jitcache_blob_retain(handle());
	}
	Blob &operator=(Blob other) noexcept { return Handle::operator=(std::move(other)), *this; }
	// data returns the bytes, aligned to 64 and followed by a NUL; NULL if there is
	// no blob.
	const char *data() const { return static_cast<const char *>(jitcache_blob_data(handle())); }
	size_t size() const { return jitcache_blob_size(handle()); }
	const char *begin() const { return data(); }
	const char *end() const { return data() + size(); }
	std::string str() const { return *this ? std::string(data(), size()) : std::string(); } // a copy
	// What was stored with the bytes; the texts are valid as long as the blob.
	const char *attributes() const { return jitcache_blob_attributes(handle()); }
	const char *kind() const { return jitcache_blob_kind(handle()); }
	const char *name() const { return jitcache_blob_name(handle()); }
	// path returns a path to the bytes, for dlopen; valid as long as the blob.
	Status try_path(const char *&path) const { return jitcache_blob_path(handle(), &path); }
#if JITCACHE_EXCEPTIONS
	const char *path() const
	{
		return detail::returned<const char *>([&](const char *&s) { return try_path(s); });
	}
#endif
};

// The right to compile a key. It is given up when the object is destroyed.
class Lease : public detail::Handle<jitcache_lease, void, jitcache_lease_free>
{
public:
	using Handle::Handle;
	// commit stores the result: JITCACHE_OK, or JITCACHE_NOT_STORED. With any status
	// it ends the lease. blob gets the bytes, stored or not. attributes is a JSON
	// object that lookups return with the entry, or NULL.
	Status try_commit(Bytes data, Blob &blob, Text attributes = nullptr)
	{
		return jitcache_commit(release(), data.data, data.size, attributes.c_str, blob.out());
	}
#if JITCACHE_EXCEPTIONS
	Blob commit(Bytes data, Text attributes = nullptr)
	{
		return detail::returned<Blob>([&](Blob &b) { return try_commit(data, b, attributes); });
	}
#endif
};

namespace detail
{

// The host's compile function has one of two forms: it fills a string and returns a
// status, or it returns the bytes.
template <typename F>
auto compile(F &f, Lease &lease, Blob &blob, int) -> decltype(static_cast<Status>(f(std::declval<std::string &>())))
{
	std::string made;
	const Status status = f(made);
	return status == JITCACHE_OK ? lease.try_commit(made, blob) : status;
}

template <typename F> Status compile(F &f, Lease &lease, Blob &blob, long) { return lease.try_commit(f(), blob); }

} // namespace detail

// An open cache. Cache() holds none: cuda::Request then compiles without a cache.
class Cache : public detail::Handle<jitcache_cache, int32_t, jitcache_close>
{
public:
	using Handle::Handle;
	// open opens the cache that the options and the environment name (jitcache_open).
	static Status try_open(Cache &cache, const Options &options = Options())
	{
		return jitcache_open(options.handle(), cache.out());
	}
	// get looks an entry up. After JITCACHE_MISS the blob holds nothing.
	Status try_get(const Key &key, Blob &blob) const { return jitcache_get(handle(), key.handle(), blob.out()); }
	// put stores an entry (jitcache_put): JITCACHE_OK, or JITCACHE_NOT_STORED.
	Status try_put(const Key &key, Bytes data, Text attributes = nullptr, uint32_t flags = 0) const
	{
		return jitcache_put(handle(), key.handle(), data.data, data.size, attributes.c_str, flags);
	}
	// put_compiled is put for a result that was compiled without a lease, which took that
	// long (jitcache_put_compiled).
	Status try_put_compiled(const Key &key, Bytes data, std::chrono::nanoseconds took, Text attributes = nullptr,
		uint32_t flags = 0) const
	{
		return jitcache_put_compiled(handle(), key.handle(), data.data, data.size, attributes.c_str, flags,
			took.count() < 0 ? 0 : uint64_t(took.count()));
	}
	// get_or_compile looks an entry up and waits while another thread or process
	// compiles it (timeout_ms as in jitcache_acquire). If it gets the lease, it calls
	// compile on this thread, which has one of two forms:
	//
	//	compile()                   returns the bytes, as anything that Bytes takes
	//	compile(std::string &code)  returns JITCACHE_OK, or another status of its
	//	                            own, which is then returned, or thrown
	//
	// An exception that compile throws reaches the caller, also from the try_ form;
	// the lease is given up. With JITCACHE_OK and JITCACHE_NOT_STORED blob is the code.
	template <typename F>
	Status try_get_or_compile(const Key &key, F &&compile, Blob &blob, int64_t timeout_ms = -1) const
	{
		Lease lease;
		const Status status = try_acquire(key, blob, lease, timeout_ms);
		return lease ? detail::compile(compile, lease, blob, 0) : status;
	}
	// acquire looks an entry up and returns either the blob (JITCACHE_OK) or the lease
	// (JITCACHE_LEASE, or JITCACHE_TIMEOUT after waiting). It repeats jitcache_acquire
	// as long as that returns JITCACHE_BUSY.
	Status try_acquire(const Key &key, Blob &blob, Lease &lease, int64_t timeout_ms = -1) const
	{
		typedef std::chrono::steady_clock clock;
		const clock::time_point start = clock::now();
		for (int64_t left = timeout_ms;;) {
			const Status status = jitcache_acquire(handle(), key.handle(), left, blob.out(), lease.out());
			if (status != JITCACHE_BUSY)
				return status;
			if (timeout_ms > 0) {
				const std::chrono::milliseconds waited =
					std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - start);
				left = timeout_ms > waited.count() ? timeout_ms - waited.count() : 0;
			}
		}
	}
	// remove removes an entry: JITCACHE_OK, JITCACHE_MISS or JITCACHE_NOT_STORED.
	Status try_remove(const Key &key) const { return jitcache_remove(handle(), key.handle()); }
#if JITCACHE_EXCEPTIONS
	static Cache open(const Options &options = Options())
	{
		return detail::returned<Cache>([&](Cache &c) { return try_open(c, options); });
	}
	Blob get(const Key &key) const
	{
		return detail::returned<Blob>([&](Blob &b) { return try_get(key, b); });
	}
	Status put(const Key &key, Bytes data, Text attributes = nullptr, uint32_t flags = 0) const
	{
		return check(try_put(key, data, attributes, flags));
	}
	Status put_compiled(const Key &key, Bytes data, std::chrono::nanoseconds took, Text attributes = nullptr,
		uint32_t flags = 0) const
	{
		return check(try_put_compiled(key, data, took, attributes, flags));
	}
	template <typename F> Blob get_or_compile(const Key &key, F &&compile, int64_t timeout_ms = -1) const
	{
		return detail::returned<Blob>([&](Blob &b) { return try_get_or_compile(key, compile, b, timeout_ms); });
	}
	Status acquire(const Key &key, Blob &blob, Lease &lease, int64_t timeout_ms = -1) const
	{
		return check(try_acquire(key, blob, lease, timeout_ms));
	}
	Status remove(const Key &key) const { return check(try_remove(key)); }
#endif
};

} // namespace jitcache

#include "jitcache_cuda.hpp"

#endif
