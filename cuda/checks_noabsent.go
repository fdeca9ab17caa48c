//go:build control_noabsent

package cuda

const keepAbsent = false
