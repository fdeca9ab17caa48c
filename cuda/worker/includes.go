package worker

import "strings"

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
