// Package cuda compiles CUDA sources so that a result can be found again.
//
// A [Request] is what one would give NVRTC. Its Key covers what the result
// depends on, and is computed without loading NVRTC or the driver; Compile runs
// NVRTC; Load gives the code to the driver. Looking up, waiting and storing are
// its caller's business, and so is memory: the bytes of a Request belong to the
// caller and are used during a call only.
package cuda
