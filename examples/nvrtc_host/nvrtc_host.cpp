// nvrtc_host.cpp: a program that compiles a CUB kernel while it runs, once for all runs.
//
// Built against an installed jitcache: make install PREFIX=…, or the wheel, with
// -Djitcache_DIR="$(python -m jitcache --cmakedir)" instead of the prefix:
//
//	cmake -S examples/nvrtc_host -B build/nvrtc_host -DCMAKE_PREFIX_PATH=PREFIX
//	cmake --build build/nvrtc_host
//	build/nvrtc_host/nvrtc_host PACKAGES
//
// PACKAGES is the folder into which pip has installed NVRTC and CCCL: site-packages,
// or pip install --target PACKAGES nvidia-cuda-nvrtc nvidia-cuda-cccl. Without it the
// CUDA toolkit is looked for; -I and other options of NVRTC may be given too.
//
// The first run compiles. Later runs print "hit", and load neither NVRTC nor the driver
// for it. The kernel is launched if there is a device.
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <jitcache.hpp>
#include <unistd.h>

namespace cuda = jitcache::cuda;

static const std::string source = R"(
#include <cub/block/block_reduce.cuh>

template <typename T, int Threads> __global__ void sum(const T *in, T *out)
{
	using Reduce = cub::BlockReduce<T, Threads>;
	__shared__ typename Reduce::TempStorage scratch;
	T total = Reduce(scratch).Sum(in[threadIdx.x]);
	if (threadIdx.x == 0)
		*out = total;
}
)";

static const char *const kernels[] = {"sum<float, 128>", "sum<int, 256>"};
enum { THREADS = 128 }; // of the first kernel, which is launched

// The arguments of the command line.
struct Arguments {
	std::string packages, arch = "sm_90";
	std::vector<std::string> options;
};

static Arguments parse(int argc, char **argv)
{
	Arguments a;
	for (int i = 1; i < argc; i++) {
		const std::string arg = argv[i];
		if (arg.compare(0, 6, "-arch=") == 0)
			a.arch = arg.substr(6);
		else if (arg[0] == '-')
			a.options.push_back(arg);
		else
			a.packages = arg;
	}
	return a;
}

// The headers of CUDA and of CCCL, at their places in the wheels of CUDA 13 and CUDA 12.
static std::vector<std::string> include_folders(const std::string &packages)
{
	std::vector<std::string> found;
	for (const char *folder : {"cu13/include/cccl", "cu13/include", "cuda_cccl/include", "cuda_runtime/include"}) {
		const std::string path = packages + "/nvidia/" + folder;
		if (access(path.c_str(), R_OK) == 0)
			found.push_back(path);
	}
	return found;
}

// The architecture is given, because otherwise the driver would be asked for the device's.
static cuda::Request make_request(const Arguments &a)
{
	cuda::Request request(source, "sum.cu");
	request.option("-std=c++17").option("-arch=" + a.arch);
	for (const std::string &option : a.options)
		request.option(option);
	if (!a.packages.empty()) {
		request.library("packages", a.packages);
		for (const std::string &folder : include_folders(a.packages))
			request.option("-I" + folder);
	}
	for (const char *kernel : kernels)
		request.expression(kernel);
	return request;
}

// mapped returns which of NVRTC and the driver are in this process.
static std::set<std::string> mapped()
{
	std::set<std::string> found;
	std::ifstream maps("/proc/self/maps");
	for (std::string line; std::getline(maps, line);) {
		const std::string name = line.substr(line.find_last_of('/') + 1);
		if (name.compare(0, 8, "libnvrtc") == 0 || name.compare(0, 7, "libcuda") == 0)
			found.insert(name);
	}
	return found;
}

// call looks up a function of the driver and calls it. Its result is a CUresult.
template <typename... A> static void call(const char *name, A... arguments)
{
	static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (driver == nullptr)
		throw std::runtime_error("no driver");
	void *const function = dlsym(driver, name);
	if (function == nullptr)
		throw std::runtime_error(std::string("no ") + name + " in the driver");
	const int result = reinterpret_cast<int (*)(A...)>(function)(arguments...);
	if (result != 0)
		throw std::runtime_error(std::string(name) + " returned " + std::to_string(result));
}

// Device memory as the driver has it: CUdeviceptr.
typedef unsigned long long Address;

// use_device makes the first device's context current.
static void use_device()
{
	int device = 0;
	void *context = nullptr;
	call("cuInit", 0u);
	call("cuDeviceGet", &device, 0);
	call("cuDevicePrimaryCtxRetain", &context, device);
	call("cuCtxSetCurrent", context);
}

// launch adds 0 to THREADS - 1 on the device.
static float launch(const cuda::Function &function)
{
	float numbers[THREADS], total = 0;
	for (int i = 0; i < THREADS; i++)
		numbers[i] = static_cast<float>(i);
	Address in = 0, out = 0;
	call("cuMemAlloc_v2", &in, sizeof numbers);
	call("cuMemAlloc_v2", &out, sizeof total);
	call("cuMemcpyHtoD_v2", in, static_cast<const void *>(numbers), sizeof numbers);
	void *parameters[] = {&in, &out};
	void *const none = nullptr;
	call("cuLaunchKernel", function.as<>(), 1u, 1u, 1u, unsigned(THREADS), 1u, 1u, 0u, none,
		static_cast<void **>(parameters), none);
	call("cuMemcpyDtoH_v2", static_cast<void *>(&total), out, sizeof total);
	call("cuMemFree_v2", in);
	call("cuMemFree_v2", out);
	return total;
}

static void run(const Arguments &a)
{
	const jitcache::Cache cache = jitcache::Cache::open();
	const cuda::Request request = make_request(a);
	const cuda::Code code = request.compile(cache);
	std::cout << (code.hit() ? "hit" : "compiled") << ": " << code.size() << " bytes for " << a.arch << "\n";
	for (const char *kernel : kernels)
		std::cout << kernel << ": " << code.lowered(kernel) << "\n";
	const std::set<std::string> libraries = mapped();
	std::cout << code.log() << "mapped:" << (libraries.empty() ? " nothing" : "");
	for (const std::string &name : libraries)
		std::cout << " " << name;
	std::cout << "\n";

	try {
		use_device();
		const float total = launch(request.load(code).function(kernels[0]));
		std::cout << "launched: " << total << "\n";
	} catch (const std::runtime_error &e) {
		std::cout << "not launched: " << e.what() << "\n";
	}
}

int main(int argc, char **argv)
{
	try {
		run(parse(argc, argv));
	} catch (const jitcache::CompileError &e) {
		std::cerr << "nvrtc_host: " << e.what() << "\n" << e.log();
		return 1;
	} catch (const std::exception &e) {
		std::cerr << "nvrtc_host: " << e.what() << "\n";
		return 1;
	}
	return 0;
}
