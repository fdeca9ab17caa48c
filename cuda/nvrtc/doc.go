// Package nvrtc runs NVIDIA's runtime compiler in this process, and has its errors.
//
// It does not know where the library is (package dl). Where results are kept the
// compiler runs in a process of its own (package worker).
package nvrtc
