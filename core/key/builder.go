// Builder: collects labelled components, and hashes them into a key.

package key

import (
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// schema starts every hash. It changes when the encoding below does, or when a
// release must not use what an earlier one stored.
const schema = "jitcache key 1\n"

// Builder collects the components of a key. Its methods hash each value at
// once and keep only the digest. One goroutine may use a Builder.
//
// A key must not lack a component that could not be added. So Seal returns the first
// error of any method, and a caller that checks Seal's error need not check the others.
type Builder struct {
	parts  []component
	inputs []Input
	name   string
	kind   string
	failed error // the first
}

type component struct {
	label  string
	tag    Tag
	size   uint64
	digest Digest
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder { return &Builder{kind: DefaultKind} }

// Clone returns another Builder with the same components, name and kind.
func (b *Builder) Clone() *Builder {
	c := *b
	c.parts, c.inputs = slices.Clone(b.parts), slices.Clone(b.inputs)
	return &c
}

// Add adds a component of plain bytes. It fails if the label is empty or longer
// than MaxLabel, and for more than MaxParts components. If a label is used twice,
// Seal fails.
func (b *Builder) Add(label string, value []byte) error { return b.AddTagged(label, Bytes, value) }

// AddTexts adds a component of plain bytes that stands for a list of texts.
func (b *Builder) AddTexts(label string, texts []string) error {
	return b.Add(label, AppendTexts(nil, texts...))
}

// AppendTexts encodes texts so that no two lists have the same bytes.
func AppendTexts(dst []byte, texts ...string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	for _, t := range texts {
		dst = binary.AppendUvarint(dst, uint64(len(t)))
		dst = append(dst, t...)
	}
	return dst
}

// AddTagged adds a component whose value is encoded as its tag says.
func (b *Builder) AddTagged(label string, tag Tag, value []byte) error {
	return b.addHashed(label, tag, uint64(len(value)), Sum(value))
}

// AddDigest adds a component of plain bytes whose size and digest are known.
func (b *Builder) AddDigest(label string, size int, digest Digest) error {
	return b.addHashed(label, Bytes, uint64(size), digest)
}

func (b *Builder) addHashed(label string, tag Tag, size uint64, digest Digest) error {
	if label == "" || len(label) > MaxLabel {
		return b.fail(fmt.Errorf("component label %.40q: want 1 to %d bytes", label, MaxLabel))
	}
	if !tag.valid() {
		return b.fail(fmt.Errorf("component %q: unknown tag %q", label, byte(tag)))
	}
	if len(b.parts) >= MaxParts {
		return b.fail(fmt.Errorf("component %q: a key has at most %d components", label, MaxParts))
	}
	b.parts = append(b.parts, component{label, tag, size, digest})
	return nil
}

func (b *Builder) fail(err error) error {
	if b.failed == nil {
		b.failed = err
	}
	return err
}

// packedHeader is the size of tag, label length and value length of a packed component.
const packedHeader = 1 + 2 + 8

// hashed marks the tag of a packed component whose value was hashed before: in
// place of the value are its size (8) and its digest (32).
const hashed = 0x80

// AddPacked adds components in their packed form, one after the other: tag (1
// byte), label length (2), value length (8), label, value; little-endian. Python
// and C pass keys in this form, in one call.
func (b *Builder) AddPacked(p []byte) error {
	for len(p) > 0 {
		if len(p) < packedHeader {
			return b.fail(fmt.Errorf("packed component: %d bytes left, want a header of %d", len(p), packedHeader))
		}
		tag := Tag(p[0])
		nlabel := int(binary.LittleEndian.Uint16(p[1:]))
		nvalue := binary.LittleEndian.Uint64(p[3:])
		p = p[packedHeader:]
		if len(p) < nlabel || uint64(len(p)-nlabel) < nvalue {
			return b.fail(fmt.Errorf("packed component: %d bytes left, want %d of label and %d of value", len(p), nlabel, nvalue))
		}
		label, value := p[:nlabel], p[nlabel:nlabel+int(nvalue)]
		p = p[nlabel+int(nvalue):]
		if err := b.addPacked(string(label), tag, value); err != nil {
			return err
		}
	}
	return nil
}

func (b *Builder) addPacked(label string, tag Tag, value []byte) error {
	if tag&hashed == 0 {
		return b.AddTagged(label, tag, value)
	}
	if len(value) != 8+len(Digest{}) {
		return b.fail(fmt.Errorf("packed component %q: hashed, with %d bytes", label, len(value)))
	}
	return b.addHashed(label, tag&^hashed, binary.LittleEndian.Uint64(value), Digest(value[8:]))
}

// AppendPacked appends a component in the form that AddPacked reads.
func AppendPacked(dst []byte, label string, tag Tag, value []byte) []byte {
	dst = append(dst, byte(tag))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(len(label)))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(len(value)))
	dst = append(dst, label...)
	return append(dst, value...)
}

// AddInput remembers a file that was read for a component already added, as
// ReadInput returned it.
func (b *Builder) AddInput(in Input) { b.inputs = append(b.inputs, in) }

// AddFile adds a component that stands for the content of a file. The path is
// not hashed. The file is remembered as an Input.
func (b *Builder) AddFile(label, path string) error { return b.addRead(label, File, path) }

// AddTool adds a component that stands for the identity of a program or library:
// its GNU build id if it is an ELF file with one, else its content. The path is
// not hashed. The file is remembered as an Input.
func (b *Builder) AddTool(label, path string) error { return b.addRead(label, Tool, path) }

func (b *Builder) addRead(label string, tag Tag, path string) error {
	value, in, err := ReadInput(tag, path)
	if err != nil {
		return b.fail(fmt.Errorf("component %q: %w", label, err))
	}
	if err := b.AddTagged(label, tag, value); err != nil {
		return err
	}
	b.AddInput(in)
	return nil
}

// SetName sets the name of the key: UTF-8, at most MaxName bytes, no NUL.
func (b *Builder) SetName(name string) error {
	if len(name) > MaxName || strings.IndexByte(name, 0) >= 0 {
		return b.fail(fmt.Errorf("key name %.40q: want at most %d bytes and no NUL", name, MaxName))
	}
	b.name = name
	return nil
}

// SetKind sets the kind of the key, see [CheckKind].
func (b *Builder) SetKind(kind string) error {
	if err := CheckKind(kind); err != nil {
		return b.fail(err)
	}
	b.kind = kind
	return nil
}

// Seal computes the key. It fails if anything before has failed, or if two components have
// the same label.
func (b *Builder) Seal() (*Key, error) {
	if b.failed != nil {
		return nil, b.failed
	}
	// Each kind of value that slices.SortFunc sorts is half a per cent of the library.
	sort.Slice(b.parts, func(i, j int) bool { return b.parts[i].label < b.parts[j].label })
	k := &Key{Name: b.name, Kind: b.kind, Parts: make([]Part, len(b.parts)), Inputs: slices.Clone(b.inputs)}
	buf := make([]byte, 0, 1024)
	buf = append(buf, schema...)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(len(b.parts)))
	for i, c := range b.parts {
		if i > 0 && c.label == b.parts[i-1].label {
			return nil, fmt.Errorf("component %q: label used twice", c.label)
		}
		buf = binary.LittleEndian.AppendUint16(buf, uint16(len(c.label)))
		buf = append(buf, c.label...)
		buf = append(buf, byte(c.tag))
		buf = binary.LittleEndian.AppendUint64(buf, c.size)
		buf = append(buf, c.digest[:]...)
		k.Parts[i] = Part{c.label, Short(c.digest[:8])}
	}
	k.ID = ID(Sum(buf))
	return k, nil
}

// Note returns the key of one of the cache's own entries, which has a single component. The
// label is the caller's own text, of the form that Add wants.
func Note(label string, value []byte) *Key {
	b := NewBuilder()
	b.Add(label, value)
	b.SetKind(NoteKind)
	k, err := b.Seal()
	if err != nil { // cannot be: one valid label
		panic(err)
	}
	return k
}
