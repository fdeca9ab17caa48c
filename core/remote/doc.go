// Package remote is the library's side of a remote cache: it asks the helper process of
// the node (package storage) over a Unix socket, and starts one where there is none.
//
// It runs in other people's programs. So it keeps no descriptor between two requests (a
// host may close every one that it did not open, and fork), makes no child that the host
// would see, and never waits for longer than its budget: what is asked in vain costs a
// process a second and two per cent of its compile time, whatever the remote does.
//
// What comes from here is bytes of which nothing is known. Package core verifies them.
package remote
