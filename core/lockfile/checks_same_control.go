//go:build control_nosamefile

package lockfile

const checkSame = false
