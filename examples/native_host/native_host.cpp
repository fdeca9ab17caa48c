// native_host.cpp: a solver that writes C for the system it solves, and has the
// system's compiler compile it, once for all runs and processes.
//
//	make install PREFIX=/opt/jitcache
//	cmake -S examples/native_host -B build -DCMAKE_PREFIX_PATH=/opt/jitcache
//	cmake --build build
//	build/native_host 3 cc        # a chain of 3 springs
//
// It prints how far the first mass has come after a second, and whether it was
// compiled for it.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

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

const std::vector<std::string> flags = {"-O3", "-march=native", "-fPIC", "-shared"};

// What is to be compiled, and whether it was.
struct Job {
	std::string compiler, source;
	bool compiled;
};

// Runs a command without a shell, and returns whether it succeeded.
bool run(const std::vector<std::string> &command)
{
	std::vector<char *> argv;
	for (const auto &word : command)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	int status = -1;
	const pid_t child = fork();
	if (child == 0) {
		execvp(argv[0], argv.data());
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

// Called by the library if nobody has compiled it yet: compiles, and commits.
int32_t compile(void *user, jitcache_lease *lease)
{
	auto *job = static_cast<Job *>(user);
	char folder[] = "/tmp/native_host-XXXXXX";
	if (mkdtemp(folder) == nullptr)
		throw std::runtime_error("no temporary folder");
	const std::string in = std::string(folder) + "/rhs.c", out = std::string(folder) + "/rhs.so";
	std::ofstream(in) << job->source;
	std::vector<std::string> command = {job->compiler};
	command.insert(command.end(), flags.begin(), flags.end());
	command.insert(command.end(), {in, "-lm", "-o", out});
	const bool good = run(command);
	std::ifstream file(out, std::ios::binary);
	const std::string code{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
	unlink(in.c_str());
	unlink(out.c_str());
	rmdir(folder);
	if (!good)
		throw std::runtime_error(job->compiler + " failed");
	job->compiled = true;
	return jitcache_commit(lease, code.data(), code.size(), nullptr, nullptr);
}

// The key of a job: compiler, flags, source, and every header that it includes.
jitcache_key *key_of(jitcache_cache *cache, const Job &job)
{
	jitcache_native_request *request = nullptr;
	jitcache_key *key = nullptr;
	check(jitcache_native_request_new(&request));
	const auto owner = own(request, jitcache_native_request_free);
	const auto add = [&](char part, const std::string &text) {
		check(jitcache_native_request_add(request, part, text.data(), text.size()));
	};
	add(JITCACHE_NATIVE_COMPILER, job.compiler);
	for (const auto &flag : flags)
		add(JITCACHE_NATIVE_FLAG, flag);
	add(JITCACHE_NATIVE_FLAG, "-lm");
	add(JITCACHE_NATIVE_NAME, "rhs");
	add(JITCACHE_NATIVE_SOURCE, "rhs.c");
	add(JITCACHE_NATIVE_TEXT, job.source);
	check(jitcache_native_key(cache, request, &key));
	return key;
}

void solve(int n, const char *compiler)
{
	jitcache_cache *cache = nullptr;
	jitcache_blob *blob = nullptr;
	const char *path = nullptr;
	check(jitcache_open(nullptr, &cache));
	const auto cache_owner = own(cache, jitcache_close);
	Job job = {compiler, write_source(n), false};
	const auto key = own(key_of(cache, job), jitcache_key_free);
	check(jitcache_get_or_compile(cache, key.get(), -1, compile, &job, &blob));
	const auto blob_owner = own(blob, jitcache_blob_release);
	check(jitcache_blob_path(blob, &path));
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
	std::cout << "y = " << y[0] << (job.compiled ? ", compiled" : ", from the cache") << "\n";
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
