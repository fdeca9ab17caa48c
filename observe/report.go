// Report: what a command and its children looked at, as the tracer writes it.

package observe

import (
	"encoding/binary"
	"errors"
	"syscall"
	"unsafe"
)

// Bits say what was done with a name. They are those of tracer/names.h.
type Bits uint32

// The bits.
const (
	Looked    Bits = 1 << iota // stat, access and the like
	Read                       // opened for reading
	Ran                        // executed, or read by the kernel to do so
	Listed                     // a folder: its names were read
	Text                       // a link: its text was read
	Plain                      // looked at without following links, and it is no link
	Sent                       // Content or Names has what was there
	Large                      // Content should have it, and it is too large
	Made                       // the tree made, changed or removed it later
	Relative                   // named relative to Command.Dir, or to a folder entered by a relative path
	Absolute                   // named by an absolute path
	Statted                    // looked at by a call that returns its time stamps
	Permitted                  // a call asked what may be done with it
)

// Written says what became of a file that the tree wrote.
type Written uint32

// What can become of a file.
const (
	Created  Written = 1 << iota // it did not exist before
	Replaced                     // it existed, and nothing is left of the old one
	Changed                      // it existed, and was changed in place
	Removed                      // it is gone
	Folder                       // it is a folder
	Added                        // it was opened in a way that would have added to an existing file
	InPlace                      // it was opened in a way that empties a file that stands there, and keeps it
	Moded                        // its permissions were set after it was made
)

// Use is something that the tree used and that no name shows.
type Use uint32

// The uses. Those up to UseLimits, UseUmask, UseStdin, UseGiven and UseJobServer are inputs. A run with one of the others cannot
// be repeated. tracer/report.h describes them.
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
	UseMounts
	UseStdin
	UseGiven
	UseJobServer
	UseHermetic
)

// Stamp is what stat said of a file just before the tree looked at it.
type Stamp struct {
	Dev, Ino, Size uint64
	Mtime, Ctime   int64  // nanoseconds since 1970
	Taken          int64  // nanoseconds since 1970, before stat was called
	Mount          uint64 // id of the mount, never used again until the next boot; 0: unknown
}

// Name is a path that the tree used: made absolute, and otherwise as the tree wrote it.
type Name struct {
	Path  string
	Bits  Bits
	Mode  uint32        // as stat has it; 0: nothing is there, or nobody asked
	Errno syscall.Errno // why nothing is there, or why it cannot be read
	// Masks of programs, in which bit i stands for program i and the last bit for all
	// others. Statted: they asked for its time stamps. Programs: they did anything with it.
	// Readers: they opened it for reading. Asked: they are in Statted or Readers, and not only
	// because they were resolving links on the way (tracer/walk.h) or importing a module
	// (tracer/import.h).
	Statted, Programs, Readers, Asked uint64

	Stamp   Stamp
	Text    string   // of a link
	Content []byte   // if Sent, of a file
	Names   []string // if Sent, of a folder, in no order
	Permits []Permit // if Permitted
}

// Permit is a question about a name, and the answer that the tree got.
type Permit struct {
	How   uint32        // R_OK, W_OK, X_OK, and Effective
	Errno syscall.Errno // 0: it may be done; else why not
}

// Effective in How asks for the effective user, as open and exec do, and not for the real one,
// as access(2) does.
const Effective = 8

// Other questions, whose answers are no errors: a digest of the names of the extended
// attributes, 0 for none; the flags (chattr); and how the file system is mounted, in the
// flags of statvfs: read-only, and without set-id programs, devices or programs.
const (
	Attributes = 16
	Flags      = 32
	Mounted    = 128
)

// Program is a program that ran.
type Program struct {
	ID   int // its bit in the masks; programs from 63 on share the last
	Path string
	Args []string
}

// File is a file that the tree wrote. Its path has no links.
type File struct {
	Path string
	How  Written
	// Name is the last path by which the tree wrote it, "" if it used none. Form has
	// Relative and Absolute as all its names had them.
	Name string
	Form Bits
	// Asked has the permissions that the call asked for which made the file, Unasked if that call
	// could only open one that stands.
	Asked uint32
	// OverMode and OverGroup are permissions and group of what stood there, if it was emptied and kept.
	OverMode, OverGroup uint32
}

// Unasked as File.Asked.
const Unasked = 0xffff

// Used is a use, the programs that had it, and a detail.
type Used struct {
	Use      Use
	Programs uint64
	Detail   string
}

// Mark says how far a stream had come when another stream was written to.
type Mark struct {
	Stream int // 1 output, 2 errors
	Size   uint64
}

// Report is what was seen of a run, and how it ended.
type Report struct {
	Status syscall.WaitStatus
	// Failure is why the program could not be executed, 0 if it could.
	Failure syscall.Errno
	// Unobserved: nothing was seen. Outlived: processes that it started go on.
	Unobserved, Outlived bool

	Programs []Program
	Names    []Name
	Files    []File
	Uses     []Used
	Marks    []Mark
	// Out and Err are what was printed. Each is nil if it was more than MaxOutput; both
	// are if there was Pass and no tracer.
	Out, Err []byte
}

// Flags of the last record.
const (
	endUnobserved = 1
	endOutlived   = 2
)

// LostOutput is the detail of UseUnreadable if output could not be passed on to its
// destination (tracer/output.h).
const LostOutput = "output that could not be passed on"

// MaxOutput is how many bytes of each stream are kept.
const MaxOutput = 1 << 28

var (
	errReport = errors.New("observe: malformed report")
	errDied   = errors.New("observe: the tracer was ended")
	errOver   = errors.New("observe: the run is over")
)

// decoder reads values from a record. After an error, every value that it returns is zero.
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

// parse reads a report. Programs, marks and contents stay from the reports before it, because
// the tracer sends each of them once.
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
	// Each content and listing must belong to a name.
	if len(p.contents)+len(p.listings) != p.sent {
		return nil, errReport
	}
	whole := p.report
	return &whole, nil
}

type parser struct {
	report Report
	// Contents and listings by path. They come before the name that they belong to.
	contents map[string][]byte
	listings map[string][]string
	sent     int // how many of these have found their name
	// texts holds the texts of all names in one piece of memory. A compile that looks for
	// thirty thousand names would spend a tenth of its time on allocating each.
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
		f := File{How: Written(how &^ uint32(form)), Form: form, Asked: d.u32(), OverMode: d.u32(), OverGroup: d.u32()}
		f.Path, f.Name = d.text(), d.text()
		r.Files = append(r.Files, f)
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

// words splits arguments, each of which ends in a NUL.
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
