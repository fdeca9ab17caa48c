// The request that the tracer reads.

package observe

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The request that the tracer reads: tracer/request.h.
const (
	magic         = 0x31524f4a
	flagPlain     = 1
	flagInherit   = 2
	flagPass      = 4
	flagDefault   = 8
	flagStops     = 32
	flagRounds    = 64
	flagTerminals = 128
	flagFailures  = 256
	flagHermetic  = 512
)

// restWorks is how long what the command leaves behind may work on before the command
// counts as over: mold's second process frees gigabytes after the first has ended, and on a
// busy machine that took more than 200 ms.
const restWorks = time.Second

// Tracer is the path of jitcache-observe. If it is "", commands run unobserved. It is set
// once, before the first Start.
var Tracer string

// file makes a file in memory. Its descriptor is above 2, also in a host that has closed its
// standard descriptors: a lower one would be taken for a standard one of the command.
func file(name string) (int, error) {
	fd, err := unix.MemfdCreate("jitcache "+name, unix.MFD_CLOEXEC)
	if err != nil {
		return -1, fmt.Errorf("observe: %s: %w", name, err)
	}
	return high(fd)
}

func high(fd int) (int, error) {
	if fd > 2 {
		return fd, nil
	}
	defer unix.Close(fd)
	return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3)
}

// request encodes the command for the tracer, with the descriptors that it is to use.
func (c *Command) request(report, done, out, err int) []byte {
	flags := uint32(0)
	for flag, set := range map[uint32]bool{
		flagPlain: c.Plain, flagInherit: c.Inherit, flagDefault: !c.Inherit, flagPass: c.Pass, flagStops: c.Stops,
		flagTerminals: c.Terminals, flagFailures: c.failures, flagHermetic: c.Hermetic != nil,
	} {
		if set {
			flags |= flag
		}
	}
	var shown Hermetic
	if c.Hermetic != nil {
		shown = *c.Hermetic
	}
	channel := -1
	if c.Channel != 0 {
		flags |= flagRounds
		channel = c.Channel
	}
	le := binary.LittleEndian
	b := le.AppendUint32(nil, magic)
	for _, v := range []int{int(flags), report, done, out, err, len(c.Args), len(c.Env), channel, int(c.restWorks())} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = le.AppendUint64(b, blocked(c))
	b = le.AppendUint64(b, uint64(shown.Second))
	b = le.AppendUint64(b, uint64(len(shown.Deciders)))
	b = append(append(b, c.Dir...), 0)
	for _, words := range [][]string{c.Args, c.Env, shown.Deciders} {
		for _, w := range words {
			b = append(append(b, w...), 0)
		}
	}
	return b
}

// restWorks returns for how many milliseconds the rest of the tree may work on.
func (c *Command) restWorks() int64 {
	if c.patience != 0 {
		return c.patience.Milliseconds()
	}
	return restWorks.Milliseconds()
}

// blocked returns the signals that are blocked when the command starts: those that this
// thread blocks, or none.
func blocked(c *Command) uint64 {
	var set uint64
	if c.Inherit {
		syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, 0, uintptr(unsafe.Pointer(&set)), 8, 0, 0)
	}
	return set
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && err != unix.EINTR {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}

// readFile reads a file in memory from its beginning; nil if it is larger than most.
func readFile(fd, most int) ([]byte, error) { return readFrom(fd, 0, most) }

// readFrom reads a file in memory from an offset on; nil if that is more than most bytes.
func readFrom(fd int, offset int64, most int) ([]byte, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Size-offset > int64(most) {
		return nil, nil
	}
	b := make([]byte, max(st.Size-offset, 0))
	for done := 0; done < len(b); {
		n, err := unix.Pread(fd, b[done:], offset+int64(done))
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return nil, fmt.Errorf("observe: a file in memory cannot be read: %w", err)
		}
		done += n
	}
	return b, nil
}
