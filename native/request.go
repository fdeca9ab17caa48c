package native

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"jitcache/command"
	"jitcache/core/key"
	"jitcache/core/request"
)

// The letters of parts. jitcache_native.h explains them to hosts.
const (
	partWord     = 'c' // of the compiler: the program, then words that come first
	partFlag     = 'o' // before the sources
	partLink     = 'l' // behind them
	partKind     = 'k'
	partFile     = 'f' // a source on disk
	partSource   = 's' // the name of a file in memory
	partText     = 't' // and its text, next
	partDerived  = 'u' // in place of a text: one that follows from the rest
	partArgument = 'a' // of a whole command, in place of the above but files in memory
	partOutput   = 'O' // of a whole command: what it makes
	partTimeless = 'T' // its program takes no notice of modification times
	partFolder   = 'd' // where it runs
	partVariable = 'e' // that the command is given; none: all
	partName     = 'N' // what the user calls the result
	partEntry    = 'K' // the kind of its entry
	partLabel    = 'x' // of another component
	partValue    = 'y' // and its value, next
)

// What the result is called in the private folder.
const output = ".out"

// given begins the labels of components that the caller names. Those of package command
// have other names, which are not the caller's to know: with the same label twice there
// is no key.
const given = "given "

// parts are a request's parts, read.
type parts struct {
	words, flags, link, arguments []string
	kind, entry, name, folder     string
	output                        string
	timeless                      bool
	only                          []string
	sources                       []string // of the compiler: paths, and names of texts
	texts                         []command.Text
	more                          []command.Part
}

// Parse makes a command of a request's parts. The parts are the caller's and may
// go after the call.
func Parse(b []byte) (*command.Spec, error) {
	p := parts{kind: "shared", entry: "native", output: output}
	if err := request.ReadParts(b, p.take); err != nil {
		return nil, err
	}
	s := &command.Spec{
		Dir: p.folder, Texts: p.texts, Output: p.output, More: p.more, Kind: p.entry, Name: p.name,
		Withhold: true, Only: p.only, Timeless: p.timeless,
	}
	if len(p.arguments) > 0 {
		s.Args = p.arguments
		if len(p.words)+len(p.flags)+len(p.link) > 0 {
			return nil, errors.New("request: words of a command, and a compiler")
		}
		return s, nil
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	s.Args = p.commandLine()
	return s, nil
}

func (p *parts) take(letter byte, value []byte) error {
	text := string(value)
	switch letter {
	case partWord:
		p.words = append(p.words, text)
	case partFlag:
		p.flags = append(p.flags, text)
	case partLink:
		p.link = append(p.link, text)
	case partArgument:
		p.arguments = append(p.arguments, text)
	case partOutput:
		p.output = text
	case partTimeless:
		p.timeless = true
	case partFolder:
		p.folder = text
	case partVariable:
		p.only = append(p.only, text)
	case partKind:
		p.kind = text
	case partEntry:
		p.entry = text
	case partName:
		p.name = text
	case partFile:
		p.sources = append(p.sources, text)
	case partSource:
		p.sources = append(p.sources, text)
		p.texts = append(p.texts, command.Text{Name: text})
	case partText, partDerived:
		if len(p.texts) == 0 {
			return request.ErrParts
		}
		t := &p.texts[len(p.texts)-1]
		t.Data, t.Derived = []byte(text), letter == partDerived
		if !t.Derived {
			t.Sum = key.Sum(value)
		}
	case partLabel:
		p.more = append(p.more, command.Part{Label: given + text})
	case partValue:
		if len(p.more) == 0 {
			return request.ErrParts
		}
		p.more[len(p.more)-1].Value = []byte(text)
	default:
		return request.ErrParts
	}
	return nil
}

// check reports what of a compile makes no sense.
func (p *parts) check() error {
	if len(p.words) == 0 {
		return errors.New("request: names no compiler")
	}
	if p.kind != "shared" && p.kind != "object" && p.kind != "extension" {
		return fmt.Errorf("request: kind %.40q: want shared, object or extension", p.kind)
	}
	compiled := 0
	for _, s := range p.sources {
		if strings.HasPrefix(s, "-") || p.folder == "" && strings.Contains(s, "/") && !filepath.IsAbs(s) {
			return fmt.Errorf("request: source %.80q: want an absolute path, or the name of a text", s)
		}
		if language(s) != "" {
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

// language returns what compilers call the language of a source, "" for a header.
func language(name string) string {
	switch filepath.Ext(name) {
	case ".c":
		return "c"
	case ".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP":
		return "c++"
	}
	return ""
}

// commandLine is how the compiler is called. The folder that is made for the run
// does not show in the result: it has another name each time.
func (p *parts) commandLine() []string {
	args := append([]string{}, p.words...)
	if p.kind == "object" {
		args = append(args, "-c")
	} else {
		args = append(args, "-shared", "-fPIC")
	}
	args = append(append(args, p.flags...), "-ffile-prefix-map="+command.Private+"=.")
	for _, s := range p.sources {
		if l := language(s); l != "" {
			args = append(args, "-x", l, p.place(s))
		}
	}
	args = append(append(args, "-x", "none"), p.link...)
	return append(args, "-o", p.place(output))
}

// place returns how a file is named in the command line: plainly where the command
// runs in the private folder.
func (p *parts) place(name string) string {
	if p.folder == "" || filepath.IsAbs(name) || strings.Contains(name, "/") {
		return name
	}
	return command.Private + "/" + name
}

// requests are those that the process has seen: a text is hashed once.
var requests = request.NewTable[key.Digest, *command.Spec](256)

// Spec returns the command of a request whose parts have a digest.
func Spec(b []byte, digest key.Digest) (*command.Spec, error) {
	return requests.Get(digest, func() (*command.Spec, error) { return Parse(b) })
}
