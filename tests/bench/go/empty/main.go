// Command empty is a library with one function that does nothing: what a call
// from C into Go costs, whatever it is for.
package main

// #include <stdint.h>
import "C"

import "unsafe"

//export empty_call
func empty_call(a, b, c unsafe.Pointer) C.int32_t { return 0 }

func main() {}
