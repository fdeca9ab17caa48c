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

// Bounds are how much of a bundle is read; what has more is refused.
type Bounds struct {
	Entry int64 // bytes of one entry
	Total int64 // bytes of the archive once it is decompressed
	Count int   // entries
}

// Usual are bounds that no honest bundle has met: a directory holds 5 GiB unless its owner
// has asked for more, and some ten thousand entries.
var Usual = Bounds{Entry: store.LargestOfAnybody, Total: 64 << 30, Count: 500_000}

// maxWindow is how far back a compressed stream may refer, which the reader has to hold:
// what the zstd command accepts unless told otherwise.
const maxWindow = 128 << 20

// Refused is the error of a Reader for a bundle that is not read any further.
type Refused struct {
	Member string // by its name in the archive, "" if it is not about one
	Why    string
}

func (r *Refused) Error() string {
	if r.Member == "" {
		return r.Why
	}
	return fmt.Sprintf("member %s: %s", Printable(r.Member), r.Why)
}

// Printable returns a text of somebody else for a line of a terminal: quoted if there is
// more in it than what is printed, and cut off if it is long.
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
	ID   key.ID // by its name
	Size int64
}

// Reader reads a bundle, which may have been made to harm. It accepts regular files by
// the names of entries, each after the one before in the order of their keys and so once,
// within bounds; and of these only bytes that are an entry of that key. Anything else
// ends it with an error that names the member. It writes nothing.
type Reader struct {
	zstd   *zstd.Decoder
	plain  *counter
	tar    *tar.Reader
	bounds Bounds
	last   string
	count  int
	ends   int64 // where the data of the last member does
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

// Close gives up what the reader holds, but not what it reads from.
func (r *Reader) Close() { r.zstd.Close() }

// Next goes on to the next member, whether the last one was read or not. At the end of a
// whole bundle the error is io.EOF.
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
	case err != nil && !errors.Is(err, tar.ErrInsecurePath): // that is for check
		return nil, r.broken(err)
	}
	m := &Member{Name: h.Name, Size: h.Size}
	if why := r.check(h, m); why != "" {
		return nil, &Refused{h.Name, why}
	}
	r.last = h.Name
	r.count++
	r.ends = r.plain.read + (h.Size+block-1)/block*block
	return m, nil
}

const (
	block = 512 // of an archive
	// mostHeader is how much there may be of a header. One of a bundle is a block; other
	// programs may write some more. Without a bound a header of headers that never end is
	// read up to the bound of all.
	mostHeader = 64 << 10
)

// broken says what is wrong with an archive that cannot be read on.
func (r *Reader) broken(err error) error {
	why := "this is no bundle: "
	if r.count > 0 {
		why = "after member " + r.last + ": "
	}
	return &Refused{"", why + strings.TrimPrefix(err.Error(), "archive/tar: ")}
}

// check says why a member is not accepted.
func (r *Reader) check(h *tar.Header, m *Member) string {
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
			return "this is not the name of an entry, which is " + namePattern
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
	return fmt.Sprintf("this bundle has more than the %d bytes that are read of one", most)
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

// Read reads the member to which Next went, and verifies it. The blob is the caller's.
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

// bytes reads a member without looking at it.
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

// Verify says what is wrong with the bytes of a member.
func Verify(m *Member, b *blob.Blob) error {
	if why := store.Parse(b, &m.ID); why != store.None {
		return &Refused{m.Name, "it cannot be used: " + why.String()}
	}
	return nil
}

// end reads what follows the last member. An archive ends with two blocks of zeros, and
// nothing but zeros to fill it up: one that was cut off between two members has none.
func (r *Reader) end() error {
	rest, err := io.ReadAll(io.LimitReader(r.plain, filler))
	if err != nil {
		return r.broken(err)
	}
	if checkMembers && (len(rest) == filler || strings.Trim(string(rest), "\x00") != "") {
		return &Refused{"", "after the end of the bundle something follows"}
	}
	if r.plain.zeros < endOfTar {
		return r.broken(errors.New("it was cut off"))
	}
	return io.EOF
}

const (
	endOfTar = 1024
	filler   = 1 << 20 // how much more than that a program may fill an archive up with
)

// counter counts what is read, ends it where it is more than somebody wants, and knows
// how many zeros came last.
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
	last := len(p[:n])
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

// nameOf returns the name of an entry in a bundle, as below v1 of a cache directory.
func nameOf(id *key.ID) string {
	digits := id.String()
	return prefix + digits[:2] + "/" + digits[2:] + suffix
}

// parseName returns the key of the entry that nameOf gives the name.
func parseName(name string) (id key.ID, ok bool) {
	if len(name) != len(prefix)+2*len(id)+1+len(suffix) {
		return id, false
	}
	digits := name[len(prefix):len(prefix)+2] + name[len(prefix)+3:len(name)-len(suffix)]
	id, err := key.ParseID(digits)
	return id, err == nil && name == nameOf(&id)
}

// Each calls fn for each entry of a bundle, with how many there were and b as Verify has
// left it, until it returns.
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
