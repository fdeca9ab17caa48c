// Package dl finds and opens libraries that may be absent: NVRTC, which
// compiles, and libcuda, which loads what was compiled.
//
//	file, err := dl.Find(dl.NVRTC, locations) // looks, loads nothing
//	library, err := file.Open()               // dlopen
//	compile := library.Symbol("nvrtcCompileProgram")
//
// Finding and opening are two steps, because a lookup needs to know which NVRTC would
// compile, and loading it takes 10 to 75 ms; and where NVRTC runs in a process of its
// own, that opens it.
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
// Step 5 finds the file and hands its full path to dlopen. Where two such folders hold
// the same name, the choice may differ from the loader's; what is said to be found is
// still what is opened.
//
// # What the package does not do
//
// It reads no environment variable: in a library os.Getenv sees the environment
// as it was at load. It closes nothing: threads and exit handlers of NVRTC
// outlive a dlclose. It keeps no state in C but a lock, so that a forked child, whose Go
// runtime is a second copy, starts from what the process has mapped and from
// nothing else.
//
// All functions may be called from any goroutine or thread.
package dl
