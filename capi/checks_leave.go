//go:build control_leave

package main

// A callback that does not return keeps its lease (lease.c).

// #cgo CFLAGS: -DJC_CONTROL_LEAVE
import "C"
