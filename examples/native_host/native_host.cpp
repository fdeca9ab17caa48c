// native_host.cpp: a solver that writes C for the system it solves, and has the
// system's compiler compile it, once for all runs and processes.
//
//	make install PREFIX=/opt/jitcache
//	cmake -S examples/native_host -B build -DCMAKE_PREFIX_PATH=/opt/jitcache
//	cmake --build build
//	build/native_host 3 cc        # a chain of 3 springs
//
// It prints how far the first mass has moved after a second, and whether the code was
// compiled or found.
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <jitcache_native.h>

namespace
{

int32_t check(int32_t status)
{
	if (status < 0)
		throw std::runtime_error(std::string(jitcache_last_error()) + "\n" + jitcache_native_last_log());
	return status;
}

// A handle that is released where its scope ends.
template <typename T, typename R> std::unique_ptr<T, R (*)(T *)> own(T *handle, R (*release)(T *))
{
	return std::unique_ptr<T, R (*)(T *)>(handle, release);
}

// The right-hand side for n masses in a row, position and speed in turn.
std::string write_source(int n)
{
	std::ostringstream c;
	c << "#include <math.h>\nvoid rhs(const double *y, double *dy)\n{\n";
	for (int i = 0; i < n; i++) {
		c << "\tdy[" << 2 * i << "] = y[" << 2 * i + 1 << "];\n\tdy[" << 2 * i + 1 << "] = ";
		c << (i > 0 ? "y[" + std::to_string(2 * i - 2) + "]" : std::string("0")) << " - 2 * y[" << 2 * i
		  << "] + ";
		c << (i + 1 < n ? "y[" + std::to_string(2 * i + 2) + "]" : std::string("0")) << " - 0.1 * sin(y["
		  << 2 * i << "]);\n";
	}
	c << "}\n";
	return c.str();
}

const std::vector<std::string> flags = {"-O3", "-march=native"};

// Returns the code of a source from the cache, or compiles it, once for all that ask at the
// same time. It does so in steps, between which a program can handle signals or show progress.
jitcache_blob *compile(jitcache_cache *cache, const std::string &compiler, const std::string &source, bool *hit)
{
	jitcache_native_request *request = nullptr;
	jitcache_native_job *job = nullptr;
	jitcache_blob *blob = nullptr;
	check(jitcache_native_request_new(&request));
	const auto owner = own(request, jitcache_native_request_free);
	const auto add = [&](char part, const std::string &text) {
		check(jitcache_native_request_add(request, part, text.data(), text.size()));
	};
	add(JITCACHE_NATIVE_COMPILER, compiler);
	for (const auto &flag : flags)
		add(JITCACHE_NATIVE_FLAG, flag);
	add(JITCACHE_NATIVE_LINK, "-lm");
	add(JITCACHE_NATIVE_NAME, "rhs");
	add(JITCACHE_NATIVE_SOURCE, "rhs.c");
	add(JITCACHE_NATIVE_TEXT, source);
	check(jitcache_native_start(cache, request, -1, 0, &job));
	const auto job_owner = own(job, jitcache_native_job_free);
	int32_t status = JITCACHE_BUSY, from_cache = 0;
	while (status == JITCACHE_BUSY)
		status = check(jitcache_native_step(job, &blob, &from_cache));
	*hit = from_cache != 0;
	return blob;
}

void solve(int n, const char *compiler)
{
	jitcache_cache *cache = nullptr;
	const char *path = nullptr;
	bool hit = false;
	check(jitcache_open(nullptr, &cache));
	const auto cache_owner = own(cache, jitcache_close);
	const auto blob = own(compile(cache, compiler, write_source(n), &hit), jitcache_blob_release);
	check(jitcache_blob_path(blob.get(), &path));
	void *library = dlopen(path, RTLD_NOW);
	if (library == nullptr)
		throw std::runtime_error(dlerror());
	const auto rhs = reinterpret_cast<void (*)(const double *, double *)>(dlsym(library, "rhs"));
	std::vector<double> y(2 * static_cast<size_t>(n)), dy(y.size());
	y[0] = 1;
	const int steps = 100000;
	for (int i = 0; i < steps; i++) {
		rhs(y.data(), dy.data());
		for (size_t j = 0; j < y.size(); j++)
			y[j] += dy[j] / steps;
	}
	std::cout << "y = " << y[0] << (hit ? ", from the cache" : ", compiled") << "\n";
}

} // namespace

int main(int argc, char **argv)
{
	try {
		solve(argc > 1 ? std::atoi(argv[1]) : 3, argc > 2 ? argv[2] : "cc");
	} catch (const std::exception &e) {
		std::cerr << "native_host: " << e.what() << "\n";
		return 1;
	}
	return 0;
}
