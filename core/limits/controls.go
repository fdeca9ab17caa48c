//go:build !control

package limits

// Mechanisms, each with the name of the control that takes it out (package control).
const restores = true // raised: the limit on open files is put back
