// Package storage is the helper process: it holds the connections to one remote for all
// processes of a user on a node, and speaks package wire with them over a Unix socket.
// Package engine has the engines.
//
// It is a process of its own so that the library, which lives in other people's programs
// and is copied into each forked child, needs no network code and waits for nobody. It
// trusts nothing that an engine says: it bounds every value, and the client verifies it.
package storage
