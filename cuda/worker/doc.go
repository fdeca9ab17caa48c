// Package worker runs NVRTC in a process of its own, under observation.
//
// The process is jitcache-nvrtc (program/), which is installed beside the tracer. It loads
// one NVRTC and compiles one program after the other. After each program the tracer reports
// what was looked at since the process began, because NVRTC keeps what it has read: only
// the first compile opens its library of builtins. A [Pool] keeps processes for the next
// request, and ends them.
//
// Package record makes lists of what was looked at, and compares them with the disk.
// Package cuda chooses the options of a program, and the key of its result.
package worker
