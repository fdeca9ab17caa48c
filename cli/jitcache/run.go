// Decides whether the program was started to launch a command, and with which options.

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"jitcache/cli"
	"jitcache/launch"
)

// errManual means `jitcache run -help`: the command prints the manual, as for its others.
var errManual = errors.New("the manual is wanted")

var errNoProgram = errors.New("there is no other program of that name in PATH")

// launched launches a command if the program was started for that. done is false if it was
// started for something else.
func launched(args []string) (status int, done bool) {
	switch {
	case args[0] == launch.KeepName && len(args) > 2:
		keep(args[1], args[2:])
		return 0, true
	case launch.IsLink(args[0]), len(args) > 1 && (args[1] == "run" || isLaunched(args[1])):
		return run(args)
	}
	return 0, false
}

// isLaunched reports whether the first word is a command to launch, as in `jitcache gcc -c a.c`:
// a path, or a program in PATH that has not the name of a command of jitcache.
func isLaunched(word string) bool {
	if strings.HasPrefix(word, "-") || cli.IsCommand(word) {
		return false
	}
	return strings.Contains(word, "/") || launch.IsProgram(word)
}

// words returns the words of the command to launch, and the launcher's options.
func words(args []string) (o *launch.Options, words []string, err error) {
	o = &launch.Options{}
	if err := variables(o); err != nil {
		return o, nil, err
	}
	if launch.IsLink(args[0]) {
		base := filepath.Base(args[0])
		if (base == "ccache" || base == "sccache") && len(args) > 1 && !strings.HasPrefix(args[1], "-") {
			return o, args[1:], nil
		}
		real := launch.Real(args[0])
		if real == "" {
			return o, nil, fmt.Errorf("%s: %w", base, errNoProgram)
		}
		return o, append([]string{real}, args[1:]...), nil
	}
	if args[1] != "run" {
		return o, args[1:], nil
	}
	words, err = flags(o, args[2:])
	return o, words, err
}

func run(args []string) (status int, done bool) {
	readProject()
	o, words, err := words(args)
	switch {
	case errors.Is(err, errManual):
		return 0, false
	case errors.Is(err, errNoProgram):
		fmt.Fprintf(os.Stderr, "jitcache: %v\n", err)
		return 127, true // as in a shell
	case err != nil:
		fmt.Fprintf(os.Stderr, "jitcache: %v\n", err)
		return 2, true
	}
	if len(words) == 0 {
		return 0, false
	}
	return launch.Run(o, words, args), true
}

func keep(ran string, args []string) {
	o, words, err := words(args)
	if err != nil || len(words) == 0 {
		return
	}
	if r, err := launch.ParseRan(ran); err == nil {
		launch.Keep(o, words, r)
	}
}

// variables reads the options from the environment.
func variables(o *launch.Options) error {
	o.Map, o.Tell = os.Getenv("JITCACHE_MAP"), os.Getenv("JITCACHE_RUN_JSON")
	if base := os.Getenv("JITCACHE_BASE_DIR"); base != "" {
		if err := invented(o, "base="+base); err != nil {
			return fmt.Errorf("JITCACHE_BASE_DIR: %w", err)
		}
	}
	o.Keep = filepath.SplitList(os.Getenv("JITCACHE_KEEP"))
	if err := withhold(o, os.Getenv("JITCACHE_WITHHOLD")); err != nil {
		return fmt.Errorf("JITCACHE_WITHHOLD: %w", err)
	}
	if err := o.SetHermetic(os.Getenv("JITCACHE_HERMETIC")); err != nil {
		return fmt.Errorf("JITCACHE_HERMETIC: %w", err)
	}
	for _, text := range filepath.SplitList(os.Getenv("JITCACHE_PLACEHOLDER")) {
		if err := invented(o, text); err != nil {
			return fmt.Errorf("JITCACHE_PLACEHOLDER: %w", err)
		}
	}
	return nil
}

// withhold adds to what the command is not given: "strict", patterns, and +PATTERN for what it is given all the same, with :
// between.
func withhold(o *launch.Options, text string) error {
	words := filepath.SplitList(text)
	for i, w := range words {
		if w != "strict" && w[:min(len(w), 1)] != "+" {
			words[i] = "-" + w
		}
	}
	return o.Withhold(words)
}

func invented(o *launch.Options, text string) error {
	in, ok := launch.ParseInvented(text)
	if !ok {
		return fmt.Errorf("%q: want NAME=PATH with an absolute path; * in it stands for anything but a slash", text)
	}
	o.Invented = append(o.Invented, in)
	return nil
}

// flags reads the options before the command, and returns the command.
func flags(o *launch.Options, args []string) (words []string, err error) {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, value, inline := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		args = args[1:]
		switch name {
		case "":
			return args, nil // "--"
		case "json":
			if o.Tell = value; !inline {
				o.Tell = launch.ToErrors
			}
			continue
		case "hermetic":
			if !inline {
				value = "1"
			}
			if err := o.SetHermetic(value); err != nil {
				return nil, fmt.Errorf("run: -hermetic: %w", err)
			}
			continue
		case "h", "help":
			return nil, errManual
		case "placeholder", "base-dir", "map", "withhold":
		default:
			return nil, fmt.Errorf("run: no such flag: -%s", name)
		}
		if !inline {
			if len(args) == 0 {
				return nil, fmt.Errorf("run: -%s needs a value", name)
			}
			value, args = args[0], args[1:]
		}
		switch name {
		case "placeholder":
			err = invented(o, value)
		case "base-dir":
			err = invented(o, "base="+value)
		case "map":
			o.Map = value
		case "withhold":
			err = withhold(o, value)
		}
		if err != nil {
			return nil, fmt.Errorf("run: -%s: %w", name, err)
		}
	}
	return args, nil
}
