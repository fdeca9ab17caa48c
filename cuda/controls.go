//go:build !control

package cuda

// What control builds of the tests go without (package control).
const keepAbsent = true // names that were looked for in vain are part of a closure
