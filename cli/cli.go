// Package cli is the jitcache command, as a function of arguments and streams.
// cli/jitcache is the program.
//
// Data goes to standard output, everything else to standard error. Exit
// statuses: 0 done; 1 the answer is no (there is no such entry, entries are
// damaged, nothing would be cached); 2 wrong use, or it cannot be done.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// The exit statuses.
const (
	exitDone = 0
	exitNo   = 1
	exitFail = 2
)

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
	defer out.writeRest()
	defer errs.writeRest()
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
		err = parseArranged(root, arranged)
	}
	if err == nil {
		err = root.Run(context.Background())
	}
	if errors.Is(err, flag.ErrHelp) {
		_, err = fmt.Fprintln(out, usage(readWords(root, args[1:]).last()))
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
		c.runCommand(), c.statsCommand(), c.reportCommand(), c.lsCommand(), c.showCommand(), c.pathCommand(), c.exportCommand(), c.explainCommand(), c.rmCommand(), c.trimCommand(), c.evictCommand(), c.clearCommand(), c.verifyCommand(),
		c.bundleCommand(), c.signCommand(), c.trustCommand(), c.remoteCommand(), c.topCommand(), c.metricsCommand(), c.initCommand(), c.configCommand(), c.doctorCommand(), c.dirCommand(), c.completionCommand(), c.versionCommand(),
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
