package observe

import (
	"encoding/binary"
	"errors"
	"syscall"
	"unsafe"
)

// Bits say what was done with a name. tracer/names.h has them.
type Bits uint32

// The bits.
const (
	Looked    Bits = 1 << iota // stat, access and the like
	Read                       // opened for reading
	Ran                        // executed, or read by the kernel to do so
	Listed                     // a folder: its names were read
	Text                       // a link: its text was read
	Plain                      // looked at without following a link, and it is none
	Sent                       // Content or Listing is what was there
	Large                      // Content should be, and is too large
	Made                       // later the tree made, changed or removed it
	Relative                   // named relative to Command.Dir, through folders entered so
	Absolute                   // named by a path of its own
	Statted                    // looked at by a call that tells its time stamps
	Permitted                  // it was asked what may be done with it
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

// The uses. Up to UseLimits, and UseUmask, they are inputs; what has one of the others cannot be
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
	UseSignal
	UseIdentity
	UseInode
	UseUmask
	UseDenied
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
	// those that did anything with it, Readers of those that opened it for reading, Asked
	// of those in Statted that did not only pass through it, looking for a path without
	// links (tracer/walk.h): bit i is program i, the last bit all others.
	Statted, Programs, Readers, Asked uint64

	Stamp   Stamp
	Text    string   // of a link
	Content []byte   // if Sent, of a file
	Names   []string // if Sent, of a folder, in no order
	Permits []Permit // if Permitted
}

// Permit is whether something may be done with a name, as the tree was told.
type Permit struct {
	How   uint32        // R_OK, W_OK, X_OK, and Effective
	Errno syscall.Errno // why not, 0: it may
}

// Effective in How: as one acts, and not as who one is.
const Effective = 8

// Others in How, with an answer that is no error: which extended attributes there are, 0 for
// none, and which flags (chattr).
const (
	Attributes = 16
	Flags      = 32
)

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
	// Name is what the tree called it last, "" if it used no name, and Form has
	// Relative and Absolute, for all of its names.
	Name string
	Form Bits
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
	// Out and Err are what was printed, each nil if it was more than MaxOutput, and
	// both where Pass was wanted and there is no tracer.
	Out, Err []byte
}

// Flags of the last record.
const (
	endUnobserved = 1
	endOutlived   = 2
)

// LostOutput is the detail of UseUnreadable if something that was printed could not be written
// to where it should have come: tracer/output.h.
const LostOutput = "output that could not be passed on"

// MaxOutput is how much of each stream is kept.
const MaxOutput = 1 << 28

var (
	errReport = errors.New("observe: malformed report")
	errDied   = errors.New("observe: the tracer was ended")
	errOver   = errors.New("observe: the run is over")
)

// decoder takes values off a record. After an error all are zero.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) u32() uint32 {
	if len(d.b) < 4 {
		d.bad, d.b = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint32(d.b)
	d.b = d.b[4:]
	return v
}

func (d *decoder) u64() uint64 {
	if len(d.b) < 8 {
		d.bad, d.b = true, nil
		return 0
	}
	v := binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return v
}

func (d *decoder) bytes() []byte {
	n := d.u32()
	if uint64(n) > uint64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) text() string { return string(d.bytes()) }

// records calls f for each record of b. It reports false if b is no report: its last
// record, and no other, is an end.
func records(b []byte, f func(letter byte, d *decoder) bool) bool {
	ended := false
	for len(b) > 0 {
		if len(b) < 5 || ended {
			return false
		}
		n := uint64(binary.LittleEndian.Uint32(b[1:]))
		if n > uint64(len(b)-5) {
			return false
		}
		ended = b[0] == 'E'
		if !f(b[0], &decoder{b: b[5 : 5+n : 5+n]}) {
			return false
		}
		b = b[5+n:]
	}
	return ended
}

// Parse reads a report of the tracer. Contents refer to b.
func Parse(b []byte) (*Report, error) { return newParser().parse(b) }

func newParser() *parser {
	return &parser{contents: map[string][]byte{}, listings: map[string][]string{}}
}

// parse reads a report. What comes once is of those before it too.
func (p *parser) parse(b []byte) (*Report, error) {
	names, size := 0, 0
	if !records(b, func(letter byte, d *decoder) bool {
		if letter == 'N' {
			names++
			size += len(d.b)
		}
		return true
	}) {
		return nil, errReport
	}
	p.report = Report{Programs: p.report.Programs, Marks: p.report.Marks, Names: make([]Name, 0, names)}
	p.texts, p.sent = make([]byte, 0, size), 0
	if !records(b, func(letter byte, d *decoder) bool { return p.record(letter, d) && !d.bad && len(d.b) == 0 }) {
		return nil, errReport
	}
	// What was sent is that of a name, and of no other.
	if len(p.contents)+len(p.listings) != p.sent {
		return nil, errReport
	}
	whole := p.report
	return &whole, nil
}

type parser struct {
	report Report
	// What was sent comes before the name that it is of.
	contents map[string][]byte
	listings map[string][]string
	sent     int // of these, that have found their name
	// texts holds the texts of all names, with room for all of them: a compile that
	// looks for thirty thousand would spend a tenth of its time on allocating each.
	texts []byte
}

func (p *parser) text(d *decoder) string {
	b := d.bytes()
	at := len(p.texts)
	p.texts = append(p.texts, b...)
	return unsafe.String(unsafe.SliceData(p.texts[at:]), len(b))
}

func (p *parser) record(letter byte, d *decoder) bool {
	r := &p.report
	switch letter {
	case 'P':
		r.Programs = append(r.Programs, Program{int(d.u32()), d.text(), words(d.bytes())})
	case 'N':
		p.name(d)
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
		how := d.u32()
		form := Bits(how) & (Relative | Absolute)
		r.Files = append(r.Files, File{Path: d.text(), How: Written(how &^ uint32(form)), Name: d.text(), Form: form})
	case 'U':
		u := Used{Use: Use(d.u32()), Programs: d.u64()}
		u.Detail = d.text()
		r.Uses = append(r.Uses, u)
	case 'O':
		r.Marks = append(r.Marks, Mark{int(d.u32()), d.u64()})
	case 'E':
		r.Status = syscall.WaitStatus(d.u32())
		r.Failure = syscall.Errno(d.u32())
		flags := d.u32()
		r.Unobserved, r.Outlived = flags&endUnobserved != 0, flags&endOutlived != 0
	default:
		return false
	}
	return true
}

func (p *parser) name(d *decoder) {
	p.report.Names = append(p.report.Names, Name{
		Bits: Bits(d.u32()), Mode: d.u32(), Errno: syscall.Errno(d.u32()), Statted: d.u64(), Programs: d.u64(),
		Readers: d.u64(), Asked: d.u64(), Path: p.text(d),
	})
	n := &p.report.Names[len(p.report.Names)-1]
	if n.Mode != 0 {
		n.Stamp = Stamp{
			Dev: d.u64(), Ino: d.u64(), Size: d.u64(), Mtime: int64(d.u64()), Ctime: int64(d.u64()),
			Taken: int64(d.u64()), Mount: d.u64(),
		}
	}
	if n.Bits&Text != 0 {
		n.Text = p.text(d)
	}
	for n.Bits&Permitted != 0 && len(d.b) > 0 {
		n.Permits = append(n.Permits, Permit{d.u32(), syscall.Errno(d.u32())})
	}
	if content, ok := p.contents[n.Path]; ok && n.Bits&Sent != 0 {
		n.Content = content
		p.sent++
	} else if n.Bits&Sent != 0 {
		d.bad = true
	}
	if listed, ok := p.listings[n.Path]; ok && n.Bits&Listed != 0 {
		n.Names = listed
		p.sent++
	}
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
