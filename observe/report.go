package observe

import (
	"encoding/binary"
	"errors"
	"math"
	"syscall"
)

// Bits say what was done with a name. tracer/names.h has them.
type Bits uint32

// The bits.
const (
	Looked   Bits = 1 << iota // stat, access and the like
	Read                      // opened for reading
	Ran                       // executed, or read by the kernel to do so
	Listed                    // a folder: its names were read
	Text                      // a link: its text was read
	Plain                     // looked at without following a link, and it is none
	Sent                      // Content or Listing is what was there
	Large                     // Content should be, and is too large
	Made                      // later the tree made, changed or removed it
	Relative                  // named relative to Command.Dir, through folders entered so
	Absolute                  // named by a path of its own
	Statted                   // looked at by a call that tells its time stamps
)

// Written says what became of a file that the tree wrote.
type Written uint32

// What it can be.
const (
	Created  Written = 1 << iota // there was none
	Replaced                     // there was one, of which nothing is left
	Changed                      // there was one, and it was changed in place
	Removed                      // it is gone
	Folder                       // it is a folder
)

// Use is something that no name shows.
type Use uint32

// The uses. Up to UseLimits they are inputs; what has one of the others cannot be
// repeated. tracer/report.h describes them.
const (
	UseFolder Use = 1 + iota
	UseClock
	UseHost
	UseLimits
	UseInput
	UseDescriptor
	UseSocket
	UseDevice
	UseIPC
	UsePrivilege
	UseNamespace
	UseTrace
	UseForeign
	UseAttributes
	UseUnknown
	UseUnreadable
	UseShared
	UseUnsteady
)

// Stamp is a file as it was just before the tree could look at it.
type Stamp struct {
	Dev, Ino, Size uint64
	Mtime, Ctime   int64  // nanoseconds since 1970
	Taken          int64  // the same: before it was asked for
	Mount          uint64 // id of the mount that no other has had since the start; 0: unknown
}

// Name is a name that the tree used: absolute, and otherwise as the tree had it.
type Name struct {
	Path  string
	Bits  Bits
	Mode  uint32        // as stat has it; 0: there is nothing, or it was not asked for
	Errno syscall.Errno // why there is nothing, or why it cannot be read
	// Statted is a mask of the programs that asked for its time stamps, Programs of
	// those that did anything with it: bit i is program i, the last bit all others.
	Statted, Programs uint64
	Stamp             Stamp
	Text              string   // of a link
	Content           []byte   // if Sent, of a file
	Names             []string // if Sent, of a folder, in no order
}

// Program is one that ran.
type Program struct {
	ID   int // bit ID of the masks; from 63 on all have the last
	Path string
	Args []string
}

// File is one that the tree wrote. Its path has no links.
type File struct {
	Path string
	How  Written
}

// Used is a use, by whom, and of what.
type Used struct {
	Use      Use
	Programs uint64
	Detail   string
}

// Mark is up to where a stream had come when the next one was written to.
type Mark struct {
	Stream int // 1 output, 2 errors
	Size   uint64
}

// Report is what a run has come to.
type Report struct {
	Status syscall.WaitStatus
	// Failure is why the program could not be run at all, 0 if it could.
	Failure syscall.Errno
	// Unobserved: nothing is known of it. Outlived: what it started goes on.
	Unobserved, Outlived bool

	Programs []Program
	Names    []Name
	Files    []File
	Uses     []Used
	Marks    []Mark
	Out, Err []byte // what was printed
}

// Flags of the last record, and what Failure can be beside an errno.
const (
	endUnobserved = 1
	endOutlived   = 2
	noFilter      = math.MaxUint32
)

var (
	errReport = errors.New("observe: malformed report")
	errDied   = errors.New("observe: the tracer was ended")
)

// decoder takes values off a record. After an error all are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) take(n int) []byte {
	if n < 0 || n > len(d.b) {
		d.bad, d.b = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) u32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) u64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }
func (d *decoder) bytes() []byte {
	n := d.u32()
	if uint64(n) > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	return d.take(int(n))
}
func (d *decoder) text() string { return string(d.bytes()) }

// Parse reads a report of the tracer. Contents refer to b.
func Parse(b []byte) (*Report, error) { return newParser().parse(b) }

func newParser() *parser {
	return &parser{names: map[string]int{}, contents: map[string][]byte{}, listings: map[string][]string{}}
}

// parse reads what the tracer has written since. Of several reports in a row the last
// one counts: it has all that was seen, but for what comes once.
func (p *parser) parse(b []byte) (*Report, error) {
	p.ended = false
	for len(b) > 0 {
		if p.ended {
			p.again()
		}
		if len(b) < 5 {
			return nil, errReport
		}
		n := uint64(binary.LittleEndian.Uint32(b[1:]))
		if n > uint64(len(b)-5) {
			return nil, errReport
		}
		d := decoder{b: b[5 : 5+n]}
		if !p.record(b[0], &d) || d.bad {
			return nil, errReport
		}
		b = b[5+n:]
	}
	if !p.ended {
		return nil, errReport
	}
	return p.finish()
}

// again makes room for the next report.
func (p *parser) again() {
	r := &p.report
	p.ended = false
	p.report = Report{Programs: r.Programs, Marks: r.Marks}
	clear(p.names)
}

type parser struct {
	report   Report
	ended    bool
	names    map[string]int
	contents map[string][]byte
	listings map[string][]string
}

func (p *parser) record(letter byte, d *decoder) bool {
	r := &p.report
	switch letter {
	case 'P':
		r.Programs = append(r.Programs, Program{int(d.u32()), d.text(), words(d.bytes())})
	case 'N':
		n := name(d)
		p.names[n.Path] = len(r.Names)
		r.Names = append(r.Names, n)
	case 'C':
		path := d.text()
		p.contents[path] = d.bytes()
	case 'L':
		path := d.text()
		listed := []string{}
		for len(d.b) > 0 {
			listed = append(listed, d.text())
		}
		p.listings[path] = listed
	case 'W':
		how := Written(d.u32())
		r.Files = append(r.Files, File{d.text(), how})
	case 'U':
		u := Used{Use: Use(d.u32()), Programs: d.u64()}
		u.Detail = d.text()
		r.Uses = append(r.Uses, u)
	case 'O':
		r.Marks = append(r.Marks, Mark{int(d.u32()), d.u64()})
	case 'E':
		p.end(d)
	default:
		return false
	}
	return len(d.b) == 0
}

func (p *parser) end(d *decoder) {
	r := &p.report
	r.Status = syscall.WaitStatus(d.u32())
	failure, flags := d.u32(), d.u32()
	if failure == noFilter {
		r.Unobserved = true
	} else {
		r.Failure = syscall.Errno(failure)
	}
	r.Unobserved = r.Unobserved || flags&endUnobserved != 0
	r.Outlived = flags&endOutlived != 0
	p.ended = true
}

func name(d *decoder) Name {
	n := Name{Bits: Bits(d.u32()), Mode: d.u32(), Errno: syscall.Errno(d.u32()), Statted: d.u64(), Programs: d.u64()}
	n.Path = d.text()
	if n.Mode != 0 {
		n.Stamp = Stamp{
			Dev: d.u64(), Ino: d.u64(), Size: d.u64(), Mtime: int64(d.u64()), Ctime: int64(d.u64()),
			Taken: int64(d.u64()), Mount: d.u64(),
		}
	}
	if n.Bits&Text != 0 {
		n.Text = d.text()
	}
	return n
}

// words splits arguments that each end in a NUL.
func words(b []byte) []string {
	var all []string
	for len(b) > 0 {
		n := 0
		for n < len(b) && b[n] != 0 {
			n++
		}
		all = append(all, string(b[:n]))
		b = b[min(n+1, len(b)):]
	}
	return all
}

// finish puts contents and listings to their names.
func (p *parser) finish() (*Report, error) {
	for path, content := range p.contents {
		i, ok := p.names[path]
		if !ok {
			return nil, errReport
		}
		p.report.Names[i].Content = content
	}
	for path, listed := range p.listings {
		i, ok := p.names[path]
		if !ok {
			return nil, errReport
		}
		p.report.Names[i].Names = listed
	}
	whole := p.report
	p.again()
	return &whole, nil
}
