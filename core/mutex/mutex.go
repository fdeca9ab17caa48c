// Package mutex has the mutexes of the library's C code, and their order. It has nothing
// for Go code; this file makes cgo compile and link the C files.
package mutex

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
import "C"
