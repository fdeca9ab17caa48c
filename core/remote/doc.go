// Package remote is the library's side of a remote cache: it asks the helper process of
// the node (package storage) over a Unix socket, and starts one where there is none.
//
// It runs in other people's programs, so it relies on no descriptor between two requests
// (a host may fork, and close every descriptor that it did not open), makes no child that
// the host would see, and waits in vain no longer than its budget: a second and two per
// cent of the process's compile time, whatever the remote does.
//
// Nothing is known of the bytes that it returns. Package core verifies them.
package remote
