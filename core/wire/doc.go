// Package wire is the protocol between a program that uses a cache and the helper that
// holds the connections to its remotes: ccache's storage helper protocol, version 1, with
// a capability of our own. docs/format.md has it byte by byte.
//
// Both ends use this package, so it knows of no socket: a reader is where bytes come
// from. Nothing is allocated for a length before bytes have come, and no length is
// believed that is above a bound.
package wire
