//go:build control_nolibraries

package native

const keepsLibraries = false
