// What programs must have in common to share precompiled headers.

package worker

import "strings"

// precompiled returns what programs must have in common if one is to use the headers that
// were precompiled for the other. NVRTC compares the directives before the headers, and
// complains if they differ. It does not compare the texts of headers in memory (12.8 to 13.5),
// and would use those of another program.
func (w *Work) precompiled() []string {
	if !comparesAll {
		return nil
	}
	all := []string{w.Name}
	for _, h := range w.Headers {
		all = append(all, h.Text)
	}
	return append(all, directives(w.Source)...)
}

// directives returns the lines before the first one that is neither empty, nor a directive,
// nor a comment.
func directives(text string) []string {
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
			found = append(found, line)
		case line != "" && !strings.HasPrefix(line, "//"):
			return found
		}
	}
	return found
}

// includes returns the lines of a text that contain "include".
func includes(text string) []string {
	var found []string
	for {
		i := strings.Index(text, "include")
		if i < 0 {
			return found
		}
		begin := strings.LastIndexByte(text[:i], '\n') + 1
		end := strings.IndexByte(text[i:], '\n')
		if end < 0 {
			return append(found, text[begin:])
		}
		found = append(found, text[begin:i+end])
		text = text[i+end:]
	}
}
