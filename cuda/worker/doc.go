// Package worker has NVRTC compile in a process of its own, under observation.
//
// The process is jitcache-nvrtc (program/), which stands beside the tracer. It loads
// one NVRTC and compiles one program after the other; after each the tracer says what
// was looked at since the process began, for NVRTC keeps what it has read: the first
// compile opens its library of builtins, and no later one does. A [Pool] keeps
// processes for the next request, and ends them.
//
// What was looked at, and whether it is the same by now, is for package record to say;
// which options a program has, and what its result is kept under, for package cuda.
package worker
