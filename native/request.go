package native

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"jitcache/core/key"
	"jitcache/core/request"
)

// Request is what to compile, and how. Its bytes are the caller's and may go
// after the call, so nothing that outlives one refers to them.
type Request struct {
	Parts  []byte     // see request.ReadParts
	Digest key.Digest // of Parts
}

// The letters of parts. jitcache_native.h explains those that hosts use.
const (
	partWord     = 'c' // of the compiler: the program, then flags that come first
	partFlag     = 'o'
	partKind     = 'k'
	partName     = 'N' // what the user calls the result
	partFile     = 'f' // a source on disk
	partSource   = 's' // the name of a source in memory
	partText     = 't' // and its text, next
	partLabel    = 'x' // of another component
	partValue    = 'y' // and its value, next
	partVariable = 'e' // NAME=VALUE, of the environment
	partPath     = 'P' // PATH
	partLoader   = 'l' // NAME=VALUE, what the environment says to the loader
	partCPU      = 'u' // what the processor is
)

// source is a source or header: a file, or text in memory.
type source struct {
	name     string // absolute path of a file, plain name of a text
	text     []byte
	digest   key.Digest // of the text
	inMemory bool
}

// language returns what the compiler calls the language, "" for a header.
func (s *source) language() string {
	switch filepath.Ext(s.name) {
	case ".c":
		return "c"
	case ".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP":
		return "c++"
	}
	return ""
}

// part is a labelled component that the host adds.
type part struct {
	label string
	value []byte
}

// parts are a request's parts, read. The texts are copies.
type parts struct {
	words, flags []string
	kind, name   string
	sources      []source
	more         []part
	variables    []string
	loader       []string
	path, cpu    string
}

func parse(b []byte) (*parts, error) {
	p := &parts{kind: "shared"}
	if err := request.ReadParts(b, p.take); err != nil {
		return nil, err
	}
	return p, p.check()
}

func (p *parts) take(letter byte, value []byte) error {
	text := string(value)
	switch letter {
	case partWord:
		p.words = append(p.words, text)
	case partFlag:
		p.flags = append(p.flags, text)
	case partKind:
		p.kind = text
	case partName:
		p.name = text
	case partFile:
		p.sources = append(p.sources, source{name: text})
	case partSource:
		p.sources = append(p.sources, source{name: text, inMemory: true})
	case partText:
		if len(p.sources) == 0 {
			return request.ErrParts
		}
		p.sources[len(p.sources)-1].text = []byte(text)
		p.sources[len(p.sources)-1].digest = key.Sum(value)
	case partLabel:
		p.more = append(p.more, part{label: text})
	case partValue:
		if len(p.more) == 0 {
			return request.ErrParts
		}
		p.more[len(p.more)-1].value = []byte(text)
	case partVariable:
		p.variables = append(p.variables, text)
	case partLoader:
		p.loader = append(p.loader, text)
	case partPath:
		p.path = text
	case partCPU:
		p.cpu = text
	default:
		return request.ErrParts
	}
	return nil
}

// check reports what of the request makes no sense.
func (p *parts) check() error {
	if len(p.words) == 0 {
		return errors.New("request: names no compiler")
	}
	if p.kind != "shared" && p.kind != "object" && p.kind != "extension" {
		return fmt.Errorf("request: kind %.40q: want shared, object or extension", p.kind)
	}
	compiled := 0
	for i := range p.sources {
		s := &p.sources[i]
		switch {
		case s.inMemory && (s.name == "" || s.name[0] == '-' || s.name[0] == '.' || strings.Contains(s.name, "/")):
			return fmt.Errorf("source %.80q: in memory, want a plain file name", s.name)
		case !s.inMemory && !filepath.IsAbs(s.name):
			return fmt.Errorf("source %.80q: want an absolute path", s.name)
		case s.language() != "":
			compiled++
		}
	}
	if compiled == 0 {
		return errors.New("request: no source of C or C++")
	}
	if p.kind == "object" && compiled != 1 {
		return fmt.Errorf("request: %d sources: an object is made of one", compiled)
	}
	return nil
}

// languages returns those of the sources, each once.
func (p *parts) languages() []string {
	var found []string
	for i := range p.sources {
		l := p.sources[i].language()
		if l != "" && (len(found) == 0 || found[0] != l && len(found) < 2) {
			found = append(found, l)
		}
	}
	return found
}

// ownFlags returns the flags that the compiler's words have, and the words that
// are none: in "ccache gcc -m64" the second.
func (p *parts) ownFlags() (flags, command []string) {
	for _, w := range p.words[1:] {
		if strings.HasPrefix(w, "-") {
			flags = append(flags, w)
		} else {
			command = append(command, w)
		}
	}
	return flags, command
}

// inputs are the arguments that name the sources.
func (p *parts) inputs() []string {
	var args []string
	for i := range p.sources {
		if l := p.sources[i].language(); l != "" {
			args = append(args, "-x", l, p.sources[i].name)
		}
	}
	return append(args, "-x", "none")
}

// Failed is a compiler that could not be asked.
type Failed struct {
	Compiler string
	Log      string // what it printed
}

func (f *Failed) Error() string { return f.Compiler + ": failed" }
