//go:build !control

package launch

// The mechanisms that control builds of the tests go without.
const (
	admits    = true // what was made elsewhere is put only where the command's words point
	looks     = true // a replay looks at what it would overwrite
	marks     = true // in texts, names of places are those of the run that reads them
	seesTimes = true // a time that the command has given a file is missed in a replay
	tells     = true // a command that prints to a terminal is told so
	remembers = true // a command that cannot be kept is not observed again at once
	forgets   = true // but is where other programs would be run
	exchanges = true // an output takes the place of the older one at once
	waits     = true // a slow reader of a pipe that does not block is waited for
	ends      = true // a replay that has begun to print is not run again
)
