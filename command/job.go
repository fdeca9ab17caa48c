// Job: looks the result of a command up, waits for it, or makes it, in steps.

package command

import (
	"errors"
	"fmt"
	"time"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/core/store"
	"jitcache/observe"
	"jitcache/record"
)

// Result is the result of a job.
type Result struct {
	// Blob is what the command made, with a reference for the caller; nil if the command
	// failed.
	Blob *blob.Blob
	// Hit says that nothing was run, Kept that the next job will find the result.
	Hit, Kept bool
	// Key is the key of a kept result. Reason and Why say why the result is not kept.
	Reason store.Reason
	Why    string
	Key    *key.Key
	// If the command ran, Report is what was observed, and Log what it printed.
	Report *observe.Report
	Log    string
}

// Job gets the result of a command once. One thread at a time may use it. It ends when Step
// returns a result or an error, or with Close.
type Job struct {
	cache   *core.Cache // nil: nothing is kept
	spec    *Spec
	env     []string // the environment that the command gets
	runner  Runner
	holding bool
	timeout time.Duration
	limit   time.Duration // of the command
	asked   bool          // claim was called before
	given   bool          // the caller gave the lease, and has not looked since it was granted

	known   *known
	missed  *record.Found // of the last look, if no list fitted
	lease   *core.Lease
	run     Running
	began   time.Time // when the job was made
	started time.Time // when the run was started
	result  Result
}

// Want says how to do a job.
type Want struct {
	// Timeout is how long to wait for others who run the command: 0 is not at all, and
	// negative is without limit.
	Timeout time.Duration
	// Limit is how long the command may run; 0 is without limit.
	Limit time.Duration
	// Holding says that the thread has a lease already (core.Cache.Acquire).
	Holding bool
	// Runner makes the result, if a command does not.
	Runner Runner
	// Lease is the lease of LeaseKey, if the caller has it. The job ends it.
	Lease *core.Lease
}

// ErrLimit is returned for a command that ran longer than Want.Limit.
var ErrLimit = errors.New("command: has run for longer than its limit, and was ended")

// New makes a job. cache may be nil. env is the whole environment.
func New(cache *core.Cache, spec *Spec, env []string, want Want) (*Job, error) {
	if want.Runner == nil {
		if err := spec.checkSpec(); err != nil {
			return nil, err
		}
	}
	known, err := spec.knowledge()
	if err != nil {
		return nil, err
	}
	if givesVariables && spec.Variables != nil {
		env = spec.Variables
	}
	if spec.Withhold {
		env = known.filter.OfBuild(env)
	}
	if len(spec.Only) > 0 {
		env = record.Only(env, spec.Only)
	}
	j := &Job{
		cache: cache, spec: spec, env: env, known: known, holding: want.Holding, runner: want.Runner, timeout: want.Timeout, limit: want.Limit,
		lease: want.Lease, given: want.Lease != nil, began: time.Now(),
	}
	return j, nil
}

// surroundings returns the world that lists are compared with.
func (j *Job) surroundings() *record.Surroundings {
	s := &record.Surroundings{Dir: j.spec.Dir, Env: j.env, Limits: j.known.limits}
	if j.cache != nil {
		s.Notes = j.cache
	}
	return s
}

// findResult looks the result up. It reports whether it is there; why says why not.
func (j *Job) findResult() (found bool, why string) {
	b, k, why, missed := j.known.peekAgain(j.cache, j.surroundings(), j.missed)
	j.missed = missed
	if b != nil {
		j.result = Result{Blob: b, Hit: true, Kept: true, Key: k}
	}
	return b != nil, why
}

// Peek returns the result of a request if it is in the cache, with a reference for the
// caller, and its key if a list fits these surroundings; why says why not. A hit takes no
// more than this.
func (s *Spec) Peek(c *core.Cache, now *record.Surroundings) (b *blob.Blob, k *key.Key, why string, err error) {
	n, err := s.knowledge()
	if err != nil {
		return nil, nil, "", err
	}
	b, k, why = n.peek(c, now)
	return b, k, why, nil
}

// Key returns the key of the result of a request. If no list fits these surroundings, it
// returns nil, and why.
func (s *Spec) Key(now *record.Surroundings) (k *key.Key, why string, err error) {
	n, err := s.knowledge()
	if err != nil {
		return nil, "", err
	}
	k, why = n.findWhole(now, s)
	return k, why, nil
}

// LeaseKey returns the key of the lease for a request (core.Cache.Claim). Nothing is ever
// stored under it. Peek or Key must have been called before, without an error.
func (s *Spec) LeaseKey() *key.Key { return s.known.lease }

// Keeps reports whether the job may keep its result.
func (j *Job) Keeps() bool { return !j.isOff() }

// Program returns the first word of the command. If there is no command, it returns the
// user's name for the result.
func (j *Job) Program() string {
	if len(j.spec.Args) == 0 {
		return j.spec.Name
	}
	return j.spec.Args[0]
}

// Lookup returns the result if it is there. Else it returns nil and the first thing that
// has changed, "" if no list is known. It runs nothing.
func (j *Job) Lookup() (r *Result, why string) {
	found, why := j.findResult()
	if !found {
		return nil, why
	}
	return &j.result, ""
}

// Key returns the key of the result. If no list fits these surroundings, it returns nil,
// and why.
func (j *Job) Key() (k *key.Key, why string) {
	if j.cache == nil {
		return nil, store.Off.String()
	}
	return j.known.findWhole(j.surroundings(), j.spec)
}

// RecordKey returns the key under which the lists of the request are stored.
func (j *Job) RecordKey() *key.Key { return j.known.listsKey() }

// ProcessKey returns a key of the request and of all that the command could ask of this
// process, without files.
func (j *Job) ProcessKey() (*key.Key, error) {
	b := key.NewBuilder()
	b.Add("request", j.known.request.ID[:])
	for _, p := range j.surroundings().Parts() {
		b.AddDigest(p.Label, 0, p.Digest)
	}
	b.SetKind(j.spec.Kind)
	return b.Seal()
}

// Step goes on with the job for at most core.Slice. If done is false, the caller calls it
// again. The error says that the command could not be run at all.
func (j *Job) Step() (result *Result, done bool, err error) {
	if j.given {
		j.given = false
		if found, _ := j.findResult(); found {
			j.Close()
			return &j.result, true, nil
		}
	}
	if j.run == nil && j.lease == nil {
		found, err := j.claim()
		if err != nil || found {
			return &j.result, found, err
		}
		if j.lease == nil && !j.isOff() {
			return nil, false, nil // somebody else runs the command
		}
	}
	if j.run == nil {
		if err = j.start(); err != nil {
			j.Close()
			return nil, false, err
		}
	}
	if !j.run.Wait(core.Slice) {
		if j.limit > 0 && time.Since(j.started) > j.limit {
			j.Close()
			return nil, false, ErrLimit
		}
		return nil, false, nil
	}
	err = j.finish()
	j.Close()
	return &j.result, err == nil, err
}

// isOff reports whether nothing is looked up and nothing is kept.
func (j *Job) isOff() bool { return j.cache == nil || j.cache.Mode() == core.ModeOff }

// claim looks the result up, and asks for the lease. It reports whether the result is there.
func (j *Job) claim() (found bool, err error) {
	if j.isOff() {
		return false, nil
	}
	first := !j.asked
	j.asked = true
	if first {
		found, why := j.findResult()
		if found {
			return true, nil
		}
		j.cache.MissedBecause(j.known.request, j.spec.Kind, why)
	}
	timeout := j.timeout
	if first && j.known.isNoted(j.cache, notKept) {
		timeout = 0 // the other's result will not be kept
	}
	if timeout > 0 {
		timeout = max(timeout-time.Since(j.began), time.Nanosecond)
	}
	lease, status := j.cache.Claim(j.known.lease, timeout, j.holding, first, func() bool {
		found, _ := j.findResult()
		return found
	})
	j.lease = lease
	return status == core.Hit, nil
}

// start starts the run.
func (j *Job) start() (err error) {
	j.started = time.Now()
	if j.runner == nil {
		j.run, err = start(j)
		return err
	}
	w := &World{Env: j.env, Kept: j.Keeps(), Warn: func(string, string) {}, Folder: func() (string, func(), error) {
		p, err := folderFor(j.env)
		if err != nil {
			return "", nil, err
		}
		return p.path, p.remove, nil
	}}
	if j.cache != nil {
		w.Notes, w.Warn = j.cache, j.cache.WarnOnce
		if s, _ := j.cache.Store(); s != nil {
			w.Lock = s.TryUserLock
		}
	}
	j.run, err = j.runner.Run(w)
	return err
}

// finish turns what the run made into the result, and stores it if it may be kept.
func (j *Job) finish() error {
	made, err := j.run.Made()
	if err != nil {
		return err
	}
	j.result = Result{Report: made.Report, Log: made.Log}
	if made.Payload == nil {
		return nil // the command failed: nothing is kept
	}
	if j.isOff() {
		j.result.Reason = store.Off
		return j.give(made.Payload, made.Attributes)
	}
	if made.List != nil && len(made.List.Append(nil)) > record.MaxList {
		made.List, made.Why = nil, request.Refuse(j.Program(), "looks at more files than can be kept")
	}
	var k *key.Key
	if made.List != nil {
		if k, err = j.spec.resultKey(made.List); err == nil {
			made.List.Payload = k.ID[:]
		} else {
			made.List, made.Why = nil, request.Refuse(j.Program(), err.Error())
		}
	}
	var refused *request.Refused
	switch {
	case made.List == nil && errors.As(made.Why, &refused):
		j.result.Why, j.result.Reason = refused.Error(), store.Unrepeatable
		if refused.Moved() {
			j.result.Reason = store.InputChange
		}
		j.cache.NotStored(j.known.request, j.spec.Kind, j.result.Reason, j.result.Why)
		if made.Report != nil {
			j.remember(made.Report)
		}
		return j.give(made.Payload, made.Attributes)
	case made.List == nil:
		return made.Why
	}
	j.result.Key = k
	return j.commit(made, k)
}

// commit stores a result, and the list of the world that it was made in.
func (j *Job) commit(made *Made, k *key.Key) error {
	lease := j.lease
	j.lease = nil
	b, why := lease.CommitAs(k, made.Payload, made.Attributes, true, func() { j.known.add(made.List, j.surroundings()) })
	j.result.Blob, j.result.Kept, j.result.Reason = b, why == store.None, why
	if !j.result.Kept {
		j.result.Why = why.String()
	}
	if b == nil {
		return fmt.Errorf("command: no memory for %d bytes", len(made.Payload))
	}
	return nil
}

// give hands out a result that is not kept.
func (j *Job) give(payload []byte, attributes string) error {
	k := key.FromID(key.ID{})
	k.Kind, k.Name = j.spec.Kind, j.spec.Name
	b, err := core.Detached(k, payload, attributes)
	j.result.Blob = b
	return err
}

// Close ends the job. It ends a run, and gives the lease up.
func (j *Job) Close() {
	if j.run != nil {
		j.run.End()
		j.run = nil
	}
	if j.lease != nil {
		j.lease.Release()
		j.lease = nil
	}
}
