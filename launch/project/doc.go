// Package project reads a project's settings: jitcache.toml in the folder of a launched
// command, or in one above it.
//
// The file comes with sources that others may have written, so it says only what matters for
// commands in its own folder: what may be left out of their requests, what they are not given,
// and what is logged. Nothing in it decides whose results are used. It is read into
// environment variables, which come before it, and which the process that keeps the result
// gets too.
package project
