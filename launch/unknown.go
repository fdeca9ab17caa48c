// Says why nothing is known of a command: what differs from the last result of its name.

package launch

import (
	"fmt"
	"slices"
	"strings"

	"jitcache/core"
)

// whyUnknown says why no list of the request is known, by the last results whose commands have the same
// name; "" if there are none. The name is that of the program and of the last argument.
func (l *lookup) whyUnknown() string {
	if l.cache.Mode() == core.ModeRefresh {
		return "JITCACHE=refresh"
	}
	changed, ok := l.cache.ChangedSinceLast(l.request.request, partSecond)
	switch {
	case !ok || !saysUnknown:
		return ""
	case len(changed) == 0:
		return "what is known of it was removed from the cache"
	case slices.Contains(changed, partSchema):
		return "its last result is of another version of jitcache"
	}
	return strings.Join(l.changes(changed), ", ")
}

// changes describes the parts of a request that differ.
func (l *lookup) changes(parts []string) (said []string) {
	for _, part := range parts {
		text := "other arguments"
		switch {
		case part == partUmask:
			text = fmt.Sprintf("another umask (%04o)", l.request.state.umask)
		case part == partOutput && l.request.printsToTerminal():
			text = "it prints to a terminal now"
		case part == partOutput:
			text = "it does not print to a terminal now, or to another"
		case part == partSecond && l.request.hermetic == nil:
			text = "it is not hermetic now"
		case part == partSecond:
			text = "it is hermetic now, or has another second"
		case part == partPlaces:
			text = "other placeholders"
		}
		said = append(said, text)
	}
	return said
}
