// Makes a command of a request to compile C or C++, or to run any command.

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
	partWord     = 'c' // a word of the compiler: the program, then its first arguments
	partFlag     = 'o' // a flag before the sources
	partLink     = 'l' // a flag after the sources
	partKind     = 'k' // what to make: "shared", "object" or "extension"
	partFile     = 'f' // the path of a source on disk
	partSource   = 's' // the name of a file in memory
	partText     = 't' // the text of the file before
	partDerived  = 'u' // in place of partText: a text that follows from the rest
	partArgument = 'a' // a word of a whole command; then only files in memory may come with it
	partOutput   = 'O' // the file that a whole command makes
	partTimeless = 'T' // the program ignores modification times
	partFolder   = 'd' // the folder to run in
	partVariable = 'e' // a variable that the command gets; without any, it gets all
	partChosen   = 'E' // which variables it gets: "strict", "+PATTERN", "-PATTERN"
	partGiven    = 'v' // NAME=VALUE: with any, these are in place of this process's variables
	partLimit    = 'L' // a limit that it gets: its number, the soft and the hard one
	partUmask    = 'U' // the umask that it gets, octal
	partName     = 'N' // the user's name for the result
	partEntry    = 'K' // the kind of the entry
	partLabel    = 'x' // the label of another component
	partValue    = 'y' // the value of the component before
)

// output is the name of the result in the private folder.
const output = ".out"

// given begins the labels of the caller's components. It keeps them apart from the labels
// of package command, which the caller does not know: the same label twice gives no key.
const given = "given "

// parts are the parsed parts of a request.
type parts struct {
	words, flags, link, arguments []string
	kind, entry, name, folder     string
	output                        string
	timeless                      bool
	only, environment, variables  []string
	limits                        []string
	umask                         string
	sources                       []string // for the compiler: paths, and names of texts
	texts                         []command.Text
	more                          []command.Part
}

// Parse makes a command of a request's parts. The parts belong to the caller, who may free
// them after the call.
func Parse(b []byte) (*command.Spec, error) {
	p := parts{kind: "shared", entry: "native", output: output}
	if err := request.ReadParts(b, p.takePart); err != nil {
		return nil, err
	}
	s := &command.Spec{
		Dir: p.folder, Texts: p.texts, Output: p.output, More: p.more, Kind: p.entry, Name: p.name,
		Withhold: true, Only: p.only, Timeless: p.timeless, Environment: p.environment, Variables: p.variables, Limits: p.limits,
		Umask: p.umask,
	}
	if len(p.arguments) > 0 {
		s.Args = p.arguments
		if len(p.words)+len(p.flags)+len(p.link) > 0 {
			return nil, errors.New("request: has both a command and a compiler")
		}
		return s, nil
	}
	if err := p.checkRequest(); err != nil {
		return nil, err
	}
	s.Args = p.commandLine()
	return s, nil
}

func (p *parts) takePart(letter byte, value []byte) error {
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
	case partChosen:
		p.environment = append(p.environment, text)
	case partGiven:
		p.variables = append(p.variables, text)
	case partLimit:
		p.limits = append(p.limits, text)
	case partUmask:
		p.umask = text
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

// checkRequest reports what is wrong with a request to compile.
func (p *parts) checkRequest() error {
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
		return errors.New("request: has no source of C or C++")
	}
	if p.kind == "object" && compiled != 1 {
		return fmt.Errorf("request: has %d sources; an object is made from one", compiled)
	}
	return nil
}

// language returns the compiler's name for a source's language, "" for other files.
func language(name string) string {
	switch filepath.Ext(name) {
	case ".c":
		return "c"
	case ".cc", ".cpp", ".cxx", ".C", ".c++", ".cp", ".CPP":
		return "c++"
	}
	return ""
}

// commandLine returns the words that call the compiler. The private folder has another name
// each time, so -ffile-prefix-map keeps it out of the result.
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
			args = append(args, "-x", l, p.nameFor(s))
		}
	}
	args = append(append(args, "-x", "none"), p.link...)
	return append(args, "-o", p.nameFor(output))
}

// nameFor returns a file's name for the command line. It is the plain name if the command
// runs in the private folder.
func (p *parts) nameFor(name string) string {
	if p.folder == "" || filepath.IsAbs(name) || strings.Contains(name, "/") {
		return name
	}
	return command.Private + "/" + name
}

// requests are the requests that the process has seen. Each is parsed and hashed once.
var requests = request.NewTable[key.Digest, *command.Spec](256)

// Spec returns the command of a request. digest is that of its parts.
func Spec(b []byte, digest key.Digest) (*command.Spec, error) {
	return requests.Get(digest, func() (*command.Spec, error) { return Parse(b) })
}
