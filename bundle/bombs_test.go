// Headers of an archive that do not end.

package bundle

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
)

// A header may say that the next one is longer, again and again. Package tar reads each
// before its caller sees any.
//
//jitcache:control anylength
func TestHeaderThatDoesNotEndIsNotReadOn(t *testing.T) {
	all := good(t, 2)
	whole := decompressed(t, archive(t, all...))
	first := int64(512 + (len(all[0].data)+511)/512*512)
	long := make([]byte, 512, 1<<19+512)
	copy(long, "././@LongLink")
	copy(long[100:], "0000644\x000000000\x000000000\x0000002000000\x0000000000000\x00        L")
	copy(long[257:], "ustar  \x00")
	checksum(long)
	long = append(long, strings.Repeat("x", 1<<19)...)
	for name, data := range map[string][]byte{
		"of the first":  bombed(t, nil, long, 200),
		"of the second": bombed(t, whole[:first], long, 200),
	} {
		r, err := NewReader(bytes.NewReader(data), Usual)
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, err = r.Next()
		}
		if err == io.EOF || !strings.Contains(err.Error(), "too long") || r.plain.read > first+(1<<20) {
			t.Errorf("%s: %v after %d bytes", name, err, r.plain.read)
		}
		r.Close()
	}
	// The headers that another program writes for a long name are accepted.
	var to bytes.Buffer
	w := tar.NewWriter(&to)
	for i := range all {
		h := all[i].Header
		h.Format = tar.FormatGNU
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, all[i].data)
	}
	w.Close()
	if err := Each(bytes.NewReader(compressed(t, to.Bytes())), Usual, nothing); err != nil {
		t.Error(err)
	}
}
