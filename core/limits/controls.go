//go:build !control

package limits

// What control builds of the tests go without (package control).
const restores = true // the limit on open files is put back
