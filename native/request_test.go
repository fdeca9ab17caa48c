// Labels of the caller's components are nobody else's.

package native

import (
	"encoding/binary"
	"testing"

	"jitcache/command"
	"jitcache/record"
)

// part appends a part of a request.
func part(b []byte, letter byte, text string) []byte {
	b = binary.LittleEndian.AppendUint64(append(b, letter), uint64(len(text)))
	return append(b, text...)
}

// A key may have each label once. A caller does not know the labels that jitcache uses.
func TestCallersLabelsAreNobodyElses(t *testing.T) {
	labels := []string{"schema", "command", "runs in", "variables", "text a.c", "lease in"}
	ofWorld := map[string]bool{}
	for _, p := range new(record.List).Parts() {
		labels = append(labels, p.Label)
		ofWorld[p.Label] = true
	}
	for _, label := range labels {
		b := part(part(nil, partWord, "cc"), partSource, "a.c")
		b = part(part(part(b, partText, "int x;"), partLabel, label), partValue, "1")
		s, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := command.New(nil, s, nil, command.Want{}); err != nil {
			t.Errorf("%s: %v", label, err)
		}
		if ofWorld[s.More[0].Label] {
			t.Errorf("%s: a component of the world that it is made in has that label", label)
		}
	}
}
