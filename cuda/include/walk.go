package include

import (
	"cmp"
	"fmt"
	"slices"

	"jitcache/core/key"
	"jitcache/core/manifest"
)

// text is something that NVRTC scans: the source, a header in memory or a file.
type text struct {
	path   string // as NVRTC shows it
	folder string // where quoted names start, empty or with a slash behind
	body   []byte
	digest key.Digest
	// noFolder: quoted names do not start there (--no-source-include).
	noFolder bool
	// ident is the file of that path on disk, which a header in memory may have
	// too: #pragma once goes by it.
	ident identity

	reached    bool
	directives []directive
	links      []link
}

// link is what a directive leads to.
type link struct {
	kind    kind
	targets []target
	found   []int    // per name that was looked up how many of the targets are its
	names   []string // of targets that stand for everything
}

// Find finds the closure of a program. The error is a [request.Refused]
// if the closure cannot be known, or else one of the system.
func Find(req *Request) (*Closure, error) {
	w := &walk{
		req: req, dialect: dialectOf(req.Standard), memory: map[string]*text{},
		disk:    disk{files: map[string]*file{}, folders: map[string]*folder{}, list: &manifest.List{}},
		first:   map[identity][]*file{},
		all:     map[string]*everything{},
		asks:    asks{askers: map[string]int{}, roams: map[name]int{}, kinds: map[name]kind{}},
		defined: macros{},
	}
	source, err := w.start()
	if err != nil {
		return nil, err
	}
	if err := w.run(); err != nil {
		return nil, err
	}
	return w.closure(source), nil
}

// walk goes from text to text until no directive leads to a new one.
type walk struct {
	req     *Request
	dialect dialect
	disk    disk
	memory  map[string]*text
	queue   []*text
	texts   []*text // all that were reached
	first   map[identity][]*file

	open      []computed
	asks      asks
	defined   macros
	all       map[string]*everything // by the folder of the includer
	collected int                    // how many texts have their definitions in defined
}

// start makes the texts that are there without a directive: the source, and
// what --pre-include names, which NVRTC looks for in the working folder first.
func (w *walk) start() (*text, error) {
	for i := range w.req.Headers {
		h := &w.req.Headers[i]
		if w.memory[h.Name] == nil { // NVRTC refuses two of one name
			w.memory[h.Name] = &text{path: h.Name, folder: folderOf(h.Name), body: []byte(h.Text), digest: key.Sum([]byte(h.Text))}
		}
	}
	source := &text{path: cmp.Or(w.req.Name, "default_program"), body: []byte(w.req.Source), noFolder: w.req.NoSourceInclude}
	source.folder = folderOf(source.path)
	w.reach(source)
	for _, m := range w.req.Macros {
		d := &directive{kind: kindDefine, text: definition(m)}
		w.defined.define(d.text)
		if err := w.ask(source, d); err != nil {
			return nil, err
		}
	}
	before := &text{reached: true}
	for _, pre := range w.req.PreIncludes {
		targets, err := w.resolve(name{pre, true}, kindInclude, before)
		if err == nil {
			err = w.follow(targets)
		}
		if err != nil {
			return nil, err
		}
		source.links = append(source.links, link{kind: kindInclude, targets: targets, found: []int{len(targets)}})
	}
	return source, nil
}

// reach puts a text that is no file on the list of those to scan. The file that
// has its name belongs to the closure for its identity.
func (w *walk) reach(t *text) {
	if t.reached {
		return
	}
	t.reached = true
	// What cannot be read cannot be included either.
	if f, err := w.disk.lookup(t.path); err == nil && f.there() {
		t.ident = f.identity()
	}
	w.queue = append(w.queue, t)
}

// follow puts the files among the targets on the list of those to scan.
func (w *walk) follow(targets []target) error {
	for _, t := range targets {
		if t.file == nil || t.file.text != nil {
			continue
		}
		f := t.file
		f.text = w.twin(f)
		if f.text != nil {
			continue
		}
		f.text = &text{path: f.path, folder: folderOf(f.path), body: f.body, digest: f.Digest, ident: f.identity(), reached: true}
		w.queue = append(w.queue, f.text)
	}
	return nil
}

// twin returns the text of a file that is f by another path, in the same folder
// by another path: its names lead to the same files, and scanning x/../x/a.h
// and so on would have no end. That the folders are one goes into the list.
func (w *walk) twin(f *file) *text {
	for _, other := range w.first[f.identity()] {
		a, b := folderOf(f.path), folderOf(other.path)
		if sameFolder(a, b) {
			w.disk.list.Aliases = append(w.disk.list.Aliases, manifest.Alias{A: orHere(a), B: orHere(b)})
			return other.text
		}
	}
	w.first[f.identity()] = append(w.first[f.identity()], f)
	return nil
}

func (w *walk) run() error {
	for {
		for len(w.queue) > 0 {
			t := w.queue[0]
			w.queue = w.queue[1:]
			w.texts = append(w.texts, t)
			if err := w.scan(t); err != nil {
				return err
			}
		}
		again, err := w.compute()
		if err != nil {
			return err
		}
		if !again {
			return nil
		}
	}
}

// scan follows the directives of a text.
func (w *walk) scan(t *text) error {
	t.directives = scan(t.body, w.dialect)
	for i := range t.directives {
		d := &t.directives[i]
		switch d.kind {
		case kindDefine, kindCondition:
			if err := w.ask(t, d); err != nil {
				return err
			}
			continue
		}
		n, literal := literalName(d.text)
		if !literal {
			w.later(t, d, d.kind, d.text)
			continue
		}
		t.links = append(t.links, link{kind: d.kind})
		if err := w.link(&t.links[len(t.links)-1], n, t); err != nil {
			return err
		}
	}
	return w.askCode(t)
}

func (w *walk) link(l *link, n name, from *text) error {
	if !followHeaders && len(w.texts) > 0 && from != w.texts[0] {
		return nil
	}
	targets, err := w.resolve(n, l.kind, from)
	if err != nil {
		return err
	}
	l.targets = append(l.targets, targets...)
	l.found = append(l.found, len(targets))
	if l.kind == kindInclude || l.kind == kindNext {
		return w.follow(targets)
	}
	return nil
}

// literalName reads a name in quotes or angle brackets.
func literalName(text []byte) (name, bool) {
	if len(text) < 2 || text[0] != '<' && text[0] != '"' {
		return name{}, false
	}
	closing := byte('"')
	if text[0] == '<' {
		closing = '>'
	}
	end := slices.Index(text[1:], closing)
	if end < 0 {
		return name{}, false
	}
	return name{string(text[1 : 1+end]), closing == '"'}, true
}

// place names a directive for a message: file and line.
func (t *text) place(d *directive) string {
	line := 1
	for _, c := range t.body[:min(d.at, len(t.body))] {
		if c == '\n' {
			line++
		}
	}
	return fmt.Sprintf("%s:%d", t.path, line)
}
