// What the front calls for jobs, which it continues in steps.

package main

// #include "core.h"
import "C"

import (
	"bytes"
	"math"
	"time"
	"unsafe"

	"jitcache/command"
	"jitcache/observe"
)

// useObserver says where the program is that observes commands.
func useObserver(path string) { observe.Tracer = path }

// job is a job that C continues in steps.
type job struct {
	*command.Job
	// status returns the status of the job when it is done.
	status func(*command.Job, *command.Result, error, **C.char, *C.jc_out) C.int32_t
}

func keepJob(j *job) unsafe.Pointer { return keepObject(j) }

func jobOf(p unsafe.Pointer) *job { return objectOf(p).(*job) }

// unpackVariables returns the environment that C has packed.
func unpackVariables(p *C.uint8_t, n C.size_t) []string {
	var env []string
	for all := bytesOf(p, n); len(all) > 0; {
		end := bytes.IndexByte(all, 0)
		env = append(env, string(all[:end]))
		all = all[end+1:]
	}
	return env
}

// milliseconds converts a time from C. A negative one, which is no limit, is -1.
func milliseconds(n C.int64_t) time.Duration {
	if n < 0 {
		return -1
	}
	return time.Duration(min(int64(n), math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

//export jcgo_job_step
func jcgo_job_step(p unsafe.Pointer, out **C.jc_blob, hit *C.int32_t, log **C.char, o *C.jc_out) C.int32_t {
	return guard(o, func() C.int32_t {
		j := jobOf(p)
		result, done, err := j.Step()
		if err == nil && !done {
			return C.JITCACHE_BUSY
		}
		if err == nil && result.Blob != nil {
			*out = (*C.jc_blob)(result.Blob.Pointer())
		}
		if err == nil && result.Hit {
			*hit = 1
		}
		return j.status(j.Job, result, err, log, o)
	})
}

//export jcgo_job_end
func jcgo_job_end(p unsafe.Pointer) C.int32_t {
	return guard(nil, func() C.int32_t {
		jobOf(p).Close()
		forgetObject(p)
		return C.JITCACHE_OK
	})
}
