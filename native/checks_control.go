//go:build control_nonative

package native

const resolvesNative = false
