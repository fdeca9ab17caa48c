//go:build control_noprecompiled

package native

const keepsPrecompiled = false
