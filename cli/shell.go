package cli

import (
	"flag"
	"io"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// Shell is what the commands share, for one that is made elsewhere (cli/bundles).
type Shell struct{ c *command }

// New makes a command that takes between min and max arguments; flags may be nil.
func (s Shell) New(usage, help string, flags *flag.FlagSet, minArgs, maxArgs int, run func(args []string) error) *ffcli.Command {
	return s.c.new(usage, help, flags, minArgs, maxArgs, run)
}

// Flags returns the flags of a command, none so far.
func (s Shell) Flags(name string) *flag.FlagSet { return s.c.flags(name) }

// Open opens the cache directory, or says why it is not used.
func (s Shell) Open() (*core.Cache, *store.Store, error) { return s.c.open() }

// Trust reads what environment, user and machine say of whom they trust, for who needs
// no directory.
func (s Shell) Trust() (*trust.Settings, *trust.Keys) {
	o := s.c.options()
	folders := o.SettingsFolders()
	set := trust.Read(s.c.env, folders)
	namespace, _ := set.Get("namespace")
	return set, trust.ReadKeys(s.c.env, folders, namespace.Value)
}

// Streams returns where data goes, and where everything else does.
func (s Shell) Streams() (stdout, stderr io.Writer) { return s.c.stdout, s.c.stderr }

// Progress draws how far something is, if somebody is watching; done ends that.
func (s Shell) Progress(what string) (p store.Progress, done func()) { return s.c.progress(what) }

// Answer prints an object if that was asked for, else the same as text.
func (s Shell) Answer(object any, text func()) error { return s.c.answer(object, text) }

// No returns the error that an answer is which is no error of the command.
func (s Shell) No(answer string) error { return no(answer) }

// Wrong returns the error for wrong use.
func (s Shell) Wrong(use string) error { return wrong(use) }

// BundleProgram has the commands of bundles.
const BundleProgram = "jitcache-bundle"

// BundleUsage and BundleHelp are what is said of these commands at first.
const (
	BundleUsage = "bundle create | add | list | verify"
	BundleHelp  = "carry entries to another machine in one file"
)

// bundle is done by a program of its own, which gives the command.
func (c *command) bundle() *ffcli.Command {
	if c.makeBundle != nil {
		return c.makeBundle(Shell{c})
	}
	cmd := c.new(BundleUsage, BundleHelp, nil, 0, 1<<20, func([]string) error {
		return c.become(BundleProgram)
	})
	cmd.LongHelp = "create packs entries into a file, and add puts the entries of a file into the directory. list shows\n" +
		"what is in a file, and verify which entries no trusted key has signed. `jitcache bundle create -help`\n" +
		"lists the flags."
	return cmd
}

// aboutBundles reports whether arguments are for the program that has the commands of
// bundles: to run one, to describe one, or to complete one.
func aboutBundles(root *ffcli.Command, args []string) bool {
	for len(args) > 0 && (args[0] == "help" || args[0] == "complete") {
		args = args[1:]
	}
	return read(root, args).goes("bundle")
}
