// Owner: the identity of a process, by which lock files and temporary files of dead processes are
// recognised.

package lockfile

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"jitcache/core/proc"
)

// Owner identifies a process for as long as its machine runs; a pid alone is soon used
// again. It is in lock files and in the names of temporary files, so that other
// processes can tell which of them are left over.
type Owner struct {
	Boot  string // first 8 digits of the kernel's boot id: the machine, and this run of it
	Space uint64 // inode of the pid namespace: in which of its containers
	Pid   int
	Start uint64 // start time of the process in clock ticks since boot
}

// Self returns the calling process. It reads /proc once per process; a forked
// child has a new pid and reads it again.
func Self() Owner {
	selfMu.Lock()
	defer selfMu.Unlock()
	if pid := os.Getpid(); self.Pid != pid {
		self = Owner{Boot: bootID(), Space: pidSpace(), Pid: pid, Start: startTime(pid)}
	}
	return self
}

var (
	selfMu sync.Mutex
	self   Owner
)

// String returns the owner as one word that may stand in a file name.
func (o Owner) String() string {
	b := append(make([]byte, 0, 64), o.Boot...) // every put needs it, and fmt takes three times as long
	b = strconv.AppendUint(append(b, '-'), o.Space, 10)
	b = strconv.AppendInt(append(b, '-'), int64(o.Pid), 10)
	return string(strconv.AppendUint(append(b, '-'), o.Start, 10))
}

// ParseOwner reads an owner as String prints it, from the start of s up to a dot.
func ParseOwner(s string) (Owner, bool) {
	s, _, _ = strings.Cut(s, ".")
	f := strings.Split(s, "-")
	if len(f) != 4 {
		return Owner{}, false
	}
	space, err1 := strconv.ParseUint(f[1], 10, 64)
	pid, err2 := strconv.Atoi(f[2])
	start, err3 := strconv.ParseUint(f[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || pid <= 0 {
		return Owner{}, false
	}
	return Owner{f[0], space, pid, start}, true
}

// State is the state of another process.
type State int

// The states. A process on another machine, or in another pid namespace of this
// one, cannot be seen.
const (
	Unknown State = iota
	Running
	Stopped // by SIGSTOP or a debugger
	Gone
)

// State looks the owner up.
func (o Owner) State() State {
	me := Self()
	if o.Boot != me.Boot || o.Space != me.Space || o.Boot == "" {
		return Unknown
	}
	state, start, ok := processStat(o.Pid)
	switch {
	case !ok:
		if syscall.Kill(o.Pid, 0) == syscall.ESRCH {
			return Gone
		}
		return Unknown
	case start != o.Start || state == 'Z' || state == 'X':
		return Gone
	case state == 'T' || state == 't':
		return Stopped
	}
	return Running
}

func bootID() string {
	id := proc.BootID()
	return string(id[:min(len(id), 8)])
}

func pidSpace() uint64 {
	var st syscall.Stat_t
	if syscall.Stat("/proc/self/ns/pid", &st) != nil {
		return 0
	}
	return st.Ino
}

func startTime(pid int) uint64 {
	_, start, _ := processStat(pid)
	return start
}

// processStat reads the state letter and the start time, fields 3 and 22 of
// /proc/PID/stat. Field 2 is the program's name in parentheses and may have any
// characters, so the fields are counted from the last parenthesis.
func processStat(pid int) (state byte, start uint64, ok bool) {
	b, err := proc.Read(fmt.Sprintf("/proc/%d/stat", pid), 4<<10)
	if err != nil {
		return 0, 0, false
	}
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return 0, 0, false
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 20 {
		return 0, 0, false
	}
	start, err = strconv.ParseUint(string(f[19]), 10, 64)
	return f[0][0], start, err == nil
}
