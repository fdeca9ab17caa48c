package command

import (
	"time"

	"jitcache/core/lockfile"
	"jitcache/observe"
	"jitcache/record"
)

// Runner makes the result of a request in another way than by a command.
type Runner interface {
	// Run begins. An error is that nothing can be made at all.
	Run(w *World) (Running, error)
}

// World is what a Runner works in.
type World struct {
	Env   []string // NAME=VALUE
	Notes record.Notes
	// Lock takes the lock with a name, for this process among all of the user's on this
	// node: nil if somebody has it; an error is that locks do not work. Lock is nil without
	// a cache.
	Lock func(name string) (*lockfile.Lock, error)
	// Warn gives a warning to the host, once per reason.
	Warn func(reason, text string)
	// Kept says whether the result can be kept at all: else nothing need be observed.
	Kept bool
}

// Running is a result that is being made. It is for one goroutine at a time.
type Running interface {
	// Wait goes on, for at most d, and reports whether it is over.
	Wait(d time.Duration) bool
	// Made returns what has come of it, once it is over. An error is that it has failed.
	Made() (*Made, error)
	// End gives it up. It is called last in any case.
	End()
}

// Made is what a run has made.
type Made struct {
	// Payload is nil if the run has failed, which is not kept.
	Payload    []byte
	Attributes string
	Log        string // what was printed
	// List is the world that it was made in; nil: it cannot be kept, and Why says why.
	List   *record.List
	Why    error
	Report *observe.Report // of a command
}
