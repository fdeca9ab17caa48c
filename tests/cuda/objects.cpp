// jitcache_cuda.hpp as a C++ host uses it, with a fake NVRTC and a fake driver.
#include "../c/objects.h"

#include <thread>
#include <vector>

#include <dlfcn.h>

using jitcache::Blob;
using jitcache::Cache;
using jitcache::CompileError;
using jitcache::Error;
using jitcache::cuda::Code;
using jitcache::cuda::Function;
using jitcache::cuda::Module;
using jitcache::cuda::Request;

static const char template_[] = "template <typename T> __global__ void axpy(T a, T *x) { *x *= a; }\n";

static Request request_for(const std::string &source)
{
	Request request(source, "axpy.cu");
	request.option("-std=c++17").option("-arch=sm_80");
	return request;
}

static Request axpy()
{
	Request request = request_for(template_);
	request.expression("axpy<float>");
	return request;
}

// driver calls a function of the driver, as a host does that makes contexts by itself.
template <typename... A> static void driver(const char *name, A... arguments)
{
	void *library = dlopen(getenv("JITCACHE_LIBCUDA"), RTLD_NOW);
	void *function = library == nullptr ? nullptr : dlsym(library, name);
	CHECK(function != nullptr && reinterpret_cast<int (*)(A...)>(function)(arguments...) == 0);
}

static void use_device()
{
	void *context = nullptr;
	driver("cuInit", 0u);
	driver("cuDevicePrimaryCtxRetain", &context, 0);
	driver("cuCtxSetCurrent", context);
}

static void second_compile_is_a_hit()
{
	Cache cache = open_it();
	const Code first = axpy().compile(cache), second = axpy().compile(cache);
	CHECK(!first.hit() && second.hit() && first.size() > 0 && first.str() == second.str());
	CHECK(!axpy().compile(Cache()).hit() && axpy().compile(Cache()).str() == first.str());
	const Code copy = second;
	CHECK(copy.hit() && copy.handle() == second.handle());
	CHECK(!copy.lowered("axpy<float>").empty() && copy.lowered("axpy<float>") == first.lowered("axpy<float>"));
	std::string name = "before";
	CHECK(copy.lowered("other").empty() && copy.try_lowered("other", name) == JITCACHE_MISS && name.empty());
	CHECK(copy.log().empty() && strcmp(copy.kind(), "cubin") == 0);
}

static void everything_of_a_request_counts()
{
	Cache cache = open_it();
	const std::string source = "#include \"scale.h\"\n__global__ void k(int *x) { *x *= SCALE; }\n";
	auto compile = [&](const char *scale, const char *target) {
		Request request = request_for(source);
		request.header("scale.h", scale).target(target);
		return request.compile(cache);
	};
	CHECK(!compile("#define SCALE 2\n", "cubin").hit() && compile("#define SCALE 2\n", "cubin").hit());
	CHECK(!compile("#define SCALE 3\n", "cubin").hit() && !compile("#define SCALE 2\n", "ptx").hit());
	CHECK(status_of([&] { compile("", "elf"); }) == JITCACHE_ERR_ARGUMENT);
	CHECK(status_of([] { request_for("").library("nvvm", "x"); }) == JITCACHE_ERR_ARGUMENT);
	CHECK(status_of([] { request_for(std::string(1, '\0')); }) == JITCACHE_ERR_ARGUMENT);
	const Request used = axpy();
	used.compile(cache);
	CHECK(jitcache_cuda_request_option(used.handle(), "-G") == JITCACHE_ERR_FROZEN);
}

static void warnings_come_with_every_hit()
{
	Cache cache = open_it();
	for (int i = 0; i < 2; i++) {
		const Code code = request_for("#warning mind the gap\n").compile(cache);
		CHECK(code.hit() == (i == 1) && code.log().find("mind the gap") != std::string::npos);
	}
}

static void compile_errors_have_the_log()
{
	Cache cache = open_it();
	for (int i = 0; i < 2; i++) { // not stored
		bool caught = false;
		try {
			request_for("#error not today\n").load(cache);
		} catch (const CompileError &e) {
			caught = e.log().find("not today") != std::string::npos && *e.what() != 0;
		}
		CHECK(caught);
	}
	Code code;
	CHECK(request_for("#error\n").try_compile(cache, code) == JITCACHE_ERR_COMPILE && !code && !code.hit());
	// The lease is free: nobody waits.
	CHECK(request_for("#error\n").try_compile(cache, code, 0) == JITCACHE_ERR_COMPILE);
	Request timed = request_for("__device__ const char when[] = __TIME__;\n");
	CHECK(timed.try_compile(cache, code) == JITCACHE_NOT_STORED && code && !code.hit());
	CHECK(timed.try_compile(Cache(), code) == JITCACHE_OK);
	Request lost = request_for(template_);
	lost.library("nvrtc", "/does/not/exist");
	CHECK(lost.try_compile(cache, code) == JITCACHE_ERR_LIBRARY && Request().try_compile(cache, code) < 0);
}

static void one_of_many_threads_compiles()
{
	Cache cache = open_it();
	const Request request = axpy();
	std::vector<std::thread> threads;
	int misses = 0;
	for (int i = 0; i < 8; i++)
		threads.emplace_back([&] {
			if (!request.compile(cache).hit())
				__atomic_add_fetch(&misses, 1, __ATOMIC_SEQ_CST);
		});
	for (std::thread &t : threads)
		t.join();
	CHECK(misses == 1);
}

static void functions_keep_their_module_loaded()
{
	Cache cache = open_it();
	const Request request = axpy();
	use_device();
	Function function = request.load(cache).function("axpy<float>");
	CHECK(function && function.as<>() != nullptr && function.as<const char *>() == function.as<>());
	Module module = request.load(cache), copy = module, other = request.load(request.compile(cache));
	CHECK(module.as<>() != nullptr && copy.handle() == module.handle() && other.as<>() == module.as<>());
	CHECK(module.function("axpy<float>").as<>() == function.as<>());
	CHECK(module.function(request.compile(cache).lowered("axpy<float>")).as<>() == function.as<>());
	CHECK(status_of([&] { module.function("axpy<double>"); }) == JITCACHE_ERR_DRIVER);
	CHECK(module.try_function("none", function) == JITCACHE_ERR_DRIVER && !function);
	jitcache_cuda_module *raw = module.handle();
	module = Module();
	CHECK(!module && copy && jitcache_cuda_module_handle(raw) != nullptr);
	copy = Module();
	CHECK(jitcache_cuda_module_handle(raw) == nullptr);
	CHECK(status_of([] { Module().function("axpy<float>"); }) < 0);
}

int main(int argc, char **argv)
{
	RUN(second_compile_is_a_hit);
	RUN(everything_of_a_request_counts);
	RUN(warnings_come_with_every_hit);
	RUN(compile_errors_have_the_log);
	RUN(one_of_many_threads_compiles);
	RUN(functions_keep_their_module_loaded);
	DONE;
}
