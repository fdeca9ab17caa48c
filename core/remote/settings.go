// The text of JITCACHE_REMOTE: URLs and their attributes.

package remote

import (
	"fmt"
	"slices"
	"strings"
)

// Setting is one remote, as JITCACHE_REMOTE or a file of settings names it: a URL, then
// |NAME=VALUE for each attribute, as ccache's users write them.
type Setting struct {
	URL        string
	Attributes []string // for the helper: name, value, name, value
	ReadOnly   bool     // nothing is put there
	Unsigned   bool     // trust=unsigned: entries need no signature of a trusted key
}

// Schemes are those that the helper knows.
var Schemes = []string{"redis", "rediss", "redis+unix", "s3", "http", "https", "file"}

// Parse reads remotes with blanks between them. What cannot be meant is left out, with a
// line of why that shows no password.
func Parse(text string) (all []Setting, problems []string) {
	for _, word := range strings.Fields(text) {
		parts := strings.Split(word, "|")
		s := Setting{URL: parts[0]}
		scheme, _, ok := strings.Cut(s.URL, "://")
		if !ok || !slices.Contains(Schemes, scheme) {
			problems = append(problems, fmt.Sprintf("the remote %s is no URL of %s", s.Shown(), strings.Join(Schemes, ", ")))
			continue
		}
		bad := ""
		for _, p := range parts[1:] {
			name, value, _ := strings.Cut(p, "=")
			switch {
			case name == "read-only" && (value == "" || value == "true"):
				s.ReadOnly = true
			case name == "trust" && value == "unsigned":
				s.Unsigned = true
			case name == "" || name == "read-only" || name == "trust":
				bad = s.Shown() + ": want trust=unsigned, read-only or an attribute of the engine behind |"

			default:
				s.Attributes = append(s.Attributes, name, value)
			}
		}
		if bad != "" {
			problems = append(problems, bad)
			continue
		}
		all = append(all, s)
	}
	return all, problems
}

// Shown is the URL as it may be shown: without a password, and without a query of HTTP, which
// may have a token.
func (s *Setting) Shown() string {
	scheme, rest, ok := strings.Cut(s.URL, "://")
	if !ok { // no URL, maybe for want of its scheme
		if at := strings.LastIndexByte(s.URL, '@'); at >= 0 {
			return "…" + s.URL[at:]
		}
		return s.URL
	}
	if scheme == "http" || scheme == "https" {
		if bare, _, ok := strings.Cut(rest, "?"); ok && !strings.Contains(rest[len(bare):], "@") {
			rest = bare + "?…"
		}
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	// A password may have an unescaped slash; whatever is before the last @ is hidden.
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, _, _ := strings.Cut(rest[:min(at, end)], ":")
		return scheme + "://" + strings.TrimSuffix(user, "@") + ":…" + rest[at:]
	}
	return scheme + "://" + rest
}

// Segment returns a namespace as it stands in names: letters, digits, - and _, and the
// rest as = and two digits. No namespace is -.
func Segment(namespace string) string {
	if namespace == "" {
		return "-"
	}
	var b strings.Builder
	for _, c := range []byte(namespace) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-' && namespace != "-":
			b.WriteByte(c)
		default:
			b.WriteString("=" + digits[c>>4:c>>4+1] + digits[c&15:c&15+1])
		}
	}
	return b.String()
}

const digits = "0123456789ABCDEF"

// MostSegment is how long a namespace may be in a name: a key of the protocol has at most
// 255 bytes, and a folder of the outbox as many.
const MostSegment = 160
