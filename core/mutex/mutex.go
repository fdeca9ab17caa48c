// Package mutex has the mutexes of the library's C code, and their order. Go code
// has its own; this file only makes cgo compile and link C's.
package mutex

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -D_GNU_SOURCE
import "C"
