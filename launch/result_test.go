// Results as bytes, whole and damaged.

package launch

import (
	"bytes"
	"testing"

	"jitcache/core/key"
)

func someResult() *result {
	return &result{
		outputs: []output{
			{kind: folder, path: "d", mode: 0o755},
			{kind: regular, path: "d/a.o", mode: 0o644, data: []byte("object\x00")},
			{kind: regular, path: "/tmp/a.d", mode: 0o600, marked: true, data: []byte("\x01TMP/a.c")},
			{kind: twin, path: "b.o", mode: 0o644, twin: 1},
			{kind: link, path: "l", text: "d/a.o"},
			{kind: regular, path: "large", mode: 0o600, pieces: []key.Digest{key.Sum([]byte("1")), key.Sum([]byte("2"))}},
		},
		chunks: []chunk{{1, false, []byte("out")}, {2, true, []byte("err")}, {1, false, nil}},
	}
}

func TestResultsComeBack(t *testing.T) {
	b := someResult().append(nil)
	r, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if again := r.append(nil); !bytes.Equal(again, b) {
		t.Errorf("%q comes back as %q", b, again)
	}
	if len(r.outputs[5].pieces) != 2 || r.outputs[5].pieces[1] != key.Sum([]byte("2")) {
		t.Errorf("%+v", r.outputs[5])
	}
	if r.outputs[3].twin != 1 || r.outputs[4].text != "d/a.o" || string(r.chunks[1].data) != "err" {
		t.Errorf("%+v", r)
	}
}

func TestShortenedResultsAreMalformed(t *testing.T) {
	b := someResult().append(nil)
	for n := range b {
		if _, err := parse(b[:n]); err == nil {
			t.Errorf("%d of %d bytes are a result", n, len(b))
		}
	}
	if _, err := parse(append(bytes.Clone(b), 0)); err == nil {
		t.Error("a byte more is a result")
	}
}

func TestNamesOfOutputsBehindAreMalformed(t *testing.T) {
	r := someResult()
	r.outputs[3].twin = 3
	if _, err := parse(r.append(nil)); err == nil {
		t.Error("an output is another name of itself")
	}
	r.outputs[3].twin = 0
	if _, err := parse(r.append(nil)); err == nil {
		t.Error("a file is another name of a folder")
	}
}

func FuzzResult(f *testing.F) {
	f.Add(someResult().append(nil))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parse(b)
		if err != nil {
			return
		}
		if again, err := parse(r.append(nil)); err != nil || len(again.outputs) != len(r.outputs) {
			t.Errorf("%q is no result when it is written again: %v", b, err)
		}
	})
}
