// Package cuda compiles CUDA sources so that a result can be found again.
//
// A [Request] is what one would give NVRTC. Its options pass as they are. What is not
// known is compiled once, by an NVRTC in a process of its own that is observed (package
// worker), and whatever that has looked at is what the result depends on: so a lookup
// loads neither NVRTC nor, if the request names an architecture, the driver. Where no
// process can be had or observed the host compiles by itself, and nothing is kept.
//
// The life of a compile, from the lookup to the entry, is that of a command (package
// command). Load gives the code to the driver. Memory is the caller's business: the
// bytes of a Request are used during a call only.
package cuda
