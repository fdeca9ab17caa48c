package cli

// #include <gnu/libc-version.h>
import "C"

// glibc is the version of the C library that this process has loaded.
func glibc() string { return C.GoString(C.gnu_get_libc_version()) }
