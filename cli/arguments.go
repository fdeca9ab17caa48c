package cli

import (
	"flag"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"
)

// arrange puts the flags before what they are read before: a user writes them
// anywhere. What follows "--" is no flag, and what a launched command is given stays.
func arrange(root *ffcli.Command, args []string) []string {
	at := commandIn(root, args)
	if at < 0 {
		return args
	}
	sub := commandOf(root, args[at])
	if sub == nil || sub.Name == "run" || sub.Name == "bundle" { // who have words of others behind them
		return args
	}
	var before, flags, rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case i == at:
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case !isFlag(arg):
			rest = append(rest, arg)
		default:
			f, to := sub.FlagSet.Lookup(flagName(arg)), &flags
			if f == nil {
				if f = root.FlagSet.Lookup(flagName(arg)); f != nil {
					to = &before
				}
			}
			*to = append(*to, arg)
			if takesNext(f, arg) && i+1 < len(args) {
				i++
				*to = append(*to, args[i])
			}
		}
	}
	return slices.Concat(before, []string{sub.Name}, flags, []string{"--"}, rest)
}

// commandIn returns where the command is: what is first of what is neither a flag nor the
// value of one. -1 if there is none.
func commandIn(root *ffcli.Command, args []string) int {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--":
			return -1
		case !isFlag(arg):
			return i
		case takesNext(root.FlagSet.Lookup(flagName(arg)), arg):
			i++
		}
	}
	return -1
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

// takesNext says whether the argument after a flag is its value.
func takesNext(f *flag.Flag, arg string) bool {
	if f == nil || strings.Contains(arg, "=") {
		return false
	}
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return !ok || !b.IsBoolFlag()
}
