// What the launcher was given that a command must have too: signals, limits, environment,
// descriptors.

package launch

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/proc"
)

// status has the process's tracer, 0 for none, its umask, and whether signals are pending for
// it.
type status struct {
	tracer int
	umask  uint32
	waits  bool
}

func readStatus() status {
	s := status{umask: ^uint32(0)}
	text, err := proc.Read("/proc/self/status", 16<<10)
	if err == nil {
		s.tracer = int(field(text, "TracerPid:", 10))
		s.umask = uint32(field(text, "Umask:", 8))
		s.waits = field(text, "SigPnd:", 16) != 0 || field(text, "ShdPnd:", 16) != 0
	}
	if err != nil || !bytes.Contains(text, []byte("\nUmask:")) { // before Linux 4.7
		s.umask = uint32(unix.Umask(0o77))
		unix.Umask(int(s.umask))
	}
	return s
}

// only returns why nothing but a program in place of this one would have what this one was given, "" if
// another has it too.
func (s status) only() string {
	_, twice := environ()
	switch {
	case s.waits:
		return "a signal is pending for the command"
	case twice:
		return "a variable is in the environment twice"
	}
	return ""
}

// enoughSpace is how much address space a launcher is sure to store a result with. It starts in 20 MB, but reads outputs.
const enoughSpace = 1 << 30

// hasLittleSpace reports whether the address space is so limited, as batch systems do it, that only the command is sure
// to fit.
func hasLittleSpace() bool {
	var l unix.Rlimit
	return spares && unix.Getrlimit(unix.RLIMIT_AS, &l) == nil && l.Cur < enoughSpace
}

func field(text []byte, name string, base int) int64 {
	_, rest, found := bytes.Cut(text, []byte("\n"+name))
	if !found {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	n, _ := strconv.ParseUint(string(bytes.TrimSpace(line)), base, 64)
	return int64(n)
}

// environ returns the environment that this process was given, and whether a name is in it more
// than once: os.Environ returns only the first of them, and some programs take the last.
func environ() (env []string, twice bool) {
	env = os.Environ()
	size := 0
	for _, v := range env {
		size += len(v) + 1
	}
	const file = "/proc/self/environ"
	text, err := proc.Read(file, size+1)
	if err != nil || len(text) <= size {
		return env, false
	}
	if text, err = proc.Read(file, 64<<20); err != nil {
		return env, false
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00"), true
}

// What a standard descriptor is, as far as it counts: programs ask whether it is a terminal.
const (
	closed   = 'c'
	terminal = 't'
	other    = 'o'
)

// printsToTerminal reports whether output or errors go to a terminal.
func (r *Request) printsToTerminal() bool { return strings.IndexByte(r.stream[1:], terminal) >= 0 }

// streams returns a letter for each standard descriptor; "=" for errors if they go to the same
// terminal as the output.
func streams() string {
	var s [3]byte
	var st [3]unix.Stat_t
	for fd := range s {
		s[fd] = other
		// Go opens standard descriptors that are closed; those, and only those, are closed by
		// exec (capi/overlay).
		flags, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		switch _, err := unix.IoctlGetTermios(fd, unix.TCGETS); {
		case unix.Fstat(fd, &st[fd]) != nil, flags&unix.FD_CLOEXEC != 0:
			s[fd] = closed
		case err == nil:
			s[fd] = terminal
		}
	}
	if s[1] == terminal && s[2] == terminal && st[1].Rdev == st[2].Rdev {
		s[2] = '='
	}
	return string(s[:])
}
