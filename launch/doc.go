// Package launch is the life of a command that is launched: any command that makes
// files, with no code changed.
//
// It is looked up by its words and what was found when it ran (package record). If
// nothing of that has changed, what it left and printed is put in place: a replay.
// If not, this process becomes the observer, which runs the command as if nobody
// looked; when that has ended well, a second process takes what it has come to.
// Whatever goes wrong, the command runs.
package launch
