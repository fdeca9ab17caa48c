// The result of a command, and its form as bytes.

package launch

import (
	"encoding/binary"
	"errors"

	"jitcache/core"
	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/record"
)

// result is the result of a command: the files that it left, and what it printed.
type result struct {
	outputs []output
	chunks  []chunk

	foreign bool // it was not made here: see foreign.go

	id     key.ID        // of the entry
	blob   *blob.Blob    // the contents are parts of it; nil if they are not
	cache  *core.Cache   // has the pieces of outputs
	inputs []record.File // the files that it was made from: a replay never writes to them
}

func (r *result) release() {
	if r.blob != nil {
		r.blob.Release()
	}
}

// What an output can be.
const (
	regular = 'f'
	folder  = 'd'
	link    = 'l' // symbolic
	twin    = 't' // another name of an output before it
)

// output is a file, folder or link that the command leaves behind.
type output struct {
	kind   byte
	path   string // as the command named it; it may begin with the name of a place
	mode   uint32 // permissions, where nothing stands
	text   string // of a link
	twin   int    // index of the output that it is another name of
	marked bool   // the content has names of places
	data   []byte

	// Of a file: how it came to its place; the permissions that it would have if nobody had set them;
	// whether somebody has; whether he adds to those that the file has; and whether the command reads
	// what stands there.
	placement   record.Placement
	asked       uint32
	moded, adds bool
	counts      bool

	// Of a large file, whose content is not here (pieces.go).
	source *source      // has it, before it is stored
	pieces []key.Digest // have it in the cache
}

// chunk is a piece of output that was printed to one stream.
type chunk struct {
	stream int // 1 output, 2 errors
	marked bool
	data   []byte
}

// A result as bytes: docs/format.md, "Results of commands". Numbers are varints,
// texts have their size in front. Contents come last, in the order of outputs, then
// of chunks.
const magic = "jcrun\x00\x00\x03"

// manner is a number that holds the placement, and three bits.
func (o *output) manner() uint64 {
	return uint64(o.placement) | setsPermissions*flag(o.moded) | addsPermissions*flag(o.adds) | readsBefore*flag(o.counts)
}

const (
	setsPermissions = 4
	addsPermissions = 8
	readsBefore     = 16
)

var errResult = errors.New("result: malformed")

func flag(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// append appends the result as bytes.
func (r *result) append(b []byte) []byte {
	b = append(b, magic...)
	b = binary.AppendUvarint(b, uint64(len(r.outputs)))
	for i := range r.outputs {
		o := &r.outputs[i]
		b = appendText(append(b, o.kind), o.path)
		for _, n := range []uint64{uint64(o.mode), uint64(o.twin), flag(o.marked), uint64(len(o.data)), o.manner(), uint64(o.asked)} {
			b = binary.AppendUvarint(b, n)
		}
		b = appendText(b, o.text)
	}
	b = binary.AppendUvarint(b, uint64(len(r.chunks)))
	for _, c := range r.chunks {
		for _, n := range []uint64{uint64(c.stream), flag(c.marked), uint64(len(c.data))} {
			b = binary.AppendUvarint(b, n)
		}
	}
	b = r.appendPieces(b)
	for i := range r.outputs {
		b = append(b, r.outputs[i].data...)
	}
	for _, c := range r.chunks {
		b = append(b, c.data...)
	}
	return b
}

// decoder reads values from bytes. After an error, every value that it returns is zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) take(n uint64) []byte {
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) letter() byte {
	if b := d.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *decoder) text() string { return string(d.take(d.number())) }

// count returns the number of elements that follow, each of which takes at least a byte.
func (d *decoder) count() int {
	n := d.number()
	if n > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return 0
	}
	return int(n)
}

// parse reads what append wrote. Contents refer to b.
func parse(b []byte) (*result, error) {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return nil, errResult
	}
	d := decoder{b: b[len(magic):]}
	r := &result{outputs: make([]output, d.count())}
	sizes := make([]uint64, len(r.outputs))
	for i := range r.outputs {
		o := &r.outputs[i]
		o.kind, o.path = d.letter(), d.text()
		o.mode, o.twin, o.marked = uint32(d.number()), int(d.number()), d.number() != 0
		sizes[i] = d.number()
		manner := d.number()
		o.asked, o.text = uint32(d.number()), d.text()
		o.placement, o.moded, o.adds = record.Placement(manner&3), manner&setsPermissions != 0, manner&addsPermissions != 0
		o.counts = manner&readsBefore != 0
		if (o.mode|o.asked)&^0o1777 != 0 || manner > 31 || o.placement > record.InPlaceIfEmpty { // set-id bits are never kept
			return nil, errResult
		}
		if o.kind == twin && (o.twin < 0 || o.twin >= i || r.outputs[o.twin].kind != regular) {
			return nil, errResult
		}
	}
	r.chunks = make([]chunk, d.count())
	for i := range r.chunks {
		c := &r.chunks[i]
		c.stream, c.marked = int(d.number()), d.number() != 0
		sizes = append(sizes, d.number())
		if c.stream != 1 && c.stream != 2 {
			return nil, errResult
		}
	}
	if !r.parsePieces(&d, sizes) {
		return nil, errResult
	}
	for i := range r.outputs {
		r.outputs[i].data = d.take(sizes[i])
	}
	for i := range r.chunks {
		r.chunks[i].data = d.take(sizes[len(r.outputs)+i])
	}
	if d.bad || len(d.b) != 0 {
		return nil, errResult
	}
	return r, nil
}
