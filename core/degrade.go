//go:build !control_nodegrade

package core

// degrade makes a cache whose directory cannot be used one in memory. A control
// build of the tests turns it off: there it is an error.
const degrade = true
