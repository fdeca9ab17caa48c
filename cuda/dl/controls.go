//go:build !control

package dl

// Mechanisms, each with the name of the control that takes it out (package control).
const forkIsWaited = true // noforklock: a fork waits for threads that hold the loader's lock
