//go:build !control

package native

// What control builds of the tests go without (package control).
const (
	resolvesNative   = true // what -march=native means on this processor is in keys
	keepsAbsent      = true // names under which there was no header are remembered
	keepsHeaders     = true // headers are remembered, and not the sources alone
	keepsLibraries   = true // the libraries of a compiler's programs count
	keepsPrecompiled = true // precompiled headers count
)
