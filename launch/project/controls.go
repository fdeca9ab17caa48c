//go:build !control

package project

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	checksOwner = true // anyproject: a project's file that somebody else may have written is not read
	keepsTrust  = true // projecttrust: a project's file sets nothing but what it may
	staysInside = true // projectlog: a project's log is a file in its folder
)
