// Patterns of names, in which * stands for any text.

package record

import (
	"strings"
	"sync"

	"jitcache/core/wildcard"
)

// patterns holds patterns by their first byte. A process has forty variables, and each
// lookup asks about all of them.
type patterns [256][]string

// has reports whether a name is one of them.
func (p *patterns) has(name string) bool {
	return name != "" && (wildcard.MatchesAny(name, p[name[0]]) || wildcard.MatchesAny(name, p['*']))
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
