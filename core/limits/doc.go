// Package limits gives the process the limit back that Go's runtime raises when it starts:
// that on open files. The host must not notice that Go is inside, nor what it starts; and
// what a command is asked under is what its caller has set.
package limits
