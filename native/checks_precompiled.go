//go:build !control_noprecompiled

package native

// keepsPrecompiled has precompiled headers count. Only the control build of the
// tests, which must then fail, has it off.
const keepsPrecompiled = true
