// Package nvrtc runs NVIDIA's runtime compiler in this process, and has its errors.
//
// Package dl finds the library. To keep results, the compiler runs in a process of its own
// instead (package worker).
package nvrtc
