// Tags: what kind of value a component has.

package key

import (
	"strings"
)

// Tag says what kind of value a component has, so that the number 1, the text
// "1" and a file that holds "1" are three different components.
type Tag byte

// The tags. Values of the types 'n' to 's' are encoded by the caller (the
// Python package does it); docs/format.md has the encodings, and this package
// takes their bytes as they come.
const (
	Bytes Tag = 'b' // bytes as they are; text is its UTF-8
	None  Tag = 'n' // no bytes
	Bool  Tag = 't' // one byte, 0 or 1
	Int   Tag = 'i' // two's complement, little-endian, bit length/8 + 1 bytes
	Float Tag = 'f' // IEEE 754 binary64, little-endian; one NaN
	List  Tag = 'l' // count, then values
	Dict  Tag = 'd' // count, then key and value, sorted by key
	Set   Tag = 's' // count, then values, sorted by their encoding
	File  Tag = 'F' // BLAKE3 of the file's content, see AddFile
	Tool  Tag = 'T' // what the program is, see AddTool
)

// Tags of inputs that are not components.
const (
	Absent Tag = 'A' // a file that was looked for and is not there
	Folder Tag = 'D' // the names in a folder
)

func (t Tag) ofInput() bool { return strings.IndexByte("FTAD", byte(t)) >= 0 }

func (t Tag) valid() bool { return strings.IndexByte("bntifldsFT", byte(t)) >= 0 }
