// What the front calls for C, C++ and commands.

package main

// #include "core.h"
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"unsafe"

	"jitcache/command"
	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/native"
)

// spec returns the command of a request.
func spec(p *C.jc_parts) (*command.Spec, error) {
	digests := (*[2]key.Digest)(unsafe.Pointer(p.digests))
	return native.Spec(bytesOf(p.packed, p.npacked), digests[1])
}

func newJob(p unsafe.Pointer, parts *C.jc_parts, env *C.uint8_t, nenv C.size_t, want command.Want) (*command.Job, error) {
	s, err := spec(parts)
	if err != nil {
		return nil, err
	}
	var c *core.Cache
	if p != nil {
		c = cacheOf(p)
	}
	return command.New(c, s, unpackVariables(env, nenv), want)
}

//export jcgo_native_lookup
func jcgo_native_lookup(p unsafe.Pointer, parts *C.jc_parts, env *C.uint8_t, nenv C.size_t, want C.int32_t, out **C.jc_blob, sealed **C.uint8_t, n *C.size_t, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		ofRequest := want == C.JC_WANT_RECORD_KEY || want == C.JC_WANT_PROCESS_KEY
		if isOff(p) && !ofRequest {
			return because(o, C.JITCACHE_MISS, store.Off)
		}
		job, err := newJob(p, parts, env, nenv, command.Want{})
		if err != nil {
			return fail(o, C.JITCACHE_ERR_ARGUMENT, err)
		}
		if want != C.JC_WANT_BLOB {
			k, why, err := requestKey(job, want)
			switch {
			case err != nil:
				return fail(o, C.JITCACHE_ERR_INTERNAL, err)
			case k == nil:
				return missed(o, why)
			}
			*sealed, *n = toC(k.Append(nil))
			return C.JITCACHE_OK
		}
		result, why := job.Lookup()
		if result == nil {
			return missed(o, why)
		}
		*out = (*C.jc_blob)(result.Blob.Pointer())
		return C.JITCACHE_OK
	})
}

// requestKey returns the key that want says; nil, and why, if it is not known.
func requestKey(job *command.Job, want C.int32_t) (k *key.Key, why string, err error) {
	switch want {
	case C.JC_WANT_RECORD_KEY:
		return job.RecordKey(), "", nil
	case C.JC_WANT_PROCESS_KEY:
		k, err = job.ProcessKey()
		return k, "", err
	}
	k, why = job.Key()
	return k, why, nil
}

// missed returns a miss. why says what has changed, "" if nothing is known.
func missed(o *C.jc_out, why string) C.int32_t {
	if why == "" {
		why = store.Absent.String()
	}
	o.reason = C.int32_t(store.Absent)
	return fail(o, C.JITCACHE_MISS, errors.New(why))
}

//export jcgo_native_start
func jcgo_native_start(p unsafe.Pointer, parts *C.jc_parts, env *C.uint8_t, nenv C.size_t, timeout, limit C.int64_t, flags C.int32_t, begun *unsafe.Pointer, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		j, err := newJob(p, parts, env, nenv, command.Want{
			Timeout: milliseconds(timeout), Limit: milliseconds(limit), Holding: flags&C.JC_HOLDING != 0,
		})
		if err != nil {
			return fail(o, C.JITCACHE_ERR_ARGUMENT, err)
		}
		*begun = keepJob(&job{j, nativeStatus})
		return C.JITCACHE_OK
	})
}

// nativeStatus returns the status of a job that is done.
func nativeStatus(j *command.Job, r *command.Result, err error, log **C.char, o *C.jc_out) C.int32_t {
	switch {
	case err == command.ErrLimit:
		return fail(o, C.JITCACHE_TIMEOUT, err)
	case err != nil:
		return fail(o, C.JITCACHE_ERR_COMPILE, err)
	case r.Blob == nil:
		*log = C.CString(r.Log)
		return fail(o, C.JITCACHE_ERR_COMPILE, failure(j.Program(), r))
	case !r.Kept:
		o.reason = C.int32_t(r.Reason)
		return fail(o, C.JITCACHE_NOT_STORED, errors.New(r.Why))
	}
	return C.JITCACHE_OK
}

// failure returns an error that says how a command failed.
func failure(program string, r *command.Result) error {
	name := filepath.Base(program)
	s := r.Report.Status
	switch {
	case r.Report.Failure != 0:
		return fmt.Errorf("%s: %w", program, r.Report.Failure)
	case s.Signaled():
		return fmt.Errorf("%s: ended by signal %d", name, s.Signal())
	case s.ExitStatus() != 0:
		return fmt.Errorf("%s: exit status %d", name, s.ExitStatus())
	}
	return fmt.Errorf("%s: has made nothing", name)
}
