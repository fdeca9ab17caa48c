package native

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
)

// Question is a command whose output is wanted. It is to be run in an empty
// folder with the request's sources that are in memory, and LC_ALL=C.
type Question struct {
	Args []string
	// About is what the answer is about, and handed back with it: a language, of
	// which this is the toolchain; a program that is part of one; or, if empty, the
	// files of the sources.
	About string
}

// quiet keeps clang from complaining of flags that a question has no use for,
// which -Werror would make fatal. Others ignore it.
const quiet = "-Wno-unused-command-line-argument"

// Key returns the key that the request has now: it looks at every file that the
// compiler reads. Where it is not known which these are, it returns a question,
// to be answered and asked again. cache may be nil.
func (r *Request) Key(cache manifest.Cache) (*key.Key, *Question, error) {
	rec, err := r.record()
	if err != nil {
		return nil, nil, err
	}
	if rec.refused != nil {
		return nil, nil, rec.refused
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, language := range rec.languages() {
		if q, err := rec.toolchain(language, cache); q != nil || err != nil {
			return nil, q, err
		}
	}
	if !rec.closure(cache) {
		if rec.asked == 0 {
			rec.asked = time.Now().UnixNano()
		}
		return nil, &Question{Args: rec.askFiles()}, nil
	}
	if rec.now.Refused != "" {
		return nil, nil, request.Refuse(rec.words[0], rec.now.Refused)
	}
	if rec.answer == nil {
		if rec.answer, err = rec.seal(); err != nil {
			return nil, nil, err
		}
	}
	return rec.answer, nil, nil
}

// askFiles is the compiler's command that says which files it reads.
func (rec *record) askFiles() []string {
	args := append(slices.Clone(rec.words), rec.parts.flags...)
	return append(append(args, quiet, "-M"), rec.inputs()...)
}

// toolchain brings what is known of the compiler up to date, or returns what is to
// be asked for that.
func (rec *record) toolchain(language string, cache manifest.Cache) (*Question, error) {
	if rec.knows(language, cache) {
		return nil, nil
	}
	t := rec.learned[language]
	if t == nil {
		return &Question{rec.ask(language), language}, nil
	}
	lists, q, err := rec.programLists(t, cache)
	if q != nil {
		return q, nil
	}
	delete(rec.learned, language)
	if err != nil {
		return nil, err
	}
	if t.join(lists) {
		rec.tools[language].Add(t.list, cache)
	}
	if rec.knows(language, cache) {
		return nil, nil
	}
	return &Question{rec.ask(language), language}, nil
}

// knows reports whether the toolchain is what it was.
func (rec *record) knows(language string, cache manifest.Cache) bool {
	l := rec.look(rec.tools[language], cache)
	if l == nil {
		return false
	}
	t := rec.tool[language]
	if t == nil || t.list != l {
		if t = fromList(l); t == nil {
			return false
		}
		rec.tool[language], rec.answer = t, nil
	}
	return t.stands()
}

// look returns the list of a store that holds. The key has its stamps: if they
// are new, so must the key be.
func (rec *record) look(s *manifest.Store, cache manifest.Cache) *manifest.List {
	found := s.Find(cache)
	if found.Stale {
		rec.answer = nil
	}
	return found.List
}

// closure brings what is known of the files up to date.
func (rec *record) closure(cache manifest.Cache) bool {
	l := rec.look(rec.fileStore(), cache)
	if l == nil {
		return false
	}
	if rec.now == nil || rec.now.list != l {
		if rec.now = closureOf(l); rec.now == nil {
			return false
		}
		rec.answer = nil
	}
	return true
}

// Answer takes the answer to a question: what the command has printed.
func (r *Request) Answer(q *Question, status int, out, log []byte, cache manifest.Cache) error {
	rec, err := r.record()
	if err != nil {
		return err
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if program, ok := strings.CutPrefix(q.About, aboutProgram); ok {
		// A loader that cannot list has nothing to say; the program itself counts.
		return rec.takeProgram(program, out, cache)
	}
	if status != 0 {
		return &Failed{rec.words[0], string(log)}
	}
	if q.About == "" {
		return rec.take(out, cache)
	}
	return rec.takeToolchain(q.About, string(log))
}

// takeToolchain takes what the compiler has said of itself.
func (rec *record) takeToolchain(language, log string) error {
	path, absent := lookup(rec.words[0], rec.path)
	if path == "" {
		return &Failed{rec.words[0], "not found in PATH"}
	}
	programs := []string{path}
	_, command := rec.ownFlags()
	for _, word := range command {
		if path, _ := lookup(word, rec.path); path != "" && filepath.IsAbs(path) {
			programs = append(programs, path)
		}
	}
	t, err := learn(log, programs, rec.path, rec.flags)
	if err != nil {
		return err
	}
	t.list.Absent = append(t.list.Absent, absent...)
	t.stamps = stampsOf(t.programs)
	rec.learned[language] = t
	return nil
}

// take takes the answer to the question which files are read.
func (rec *record) take(rulesText []byte, cache manifest.Cache) error {
	asked := rec.asked
	if rec.asked = 0; asked == 0 {
		return nil // another thread has asked too, and was first
	}
	var t *toolchain
	for _, language := range rec.languages() {
		// Where C++ looks C looks too, and not the other way round.
		if t == nil || language == "c++" {
			t = rec.tool[language]
		}
	}
	if t == nil {
		return &Failed{rec.words[0], "answers a question that was not asked"}
	}
	c, err := gather(rec.parts, rec.flags, t, rules(rulesText))
	if err != nil {
		return err
	}
	if rec.doubts(c.list, asked) {
		return nil // and the question comes again
	}
	rec.fileStore().Add(c.list, cache)
	return nil
}

// tick is how far the clock of a file system may be behind: it follows the timer
// interrupt, 1 to 10 ms apart.
const tick = int64(20 * time.Millisecond)

// doubts reports whether a file may have changed since the compiler was asked:
// then what it said is of one state, and what was read after it of another. If it
// is as it was after the question before, it has not.
func (rec *record) doubts(l *manifest.List, asked int64) bool {
	before := map[string]key.Stamp{}
	if rec.doubt != nil {
		for i := range rec.doubt.Files {
			before[rec.doubt.Files[i].Path] = rec.doubt.Files[i].Stamp
		}
	}
	rec.doubt = nil
	for i := range l.Files {
		f := &l.Files[i]
		was, ok := before[f.Path]
		if max(f.Stamp.Mtime, f.Stamp.Ctime) > asked-tick && !(ok && was.Same(&f.Stamp)) {
			rec.doubt = l
			return true
		}
	}
	return false
}

// seal computes the key of what is known now.
func (rec *record) seal() (*key.Key, error) {
	b := key.NewBuilder()
	c := rec.now
	b.Add("schema", []byte(schema))
	b.Add("kind", []byte(rec.kind))
	b.AddTexts("flags", rec.flags.keyed)
	b.AddTexts("environment", rec.variables)
	b.AddDigest("headers", 0, c.Headers)
	b.AddDigest("libraries", 0, c.Links)
	for language, t := range rec.tool {
		b.AddDigest("compiler for "+language, 0, t.digest)
	}
	if c.Shows {
		b.AddDigest("paths", 0, c.Paths)
	}
	disk := c.Sources
	for i := range rec.sources {
		s := &rec.sources[i]
		b.Add(label("name of source", i), []byte(filepath.Base(s.name)))
		if s.inMemory {
			b.AddDigest(label("source", i), len(s.text), s.digest)
		} else if len(disk) > 0 {
			b.AddDigest(label("source", i), 0, disk[0])
			disk = disk[1:]
		}
	}
	for _, m := range rec.more {
		if err := b.Add(m.label, m.value); err != nil {
			return nil, err
		}
	}
	for _, l := range rec.lists() {
		inputs, err := l.Inputs()
		if err != nil {
			return nil, request.Refuse(rec.words[0], err.Error())
		}
		for _, in := range inputs {
			b.AddInput(in)
		}
	}
	b.SetKind("native")
	if err := b.SetName(rec.name); rec.name != "" && err != nil {
		return nil, err
	}
	return b.Seal()
}

// lists are what the key stands on.
func (rec *record) lists() []*manifest.List {
	all := []*manifest.List{rec.now.list}
	for _, t := range rec.tool {
		all = append(all, t.list)
	}
	return all
}

func label(what string, i int) string {
	if i == 0 {
		return what
	}
	return what + " " + strconv.Itoa(i+1)
}

func sortPaths(paths []string) { slices.Sort(paths) }
