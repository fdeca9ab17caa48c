// Filter: which variables of the environment a command is given.

package record

import (
	"fmt"
	"strings"

	"jitcache/core/wildcard"
)

// Filter says which variables of an environment a command is given. Patterns are names in which * stands for any text. What is
// withheld is not in the environment of the command, so that it cannot matter and need not count. The zero Filter is the default.
type Filter struct {
	// Strict gives only what compilers, build systems and wrappers obey (toolchain, documented).
	Strict bool
	// Given are patterns of variables that are given although Strict or the default withholds them.
	Given []string
	// Withheld are patterns of variables that are not given.
	Withheld []string
}

// ParseFilter reads the words of a filter: "strict", "+PATTERN" for Given, "-PATTERN" for Withheld.
func ParseFilter(words []string) (f Filter, err error) {
	for _, w := range words {
		switch {
		case w == "strict":
			f.Strict = true
		case len(w) > 1 && w[0] == '+':
			f.Given = append(f.Given, w[1:])
		case len(w) > 1 && w[0] == '-':
			f.Withheld = append(f.Withheld, w[1:])
		default:
			return Filter{}, fmt.Errorf("environment: %.80q: want strict, +NAME or -NAME", w)
		}
	}
	return f, nil
}

// Words returns what ParseFilter has read; none of the default.
func (f Filter) Words() (words []string) {
	if f.Strict {
		words = append(words, "strict")
	}
	for _, p := range f.Given {
		words = append(words, "+"+p)
	}
	for _, p := range f.Withheld {
		words = append(words, "-"+p)
	}
	return words
}

// OfBuild returns what a build is given of an environment. Variables that name a session, a job or a rank it is never given;
// those of running numerical libraries only if the filter gives them.
func (f Filter) OfBuild(env []string) []string {
	return chosen(env, func(name string) bool {
		return !withheldNames().has(name) && f.gives(name, !numericalNames().has(name) || !withholdsNumerical)
	})
}

// OfLaunched returns what a command is given that is run in its own right: all that is not withheld by name, and under Strict
// jitcache's own variables too, for launchers below it.
func (f Filter) OfLaunched(env []string) []string {
	if !f.Strict && len(f.Withheld) == 0 {
		return env
	}
	return chosen(env, func(name string) bool { return wildcard.Matches(name, ofJitcache) || f.gives(name, true) })
}

// gives reports whether a variable is given that is or is not so by default.
func (f Filter) gives(name string, byDefault bool) bool {
	switch {
	case withholdsNamed && wildcard.MatchesAny(name, f.Withheld):
		return false
	case wildcard.MatchesAny(name, f.Given):
		return true
	case f.Strict && passesStrict:
		return toolchainNames().has(name) || documentedNames().has(name) && !numericalNames().has(name)
	}
	return byDefault
}

// Withhold returns what a build is given of an environment by default.
func Withhold(env []string) []string { return Filter{}.OfBuild(env) }

func chosen(env []string, gives func(name string) bool) []string {
	kept := make([]string, 0, len(env))
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); gives(name) {
			kept = append(kept, e)
		}
	}
	return kept
}
