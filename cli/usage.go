// The manuals of the commands, which help and -h print.

package cli

import (
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"
)

func (c *command) help(root *ffcli.Command, args []string) error {
	w := readWords(root, args)
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
