//go:build control_nowritable

package store

const checkWritable = false
