// Request: a launched command, and the keys that are made of it.

package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/record"
)

// schema is a component of every request. It changes when the same command is to have another
// result, or when lists or results of an older version lacked something.
const schema = "run 8"

// kind is the kind of the entries.
const kind = "run"

// Options are what the caller says of a command.
type Options struct {
	// Invented are paths that mean nothing. Map is the option by which a compiler keeps them
	// out of its output, such as -ffile-prefix-map.
	Invented []Invented
	Map      string

	// Environment says which variables the command is given.
	Environment record.Filter

	// Keep are patterns for names of programs: a command of another one is run, and nothing of it is kept. Empty: all are.
	Keep []string

	// Hermetic is the second that the command is shown as all times, nil: it sees the true ones. It is given what a
	// strict Environment gives.
	Hermetic *int64

	// Tell is the file to which a line of JSON is added for each event of the command,
	// ToErrors for standard error, "" for none.
	Tell string
}

// Withhold adds words to Environment, as record.ParseFilter reads them.
func (o *Options) Withhold(words []string) (err error) {
	o.Environment, err = record.ParseFilter(append(o.Environment.Words(), words...))
	return err
}

// keepsOf reports whether results of a command's program are kept.
func (o *Options) keepsOf(words []string) bool {
	name := filepath.Base(words[0])
	return len(o.Keep) == 0 || !namesPrograms || slices.ContainsFunc(o.Keep, func(pattern string) bool {
		match, err := filepath.Match(pattern, name)
		return match && err == nil
	})
}

// ToErrors, as Options.Tell, stands for standard error.
const ToErrors = "-"

// Request is a command, and the process that wants it run.
type Request struct {
	words    []string // as it is run
	dir      string   // where this process is, without links
	env      []string
	hermetic *int64
	places   []record.Place
	inWords  int // how many of the places are in the words and the folder
	state    status
	stream   string

	request *key.Key
}

// newRequest makes the request for a command of this process.
func newRequest(o *Options, words []string, state status) (*Request, error) {
	r := &Request{words: words, env: o.environ(os.Environ()), hermetic: o.Hermetic, state: state, stream: streams()}
	if o.Hermetic != nil {
		r.env = withoutCompiled(r.env)
	}
	var buffer [unix.PathMax]byte
	n, err := unix.Getcwd(buffer[:])
	if err != nil {
		return nil, err
	}
	r.dir = unix.ByteSliceToString(buffer[:n])
	r.places, r.inWords = find(o.Invented, r.dir, words, r.env)
	if o.Map != "" {
		r.words = slices.Clip(r.words)
		for _, p := range r.places {
			r.words = append(r.words, o.Map+"="+p.Path+"="+strings.TrimSuffix(p.Name, record.Relative))
		}
	}
	r.request, err = r.seal()
	return r, err
}

// Labels of components of a request, which the reason of a miss names.
const (
	partSchema = "schema"
	partPlaces = "placeholders"
	partOutput = "standard output"
	partUmask  = "umask"
	partSecond = "hermetic" // of hermetic runs alone
)

// parts adds the components of the request to a key.
func (r *Request) parts(b *key.Builder) {
	words := r.words
	if len(r.places) > 0 {
		words = make([]string, len(r.words))
		for i, w := range r.words {
			words[i] = record.Mark(w, r.places)
		}
	}
	names := make([]string, r.inWords)
	for i, p := range r.places[:r.inWords] {
		names[i] = p.Name
	}
	b.Add(partSchema, []byte(schema))
	b.AddTexts("command", words)
	b.AddTexts(partPlaces, names)
	b.Add(partOutput, []byte(r.stream[1:])) // standard input counts for who asks: record
	r.addHermetic(b)
	b.Add(partUmask, []byte{byte(r.state.umask >> 8), byte(r.state.umask)})
}

func (r *Request) seal() (*key.Key, error) {
	b := key.NewBuilder()
	r.parts(b)
	b.SetKind(key.NoteKind)
	b.SetName(r.name())
	return b.Seal()
}

// name returns what people would call the command: its program, and its last word that is no
// option.
func (r *Request) name() string {
	name := filepath.Base(r.words[0])
	for _, w := range slices.Backward(r.words[1:]) {
		if w != "" && w[0] != '-' {
			name += " " + filepath.Base(w)
			break
		}
	}
	name = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == '\uFFFD' {
			return '?'
		}
		return c
	}, name)
	return name[:min(len(name), 200)]
}

// leaseKey is the key of the lease. It has the folder, so that commands in different folders
// do not wait for each other.
func (r *Request) leaseKey() *key.Key {
	b := key.NewBuilder()
	b.Add("request", r.request.ID[:])
	b.Add("folder", []byte(record.Mark(r.dir, r.places)))
	b.SetKind(kind)
	b.SetName(r.request.Name)
	return mustSeal(b)
}

func mustSeal(b *key.Builder) *key.Key {
	k, err := b.Seal()
	if err != nil { // plain labels, each once
		panic(err)
	}
	return k
}

// resultKey is the key of the command's result in the world of a list.
func (r *Request) resultKey(l *record.List) (*key.Key, error) {
	b := key.NewBuilder()
	r.parts(b)
	for _, p := range l.Parts() {
		b.AddDigest(p.Label, 0, p.Digest)
	}
	b.SetKind(kind)
	b.SetName(r.request.Name)
	return b.Seal()
}

// surroundings returns what lists are compared with.
func (r *Request) surroundings(notes record.Notes) *record.Surroundings {
	return &record.Surroundings{Dir: r.dir, Env: markJobServers(r.env), Places: r.places, Notes: notes}
}
