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
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <jitcache.hpp>
#include <unistd.h>

static const std::string source = "double f(double x) { return x * x + 1; }\n";
static const std::string flags = "-O2 -fPIC -shared";

// Runs the compiler and returns the library that it has made.
static std::string compile(const std::string &compiler)
{
	char out[] = "/tmp/minimal-XXXXXX";
	const int fd = mkstemp(out);
	if (fd < 0)
		throw std::runtime_error("no temporary file");
	close(fd);
	const std::string command =
		"'" + compiler + "' " + flags + " -x c -o " + out + " - <<'END'\n" + source + "END\n";
	const bool good = std::system(command.c_str()) == 0;
	std::ifstream file(out, std::ios::binary);
	const std::string code{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
	unlink(out);
	if (!good)
		throw std::runtime_error(compiler + " failed");
	return code;
}

static void run(const std::string &compiler)
{
	const jitcache::Cache cache = jitcache::Cache::open();
	jitcache::Key key;
	key.add("source", source).add("flags", flags).add_tool("compiler", compiler).kind("native");

	// An exception of compile arrives here. A full disk throws nothing: the code is returned all the same.
	const jitcache::Blob code = cache.get_or_compile(key, [&] { return compile(compiler); });
	void *library = dlopen(code.path(), RTLD_NOW);
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
