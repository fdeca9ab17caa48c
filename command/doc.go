// Package command is the life of an observed compile: one command, its record, its result.
//
// A command that is not in the cache runs once under observation. What it looked at becomes
// a list (package record), and the list names the result's key. The next time, the list is
// compared with the world. If nothing has changed, the result is found without starting a
// process.
package command
