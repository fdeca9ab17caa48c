// Reader: reads a bundle that may be malicious, within bounds.

package bundle

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/store"
)

// Bounds limit how much of a bundle is read. A larger bundle is refused.
type Bounds struct {
	Entry int64 // bytes of one entry
	Total int64 // bytes of the archive once it is decompressed
	Count int   // entries
}

// Usual are bounds far above any honest bundle: a directory holds 5 GiB unless its owner
// asks for more, and some ten thousand entries.
var Usual = Bounds{Entry: store.LargestOfAnybody, Total: 64 << 30, Count: 500_000}

// maxWindow is how far back a compressed stream may refer. The reader holds as much in
// memory. It is the default limit of the zstd command.
const maxWindow = 128 << 20

// Refused is the error of a Reader that does not accept a bundle.
type Refused struct {
	Member string // the member's name in the archive, "" if the error is not about one
	Why    string
}

func (r *Refused) Error() string {
	if r.Member == "" {
		return r.Why
	}
	return fmt.Sprintf("member %s: %s", Printable(r.Member), r.Why)
}

// Printable returns a foreign text for a line of a terminal. It quotes a text that has
// characters to escape, and cuts off a long one.
func Printable(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most] + "…"
	}
	if q := strconv.Quote(text); q != `"`+text+`"` {
		return q
	}
	return text
}

// Member is a file of a bundle.
type Member struct {
	Name string
	ID   key.ID // the key in its name
	Size int64
}

// Reader reads a bundle, which may be malicious. It accepts only regular files with the
// names of entries, within bounds, in ascending order of their keys, and so each once. The
// bytes of each must be an entry of that key. At anything else it ends with an error that
// names the member. It writes nothing.
type Reader struct {
	zstd   *zstd.Decoder
	plain  *counter
	tar    *tar.Reader
	bounds Bounds
	last   string
	count  int
	ends   int64 // where the data of the last member ends
}

// NewReader returns a reader of a bundle. Close ends it.
func NewReader(from io.Reader, bounds Bounds) (*Reader, error) {
	z, err := zstd.NewReader(from, zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	r := &Reader{zstd: z, plain: &counter{from: z, most: bounds.Total}, bounds: bounds}
	r.tar = tar.NewReader(r.plain)
	return r, nil
}

// Close frees the reader. It does not close the stream that it reads from.
func (r *Reader) Close() { r.zstd.Close() }

// Next returns the next member. The last one need not have been read. At the end of a
// complete bundle the error is io.EOF.
func (r *Reader) Next() (*Member, error) {
	before := min(r.ends+mostHeader, r.bounds.Total)
	r.plain.most = before
	h, err := r.tar.Next()
	r.plain.most = r.bounds.Total
	switch {
	case err == io.EOF:
		return nil, r.end()
	case err != nil && r.plain.read > before && before < r.bounds.Total:
		return nil, r.broken(errors.New("the next header is too long"))
	case err != nil && !errors.Is(err, tar.ErrInsecurePath): // check refuses such paths
		return nil, r.broken(err)
	}
	m := &Member{Name: h.Name, Size: h.Size}
	if why := r.checkHeader(h, m); why != "" {
		return nil, &Refused{h.Name, why}
	}
	r.last = h.Name
	r.count++
	r.ends = r.plain.read + (h.Size+block-1)/block*block
	return m, nil
}

const (
	block = 512 // of an archive
	// mostHeader bounds the bytes of a header. A bundle's header is one block; other
	// programs may write some more. Without this bound, extended headers that never end
	// would be read up to the bound of the whole bundle.
	mostHeader = 64 << 10
)

// broken returns the error for an archive that cannot be read further.
func (r *Reader) broken(err error) error {
	why := "this is not a bundle: "
	if r.count > 0 {
		why = "after member " + r.last + ": "
	}
	return &Refused{"", why + strings.TrimPrefix(err.Error(), "archive/tar: ")}
}

// checkHeader returns why a member is not accepted, "" if it is.
func (r *Reader) checkHeader(h *tar.Header, m *Member) string {
	var ok bool
	m.ID, ok = parseName(h.Name)
	if checkMembers {
		switch {
		case h.Typeflag != tar.TypeReg:
			return kindOf(h.Typeflag)
		case h.Linkname != "":
			return "it is a link"
		case len(h.PAXRecords) > 0:
			return "its header has extensions, which no bundle has"
		case !ok:
			return "this is not the name of an entry, which looks like " + namePattern
		case h.Name == r.last:
			return "it is there twice"
		case h.Name < r.last:
			return "it is out of order, or there twice: it comes after " + r.last
		}
	}
	if checkBounds {
		switch {
		case h.Size > r.bounds.Entry:
			return fmt.Sprintf("it has %d bytes, and an entry may have %d", h.Size, r.bounds.Entry)
		case h.Size > r.bounds.Total-r.plain.read:
			return tooMuch(r.bounds.Total)
		case r.count >= r.bounds.Count:
			return fmt.Sprintf("a bundle may have %d entries, and this has more", r.bounds.Count)
		}
	}
	return ""
}

func tooMuch(most int64) string {
	return fmt.Sprintf("this bundle has more than the %d bytes that may be read", most)
}

func kindOf(flag byte) string {
	switch flag {
	case tar.TypeLink, tar.TypeSymlink:
		return "it is a link"
	case tar.TypeChar, tar.TypeBlock:
		return "it is a device"
	case tar.TypeDir:
		return "it is a folder"
	case tar.TypeFifo:
		return "it is a pipe"
	}
	return "it is not a regular file"
}

// Read reads the member that Next returned last, and verifies it. The caller releases the
// blob.
func (r *Reader) Read(m *Member) (*blob.Blob, error) {
	b, err := r.bytes(m)
	if err != nil {
		return nil, err
	}
	if err := Verify(m, b); err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// bytes reads a member without verifying it.
func (r *Reader) bytes(m *Member) (*blob.Blob, error) {
	b, err := blob.New(int(m.Size))
	if err != nil {
		return nil, &Refused{m.Name, err.Error()}
	}
	if _, err := io.ReadFull(r.tar, b.Buffer()); err != nil {
		b.Release()
		return nil, r.broken(err)
	}
	return b, nil
}

// Verify checks the bytes of a member, and prepares b for use as an entry.
func Verify(m *Member, b *blob.Blob) error {
	if why := store.Parse(b, &m.ID); why != store.None {
		return &Refused{m.Name, "it cannot be used: " + why.String()}
	}
	return nil
}

// end reads what follows the last member. A complete archive ends with two blocks of zeros,
// and may be padded with zeros. An archive that was cut off between two members has none.
func (r *Reader) end() error {
	rest, err := io.ReadAll(io.LimitReader(r.plain, filler))
	if err != nil {
		return r.broken(err)
	}
	if checkMembers && (len(rest) == filler || strings.Trim(string(rest), "\x00") != "") {
		return &Refused{"", "there is data after the end of the bundle"}
	}
	if r.plain.zeros < endOfTar {
		return r.broken(errors.New("it was cut off"))
	}
	return io.EOF
}

const (
	endOfTar = 1024
	filler   = 1 << 20 // how much padding is accepted
)

// counter counts the bytes that are read, fails when there are more than most, and counts
// the zeros at the end.
type counter struct {
	from       io.Reader
	read, most int64
	zeros      int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.read += int64(n)
	if checkBounds && c.read > c.most {
		return 0, errors.New(tooMuch(c.most))
	}
	last := n
	for last > 0 && p[last-1] == 0 {
		last--
	}
	if last > 0 {
		c.zeros = 0
	}
	c.zeros += int64(n - last)
	return n, err
}

const (
	namePattern = "entries/xx/…" + suffix
	prefix      = "entries/"
	suffix      = ".jce"
)

// nameOf returns the name of an entry in a bundle: its path below v1 of a cache directory.
func nameOf(id *key.ID) string {
	digits := id.String()
	return prefix + digits[:2] + "/" + digits[2:] + suffix
}

// parseName is the inverse of nameOf.
func parseName(name string) (id key.ID, ok bool) {
	if len(name) != len(prefix)+2*len(id)+1+len(suffix) {
		return id, false
	}
	digits := name[len(prefix):len(prefix)+2] + name[len(prefix)+3:len(name)-len(suffix)]
	id, err := key.ParseID(digits)
	return id, err == nil && name == nameOf(&id)
}

// Each calls fn for each entry of a bundle, with the number of entries so far and the
// verified bytes. b is valid until fn returns.
func Each(from io.Reader, bounds Bounds, fn func(n int, m *Member, b *blob.Blob)) error {
	r, err := NewReader(from, bounds)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		m, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		b, err := r.Read(m)
		if err != nil {
			return err
		}
		fn(r.count, m, b)
		b.Release()
	}
}
