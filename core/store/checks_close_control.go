//go:build control_leak

package store

const closeFailed = false
