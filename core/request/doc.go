// Package request is what requests to different compilers have in common.
//
// A request comes through the C interface as parts ([ReadParts]). The process
// keeps what it learns about a request from one call to the next, for a bounded
// number of requests ([Table]). If nobody can say what its result depends on, a
// request is [Refused]: it compiles, and is not cached.
//
// What the parts mean, and what a result depends on, is not in the package: each
// compiler has a room of its own.
package request
