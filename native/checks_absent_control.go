//go:build control_noabsent

package native

const keepsAbsent = false
