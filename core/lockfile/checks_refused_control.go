//go:build control_norefusal

package lockfile

const sayUnsupported = false
