//go:build control_nolease

package lease

const enabled = false
