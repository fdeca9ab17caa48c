// Finds the commands and flags in the arguments, wherever they stand.

package cli

import (
	"errors"
	"flag"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// words are the commands that arguments name.
type words struct {
	commands []*ffcli.Command // the root first
	at       []int            // the index of each command's name in the arguments, without the root
}

// readWords finds the commands that arguments name. It stops at "--", and at the first word
// that is not a command.
func readWords(root *ffcli.Command, args []string) words {
	w := words{commands: []*ffcli.Command{root}}
	for i := 0; i < len(args) && args[i] != "--"; i++ {
		switch arg, last := args[i], w.last(); {
		case isFlag(arg):
			if f, _ := w.findFlag(flagName(arg)); takesNext(f, arg) {
				i++
			}
		default:
			sub := commandOf(last, arg)
			if sub == nil {
				return w
			}
			w.commands, w.at = append(w.commands, sub), append(w.at, i)
		}
	}
	return w
}

func (w words) last() *ffcli.Command { return w.commands[len(w.commands)-1] }

// goes reports whether the first command below the root has this name.
func (w words) goes(name string) bool { return len(w.commands) > 1 && w.commands[1].Name == name }

// findFlag returns a flag, and the index of the last command that has it. A flag may come
// before the name of its command. So if no named command has it, find looks at the
// commands that may follow, and returns -1 for the command. If none has it, f is nil.
func (w words) findFlag(name string) (f *flag.Flag, command int) {
	for i := len(w.commands) - 1; i >= 0; i-- {
		if f := w.commands[i].FlagSet.Lookup(name); f != nil {
			return f, i
		}
	}
	return below(w.last(), name), -1
}

// below returns a flag of one of cmd's subcommands, nil if none has it.
func below(cmd *ffcli.Command, name string) *flag.Flag {
	for _, sub := range cmd.Subcommands {
		f := sub.FlagSet.Lookup(name)
		if f == nil {
			f = below(sub, name)
		}
		if f != nil {
			return f
		}
	}
	return nil
}

// after counts the arguments after the last command that are neither flags nor values of
// flags.
func (w words) after(args []string) int {
	n, from := 0, 0
	if len(w.at) > 0 {
		from = w.at[len(w.at)-1] + 1
	}
	for i := from; i < len(args); i++ {
		if !isFlag(args[i]) {
			n++
		} else if f, _ := w.findFlag(flagName(args[i])); takesNext(f, args[i]) {
			i++
		}
	}
	return n
}

// eachFlag calls fn for each flag of the commands, once for each name.
func (w words) eachFlag(fn func(*flag.Flag)) {
	told := map[string]bool{}
	for _, cmd := range w.commands {
		cmd.FlagSet.VisitAll(func(f *flag.Flag) {
			if !told[f.Name] {
				told[f.Name] = true
				fn(f)
			}
		})
	}
}

// arrange moves each flag to its command, before the arguments, because users write flags
// anywhere and package flag stops at the first argument. Nothing after "--" is a flag. The
// arguments of `jitcache run` stay as they are.
//
// An empty argument or value is refused. It mostly comes from a variable of a script that
// is not set, and `jitcache clear -kind "$KIND"` must not remove everything then.
func arrange(root *ffcli.Command, args []string) ([]string, error) {
	w := readWords(root, args)
	if len(w.at) == 0 || w.goes("run") {
		return args, nil
	}
	flags, rest := make([][]string, len(w.commands)), []string{}
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(w.at, i):
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case !isFlag(arg):
			rest = append(rest, arg)
		default:
			f, to := w.findFlag(flagName(arg))
			if to < 0 {
				to = len(w.commands) - 1
			}
			flags[to] = append(flags[to], arg)
			next := takesNext(f, arg)
			switch {
			case next && i+1 == len(args):
				return nil, wrong("flag needs an argument: " + arg)
			case next:
				i++
				flags[to] = append(flags[to], args[i])
			}
			if f != nil && (next && args[i] == "" || strings.HasSuffix(arg, "=")) {
				return nil, wrong("flag has an empty argument: " + arg)
			}
		}
	}
	arranged := flags[0]
	for i, sub := range w.commands[1:] {
		arranged = slices.Concat(arranged, []string{sub.Name}, flags[i+1])
	}
	if slices.Contains(rest, "") {
		return nil, wrong("an argument is empty")
	}
	return slices.Concat(arranged, []string{"--"}, rest), nil
}

// parseArranged parses arranged arguments. If they ask for help, it returns flag.ErrHelp.
func parseArranged(root *ffcli.Command, args []string) error {
	err := root.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	if bare := errors.Unwrap(err); bare != nil {
		err = bare // without what package ff says before it
	}
	return wrong(err.Error())
}

func commandOf(root *ffcli.Command, name string) *ffcli.Command {
	for _, sub := range root.Subcommands {
		if sub.Name == name {
			return sub
		}
	}
	return nil
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

func flagName(arg string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// takesNext reports whether the argument after a flag is the flag's value.
func takesNext(f *flag.Flag, arg string) bool {
	if f == nil || strings.Contains(arg, "=") {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}
