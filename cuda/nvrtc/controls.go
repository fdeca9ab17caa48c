//go:build !control

package nvrtc

// Mechanisms, each with the name of the control that takes it out (package control).
const loadsBuiltins = true // nobuiltins: the builtins beside NVRTC are loaded with it
