package cuda

import (
	"sync"

	"jitcache/command"
	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/record"
)

// last is the environment of the last call: it is the same for most.
var last struct {
	sync.RWMutex
	env *record.Environment
}

// environment returns what is known of a packed environment.
func environment(packed []byte) *record.Environment {
	last.RLock()
	env := last.env
	last.RUnlock()
	if env.Is(packed) {
		return env
	}
	env = record.NewEnvironment(packed)
	last.Lock()
	last.env = env
	last.Unlock()
	return env
}

func surroundings(c *core.Cache, packed []byte) *record.Surroundings {
	s := &record.Surroundings{Environment: environment(packed)}
	if c != nil {
		s.Notes = c
	}
	return s
}

// Lookup returns the code of a request if it is in the cache, with a reference for the
// caller, else nil. environment is that of the process, packed: a NUL behind each
// variable. It loads neither NVRTC nor, if the options name an architecture, the driver,
// and starts no process.
func (r *Request) Lookup(c *core.Cache, environment []byte) (*blob.Blob, error) {
	_, s, _, err := r.spec()
	if err != nil {
		return nil, err
	}
	b, _, _, err := s.Peek(c, surroundings(c, environment))
	return b, err
}

// Key returns the key under which the code is in the cache, nil if it is not known to be
// there for the world as it is.
func (r *Request) Key(c *core.Cache, environment []byte) (*key.Key, error) {
	_, s, _, err := r.spec()
	if err != nil {
		return nil, err
	}
	return s.Key(surroundings(c, environment))
}

// Job makes a job of a request: it looks the code up, waits for who compiles it, or
// compiles. Its Step returns errors of this package (FaultOf). The bytes of the request
// may go after the call.
func (r *Request) Job(c *core.Cache, environ []byte, want command.Want) (*command.Job, error) {
	k, s, file, err := r.spec()
	if err != nil {
		return nil, err
	}
	p, err := parse(r.Parts)
	if err != nil {
		return nil, err
	}
	sm, _ := k.device()
	want.Runner = &compile{parts: p, source: string(r.Source), arch: k.arch, sm: sm, nvrtc: file}
	return command.New(c, s, environment(environ).All(), want)
}
