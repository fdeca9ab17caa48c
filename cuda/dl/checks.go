//go:build !control_noidentity

package dl

// byContent makes the identity of a library what it is. A control build of the
// tests takes its name instead, which says no more than its major version.
const byContent = true
