//go:build !control

package trust

// What control builds of the tests go without (package control).
const (
	checkOwner = true // settings are read only from files that nobody else may write
)
