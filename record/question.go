// Question: one thing that has differed between the worlds of a request; which questions tell lists
// apart.

package record

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// Question is one thing that has differed between the worlds of a request. A list answers it
// if the thing counts in the list. So a world that answers otherwise is not that of the list.
type Question struct {
	About Topic
	// Name is a path, the name of a variable, or the mask of the limits; "" for the rest.
	Name string
	// Except has, for NamesIn, the names that are left out, with slashes between them.
	Except string
}

// Topic is what a question is about. If several questions tell worlds apart equally well,
// the one of the lowest topic is asked.
type Topic uint8

// The topics.
const (
	FolderOfRun  Topic = iota // the folder that the command runs in
	ContentOf                 // the content of a file, or that it is absent
	ValueOf                   // the value of a variable
	TextOf                    // the text of a link
	NamesIn                   // the names in a folder
	TheProcessor              // see World
	TheHost                   //
	TheLimits                 //
)

// Answers that are no digests.
const (
	isAbsent = "absent"
	isUnset  = "unset"
	isOther  = "other "
)

// ---- the answers of a list

// answer returns what the list says to a question. It reports false if the list says nothing.
func (l *List) answer(q Question) (string, bool) {
	switch q.About {
	case ContentOf:
		return l.contentOf(q.Name)
	case ValueOf:
		return l.valueOf(q.Name)
	case TextOf:
		i, ok := slices.BinarySearchFunc(l.Links, q.Name, func(k Link, p string) int { return cmp.Compare(k.Path, p) })
		if !ok {
			return "", false
		}
		return l.Links[i].Text, true
	case NamesIn:
		i, ok := l.folder(q.Name)
		if !ok || l.Folders[i].Flags&Listed == 0 || strings.Join(l.Folders[i].Except, "/") != q.Except {
			return "", false
		}
		return string(l.Folders[i].Names[:]), true
	}
	for is, says := range l.World.answers() {
		if is == q {
			return says, true
		}
	}
	return "", false
}

func (l *List) folder(path string) (i int, ok bool) {
	return slices.BinarySearchFunc(l.Folders, path, func(f Folder, p string) int { return cmp.Compare(f.Path, p) })
}

func (l *List) contentOf(path string) (string, bool) {
	i, ok := slices.BinarySearchFunc(l.Files, path, func(f File, p string) int { return cmp.Compare(f.Path, p) })
	if ok {
		return l.Files[i].asAnswer()
	}
	folder, name := split(path)
	if i, ok := l.folder(folder); ok {
		_, ok = slices.BinarySearch(l.Folders[i].Absent, name)
		return isAbsent, ok
	}
	return "", false
}

// asAnswer returns the digest of a file. Files of /proc, which say that they are empty, are not
// asked for: some block their readers.
func (f *File) asAnswer() (string, bool) {
	if f.Flags&(Loader|ByMaker) != 0 || f.Stamp.Size == 0 && f.Digest != nothing {
		return "", false
	}
	return string(f.Digest[:]), true
}

var nothing = key.Sum(nil)

func (l *List) valueOf(name string) (string, bool) {
	w := &l.World
	i, ok := slices.BinarySearchFunc(w.Variables, name, func(v Variable, n string) int { return cmp.Compare(v.Name, n) })
	switch {
	case name == unsaid || !w.Rule.counts(name, w.Also):
		return "", false
	case !ok:
		return isUnset, true
	}
	return string(w.Variables[i].Value[:]), true
}

// answers yields what does not concern files and variables.
func (w *World) answers() func(func(Question, string) bool) {
	return func(yield func(Question, string) bool) {
		if w.Dir != "" && !yield(Question{About: FolderOfRun}, w.Dir) {
			return
		}
		for _, d := range []struct {
			q  Question
			is key.Digest
		}{{Question{About: TheProcessor}, w.CPU}, {Question{About: TheHost}, w.Host}, {Question{About: TheLimits, Name: fmt.Sprint(w.Asked)}, w.Limits}} {
			if d.is != (key.Digest{}) && !yield(d.q, string(d.is[:])) {
				return
			}
		}
	}
}

// questions yields what a list answers, with its answers; unset variables are left out.
func (l *List) questions() func(func(Question, string) bool) {
	return func(yield func(Question, string) bool) {
		ask := func(about Topic, name, says string) bool { return yield(Question{About: about, Name: name}, says) }
		for q, says := range l.World.answers() {
			if !yield(q, says) {
				return
			}
		}
		for i := range l.Files {
			if says, ok := l.Files[i].asAnswer(); ok && !ask(ContentOf, l.Files[i].Path, says) {
				return
			}
		}
		for i := range l.Folders {
			f := &l.Folders[i]
			for _, name := range f.Absent {
				if path := join(f.Path, name); !ask(ContentOf, path, isAbsent) {
					return
				}
			}
			if f.Flags&Listed != 0 && !yield(Question{NamesIn, f.Path, strings.Join(f.Except, "/")}, string(f.Names[:])) {
				return
			}
		}
		for _, v := range l.World.Variables {
			if says, ok := l.valueOf(v.Name); ok && !ask(ValueOf, v.Name, says) {
				return
			}
		}
		for _, k := range l.Links {
			if !ask(TextOf, k.Path, k.Text) {
				return
			}
		}
	}
}

// answersTo returns the answers of a list to questions, nil if it does not answer all of them.
func (l *List) answersTo(questions []Question) []string {
	all := make([]string, len(questions))
	for i, q := range questions {
		says, ok := l.answer(q)
		if !ok {
			return nil
		}
		all[i] = says
	}
	return all
}

// ---- the answers of the world

// asker asks the world of the process that looks up. It asks each question once.
type asker struct {
	checker
	known map[Question]string
}

func newAsker(now *Surroundings) *asker {
	return &asker{checker: checker{now: now}, known: map[Question]string{}}
}

func (a *asker) answersTo(questions []Question) []string {
	all := make([]string, len(questions))
	for i, q := range questions {
		says, ok := a.known[q]
		if !ok {
			says = a.answer(q)
			a.known[q] = says
		}
		all[i] = says
	}
	return all
}

func (a *asker) answer(q Question) string {
	digest := key.Digest{}
	switch q.About {
	case FolderOfRun:
		return placed(realDir(a.now.Dir), a.now.Places)
	case ContentOf:
		return a.contentOf(q.Name)
	case ValueOf:
		for _, v := range a.now.variables(NamedVariables, []string{q.Name}) {
			return string(v.Value[:])
		}
		return isUnset
	case TextOf:
		var text [4096]byte
		n, err := unix.Readlink(unix.ByteSliceToString(a.path(q.Name)), text[:])
		if err != nil {
			return isOther + err.Error()
		}
		return placed(string(text[:n]), a.now.Places)
	case NamesIn:
		a.status.Expected = 0
		if errno := a.status.At(a.path(q.Name), 0); errno != 0 || a.status.Kind() != unix.S_IFDIR {
			return isOther + "type" // opening a pipe would wait for who writes into it
		}
		names, err := readNames(unix.ByteSliceToString(a.path(q.Name)))
		if err != nil {
			return isOther + err.Error()
		}
		digest = namesDigest(names, strings.Split(q.Except, "/"))
	case TheProcessor:
		digest = Processor()
	case TheHost:
		digest = host()
	case TheLimits:
		asked, _ := strconv.ParseUint(q.Name, 10, 64)
		digest = limits(asked, a.now.Limits)
	}
	return string(digest[:])
}

func (a *asker) contentOf(path string) string {
	a.status.Expected = 0
	errno := a.status.At(a.path(path), 0)
	switch {
	case errno == syscall.ENOENT || errno == syscall.ENOTDIR:
		return isAbsent
	case errno != 0:
		return isOther + errno.Error()
	case a.status.Kind() != unix.S_IFREG:
		return isOther + "type"
	case a.status.Stamp.Size == 0:
		return string(nothing[:])
	}
	was := a.status.Stamp
	digest, _, err := a.now.digests().of(unix.ByteSliceToString(a.path(path)), &was)
	if err != nil {
		return isOther + err.Error()
	}
	return string(digest[:])
}

// ---- which questions tell lists apart

// mostQuestions bounds the questions of a generation. Each costs a lookup a few microseconds.
const mostQuestions = 32

// tellApart returns the fewest questions that it can find which the first list answers, and which
// tell the lists apart as far as can be; none if nothing does. Each further question is the one
// that tells most pairs apart.
func tellApart(lists []*List) (chosen []Question) {
	candidates := differing(lists)
	together := make([]int, len(lists)) // lists that are not told apart yet have one number
	for len(chosen) < mostQuestions {
		best, most := 0, 0
		for i, c := range candidates {
			if n := c.parts(together); n > most {
				best, most = i, n
			}
		}
		if most == 0 {
			break
		}
		c := candidates[best]
		chosen = append(chosen, c.question)
		numbers := map[string]int{}
		for i, n := range together {
			if c.says[i] == "" {
				together[i] = -1 - i // it is not filed under these questions
				continue
			}
			class := fmt.Sprint(n, " ", c.says[i])
			if _, ok := numbers[class]; !ok {
				numbers[class] = len(numbers)
			}
			together[i] = numbers[class]
		}
	}
	return chosen
}

// candidate is a question, and what each list says to it, "" for nothing.
type candidate struct {
	question Question
	says     []string
}

// parts returns how many pairs of lists with one number a question tells apart.
func (c *candidate) parts(together []int) (pairs int) {
	for i := range together {
		for j := range i {
			if together[i] == together[j] && c.says[i] != "" && c.says[j] != "" && c.says[i] != c.says[j] {
				pairs++
			}
		}
	}
	return pairs
}

// differing returns the questions that the first list answers, and another otherwise, in the order
// in which they are preferred.
func differing(lists []*List) (all []candidate) {
	seen := map[Question]bool{}
	for _, l := range lists {
		for q := range l.questions() {
			first, ok := lists[0].answer(q)
			if !ok || seen[q] || len(q.Name)+len(q.Except) > maxPath {
				continue
			}
			seen[q] = true
			c := candidate{q, make([]string, len(lists))}
			differs := false
			for i := range lists {
				c.says[i], _ = lists[i].answer(q)
				differs = differs || c.says[i] != "" && c.says[i] != first
			}
			if differs {
				all = append(all, c)
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		a, b := &all[i].question, &all[j].question
		return cmp.Or(cmp.Compare(a.About, b.About), cmp.Compare(strings.Count(a.Name, "/"), strings.Count(b.Name, "/")), cmp.Compare(a.Name, b.Name)) < 0
	})
	return all
}
