package core

import (
	"os"
	"syscall"
	"time"
)

// A helper goes on when the process has ended that has started it, and sends what waits. In
// a container it does not: with process 1 of its namespace the kernel ends all that is in
// it. Nor does it in a job of a batch system, which ends all that a job has started.

const (
	// firstSpace is the number of the namespace of process ids that a machine begins with,
	// PROC_PID_INIT_INO in Linux' include/linux/proc_ns.h. Every other one ends with a
	// process of its own.
	firstSpace = 0xEFFFFFFC
	// endingWait is for how long a process waits there, if nobody has said how long. Sending
	// takes a round trip for each eight entries; this bounds a remote that is slow.
	endingWait = 10 * time.Second
)

// jobs are variables that batch systems set in what they end together with its job.
var jobs = []string{"SLURM_JOB_ID"}

// exitWait returns for how long a process that ends waits for what it has stored to be sent,
// and whether it waits for a remote that is down, too: only if somebody has said so.
func (s *settings) exitWait() (wait time.Duration, patient bool) {
	switch {
	case s.exitSays >= 0:
		return s.exitSays, true
	case !s.launcher && endsTogether(s.env):
		return endingWait, false
	}
	return 0, false
}

// endsTogether reports whether what this process leaves running may end with it.
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
