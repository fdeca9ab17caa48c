// Package launch runs commands through the cache: any command that makes files,
// without a change to it.
//
// A command is looked up by its words and by what it looked at when it last ran
// (package record). If nothing of that has changed, the files that it left are put
// in place and its output is printed again: a replay. Otherwise this process becomes
// the observer, which runs the command. When the command has ended well, a second
// process stores its result. Whatever goes wrong, the command runs.
package launch
