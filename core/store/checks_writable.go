//go:build !control_nowritable

package store

// checkWritable lets Open find out whether puts can work. A control build of the
// tests turns it off.
const checkWritable = true
