// Completion for bash, zsh and fish.

package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/plain"
)

// The shells ask the command itself. `jitcache complete WORD…` prints what the last word
// may become, one per line.
var completions = map[string]string{
	// mapfile, because bash would expand a name like f(int[3]) in ($(…)) as a pattern.
	"bash": `_jitcache() {
	local found
	mapfile -t found < <(jitcache complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=()
	[ ${#found[@]} -eq 0 ] || mapfile -t COMPREPLY < <(printf '%q\n' "${found[@]}")
}
complete -o default -F _jitcache jitcache
`,
	"zsh": `#compdef jitcache
_jitcache() {
	local -a found
	found=("${(@f)$(jitcache complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	[[ -n $found ]] && compadd -a found || _files
}
compdef _jitcache jitcache
`,
	"fish": `complete -c jitcache -a '(jitcache complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

const completionHelp = `  source <(jitcache completion bash)     in ~/.bashrc
  source <(jitcache completion zsh)      in ~/.zshrc, after compinit
  jitcache completion fish | source      in ~/.config/fish/config.fish`

func (c *command) completionCommand() *ffcli.Command {
	cmd := c.newCommand("completion bash|zsh|fish", "print a script that makes a shell complete commands, flags and names", nil, 1, 1, func(args []string) error {
		text := completions[args[0]]
		if text == "" {
			return wrong(fmt.Sprintf("%q: want bash, zsh or fish", args[0]))
		}
		if c.asJSON {
			return c.printJSON(map[string]string{"script": text})
		}
		_, err := fmt.Fprint(c.raw, text)
		return err
	})
	cmd.LongHelp = completionHelp
	return cmd
}

// takeNames are the commands whose arguments are entries.
var takeNames = map[string]bool{"show": true, "path": true, "export": true, "explain": true, "rm": true}

// maxCompleted is how many names are offered. They are the most recently used.
const maxCompleted = 200

// complete prints the words that a shell may offer in place of the last word.
func (c *command) complete(root *ffcli.Command, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	before, word := words[:len(words)-1], words[len(words)-1]
	offer := func(text string) {
		if strings.HasPrefix(text, word) && !strings.ContainsFunc(text, plain.Obeyed) {
			fmt.Fprintln(c.stdout, text)
		}
	}
	helped := len(before) > 0 && before[0] == "help"
	if helped {
		before = before[1:]
	}
	w := readWords(root, before)
	last, given := w.last(), w.after(before)
	switch {
	case (w.goes("run") || last == root) && given > 0: // the words belong to the launched command
	case strings.HasPrefix(word, "-"):
		if !helped {
			w.eachFlag(func(f *flag.Flag) { offer("--" + f.Name) })
		}
	case given > 0 && len(last.Subcommands) > 0: // an unknown subcommand
	case len(last.Subcommands) > 0:
		for _, s := range last.Subcommands {
			offer(s.Name)
		}
		if last == root && !helped {
			offer("help")
		}
	case helped:
	case w.goes("completion"):
		for _, shell := range sorted(completions) {
			offer(shell)
		}
	case takeNames[last.Name] && len(w.commands) == 2:
		c.eachName(offer)
	}
}

func (c *command) eachName(offer func(string)) {
	cache, _, err := c.openCache()
	if err != nil {
		return
	}
	found := first{order: orders["used"], most: maxCompleted}
	cache.List(context.Background(), "", func(e *core.Listed) error {
		if kept := *e; e.Name != "" && !core.IsInternal(e.Kind) {
			found.addEntry(&kept)
		}
		return nil
	})
	given := map[string]bool{}
	for _, e := range found.inOrder() {
		if !given[e.Name] {
			given[e.Name] = true
			offer(e.Name)
		}
	}
}
