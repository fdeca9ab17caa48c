// What commands share that are made in other packages.

package cli

import (
	"flag"
	"io"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Shell is what commands share, for commands that are made elsewhere (cli/bundles).
type Shell struct{ c *command }

// New makes a command that takes between min and max arguments; flags may be nil.
func (s Shell) New(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
	return s.c.newCommand(usage, help, flags, minArgs, maxArgs, run)
}

// Flags returns a new, empty flag set.
func (s Shell) Flags(name string) *flag.FlagSet { return s.c.flags(name) }

// Open opens the cache directory, or returns why it is not used.
func (s Shell) Open() (*core.Cache, *store.Store, error) { return s.c.openCache() }

// OpenOrMake is Open for commands that fill the directory, and may make it.
func (s Shell) OpenOrMake() (*core.Cache, *store.Store, error) { return s.c.openOrMake() }

// Trust reads the settings and trusted keys of environment, user and machine. It needs no
// cache directory.
func (s Shell) Trust() (*trust.Settings, *trust.Keys) {
	o := s.c.options()
	folders := o.SettingsFolders()
	set := trust.Read(s.c.env, folders)
	namespace, _ := set.Get("namespace")
	return set, trust.ReadKeys(s.c.env, folders, namespace.Value)
}

// Streams returns the stream for data, and the one for everything else.
func (s Shell) Streams() (stdout, stderr io.Writer) { return s.c.stdout, s.c.stderr }

// TimeSpan reads the value of a flag that is a time such as 90s, 12h, 30d, 2w or 1y.
func (s Shell) TimeSpan(flag, text string) (time.Duration, error) { return timeSpan(flag, text) }

// Raw returns standard output as it is, for what is not text.
func (s Shell) Raw() io.Writer { return s.c.raw }

// JSON reports whether JSON was asked for.
func (s Shell) JSON() bool { return s.c.asJSON }

// Progress draws how far a pass is, if standard error is a terminal; done erases it.
func (s Shell) Progress(what string) (p store.Progress, done func()) { return s.c.progress(what) }

// Answer prints the object if JSON was asked for, else the same as text.
func (s Shell) Answer(object any, text func()) error { return s.c.printAnswer(object, text) }

// No returns the answer "no" as an error: exit status 1.
func (s Shell) No(answer string) error { return no(answer) }

// Wrong returns the error for wrong use: exit status 2.
func (s Shell) Wrong(use string) error { return wrong(use) }

// BundleProgram has the commands of bundles.
const BundleProgram = "jitcache-bundle"

// BundleUsage and BundleHelp are the short usage and help of `jitcache bundle`.
const (
	BundleUsage = "bundle create | add | list | verify"
	BundleHelp  = "carry entries to another machine in one file"
)

// bundleCommand returns the bundle command of this program, or one that becomes BundleProgram.
func (c *command) bundleCommand() *ffcli.Command {
	if c.makeBundle != nil {
		return c.makeBundle(Shell{c})
	}
	cmd := c.newCommand(BundleUsage, BundleHelp, nil, 0, 1<<20, func([]string) error {
		return c.become(BundleProgram)
	})
	cmd.LongHelp = "create packs entries into a file, and add puts the entries of a file into the directory. list shows\n" +
		"what is in a file, and verify which entries no trusted key has signed. `jitcache bundle create -help`\n" +
		"lists the flags."
	return cmd
}

// PushUsage and PushHelp are the short usage and help of `jitcache remote push`, which BundleProgram
// has because it knows what other machines can use.
const (
	PushUsage = "remote push [-timeout D] [WHAT…]"
	PushHelp  = "send what is here already, to a remote that is new"
)

func (c *command) remotePush() *ffcli.Command {
	if c.makePush != nil {
		return c.makePush(Shell{c})
	}
	return c.newBelow(PushUsage, PushHelp, nil, 0, 1<<16, func([]string) error { return c.become(BundleProgram) })
}

// ofBundleProgram reports whether the arguments are for BundleProgram: they run, describe or
// complete one of its commands.
func ofBundleProgram(root *ffcli.Command, args []string) bool {
	for len(args) > 0 && (args[0] == "help" || args[0] == "complete") {
		args = args[1:]
	}
	w := readWords(root, args)
	return w.goes("bundle") || w.goes("remote") && w.last().Name == "push"
}
