// How long a process waits at its end until its results are sent to the remotes.

package core

import (
	"os"
	"syscall"
	"time"
)

// The helper outlives the process that has started it, and sends what is still to be sent.
// But in a container it may not: when process 1 of a namespace ends, the kernel ends all
// processes in it. Nor in a job of a batch system, which ends all that the job has started.
// There a process waits at its end until its results are sent.

const (
	// firstSpace is the inode of the machine's first namespace of process ids,
	// PROC_PID_INIT_INO in Linux' include/linux/proc_ns.h. Every other namespace ends with
	// a process of its own.
	firstSpace = 0xEFFFFFFC
	// endingWait is how long such a process waits by default. Sending takes a round trip
	// for every eight entries; this bounds the wait for a slow remote.
	endingWait = 10 * time.Second
)

// jobs are variables that batch systems set for processes that they end with the job.
var jobs = []string{"SLURM_JOB_ID"}

// exitWait returns how long a process waits at its end for its results to be sent. patient
// says that it also waits for a remote that is down, which it does only if the user has set
// the time.
func (s *settings) exitWait() (wait time.Duration, patient bool) {
	switch {
	case s.exitSays >= 0:
		return s.exitSays, true
	case !s.launcher && endsTogether(s.env):
		return endingWait, false
	}
	return 0, false
}

// endsTogether reports whether processes that this one leaves running may end with it.
func endsTogether(env func(string) string) bool {
	for _, name := range jobs {
		if env(name) != "" {
			return true
		}
	}
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/ns/pid", &st) != nil {
		return os.Getpid() == 1
	}
	return st.Ino != firstSpace
}
