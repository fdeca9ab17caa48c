package command

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"jitcache/core/key"
)

// schema is a component of every request. It changes when the same command is to
// have another result, or when a list had said too little.
const schema = "command 2"

// Private stands for the private folder in the words of a command.
const Private = "\x01"

// Spec is a command, and what its owner wants of it. Equal ones are one request.
type Spec struct {
	// Args are the words of the command, none if it is none (Want.Runner). Private in them stands for the private
	// folder; where the command runs in it, plain names do better.
	Args []string
	// Dir is the folder to run it in, absolute; "": the private one, which is made
	// for the run and has Texts in it.
	Dir   string
	Texts []Text
	// Output is the file in the private folder that is the result.
	Output string
	// More are components of the request that the command does not show.
	More []Part
	// Kind and Name are those of the key: what the entry is, and what the user calls
	// it.
	Kind, Name string
	// Withhold keeps variables that name a session or a rank from the command.
	Withhold bool
	// Only are the variables that the command is given, if there are any: names, and
	// with a * at the end what begins so.
	Only []string
	// Timeless: the command's program takes no notice of when files were modified. Its
	// owner has seen to that.
	Timeless bool

	once   sync.Once
	known  *known
	failed error
}

// knowledge is what the process knows of the request. A Spec that is used again is
// hashed once; it must not be changed after its first use.
func (s *Spec) knowledge() (*known, error) {
	s.once.Do(func() { s.known, s.failed = newKnown(s) })
	return s.known, s.failed
}

// Text is a file in the private folder, written for the command.
type Text struct {
	Name string
	Data []byte
	// Sum is BLAKE3 of Data, if it is known already.
	Sum key.Digest
	// Derived: it follows from Args and More, and does not count. Where nothing is
	// run it need not be there.
	Derived bool
}

// Part is a labelled component.
type Part struct {
	Label string
	Value []byte
	// Digest is BLAKE3 of the value, which has Size bytes, in place of it.
	Digest key.Digest
	Size   int
}

func (s *Spec) check() error {
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

// parts adds what the request is made of to a key.
func (s *Spec) parts(b *key.Builder) {
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

// request is the key of a request: that of its lists, and of its lease.
func (s *Spec) request() (*key.Key, error) {
	b := key.NewBuilder()
	s.parts(b)
	b.SetKind("manifest")
	b.SetName(s.Name)
	return b.Seal()
}

// leaseKey is the key of the lease, under which nothing is ever stored: commands that
// run in different folders do not wait for each other. It has the request's components,
// to explain a miss by.
func (s *Spec) leaseKey() (*key.Key, error) {
	b := key.NewBuilder()
	s.parts(b)
	b.Add("lease in", []byte(s.Dir))
	b.SetKind(s.Kind)
	b.SetName(s.Name)
	return b.Seal()
}
