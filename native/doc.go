// Package native turns requests from the C interface into commands whose results are kept
// (package command).
//
// A request has either a compiler, flags and sources of C or C++, from which the package
// makes a command line, or the words of any command.
package native
