// Package wildcard matches names with patterns, in which * stands for any text.
package wildcard

import (
	"slices"
	"strings"
)

// MatchesAny reports whether a name matches one of the patterns.
func MatchesAny(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Matches(name, p) })
}

// Matches reports whether a name matches a pattern.
func Matches(name, pattern string) bool {
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
