// Package cuda compiles CUDA sources so that a result can be found again.
//
// A [Request] has what one would give NVRTC. Its options pass unchanged. A request that is
// not known is compiled once, by an NVRTC in a process of its own that is observed (package
// worker). The result depends on whatever that process has looked at. So a lookup loads
// neither NVRTC nor, if the request names an architecture, the driver. If no process can be
// started or observed, the host's own NVRTC compiles, and the result is not kept.
//
// A compile goes from lookup to entry like any command (package command). Load gives the
// code to the driver. The bytes of a Request belong to the caller, and are used only during
// a call.
package cuda
