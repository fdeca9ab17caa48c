// Package cli is the jitcache command, as a function of arguments and streams:
// the wheel's console script runs it in the library, cli/jitcache alone.
//
// Data goes to standard output, everything else to standard error. Exit
// statuses: 0 done; 1 the answer is no (there is no such entry, entries are
// damaged, nothing would be cached); 2 wrong use, or it cannot be done.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// The exit statuses.
const (
	exitDone = 0
	exitNo   = 1
	exitFail = 2
)

// no is an answer that is no error of the command: exit status 1.
type no string

func (n no) Error() string { return string(n) }

// wrong is wrong use: exit status 2, with the way to the manual.
type wrong string

func (w wrong) Error() string { return string(w) }

// command is what the commands share.
type command struct {
	env            func(string) string
	variables      []string // JITCACHE_* that are set
	runtime        string   // what has been done to Go's
	stdout, stderr io.Writer
	terminal       bool // stderr is one
	directory      string
	makeBundle     func(Shell) *ffcli.Command
	become         func(name string) error
}

// Environment is the process environment as a command sees it.
type Environment struct {
	Get     func(name string) string
	Names   []string // of the JITCACHE variables that are set
	Runtime string   // what has been done to Go's runtime, "" for the command by itself
	// Bundle makes `jitcache bundle`, for the program that has it.
	Bundle func(Shell) *ffcli.Command
	// Become runs a program beside this one in its place; nil where this is no program.
	Become func(name string) error
}

// Main runs the command and returns its exit status. args[0] is the program.
func Main(args []string, env Environment, stdout, stderr io.Writer) int {
	c := &command{env: env.Get, variables: env.Names, runtime: env.Runtime, stdout: stdout, stderr: stderr, terminal: isTerminal(stderr), makeBundle: env.Bundle, become: env.Become}
	root := c.root()
	err := root.Parse(args[1:])
	if err == nil {
		err = root.Run(context.Background())
	}
	var answer no
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.As(err, &answer):
		fmt.Fprintf(stderr, "jitcache: %s\n", answer)
		return exitNo
	case errors.As(err, new(wrong)):
		fmt.Fprintf(stderr, "jitcache: %v; see `jitcache help`\n", err)
	default:
		fmt.Fprintf(stderr, "jitcache: %v\n", err)
	}
	return exitFail
}

func (c *command) root() *ffcli.Command {
	flags := c.flags("jitcache")
	flags.StringVar(&c.directory, "directory", "", "the cache `DIR`; default as for programs")
	root := &ffcli.Command{
		Name: "jitcache", ShortUsage: "jitcache [-directory DIR] COMMAND [flags] [arguments]",
		ShortHelp: "look at and look after a compile cache", FlagSet: flags,
		LongHelp: "Exit status: 0 done; 1 the answer is no (no such entry, damaged entries,\n" +
			"nothing would be cached); 2 wrong use, or it cannot be done.",
	}
	root.Subcommands = []*ffcli.Command{
		c.run(), c.stats(), c.ls(), c.show(), c.path(), c.export(), c.explain(), c.rm(), c.trim(), c.clear(), c.verify(),
		c.bundle(), c.sign(), c.trust(), c.remote(), c.init(), c.config(), c.doctor(), c.dir(), c.version(),
	}
	for _, sub := range root.Subcommands {
		sub.UsageFunc = usage
		for _, below := range sub.Subcommands {
			below.UsageFunc = usage
		}
	}
	root.UsageFunc = usage
	root.Exec = func(_ context.Context, args []string) error {
		switch {
		case len(args) == 0:
			fmt.Fprintln(c.stderr, usage(root))
			return wrong("which command?")
		case args[0] == "help":
			return c.help(root, args[1:])
		}
		return wrong(fmt.Sprintf("%q: no such command", args[0]))
	}
	return root
}

func (c *command) help(root *ffcli.Command, args []string) error {
	for _, sub := range root.Subcommands {
		if len(args) > 0 && sub.Name == args[0] {
			fmt.Fprintln(c.stdout, usage(sub))
			return nil
		}
	}
	fmt.Fprintln(c.stdout, usage(root))
	return nil
}

func usage(cmd *ffcli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", cmd.ShortUsage, cmd.ShortHelp)
	if cmd.LongHelp != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.LongHelp)
	}
	if len(cmd.Subcommands) > 0 {
		b.WriteString("\ncommands:\n")
		for _, sub := range cmd.Subcommands {
			fmt.Fprintf(&b, "  %-8s %s\n", sub.Name, sub.ShortHelp)
		}
	}
	first := true
	cmd.FlagSet.VisitAll(func(f *flag.Flag) {
		if first {
			b.WriteString("\nflags:\n")
			first = false
		}
		value, text := flag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		fmt.Fprintf(&b, "  -%-18s %s\n", f.Name+value, text)
	})
	return strings.TrimRight(b.String(), "\n")
}

func (c *command) flags(name string) *flag.FlagSet {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(c.stderr)
	return f
}

// new makes a subcommand that takes between min and max arguments.
func (c *command) new(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
	name, _, _ := strings.Cut(usage, " ")
	if flags == nil {
		flags = c.flags(name)
	}
	return &ffcli.Command{
		Name: name, ShortUsage: "jitcache " + usage, ShortHelp: help, FlagSet: flags,
		Exec: func(_ context.Context, args []string) error {
			if len(args) < minArgs || len(args) > maxArgs {
				return wrong("usage: jitcache " + usage)
			}
			return run(args)
		},
	}
}

// options are what the command opens the cache with.
func (c *command) options() core.Options {
	values := map[string]string{"memory_size": "0"}
	if c.directory != "" {
		values["directory"] = c.directory
	}
	locate()
	warn := func(_ core.Level, text string) { fmt.Fprintf(c.stderr, "jitcache: warning: %s\n", text) }
	return core.Options{Values: values, Env: c.env, Sink: warn}
}

// open opens the cache directory, or says why it is not used. JITCACHE=0 and
// readonly are for programs, not for who looks after the directory.
func (c *command) open() (*core.Cache, *store.Store, error) {
	o := c.options()
	o.Sink = nil // the caller prints why the directory is not used
	o.Env = func(name string) string {
		if name == "JITCACHE" {
			return ""
		}
		return c.env(name)
	}
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

func (c *command) printJSON(v any) error {
	e := json.NewEncoder(c.stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (c *command) dir() *ffcli.Command {
	return c.new("dir", "print the cache directory", nil, 0, 0, func([]string) error {
		o := c.options()
		dir, rule := o.Directory()
		if dir == "" {
			return no(rule)
		}
		fmt.Fprintln(c.stdout, dir)
		return nil
	})
}

func (c *command) version() *ffcli.Command {
	return c.new("version", "print the version", nil, 0, 0, func([]string) error {
		fmt.Fprintln(c.stdout, "jitcache", Version)
		return nil
	})
}
