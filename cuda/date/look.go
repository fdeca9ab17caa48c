// Searches texts for words that show the time of the compile, also in pieces that macros may paste.

package date

import "bytes"

// words are searched for. The first two are searched for in pieces too.
var words = [...]string{"__DATE__", "__TIME__", "__TIMESTAMP__"}

const (
	pasted = 2 // how many of the words may be pasted
	length = 8 // the length of each of these
	pieces = 4 // from how many pieces they may be pasted
)

// Look is what was found in texts.
type Look struct {
	found [len(words)]bool
	// Bit length*i+j-1 is set if the letters from i to j are an identifier in a text.
	parts [pasted]uint64
}

// At searches a text.
func At(text []byte) Look {
	var l Look
	squeezed := make([]byte, 0, len(text))
	begin := 0 // where the current identifier begins in squeezed
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inIdentifier[c]:
			squeezed = append(squeezed, c)
			continue
		case c == '\\' || c == '?':
			if n := splice(text[i:]); n > 0 {
				i += n - 1
				continue
			}
		}
		l.identifier(squeezed[begin:])
		begin = len(squeezed)
	}
	l.identifier(squeezed[begin:])
	for w, word := range words {
		l.found[w] = bytes.Contains(squeezed, []byte(word))
	}
	return l
}

// splice returns the length of a line splice at the start of text, 0 if there is none: a
// backslash and a newline. NVRTC up to C++14 also takes the trigraph ??/ for a backslash.
func splice(text []byte) int {
	n := 1
	if text[0] == '?' {
		if n = 3; !bytes.HasPrefix(text, []byte("??/")) {
			return 0
		}
	}
	switch {
	case bytes.HasPrefix(text[n:], []byte("\n")):
		return n + 1
	case bytes.HasPrefix(text[n:], []byte("\r\n")):
		return n + 2
	}
	return 0
}

// identifier notes the places in the words where an identifier or a number fits.
func (l *Look) identifier(name []byte) {
	if len(name) == 0 || len(name) >= length {
		return
	}
	for _, c := range name {
		if !inWords[c] {
			return
		}
	}
	for w := range l.parts {
		for i := 0; i+len(name) <= length; i++ {
			if words[w][i:i+len(name)] == string(name) {
				l.parts[w] |= 1 << (length*i + i + len(name) - 1)
			}
		}
	}
}

// Join adds what was found in other texts.
func (l *Look) Join(other Look) {
	for w := range l.found {
		l.found[w] = l.found[w] || other.found[w]
	}
	for w := range l.parts {
		l.parts[w] |= other.parts[w]
	}
}

// Suspect returns the word that the texts contain or may be pasted to, "" if there is none.
func (l *Look) Suspect() string {
	for w, found := range l.found {
		if found || w < pasted && paste(l.parts[w]) <= pieces {
			return words[w]
		}
	}
	return ""
}

// paste returns the smallest number of pieces that make up the word, more than length if
// they do not.
func paste(parts uint64) int {
	const never = length + 1
	fewest := [length + 1]int{}
	for j := 1; j <= length; j++ {
		fewest[j] = never
		for i := range j {
			if parts&(1<<(length*i+j-1)) != 0 {
				fewest[j] = min(fewest[j], fewest[i]+1)
			}
		}
	}
	return fewest[length]
}

var inIdentifier, inWords = func() (identifier, word [256]bool) {
	for c := range identifier {
		identifier[c] = c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z' || c >= 0x80
	}
	for _, w := range words[:pasted] {
		for i := range len(w) {
			word[w[i]] = true
		}
	}
	return
}()
