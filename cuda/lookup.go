// Lookups of code, and jobs that make it.

package cuda

import (
	"sync"

	"jitcache/command"
	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/record"
)

// last is the environment of the last call. Most calls have the same one.
var last struct {
	sync.RWMutex
	env *record.Environment
}

// environment returns a packed environment, parsed.
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
// caller, else nil. environment is that of the process, packed: a NUL after each variable.
// Lookup starts no process. It loads neither NVRTC nor, if the options name an
// architecture, the driver.
//
// k is the key that the code is stored under. If no known list matches the world as it is,
// that key is not known, and k stands for the request: a caller that acquires it finds the
// code once somebody has compiled it, or gets the lease, which it gives to Job.
func (r *Request) Lookup(c *core.Cache, environment []byte) (b *blob.Blob, k *key.Key, err error) {
	_, s, _, err := r.spec()
	if err != nil {
		return nil, nil, err
	}
	b, k, why, err := s.Peek(c, surroundings(c, environment))
	if b != nil || err != nil {
		return b, k, err
	}
	return nil, stand(c, s, environment, why), nil
}

// Key returns the key that Lookup would return, without looking the code up.
func (r *Request) Key(c *core.Cache, environment []byte) (*key.Key, error) {
	_, s, _, err := r.spec()
	if err != nil {
		return nil, err
	}
	k, why, err := s.Key(surroundings(c, environment))
	if k != nil || err != nil {
		return k, err
	}
	return stand(c, s, environment, why), nil
}

// stand returns the key that stands for a request whose result is not known.
func stand(c *core.Cache, s *command.Spec, environ []byte, why string) *key.Key {
	k := s.LeaseKey()
	if c != nil {
		env := environment(environ)
		c.Stand(k, why, func() (*blob.Blob, string) {
			b, _, why, _ := s.Peek(c, &record.Surroundings{Environment: env, Notes: c})
			return b, why
		})
	}
	return k
}

// Job makes a job of a request. The job looks the code up, waits for somebody who compiles
// it, or compiles it. Its Step returns errors of this package (FaultOf). The job does not
// use the bytes of the request after this call.
func (r *Request) Job(c *core.Cache, environ []byte, want command.Want) (*command.Job, error) {
	k, s, file, err := r.spec()
	if err != nil {
		return nil, err
	}
	p, err := parseRequest(r.Parts)
	if err != nil {
		return nil, err
	}
	sm, _ := k.device()
	want.Runner = &compile{parts: p, source: string(r.Source), arch: k.arch, sm: sm, nvrtc: file}
	return command.New(c, s, environment(environ).All(), want)
}
