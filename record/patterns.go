// Patterns of names, in which * stands for any text.

package record

import (
	"slices"
	"strings"
	"sync"
)

// matches reports whether a name matches one of the patterns, in which * stands for any
// text.
func matches(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(name, p) })
}

func match(name, pattern string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return name == pattern
	}
	if !strings.HasPrefix(name, before) {
		return false
	}
	for name = name[len(before):]; ; {
		text, rest, another := strings.Cut(after, "*")
		if !another {
			return strings.HasSuffix(name, text)
		}
		// The first place where a text stands leaves most for what follows.
		_, left, found := strings.Cut(name, text)
		if !found {
			return false
		}
		name, after = left, rest
	}
}

// patterns holds patterns by their first byte. A process has forty variables, and each
// lookup asks about all of them.
type patterns [256][]string

// has reports whether a name is one of them.
func (p *patterns) has(name string) bool {
	return name != "" && (matches(name, p[name[0]]) || matches(name, p['*']))
}

// sorted returns what makes patterns of a list, once.
func sorted(list []string) func() *patterns {
	return sync.OnceValue(func() *patterns { return byFirst(list) })
}

func byFirst(list []string) *patterns {
	p := new(patterns)
	for _, one := range list {
		p[one[0]] = append(p[one[0]], one)
	}
	return p
}

var (
	documentedNames = sorted(documented)
	withheldNames   = sync.OnceValue(func() *patterns { return byFirst(strings.Fields(withheld)) })
	numericalNames  = sorted(numerical)
	continuousNames = sorted(continuous)
	toolchainNames  = sorted(toolchain)
)
