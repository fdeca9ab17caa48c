// Runner: makes a result in another way than by a command.

package command

import (
	"time"

	"jitcache/core/lockfile"
	"jitcache/observe"
	"jitcache/record"
)

// Runner makes the result of a request in another way than by a command.
type Runner interface {
	// Run starts. The error says that nothing can be made at all.
	Run(w *World) (Running, error)
}

// World is what a Runner works in.
type World struct {
	Env   []string // NAME=VALUE
	Notes record.Notes
	// Lock takes the lock with a name, among all processes of the user on this node. It
	// returns nil if another process has the lock, and an error if locks do not work. Lock
	// is nil if there is no cache directory.
	Lock func(name string) (*lockfile.Lock, error)
	// Warn gives a warning to the host, once per reason.
	Warn func(reason, text string)
	// Folder makes a private folder for temporary files. The Runner removes it by remove; if
	// the process is killed before that, a later one does.
	Folder func() (path string, remove func(), err error)
	// Kept says whether the result may be kept. If not, nothing need be observed.
	Kept bool
}

// Running is a result in the making. One goroutine at a time may use it.
type Running interface {
	// Wait goes on for at most d, and reports whether the run has ended.
	Wait(d time.Duration) bool
	// Made returns the result, once the run has ended. The error says that it failed.
	Made() (*Made, error)
	// End gives the run up. It is always called, and is the last call.
	End()
}

// Made is what a run has made.
type Made struct {
	// Payload is nil if the run failed. Failures are not kept.
	Payload    []byte
	Attributes string
	Log        string // what was printed
	// List is the world that it was made in. If it is nil, the result cannot be kept, and
	// Why says why.
	List   *record.List
	Why    error
	Report *observe.Report // of a command, else nil
}
