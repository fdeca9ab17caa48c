// Package native turns requests to compile C, C++ or anything that a command
// compiles into commands whose results are kept (package command).
//
// A [Request] comes through the C interface. It is either sources, flags and a
// compiler, of which the package makes a command line, or the words of a command.
package native
