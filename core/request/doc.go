// Package request has what requests to different compilers have in common.
//
// A request comes through the C interface as parts ([ReadParts]). The process
// keeps what it learns about a request from one call to the next, for a bounded
// number of requests ([Table]). If it is unknown what the result of a request
// depends on, the request is [Refused]: it compiles, and is not cached.
//
// The packages of the compilers know what the parts mean and what a result depends
// on.
package request
