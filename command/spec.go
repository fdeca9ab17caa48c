// Spec: a command, the files that it gets, and its result.

package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"jitcache/core/key"
)

// schema is a component of every request's key. It changes when the same command must get
// another result, or when earlier lists lacked something.
const schema = "command 5"

// Private stands for the path of the private folder in the words of a command.
const Private = "\x01"

// Spec describes a command and its result. Equal specs are the same request.
type Spec struct {
	// Args are the words of the command; none if a Runner makes the result (Want.Runner).
	// Private in them stands for the private folder. If the command runs in that folder,
	// plain names are better.
	Args []string
	// Dir is the folder to run in, absolute. "" means the private folder, which is made for
	// the run and has Texts in it.
	Dir   string
	Texts []Text
	// Output is the name of the result's file in the private folder.
	Output string
	// More are components of the request that the command does not show.
	More []Part
	// Kind and Name are the kind of the entry, and the user's name for it.
	Kind, Name string
	// Withhold keeps variables from the command: those that name a session or a rank, those of running numerical libraries,
	// and what Environment says (record.ParseFilter).
	Withhold    bool
	Environment []string
	// Variables (NAME=VALUE), Limits and Umask (observe.ParseLimits) are what the command gets in place of what this process
	// has. They are no components of the request: the lists have what counts of them.
	Variables []string
	Limits    []string
	Umask     string
	// Only are names of variables. If there are any, the command gets only these. A * at the
	// end of a name stands for any text.
	Only []string
	// Timeless says that the program ignores the modification times of files. The caller
	// guarantees it.
	Timeless bool

	once   sync.Once
	known  *known
	failed error
}

// knowledge returns what the process knows of the request. A Spec is hashed only once, so
// it must not be changed after its first use.
func (s *Spec) knowledge() (*known, error) {
	s.once.Do(func() { s.known, s.failed = newKnown(s) })
	return s.known, s.failed
}

// Text is a file that is written into the private folder for the command.
type Text struct {
	Name string
	Data []byte
	// Sum is the BLAKE3 digest of Data, zero if it is not known yet.
	Sum key.Digest
	// Derived says that the text follows from Args and More, and is no component of the
	// request. Data may be missing if nothing is run.
	Derived bool
}

// Part is a labelled component.
type Part struct {
	Label string
	Value []byte
	// Digest may stand in place of Value: the BLAKE3 digest of a value of Size bytes.
	Digest key.Digest
	Size   int
}

func (s *Spec) checkSpec() error {
	if len(s.Args) == 0 || s.Args[0] == "" {
		return fmt.Errorf("command: no words")
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		return fmt.Errorf("command: folder %.80q: want an absolute path", s.Dir)
	}
	if s.Output == "" || strings.ContainsAny(s.Output, "/\x00") {
		return fmt.Errorf("command: output %.80q: want a plain file name", s.Output)
	}
	for i := range s.Texts {
		name := s.Texts[i].Name
		if name == "" || name[0] == '.' || name[0] == '-' || strings.ContainsAny(name, "/\x00") {
			return fmt.Errorf("command: text %.80q: want a plain file name", name)
		}
	}
	return nil
}

// addParts adds the components of the request to a key.
func (s *Spec) addParts(b *key.Builder) {
	b.Add("schema", []byte(schema))
	if len(s.Args) > 0 {
		b.AddTexts("command", s.Args)
		where := "given folder"
		if s.Dir == "" {
			where = "private folder"
		}
		b.AddTexts("runs in", []string{where, s.Output})
	}
	if len(s.Only) > 0 {
		b.AddTexts("variables", s.Only)
	}
	if len(s.Environment) > 0 {
		b.AddTexts("variables chosen", s.Environment)
	}
	if s.Timeless {
		b.AddTexts("takes no notice of", []string{"modification times"})
	}
	for i := range s.Texts {
		t := &s.Texts[i]
		if t.Derived {
			continue
		}
		if t.Sum == (key.Digest{}) {
			t.Sum = key.Sum(t.Data)
		}
		b.AddDigest("text "+t.Name, len(t.Data), t.Sum)
	}
	for _, m := range s.More {
		if m.Digest != (key.Digest{}) {
			b.AddDigest(m.Label, m.Size, m.Digest)
		} else {
			b.Add(m.Label, m.Value)
		}
	}
}

// request returns the key of the request, under which its lists are stored.
func (s *Spec) request() (*key.Key, error) {
	b := key.NewBuilder()
	s.addParts(b)
	b.SetKind(key.NoteKind)
	b.SetName(s.Name)
	return b.Seal()
}

// leaseKey returns the key of the lease. Nothing is ever stored under it. It has the folder
// as a component, so that commands in different folders do not wait for each other, and the
// request's components, which explain a miss.
func (s *Spec) leaseKey() (*key.Key, error) {
	b := key.NewBuilder()
	s.addParts(b)
	b.Add("lease in", []byte(s.Dir))
	b.SetKind(s.Kind)
	b.SetName(s.Name)
	return b.Seal()
}
