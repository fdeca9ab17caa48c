//go:build !control

package dl

// What control builds of the tests go without (package control).
const forkIsWaited = true // a fork waits for threads that hold the loader's lock
