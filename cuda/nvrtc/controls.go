//go:build !control

package nvrtc

// What control builds of the tests go without (package control).
const loadsBuiltins = true // the builtins beside NVRTC are loaded with it
