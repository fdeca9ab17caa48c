// jitcache_cuda.hpp: the part of jitcache.hpp that compiles and loads CUDA source.
//
//	jitcache::cuda::Request request(source, "axpy.cu");
//	request.option("-std=c++17").option("-arch=sm_90").expression("axpy<float>");
//	jitcache::cuda::Function axpy = request.load(cache).function("axpy<float>");
//	cuLaunchKernel(axpy.as<CUfunction>(), ...);
//
// jitcache.hpp includes this header, and documents errors, ownership and threads.
// jitcache_cuda.h documents what a result depends on and when a function returns
// which status. Neither compiling nor linking needs anything of CUDA.
//
// Since 0.1.
#ifndef JITCACHE_CUDA_HPP
#define JITCACHE_CUDA_HPP

#include <memory>

#include "jitcache.hpp"

namespace jitcache
{
namespace cuda
{

// The code that a request compiles to: a blob, and the compiler's output.
class Code : public Blob
{
public:
	Code() noexcept : hit_(false) {}
	// hit says whether the code was in the cache, or another thread or process has
	// just compiled it.
	bool hit() const noexcept { return hit_; }
	// log returns the compiler's warnings, also those of an earlier process.
	Status try_log(std::string &log) const
	{
		return read(
			log, [&](char *p, size_t n, size_t *size) { return jitcache_cuda_log(handle(), p, n, size); });
	}
	// lowered returns the name that a name expression of the request has in the
	// code; JITCACHE_MISS, or "", for any other expression.
	Status try_lowered(Text expression, std::string &name) const
	{
		return read(name, [&](char *p, size_t n, size_t *size) {
			return jitcache_cuda_lowered(handle(), expression.c_str, p, n, size);
		});
	}
#if JITCACHE_EXCEPTIONS
	std::string log() const
	{
		return detail::returned<std::string>([&](std::string &s) { return try_log(s); });
	}
	std::string lowered(Text expression) const
	{
		return detail::returned<std::string>([&](std::string &s) { return try_lowered(expression, s); });
	}
#endif

private:
	friend class Request;
	template <typename F> static Status read(std::string &text, F call)
	{
		size_t size = 0;
		Status status = call(nullptr, 0, &size);
		text.assign(status == JITCACHE_TOO_SMALL ? size + 1 : 0, '\0');
		if (status == JITCACHE_TOO_SMALL)
			status = call(&text[0], size + 1, &size);
		text.resize(status == JITCACHE_OK ? size : 0);
		return status;
	}
	bool hit_;
};

class Module;

// A function of a module. It keeps the module loaded.
class Function
{
public:
	Function() noexcept : function_(nullptr) {}
	explicit operator bool() const noexcept { return function_ != nullptr; }
	// as returns the CUfunction: function.as<CUfunction>().
	template <typename T = void *> T as() const noexcept { return static_cast<T>(function_); }

private:
	friend class Module;
	std::shared_ptr<jitcache_cuda_module> module_;
	void *function_;
};

// Code that the driver has loaded into a context. Destroying the last copy of Module
// and its Functions unloads it; its kernels must not be running then.
class Module
{
public:
	explicit operator bool() const noexcept { return module_ != nullptr; }
	jitcache_cuda_module *handle() const noexcept { return module_.get(); }
	// as returns the CUmodule: module.as<CUmodule>().
	template <typename T = void *> T as() const { return static_cast<T>(jitcache_cuda_module_handle(handle())); }
	// function finds a function by its name in the code, or by a name expression.
	Status try_function(Text name, Function &function) const
	{
		function = Function();
		const Status status = jitcache_cuda_function(handle(), name.c_str, &function.function_);
		if (status == JITCACHE_OK)
			function.module_ = module_;
		return status;
	}
#if JITCACHE_EXCEPTIONS
	Function function(Text name) const
	{
		return detail::returned<Function>([&](Function &f) { return try_function(name, f); });
	}
#endif

private:
	friend class Request;
	Status take(Status status, jitcache_cuda_module *module)
	{
		module_.reset(module, jitcache_cuda_module_free);
		return status;
	}
	std::shared_ptr<jitcache_cuda_module> module_;
};

// What to compile. One thread builds it. Its first use freezes it; from then on any
// thread may use it. Keep it for repeated use: the source is hashed once. Code and
// Modules do not need their Request.
class Request : public detail::Handle<jitcache_cuda_request, void, jitcache_cuda_request_free>
{
public:
	using Handle::Handle;
	Request() noexcept {}
	// create makes a request for a source. The throwing form is the constructor with
	// the same arguments. name is as in jitcache_cuda_request_new.
	static Status try_create(Request &request, Bytes source, Text name = nullptr)
	{
		return jitcache_cuda_request_new(
			static_cast<const char *>(source.data), source.size, name.c_str, request.out());
	}
	// These add to the request: the target, an option of NVRTC's, a header in memory,
	// a name expression, and where a library is (jitcache_cuda_request_...).
	Status try_target(Text target) { return jitcache_cuda_request_target(handle(), target.c_str); }
	Status try_option(Text option) { return jitcache_cuda_request_option(handle(), option.c_str); }
	Status try_header(Text name, Bytes b)
	{
		return jitcache_cuda_request_header(handle(), name.c_str, static_cast<const char *>(b.data), b.size);
	}
	Status try_expression(Text text) { return jitcache_cuda_request_expression(handle(), text.c_str); }
	Status try_library(Text what, Text path)
	{
		return jitcache_cuda_request_library(handle(), what.c_str, path.c_str);
	}
	// compile returns the code, from the cache or compiled (jitcache_cuda_compile).
	// With JITCACHE_OK and JITCACHE_NOT_STORED code holds it.
	Status try_compile(const Cache &cache, Code &code, int64_t timeout_ms = -1) const
	{
		Key key;
		Lease lease;
		Status status = JITCACHE_MISS;
		if (cache) {
			jitcache_blob **blob = code.out();
			status = jitcache_cuda_lookup(cache.handle(), handle(), blob, nullptr, nullptr, key.out());
			if (status == JITCACHE_MISS && key)
				status = cache.try_acquire(key, code, lease, timeout_ms);
		}
		code.hit_ = status == JITCACHE_OK;
		return status > 0 ? jitcache_cuda_run(handle(), lease.release(), code.out()) : status;
	}
	// load compiles, or takes code that was compiled before, and loads it into the
	// calling thread's current context (jitcache_cuda_load, jitcache_cuda_load_blob).
	Status try_load(const Cache &cache, Module &module, int64_t timeout_ms = -1) const
	{
		jitcache_cuda_module *made = nullptr;
		const Status status = jitcache_cuda_load(cache.handle(), handle(), timeout_ms, &made);
		return module.take(status, made);
	}
	Status try_load(const Blob &code, Module &module) const
	{
		jitcache_cuda_module *made = nullptr;
		const Status status = jitcache_cuda_load_blob(handle(), code.handle(), &made);
		return module.take(status, made);
	}
#if JITCACHE_EXCEPTIONS
	explicit Request(Bytes source, Text name = nullptr) { check(try_create(*this, source, name)); }
	Request &target(Text target) { return check(try_target(target)), *this; }
	Request &option(Text option) { return check(try_option(option)), *this; }
	Request &header(Text name, Bytes b) { return check(try_header(name, b)), *this; }
	Request &expression(Text text) { return check(try_expression(text)), *this; }
	Request &library(Text what, Text path) { return check(try_library(what, path)), *this; }
	Code compile(const Cache &cache, int64_t timeout_ms = -1) const
	{
		return detail::returned<Code>([&](Code &c) { return try_compile(cache, c, timeout_ms); });
	}
	Module load(const Cache &cache, int64_t timeout_ms = -1) const
	{
		return detail::returned<Module>([&](Module &m) { return try_load(cache, m, timeout_ms); });
	}
	Module load(const Blob &code) const
	{
		return detail::returned<Module>([&](Module &m) { return try_load(code, m); });
	}
#endif
};

} // namespace cuda
} // namespace jitcache

#endif
