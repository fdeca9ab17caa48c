// The log: levels, the line of each miss, and warnings, each given once.

package core

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"jitcache/core/key"
	"jitcache/core/lockfile"
	"jitcache/core/plain"
)

// Level says how much a log line matters.
type Level int

// The levels, with the numbers that the C API uses.
const (
	Warning Level = 1 // something is wrong and can be mended
	Info    Level = 2 // a long wait, an input that changed
	Miss    Level = 3 // a lookup that missed, and why
	Debug   Level = 4 // everything else
)

// String returns the level as a log line has it.
func (l Level) String() string {
	switch l {
	case Warning:
		return "warning"
	case Info:
		return "info"
	case Miss:
		return "miss"
	}
	return "debug"
}

// Sink receives log lines. text is one line without its end, and without characters that
// a terminal obeys.
type Sink func(level Level, text string)

// logger writes the lines that JITCACHE_LOG asks for, and passes warnings to the host.
type logger struct {
	level Level  // lines above it are not written; 0 if JITCACHE_LOG is not set
	file  string // JITCACHE_LOG_FILE, "" for standard error
	sink  Sink   // may be nil
}

// wants reports whether lines of a level go anywhere, so that their text must be made.
// LogsMisses reports whether somebody reads why a lookup missed.
func (c *Cache) LogsMisses() bool { return c.log.wants(Miss) }

func (l *logger) wants(level Level) bool {
	return level <= l.level || level == Warning && l.sink != nil
}

func (l *logger) line(level Level, format string, args ...any) {
	if !l.wants(level) {
		return
	}
	text := plain.Line(fmt.Sprintf(format, args...))
	if level == Warning && l.sink != nil {
		l.sink(level, text)
		if l.file == "" {
			return
		}
	}
	if level <= l.level {
		l.writeLine(level, text)
	}
}

// writeLine appends one line with one write, so that lines of many processes do not
// mix.
func (l *logger) writeLine(level Level, text string) {
	text = fmt.Sprintf("jitcache[%d] %s: %s\n", os.Getpid(), level, text)
	if l.file == "" {
		writeOnce(2, text)
		return
	}
	text = time.Now().Format("2006-01-02T15:04:05.000 ") + text
	const flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND | syscall.O_CLOEXEC | syscall.O_NOCTTY
	fd, err := syscall.Open(expandLogFile(l.file), flags, 0o600)
	if err == nil {
		writeOnce(fd, text)
		syscall.Close(fd)
	}
}

func writeOnce(fd int, text string) {
	if !fitsInFile(fd, len(text)) {
		return
	}
	for {
		if _, err := syscall.Write(fd, []byte(text)); err != syscall.EINTR {
			return
		}
	}
}

// fitsInFile reports whether a file may grow by n bytes. Anything but a file may.
func fitsInFile(fd, n int) bool {
	var st syscall.Stat_t
	if syscall.Fstat(fd, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return true
	}
	return lockfile.FitsLimit(st.Size + int64(n))
}

// expandLogFile puts the process id for %p and the host name for %h.
func expandLogFile(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	host, _ := os.Hostname()
	return strings.NewReplacer("%%", "%", "%p", strconv.Itoa(os.Getpid()), "%h", host).Replace(path)
}

// told has the warnings that this process has given. Each is given once, however many
// caches are opened.
var told sync.Map

// warn gives a warning, once per process and reason.
func (l *logger) warn(reason, format string, args ...any) {
	if _, before := told.LoadOrStore(reason, true); !before {
		l.line(Warning, format, args...)
	}
}

// label returns an entry's name and the start of its key, for log lines.
func label(name string, id key.ID) string {
	short := id.String()[:12]
	if name == "" {
		return short
	}
	return name + " (" + short + ")"
}
