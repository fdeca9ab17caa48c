//go:build !control

package cuda

// What control builds of the tests go without (package control).
const lookForTime = true // texts are looked through for the time
