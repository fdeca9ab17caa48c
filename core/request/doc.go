// Package request is what requests to different compilers have in common.
//
// A request comes through the C interface as parts ([ReadParts]). What the
// process learns of it is kept from one call to the next, of so many requests
// ([Table]). One of which it cannot be said what its result depends on is
// [Refused]: it compiles, and is not cached.
//
// What the parts mean, and what a result depends on, is not in the package: each
// compiler has a room of its own.
package request
