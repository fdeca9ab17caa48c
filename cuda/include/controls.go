//go:build !control

package include

// What control builds of the tests go without (package control).
const followHeaders = true // what a header includes is part of the closure
