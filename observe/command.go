// Command: what to run, and under what it is observed.

package observe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Command is what to run.
type Command struct {
	// Args are the words. The first is a path, or a name that is looked for in the
	// PATH of Env.
	Args []string
	// Dir is the folder to run it in: an absolute path, as the user would write it.
	// Relative names are reported below it.
	Dir string
	Env []string // NAME=VALUE
	// Limits are, if they are not nil, what it is given. A process may raise a hard limit only with
	// a privilege: without it the command is not run.
	Limits *Limits
	// Stdin is a descriptor to read from; negative: /dev/null.
	Stdin int
	// Plain runs it unobserved.
	Plain bool
	// Inherit hands on the descriptors and the signal dispositions of this process.
	// Otherwise the command gets neither.
	Inherit bool
	// Pass copies what is printed to this process's output while it runs.
	Pass bool
	// Terminals makes the command see a terminal, of unknown size, where Pass copies its
	// output to one. Whoever keeps the result must tell such runs from others.
	Terminals bool
	// Stops keeps the tracer from using what kernels before 5.6 lack.
	Stops bool
	// Channel, if it is not 0, is a descriptor through which a command that lives on gets
	// its work, in rounds. The command gets it under the same number, and reading from it is
	// no input. At the end of each round it makes the system call EndOfRound; Run.Round then
	// returns what was seen.
	Channel int

	// Hermetic, if it is not nil, says which second the command is shown as the time of every file, and as when its
	// clock starts (tracer/hermetic.h).
	Hermetic *Hermetic

	failures bool          // Front.Failures
	patience time.Duration // of tests, in place of restWorks
}

// Hermetic is what a command is shown in place of the time.
type Hermetic struct {
	Second int64 // since 1970
	// Deciders are programs that decide by times what to do, and before which true times are shown again: names, or names
	// and the beginning of a word, as tracer/decider.h has them.
	Deciders []string
}

// EndOfRound is the number of a system call that does not exist. The tracer answers it by
// writing what it has seen so far (tracer/round.h).
const EndOfRound = 0x6a63

// Errors of Start.
var (
	errNoCommand = errors.New("command: no words")
	errNUL       = errors.New("command: a NUL in a word, the folder or the environment")
	errRelative  = errors.New("command: the folder is not absolute")
)

func (c *Command) check() error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return errNoCommand
	}
	if !filepath.IsAbs(c.Dir) {
		return errRelative
	}
	for _, words := range [][]string{c.Args, c.Env, {c.Dir}} {
		for _, w := range words {
			if strings.IndexByte(w, 0) >= 0 {
				return errNUL
			}
		}
	}
	return nil
}

// program finds the command as execvp would.
func (c *Command) program() string {
	name := c.Args[0]
	if strings.Contains(name, "/") {
		return name
	}
	path := "/bin:/usr/bin" // confstr(_CS_PATH), where there is no PATH
	for _, e := range c.Env {
		if value, ok := strings.CutPrefix(e, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		found := filepath.Join(dir, name)
		if !filepath.IsAbs(found) {
			found = filepath.Join(c.Dir, found)
		}
		if unix.Access(found, unix.X_OK) == nil {
			if info, err := os.Stat(found); err == nil && info.Mode().IsRegular() {
				return found
			}
		}
	}
	return name
}
