// What the commands share: streams, flags, the cache that they open, and answers as text or JSON.

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// no is the answer "no". It is not an error of the command: exit status 1.
type no string

func (n no) Error() string { return string(n) }

// wrong reports wrong use: exit status 2, with a pointer to the manual.
type wrong string

func (w wrong) Error() string { return string(w) }

// command is what the commands share.
type command struct {
	env            func(string) string
	variables      []string // names of the JITCACHE_* variables that are set
	stdout, stderr io.Writer
	raw, rawErr    io.Writer // unescaped: for the bytes of an entry, and for progress
	terminal       bool      // stderr is a terminal
	directory      string
	makeBundle     func(Shell) *ffcli.Command
	makePush       func(Shell) *ffcli.Command
	become         func(name string) error
	asJSON         bool
	showVersion    bool
}

func (c *command) flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // Main reports errors, in one line, and prints help
	return f
}

// array returns the flags of a command whose -json answer is an array.
func (c *command) array(name string) *flag.FlagSet {
	f := c.flags(name)
	f.BoolVar(&c.asJSON, "json", false, "print a JSON array")
	return f
}

// newCommand makes a subcommand that takes between min and max arguments.
func (c *command) newCommand(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
	name, _, _ := strings.Cut(usage, " ")
	if flags == nil {
		flags = c.flags(name)
	}
	if flags.Lookup("json") == nil {
		flags.BoolVar(&c.asJSON, "json", false, "print a JSON object")
	}
	return &ffcli.Command{
		Name: name, ShortUsage: "jitcache " + usage, ShortHelp: help, FlagSet: flags,
		Exec: func(_ context.Context, args []string) error {
			if c.showVersion {
				return c.printVersion()
			}
			if len(args) < minArgs || len(args) > maxArgs {
				return wrong("usage: jitcache " + usage)
			}
			return run(args)
		},
	}
}

// newBelow makes a subcommand of a subcommand. The second word of its usage is its name.
func (c *command) newBelow(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
	cmd := c.newCommand(usage, help, flags, minArgs, maxArgs, run)
	cmd.Name = strings.Fields(usage)[1]
	return cmd
}

// options returns the options that the command opens the cache with.
func (c *command) options() core.Options {
	values := map[string]string{"memory_size": "0"}
	if c.directory != "" {
		values["directory"] = c.directory
	}
	locate()
	warn := func(_ core.Level, text string) { fmt.Fprintf(c.stderr, "jitcache: warning: %s\n", text) }
	return core.Options{Values: values, Env: c.env, Sink: warn}
}

// outsideJob returns the environment without JITCACHE_PROFILE: entries that the command
// looks at do not belong to a profile.
func outsideJob(env func(string) string) func(string) string {
	return func(name string) string {
		if name == "JITCACHE_PROFILE" {
			return ""
		}
		return env(name)
	}
}

// openCache opens the cache directory, or returns why it is not used. It ignores JITCACHE (0,
// readonly): that is for programs, not for the person who maintains the directory. It makes
// no directory that an argument names: a name that is mistyped is no empty cache.
func (c *command) openCache() (*core.Cache, *store.Store, error) {
	if err := c.checkDirectory(); err != nil {
		return nil, nil, err
	}
	return c.openOrMake()
}

// checkDirectory returns an error if an argument names a directory that does not exist.
func (c *command) checkDirectory() error {
	if c.directory != "" {
		if _, err := os.Stat(c.directory); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s does not exist; `jitcache init` makes a cache directory", c.directory)
		}
	}
	return nil
}

// openOrMake is open for commands that fill the directory, and may make it.
func (c *command) openOrMake() (*core.Cache, *store.Store, error) {
	o := c.options()
	o.Sink = nil // the caller prints why the directory is not used
	o.Env = func(name string) string {
		if name == "JITCACHE" {
			return ""
		}
		return c.env(name)
	}
	o.Env = outsideJob(o.Env)
	cache, err := core.Open(o)
	if err != nil {
		return nil, nil, err
	}
	s, refused := cache.Store()
	if s == nil {
		return nil, nil, refused
	}
	return cache, s, nil
}

// printAnswer prints the object if JSON was asked for, else the same as text.
func (c *command) printAnswer(object any, text func()) error {
	if c.asJSON {
		return c.printJSON(object)
	}
	text()
	return nil
}

func (c *command) printJSON(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printPath prints a path that is the whole answer. A script gets it as it is, whatever
// bytes it has, and a terminal gets nothing that it would obey.
func (c *command) printPath(path string) error {
	to := c.raw
	if isTerminal(c.raw) {
		to = c.stdout
	}
	_, err := fmt.Fprintln(to, path)
	return err
}

func (c *command) printVersion() error {
	return c.printAnswer(map[string]string{"version": Version}, func() { fmt.Fprintln(c.stdout, "jitcache", Version) })
}
