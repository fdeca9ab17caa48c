// Questions about standard input and the descriptors that a command was given, and their answers.

package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
)

// A launched command has the descriptors of whoever wants its result. What they are counts as soon as
// it asks: GNU make gives its standard input to one of its jobs alone, and no compiler looks. A
// question is in the list's permits, under a name below /dev/fd, with its answer. What follows from
// more than the kind of a descriptor (a size, a position, whether there is something to read) is in no list.

// launched is what only a launched command needs. The library launches none, and has none of this.
var launched struct {
	answer func(path string, how uint32) syscall.Errno // a question about a descriptor
	change func(how uint32, was, is syscall.Errno) string
	limits func(asked uint64) string             // another answer to a question about limits
	take   func(t *taker, u *observe.Used) error // what it has asked about those that it was given
	places func(t *taker)                        // where its outputs are
	// The key that a precompiled header counts as: for a run, and for a lookup.
	makerFor func(t *taker, n *observe.Name, was *Stamp) (maker key.Digest, known bool)
	makerOf  func(d *digests, was *Stamp) (maker key.Digest, known bool)
}

// Launches is called by a program whose commands have its own descriptors, and leave their outputs in place (Run.InPlace).
func Launches() {
	launched.answer, launched.change, launched.limits = descriptor, descriptorChange, limitsChange
	launched.take, launched.places = (*taker).asksDescriptors, (*taker).places
	launched.makerFor, launched.makerOf = (*taker).makerOf, (*digests).makerOf
}

// The questions, for Permit.How.
const (
	KindOf   = 256  // what it is: kindOf
	SocketOf = 512  // whether it is a socket
	OpenOf   = 1024 // whether it is open
	NullOf   = 2048 // whether it is /dev/null
)

// How the names of descriptors in permits begin, and that of standard input.
const (
	descriptors   = "/dev/fd/"
	standardInput = descriptors + "0"
)

// descriptor answers a question about a descriptor by its name.
func descriptor(path string, how uint32) syscall.Errno {
	fd, err := strconv.Atoi(filepath.Base(path))
	if err != nil {
		return 0
	}
	kind := kindOf(fd)
	switch {
	case how == OpenOf:
		kind = min(kind, 1)
	case how == SocketOf:
		kind = isSocket(kind)
	case how == NullOf:
		kind = kind & isNull / isNull
	}
	return syscall.Errno(kind)
}

// Beside the type in what kindOf returns.
const (
	isOpen     = 1 << 4
	isNull     = 1 << 5
	isTerminal = 1 << 6
	accessMode = 7 // where the access mode begins
)

// kindOf says what a descriptor is that this process was given: the type of its file, the way in which it may be used, and
// whether it is /dev/null or a terminal. It returns 0 if it is not open: what this process has opened itself is closed by exec.
func kindOf(fd int) uint32 {
	var st unix.Stat_t
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 || unix.Fstat(fd, &st) != nil {
		return 0
	}
	mode, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	kind := st.Mode&unix.S_IFMT>>12 | isOpen | uint32(mode&unix.O_ACCMODE)<<accessMode
	if st.Mode&unix.S_IFMT != unix.S_IFCHR {
		return kind
	}
	if st.Rdev == unix.Mkdev(1, 3) {
		return kind | isNull
	}
	if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
		kind |= isTerminal
	}
	return kind
}

// kindName describes what kindOf has returned.
func kindName(kind uint32) string {
	switch kind & (unix.S_IFMT >> 12) << 12 {
	case unix.S_IFIFO:
		return "a pipe"
	case unix.S_IFSOCK:
		return "a socket"
	case unix.S_IFREG:
		return "a file"
	case unix.S_IFDIR:
		return "a folder"
	}
	switch {
	case kind&isOpen == 0:
		return "closed"
	case kind&isNull != 0:
		return "/dev/null"
	case kind&isTerminal != 0:
		return "a terminal"
	}
	return "a device"
}

// descriptorChange describes another answer to a question about a descriptor.
func descriptorChange(how uint32, was, is syscall.Errno) string {
	switch how {
	case SocketOf:
		return "became a socket, or is no longer one"
	case OpenOf:
		return "was opened or closed"
	case NullOf:
		return "is no longer /dev/null"
	}
	return "is " + kindName(uint32(is)) + " now, was " + kindName(uint32(was))
}

// isDescriptor reports whether a question is about a descriptor.
func isDescriptor(how uint32) bool { return how&(KindOf|SocketOf|OpenOf|NullOf) != 0 }

// asksDescriptors notes a question about what the command was given.
func (t *taker) asksDescriptors(u *observe.Used) error {
	if u.Use == observe.UseStdin {
		return t.asksInput(u)
	}
	t.asksDescriptor(u)
	return nil
}

// asksInput notes a question about standard input, or refuses a command that has asked for more than its kind.
func (t *taker) asksInput(u *observe.Used) error {
	question, times, kind := "use", 0, uint32(unix.S_IFCHR>>12|isOpen|isNull)
	if words := strings.Fields(u.Detail); len(words) == 3 {
		question, times, kind = words[0], int(number(words[1])), number(words[2])
	}
	atStart := t.asksAtStart(u.Programs, question, times)
	switch {
	case atStart && question == "peer":
		t.askDescriptor(standardInput, SocketOf, isSocket(kind))
	case atStart:
	case tellsMore(question, kind):
		return request.Refuse(t.run.command(), "asks for the size or state of its standard input")
	case question == "use": // of /dev/null, however it is open
		t.askDescriptor(standardInput, NullOf, 1)
	default:
		t.askDescriptor(standardInput, KindOf, kind)
	}
	return nil
}

func isSocket(kind uint32) uint32 {
	if kind&(unix.S_IFMT>>12) == unix.S_IFSOCK>>12 {
		return 1
	}
	return 0
}

// tellsMore reports whether the answer to a question about standard input follows from more than its kind.
func tellsMore(question string, kind uint32) bool {
	file := kind & (unix.S_IFMT >> 12)
	switch {
	case kind&isNull != 0, question == "flags", question == "terminal", question == "use":
		return false
	case question == "stat", question == "place", question == "size": // a pipe has none
		return file != unix.S_IFIFO>>12 && isSocket(kind) == 0 && (question != "stat" || kind&isTerminal == 0)
	case question == "peer":
		return isSocket(kind) != 0
	}
	return true
}

// started is how often Python and bash ask when they start, for their own use.
var started = map[string][2]int{"stat": {2, 0}, "place": {1, 0}, "terminal": {2, 1}, "peer": {0, 1}}

// asksAtStart reports whether all that have asked a question are programs that do so without a purpose of the command's:
// known ones, and Python and bash as they start. times says how often it was asked.
func (t *taker) asksAtStart(by uint64, question string, times int) bool {
	harmless := uint64(0)
	if question == "stat" || question == "flags" || question == "terminal" {
		harmless = t.known.known
	}
	if times <= started[question][0] {
		harmless |= t.known.python
	}
	if times <= started[question][1] {
		harmless |= t.bash()
	}
	return times != 0 && by&^harmless == 0 && excusesStarts
}

// asksDescriptor notes a question about a descriptor that may have been given, and its answer.
func (t *taker) asksDescriptor(u *observe.Used) {
	words := strings.Fields(u.Detail)
	if len(words) != 3 {
		return
	}
	how := uint32(KindOf)
	if words[1] == "open" {
		how = OpenOf
	}
	t.askDescriptor(fmt.Sprint(descriptors, number(words[0])), how, number(words[2]))
}

// number reads a number of the tracer's.
func number(text string) uint32 {
	n, _ := strconv.ParseUint(text, 10, 32)
	return uint32(n)
}

func (t *taker) askDescriptor(path string, how, answer uint32) {
	permit := Permit{path, how, syscall.Errno(answer)}
	if keepsDescriptors && !slices.Contains(t.list.Permits, permit) {
		t.list.Permits = append(t.list.Permits, permit)
	}
}
