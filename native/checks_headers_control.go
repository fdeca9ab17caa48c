//go:build control_noheaders

package native

const keepsHeaders = false
