// Package cli is the jitcache command, as a function of arguments and streams.
// cli/jitcache is the program.
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
	"io/fs"
	"os"
	"runtime"
	"slices"
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

// Environment is the process environment as a command sees it.
type Environment struct {
	Get   func(name string) string
	Names []string // the names of the JITCACHE variables that are set
	// Bundle makes `jitcache bundle`. It is nil in a program without the bundle commands.
	Bundle func(Shell) *ffcli.Command
	// Push makes `jitcache remote push`, in the same program.
	Push func(Shell) *ffcli.Command
	// Become replaces this process by a program that lies beside this one. It returns
	// only if that fails.
	Become func(name string) error
}

// Main runs the command and returns its exit status. args[0] is the program.
func Main(args []string, env Environment, stdout, stderr io.Writer) int {
	if env.Get("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.NumCPU()) // the build has it start with one (capi/overlay)
	}
	out := &clean{w: stdout, colours: colours(stdout, env.Get)}
	errs := &clean{w: stderr, colours: colours(stderr, env.Get)}
	defer out.end()
	defer errs.end()
	c := &command{
		env: env.Get, variables: env.Names, stdout: out, stderr: errs,
		raw: stdout, rawErr: stderr, terminal: isTerminal(stderr), makeBundle: env.Bundle, makePush: env.Push, become: env.Become,
	}
	root := c.root()
	if c.makeBundle == nil && ofBundleProgram(root, args[1:]) {
		c.become(BundleProgram) // if that fails, this program's bundle command tries again and reports it
	}
	if len(args) > 1 && args[1] == "complete" {
		c.complete(root, args[2:])
		return exitDone
	}
	arranged, err := arrange(root, args[1:])
	if err == nil {
		err = parse(root, arranged)
	}
	if err == nil {
		err = root.Run(context.Background())
	}
	if errors.Is(err, flag.ErrHelp) {
		_, err = fmt.Fprintln(out, usage(read(root, args[1:]).last()))
	}
	if err == nil {
		err = out.err // the answer could not be written
	}
	var answer no
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &answer):
		fmt.Fprintf(errs, "%sjitcache:%s %s\n", yellow, normal, answer)
		return exitNo
	case errors.As(err, new(wrong)):
		fmt.Fprintf(errs, "%sjitcache:%s %v; see `jitcache help`\n", red, normal, err)
	default:
		fmt.Fprintf(errs, "%sjitcache:%s %v\n", red, normal, err)
	}
	return exitFail
}

func (c *command) root() *ffcli.Command {
	flags := c.flags("jitcache")
	flags.StringVar(&c.directory, "directory", "", "use the cache in `DIR`; the default is the directory that programs use")
	flags.BoolVar(&c.showVersion, "version", false, "print the version")
	flags.BoolVar(&c.asJSON, "json", false, "print JSON; every command has this flag")
	root := &ffcli.Command{
		Name: "jitcache", ShortUsage: "jitcache COMMAND [flags] [arguments]",
		ShortHelp: "inspect and maintain a compile cache", FlagSet: flags,
		LongHelp: "The exit status is 0 for success, 1 if the answer is no (no such entry, damaged\n" +
			"entries, nothing would be cached), and 2 for wrong use or a failure.\n" +
			"Any other program may stand in the place of COMMAND; it is launched as `jitcache run` would.\n" +
			"A KEY is the name of an entry, or enough of the key's hex digits to be unique. All commands\n" +
			"but rm take a part of the name too: f or m.f for m.f(int64), or the beginning of it.",
	}
	root.Subcommands = []*ffcli.Command{
		c.run(), c.stats(), c.report(), c.ls(), c.show(), c.path(), c.export(), c.explain(), c.rm(), c.trim(), c.evict(), c.clear(), c.verify(),
		c.bundle(), c.sign(), c.trust(), c.remote(), c.top(), c.metrics(), c.init(), c.config(), c.doctor(), c.dir(), c.completion(), c.version(),
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
		case c.showVersion:
			return c.printVersion()
		case len(args) == 0:
			fmt.Fprintln(c.stderr, usage(root))
			return wrong("which command?")
		case args[0] == "help":
			return c.help(root, args[1:])
		}
		if c.directory != "" || c.asJSON {
			return wrong(fmt.Sprintf("%q: no such command; a program to run stands first, and JITCACHE_DIR names another cache", args[0]))
		}
		return wrong(fmt.Sprintf("%q: no such command, and no program in PATH", args[0]))
	}
	return root
}

// commandNames are the names of the commands. The launcher reads them at each start, and has no
// time to make the commands.
var commandNames = []string{
	"run", "stats", "report", "ls", "show", "path", "export", "explain", "rm", "trim", "evict", "clear", "verify", "bundle", "sign",
	"trust", "remote", "top", "metrics", "init", "config", "doctor", "dir", "completion", "version", "help", "complete",
}

// IsCommand reports whether a word is the name of a command.
func IsCommand(word string) bool { return slices.Contains(commandNames, word) }

func (c *command) help(root *ffcli.Command, args []string) error {
	w := read(root, args)
	names := slices.DeleteFunc(slices.Clone(args), isFlag)
	if len(names) > len(w.at) {
		return wrong(fmt.Sprintf("%q: no such command", names[len(w.at)]))
	}
	fmt.Fprintln(c.stdout, usage(w.last()))
	return nil
}

func usage(cmd *ffcli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s\n\n%s\n", cmd.ShortUsage, cmd.ShortHelp)
	if cmd.LongHelp != "" {
		fmt.Fprintf(&b, "\n%s\n", cmd.LongHelp)
	}
	var rows [][2]string
	for _, sub := range cmd.Subcommands {
		rows = append(rows, [2]string{sub.Name, sub.ShortHelp})
	}
	columns(&b, "commands", rows)
	rows = nil
	cmd.FlagSet.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		switch {
		case value == "":
		case takesNext(f, ""):
			value = " " + value
		default: // as in -json=FILE
			value = "[=" + value + "]"
		}
		rows = append(rows, [2]string{"-" + f.Name + value, text})
	})
	columns(&b, "flags", rows)
	return strings.TrimRight(b.String(), "\n")
}

// helpWidth is how many columns the manual of a command takes.
const helpWidth = 90

// columns prints a heading and two columns. The lines of the right one are filled with words.
func columns(b *strings.Builder, heading string, rows [][2]string) {
	if len(rows) == 0 {
		return
	}
	left := 0
	for _, row := range rows {
		left = max(left, len(row[0]))
	}
	fmt.Fprintf(b, "\n%s:\n", heading)
	for _, row := range rows {
		line := fmt.Sprintf("  %-*s ", left, row[0])
		begun := len(line)
		for _, word := range strings.Fields(row[1]) {
			if len(line)+1+len(word) > helpWidth && len(line) > begun {
				b.WriteString(line + "\n")
				line = strings.Repeat(" ", begun)
			}
			line += " " + word
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
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

// new makes a subcommand that takes between min and max arguments.
func (c *command) new(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
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

// below makes a subcommand of a subcommand. The second word of its usage is its name.
func (c *command) below(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
	cmd := c.new(usage, help, flags, minArgs, maxArgs, run)
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

// open opens the cache directory, or returns why it is not used. It ignores JITCACHE (0,
// readonly): that is for programs, not for the person who maintains the directory. It makes
// no directory that an argument names: a name that is mistyped is no empty cache.
func (c *command) open() (*core.Cache, *store.Store, error) {
	if err := c.exists(); err != nil {
		return nil, nil, err
	}
	return c.openOrMake()
}

// exists returns an error if an argument names a directory that does not exist.
func (c *command) exists() error {
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

// answer prints the object if JSON was asked for, else the same as text.
func (c *command) answer(object any, text func()) error {
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

func (c *command) dir() *ffcli.Command {
	return c.new("dir", "print the cache directory", nil, 0, 0, func([]string) error {
		o := c.options()
		dir, rule := o.Directory()
		if dir == "" {
			return no(rule)
		}
		if c.asJSON {
			return c.printJSON(map[string]string{"directory": dir, "rule": rule})
		}
		return c.printPath(dir)
	})
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

func (c *command) version() *ffcli.Command {
	return c.new("version", "print the version", nil, 0, 0, func([]string) error {
		return c.printVersion()
	})
}

func (c *command) printVersion() error {
	return c.answer(map[string]string{"version": Version}, func() { fmt.Fprintln(c.stdout, "jitcache", Version) })
}
