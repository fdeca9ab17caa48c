// Counts the locks that this process holds, for C code that runs after fork.

package lockfile

// #cgo CFLAGS: -std=gnu11 -O2 -Wall
// #include "held.h"
import "C"

func rise() { C.jc_held_rise() }
func fall() { C.jc_held_fall() }
