// Package dl finds and opens libraries that may be absent: NVRTC, which
// compiles, and libcuda, which loads what was compiled.
//
//	file, err := dl.Find(dl.NVRTC, locations) // looks, loads nothing
//	library, err := file.Open()               // dlopen
//	compile := library.Symbol("nvrtcCompileProgram")
//
// Finding and opening are two steps, because a lookup only needs to know which NVRTC would
// compile, and loading it takes 10 to 75 ms. If NVRTC runs in a process of its own, that
// process opens it.
//
// # Where Find looks
//
//  1. The explicit path, if there is one. Nothing else is then tried.
//  2. What is loaded already, by file name: the host's own libnvrtc.
//  3. NVIDIA's wheels in the folders for Python packages.
//  4. The CUDA toolkits that the environment names.
//  5. The loader's path: LD_LIBRARY_PATH and its like as the loader itself
//     lists them (dlinfo), then the paths in /etc/ld.so.cache, then, for
//     libcuda, the folder of WSL.
//
// Step 5 finds the file and hands its full path to dlopen. If two such folders have a file
// of the same name, the choice may differ from the loader's. But the file that Find names
// is always the one that Open opens.
//
// # What the package does not do
//
// It reads no environment variable: in a library os.Getenv sees the environment
// as it was at load. It closes nothing: threads and exit handlers of NVRTC
// outlive a dlclose. It keeps no state in C but a lock: a forked child, whose Go runtime is
// a second copy, starts only from what the process has mapped.
//
// All functions may be called from any goroutine or thread.
package dl
