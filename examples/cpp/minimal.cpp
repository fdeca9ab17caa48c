// minimal.cpp: compile a C function while running, once for all runs.
//
//	make lib
//	c++ -std=c++11 -Ibuild/include examples/cpp/minimal.cpp -o minimal
//		-Lbuild/lib -Wl,-rpath,"$PWD/build/lib" -ljitcache -ldl
//	./minimal "$(command -v cc)"
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <jitcache.h>
#include <unistd.h>

static const std::string source = "double f(double x) { return x * x + 1; }\n";
static const std::string flags = "-O2 -fPIC -shared";

static void check(int32_t status)
{
	if (status < 0)
		throw std::runtime_error(std::string(jitcache_status_name(status)) + ": " + jitcache_last_error());
}

// A handle that is released where its scope ends.
template <typename T, typename R> static std::unique_ptr<T, R (*)(T *)> own(T *handle, R (*release)(T *))
{
	return std::unique_ptr<T, R (*)(T *)>(handle, release);
}

// Runs the compiler and commits what it made. It may throw: the lease is given up on the way.
static int32_t compile(void *user, jitcache_lease *lease)
{
	char out[] = "/tmp/minimal-XXXXXX";
	const int fd = mkstemp(out);
	if (fd < 0)
		throw std::runtime_error("no temporary file");
	close(fd);
	const std::string compiler = static_cast<const char *>(user);
	const std::string command =
		"'" + compiler + "' " + flags + " -x c -o " + out + " - <<'END'\n" + source + "END\n";
	const bool good = std::system(command.c_str()) == 0;
	std::ifstream file(out, std::ios::binary);
	const std::string code{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
	unlink(out);
	if (!good)
		throw std::runtime_error(compiler + " failed");
	return jitcache_commit(lease, code.data(), code.size(), nullptr, nullptr);
}

static void run(char *compiler)
{
	jitcache_cache *cache = nullptr;
	jitcache_key *key = nullptr;
	jitcache_blob *blob = nullptr;
	check(jitcache_open(nullptr, &cache));
	const auto cache_owner = own(cache, jitcache_close);
	check(jitcache_key_new(&key));
	const auto key_owner = own(key, jitcache_key_free);
	check(jitcache_key_add(key, "source", source.data(), source.size()));
	check(jitcache_key_add(key, "flags", flags.data(), flags.size()));
	check(jitcache_key_add_tool(key, "compiler", compiler));
	check(jitcache_key_set_kind(key, "native"));

	// JITCACHE_NOT_STORED has a blob too: a full disk is no reason to stop.
	check(jitcache_get_or_compile(cache, key, -1, compile, compiler, &blob));
	const auto blob_owner = own(blob, jitcache_blob_release);
	const char *path = nullptr;
	check(jitcache_blob_path(blob, &path));
	void *library = dlopen(path, RTLD_NOW);
	void *f = library == nullptr ? nullptr : dlsym(library, "f");
	if (f == nullptr)
		throw std::runtime_error(dlerror());
	std::cout << "f(3) = " << reinterpret_cast<double (*)(double)>(f)(3) << "\n";
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::cerr << "usage: minimal COMPILER\n";
		return 2;
	}
	try {
		run(argv[1]);
	} catch (const std::exception &e) {
		std::cerr << "minimal: " << e.what() << "\n";
		return 1;
	}
	return 0;
}
