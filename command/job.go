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

// Result is what a command has come to.
type Result struct {
	// Blob is what it made, with a reference for the caller; nil if it has failed.
	Blob *blob.Blob
	// Hit: nothing was run. Kept: the next one will find it.
	Hit, Kept bool
	// Reason and Why say why it is not kept, and Key under which key it is.
	Reason store.Reason
	Why    string
	Key    *key.Key
	// Report is what was observed, and Log what was printed, if it was run.
	Report *observe.Report
	Log    string
}

// Job is one wish for a command's result. It is for one thread at a time. It ends
// with a result or an error of Step, or with Close.
type Job struct {
	cache   *core.Cache // nil: nothing is kept
	spec    *Spec
	env     []string // as the command gets it
	holding bool
	timeout time.Duration
	limit   time.Duration // of the command
	asked   bool

	known  *known
	lease  *core.Lease
	run    *run
	began  time.Time
	result Result
}

// Want says how a job is to be done.
type Want struct {
	// Timeout is how long to wait for others who run the command, negative: as long
	// as it takes; 0: not at all.
	Timeout time.Duration
	// Limit is how long the command may run, 0: as long as it takes.
	Limit time.Duration
	// Holding: the thread has a lease already (core.Cache.Acquire).
	Holding bool
}

// ErrLimit is returned for a command that has run for longer than it may.
var ErrLimit = errors.New("command: has run for longer than its limit, and was ended")

// New makes a job. cache may be nil. env is the whole environment.
func New(cache *core.Cache, spec *Spec, env []string, want Want) (*Job, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	if spec.Withhold {
		env = record.Withhold(env)
	}
	if len(spec.Only) > 0 {
		env = record.Only(env, spec.Only)
	}
	j := &Job{cache: cache, spec: spec, env: env, holding: want.Holding, timeout: want.Timeout, limit: want.Limit, began: time.Now()}
	var err error
	j.known, err = spec.knowledge()
	return j, err
}

// surroundings are those that lists are compared with.
func (j *Job) surroundings() *record.Surroundings {
	s := &record.Surroundings{Dir: j.spec.Dir, Env: j.env}
	if j.cache != nil {
		s.Notes = j.cache
	}
	return s
}

// look looks for the result. It reports whether it is there; why says why not.
func (j *Job) look() (found bool, why string) {
	if j.isOff() {
		return false, store.Off.String()
	}
	if j.cache.Mode() == core.ModeRefresh {
		return false, store.Refresh.String()
	}
	k, why := j.known.find(j.surroundings())
	if k == nil {
		return false, why
	}
	b, reason := j.cache.Peek(&k.ID)
	if b == nil {
		return false, "the entry: " + reason.String()
	}
	j.result = Result{Blob: b, Hit: true, Kept: true, Key: k}
	return true, ""
}

// Program is the first word of the command.
func (j *Job) Program() string { return j.spec.Args[0] }

// Lookup returns the result if it is there, else nil and why not: the first thing
// that has changed, "" if nothing was known. It runs nothing.
func (j *Job) Lookup() (r *Result, why string) {
	found, why := j.look()
	if !found {
		return nil, why
	}
	return &j.result, ""
}

// Key returns the key of the result; nil, and why, if no list fits these
// surroundings.
func (j *Job) Key() (k *key.Key, why string) {
	if j.cache == nil {
		return nil, store.Off.String()
	}
	return j.known.findWhole(j.surroundings(), j.spec)
}

// RecordKey returns the key under which the lists of the request are stored.
func (j *Job) RecordKey() *key.Key { return j.known.listsKey() }

// ProcessKey returns a key of the request and of all that the command could ask of
// this process, but for files.
func (j *Job) ProcessKey() (*key.Key, error) {
	b := key.NewBuilder()
	b.Add("request", j.known.request.ID[:])
	for _, p := range j.surroundings().Parts() {
		b.AddDigest(p.Label, 0, p.Digest)
	}
	if err := b.SetKind(j.spec.Kind); err != nil {
		return nil, err
	}
	return b.Seal()
}

// Step goes on with the job for at most core.Slice. done is false if it is to be
// called again. An error is that the command could not be run at all.
func (j *Job) Step() (result *Result, done bool, err error) {
	if j.run == nil && j.lease == nil {
		found, err := j.claim()
		if err != nil || found {
			return &j.result, found, err
		}
		if j.lease == nil && !j.isOff() {
			return nil, false, nil // somebody else runs it
		}
	}
	if j.run == nil {
		if j.run, err = start(j.spec, j.env, j.plain()); err != nil {
			j.Close()
			return nil, false, err
		}
	}
	if !j.run.observed.Wait(core.Slice) {
		if j.limit > 0 && time.Since(j.run.began) > j.limit {
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

// claim looks, and asks for the lease. It reports whether the result is there.
func (j *Job) claim() (found bool, err error) {
	if j.isOff() {
		return false, nil
	}
	first := !j.asked
	j.asked = true
	if first {
		found, why := j.look()
		if found {
			return true, nil
		}
		j.cache.MissedBecause(j.known.request, j.spec.Kind, why)
	}
	timeout := j.timeout
	if first && j.known.isNoted(j.cache, notKept) {
		timeout = 0 // it would be waiting for nothing
	}
	if timeout > 0 {
		timeout = max(timeout-time.Since(j.began), time.Nanosecond)
	}
	lease, status := j.cache.Claim(j.known.lease, timeout, j.holding, first, func() bool {
		found, _ := j.look()
		return found
	})
	j.lease = lease
	return status == core.Hit, nil
}

// finish takes what the command has come to.
func (j *Job) finish() error {
	rep, err := j.run.observed.Report()
	if err != nil {
		return err
	}
	j.result = Result{Report: rep, Log: j.run.log(rep)}
	payload, attributes, err := j.run.result(rep)
	if err != nil {
		return err
	}
	if payload == nil {
		return nil // it has failed: nothing is kept
	}
	if j.isOff() {
		j.result.Reason = store.Off
		return j.give(payload, attributes)
	}
	k, list, err := j.learn(rep)
	var refused *request.Refused
	switch {
	case errors.As(err, &refused):
		j.result.Why, j.result.Reason = refused.Error(), store.Unrepeatable
		j.cache.NotStored(j.known.request, j.spec.Kind, j.result.Reason, j.result.Why)
		j.remember(rep)
		return j.give(payload, attributes)
	case err != nil:
		return err
	}
	j.result.Key = k
	// Before the lease ends: who waits for it looks for the list first.
	j.known.add(list, j.surroundings())
	lease := j.lease
	j.lease = nil
	b, why := lease.CommitAs(k, payload, attributes, true)
	j.result.Blob, j.result.Kept, j.result.Reason = b, why == store.None, why
	if !j.result.Kept {
		j.result.Why = why.String()
	}
	if b == nil {
		return fmt.Errorf("command: no memory for %d bytes", len(payload))
	}
	return nil
}

// give hands out what is not kept.
func (j *Job) give(payload []byte, attributes string) error {
	k := key.FromID(key.ID{})
	k.Kind, k.Name = j.spec.Kind, j.spec.Name
	b, err := core.Detached(k, payload, attributes)
	j.result.Blob = b
	return err
}

// learn makes the list of a run, and the key of its result.
func (j *Job) learn(rep *observe.Report) (*key.Key, *record.List, error) {
	r := record.Run{Report: rep, Dir: j.run.dir, Env: j.env, Private: j.run.private, Leaves: j.run.leaves, Notes: j.cache}
	list, err := r.Take()
	if err != nil {
		return nil, nil, err
	}
	if len(list.Append(nil)) > record.MaxList {
		return nil, nil, request.Refuse(j.Program(), "looks at more files than can be kept")
	}
	k, err := j.spec.resultKey(list)
	if err != nil {
		return nil, nil, err
	}
	list.Payload = k.ID[:]
	return k, list, nil
}

// Close ends the job: what runs is ended, and a lease is given up.
func (j *Job) Close() {
	if j.run != nil {
		j.run.end()
		j.run = nil
	}
	if j.lease != nil {
		j.lease.Release()
		j.lease = nil
	}
}
