// Stores the result of a command that has run: its outputs, and what it printed.

package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core"
	"jitcache/core/request"
	"jitcache/core/store"
	"jitcache/observe"
	"jitcache/record"
)

// Ran says how a command was run, for the process that stores its result.
type Ran struct {
	Files observe.Files
	Began time.Time
	// Unknown is which variables count if a program turns out not to be known.
	Unknown record.Rule
	// Claim is the descriptor of the claim on a remote, 0: none; see core.Lease.
	Claim int
}

// KeepName is the first word of the launcher's program when it is started to store the result
// of a command. The second word is a Ran as text, and the rest are the words that the launcher
// was started with.
const KeepName = "jitcache-keep"

// String returns the Ran as one word.
func (r *Ran) String() string {
	return fmt.Sprintf("%d,%d,%d,%d,%d,%d", r.Files.Report, r.Files.Out, r.Files.Err, r.Began.UnixNano(), r.Unknown, r.Claim)
}

// ParseRan reads what String has written.
func ParseRan(text string) (*Ran, error) {
	var n [6]int64
	words := strings.Split(text, ",")
	if len(words) != len(n) {
		return nil, fmt.Errorf("%q: want %d numbers", text, len(n))
	}
	for i, w := range words {
		var err error
		if n[i], err = strconv.ParseInt(w, 10, 64); err != nil {
			return nil, err
		}
	}
	files := observe.Files{Report: int(n[0]), Out: int(n[1]), Err: int(n[2])}
	return &Ran{files, time.Unix(0, n[3]), record.Rule(n[4]), int(n[5])}, nil
}

// Keep stores the result of a command that this process's parent has run. If it cannot be
// kept, the log says why. If the command has failed, Keep only reports that.
func Keep(o *Options, words []string, ran *Ran) error {
	l, err := open(o, words, readStatus())
	if err != nil {
		return err
	}
	defer l.cache.Close()
	l.teller = o.newTeller(l.request.words, os.Getppid(), ran.Began)
	rep, err := ran.Files.ReadReport()
	if err != nil {
		return errors.Join(err, l.teller.tell(notKept, err.Error(), nil))
	}
	if rep.Status != 0 {
		return l.teller.failed(rep.Status)
	}
	return l.keep(rep, ran)
}

func (l *lookup) keep(rep *observe.Report, ran *Ran) error {
	r := l.request
	run := record.Run{
		Also:   variablesOfJobServer(rep),
		Report: rep, Dir: r.dir, Env: markJobServers(r.env), Places: r.places, Notes: l.cache,
		Leaves: func(string) bool { return true }, Unknown: ran.Unknown, InPlace: true,
		Terminal: r.printsToTerminal(), Hermetic: r.hermetic != nil,
	}
	var list *record.List
	var result *result
	err := endOfHermetic(rep)
	headers := headersOf(rep)
	large := areLarge(headers)
	if err == nil && !large {
		err = l.overCap(rep)
	}
	if err == nil {
		list, err = run.Take()
	}
	if err == nil {
		result, err = r.take(&run, list, ran.Began)
	}
	why := store.None
	if err == nil && !large {
		why, err = l.keepPieces(result)
	}
	var refused *request.Refused
	if errors.As(err, &refused) {
		l.cache.NotStored(r.request, kind, reasonOf(refused), refused.Error())
		l.remember(rep, refused)
		return l.teller.tell(notKept, refused.Error(), nil)
	}
	if err != nil {
		return errors.Join(err, l.teller.tell(notKept, err.Error(), nil))
	}
	k, err := r.resultKey(list)
	if err != nil {
		return err
	}
	if why != store.None {
		return l.teller.tell(notKept, why.String(), nil)
	}
	if large {
		l.noteMaker(headers, &k.ID)
		l.cache.NotStored(r.request, kind, store.TooLarge, largeHeader)
		return l.teller.tell(notKept, largeHeader, nil)
	}
	list.Payload = k.ID[:]
	attributes := result.attributes(r)
	if why := l.cache.Commit(k, result.append(nil), attributes, time.Since(ran.Began)); why != store.None {
		return l.teller.tell(notKept, why.String(), nil)
	}
	l.lists.Add(list, r.surroundings(l.cache))
	l.noteMaker(headers, &k.ID)
	l.cache.Settle(ran.Claim)
	return l.teller.tell(kept, "", &k.ID)
}

// attributes returns what the entry says of itself, as JSON: the command, and its outputs.
func (r *result) attributes(req *Request) string {
	text := []byte(`{"command":`)
	text = appendJSON(text, strings.Join(req.words, " "))
	text = append(text, `,"outputs":[`...)
	for i := range r.outputs {
		if i > 0 {
			text = append(text, ',')
		}
		text = appendJSON(text, r.outputs[i].path)
	}
	text = append(text, "]}"...)
	if core.CheckAttributes(string(text)) != nil {
		return ""
	}
	return string(text)
}

// most is how many bytes of a text go into attributes.
const most = 2000

func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for i, c := range s {
		if i > most {
			b = append(b, "…"...)
			break
		}
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', byte(c))
		case c < ' ' || c == '\uFFFD':
			b = append(b, '?')
		default:
			b = append(b, string(c)...)
		}
	}
	return append(b, '"')
}

// ---- what the command has left

// take makes a result of the files that the command has left and of what it has printed.
func (r *Request) take(run *record.Run, list *record.List, began time.Time) (*result, error) {
	t, rep := taker{request: r, outputs: run.Outputs, began: began}, run.Report
	for i := range rep.Files {
		if err := t.file(&rep.Files[i]); err != nil {
			return nil, err
		}
	}
	if t.both && list.World.Dir == "" {
		list.World.Dir = record.Mark(r.dir, r.places) // an absolute path leads into this folder, so it counts
	}
	if err := t.settle(); err != nil {
		return nil, err
	}
	if err := t.print(rep); err != nil {
		return nil, err
	}
	return &t.result, nil
}

// taker makes a result of what a run has left.
type taker struct {
	request *Request
	result  result
	outputs map[string]record.Output
	stats   []unix.Stat_t // of the outputs
	into    []bool        // whether what stood there was written into
	began   time.Time     // when the command was started
	inline  int64         // bytes of content that go into the result itself
	buffer  []byte        // for a piece of a large file
	both    bool          // an output was named by a relative and an absolute path
}

func (t *taker) file(f *observe.File) error {
	var st unix.Stat_t
	if unix.Lstat(f.Path, &st) != nil || f.How&(observe.Created|observe.Replaced) == 0 || record.IsScratch(f.Path) {
		return nil
	}
	if f.Name == "" {
		return request.Refuse(f.Path, "written through a descriptor without a path")
	}
	name := strings.TrimRight(f.Name, "/")
	folderOf, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err != nil || filepath.Join(folderOf, filepath.Base(name)) != f.Path {
		return request.Refuse(f.Path, "is written through a symbolic link")
	}
	if f.Form&observe.Relative != 0 && f.Form&observe.Absolute != 0 {
		t.both = true
	} else if f.Form&observe.Relative != 0 {
		name = relative(name, t.request.dir)
	}
	o := output{path: record.Mark(name, t.request.places), mode: st.Mode & 0o7777}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		o.kind = regular
	case unix.S_IFDIR:
		o.kind = folder
		o.mode &= 0o1777
	case unix.S_IFLNK:
		o.kind = link
		text, err := os.Readlink(f.Path)
		if err != nil {
			return request.Refuse(f.Path, "no longer exists")
		}
		o.text = record.Mark(text, t.request.places)
	default:
		return request.Refuse(f.Path, "is not a file, a folder or a symbolic link")
	}
	into := f.How&observe.Replaced != 0 && f.How&observe.InPlace != 0
	if why := cmp.Or(t.derived(o.path), unusual(f.Path, &st), given(f.Path, &st, into), t.dated(&st), t.placed(&o, f, &st)); why != "" {
		return request.Refuse(f.Path, why)
	}
	t.result.outputs = append(t.result.outputs, o)
	t.stats, t.into = append(t.stats, st), append(t.into, into)
	return t.content(f.Path)
}

// unusual says what of a file a replay would not reproduce, "" if nothing.
func unusual(path string, st *unix.Stat_t) string {
	if int(st.Uid) != os.Geteuid() {
		return "belongs to another user"
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG && st.Mode&0o6000 != 0 {
		return "is set-user-ID or set-group-ID"
	}
	buffer := make([]byte, 4096)
	n, err := unix.Llistxattr(path, buffer)
	if err != nil && err != unix.ENOTSUP && err != unix.EPERM {
		return "has attributes that cannot be read"
	}
	for _, name := range strings.Split(string(buffer[:max(n, 0)]), "\x00") {
		// The system gives these to each file by itself. Access lists: given.
		if name != "" && name != "security.selinux" && !strings.HasPrefix(name, "system.posix_acl_") {
			return "has extended attributes"
		}
	}
	return ""
}

// dated says whether the command has given a file a time (cp -p), which a replay would not: the
// file's last change was long after that, or before. Both times are of the same clock, which may not
// be ours.
func (t *taker) dated(st *unix.Stat_t) string {
	const rounded = 2 * time.Second // some file systems have no fractions
	age := time.Duration(st.Ctim.Nano() - st.Mtim.Nano())
	if !seesTimes || age >= 0 && age <= time.Since(t.began)+rounded {
		return ""
	}
	return "the command set its modification time"
}

// content reads the file that was added last.
func (t *taker) content(path string) error {
	o, st := &t.result.outputs[len(t.result.outputs)-1], &t.stats[len(t.stats)-1]
	if o.kind != regular {
		return nil
	}
	if t.inline+st.Size > mostInline && inPieces {
		return t.large(path)
	}
	t.inline += st.Size
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return request.Refuse(path, "cannot be read")
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, st.Size+1))
	var now unix.Stat_t
	if err != nil || unix.Fstat(int(f.Fd()), &now) != nil || now.Ino != st.Ino || now.Mtim != st.Mtim || int64(len(data)) != st.Size {
		return request.Refuse(path, "changes while it is read")
	}
	o.data, o.marked, err = t.mark(path, data)
	return err
}

// settle puts the outputs in order: folders first, then files as they were finished, so that
// a replay gives them times in the same order. Further names of one file become twins.
func (t *taker) settle() error {
	order := make([]int, len(t.stats))
	for i := range order {
		order[i] = i
	}
	old := t.result.outputs
	rank := func(i int) int64 {
		if old[i].kind == folder {
			return int64(len(old[i].path)) // a folder comes before its contents
		}
		return t.stats[i].Mtim.Nano() + 1<<20
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	type file struct{ dev, ino uint64 }
	first, names := map[file]int{}, map[file]uint64{}
	var outputs []output
	for _, i := range order {
		o, id := old[i], file{t.stats[i].Dev, t.stats[i].Ino}
		if o.kind == regular {
			names[id]++
			if at, ok := first[id]; ok {
				o.kind, o.twin, o.data, o.source = twin, at, nil, nil
			} else {
				first[id] = len(outputs)
			}
		}
		outputs = append(outputs, o)
	}
	for i := range old {
		id := file{t.stats[i].Dev, t.stats[i].Ino}
		kept := t.into[i] && names[id] == 1 // what is written into keeps its names
		if old[i].kind == regular && uint64(t.stats[i].Nlink) != names[id] && !kept {
			return request.Refuse(old[i].path, "has other hard links, which the command did not make")
		}
	}
	t.result.outputs = outputs
	return nil
}

// print takes what was printed to both streams, in its order.
func (t *taker) print(rep *observe.Report) error {
	if rep.Out == nil || rep.Err == nil {
		return request.Refuse("output", "is too large to be kept")
	}
	done := [3]uint64{}
	streams := [3][]byte{nil, rep.Out, rep.Err}
	add := func(stream int, upTo uint64) error {
		upTo = min(upTo, uint64(len(streams[stream])))
		if upTo <= done[stream] {
			return nil
		}
		data, marked, err := t.mark("output", streams[stream][done[stream]:upTo])
		if err != nil {
			return err
		}
		t.result.chunks = append(t.result.chunks, chunk{stream, marked, data})
		done[stream] = upTo
		return nil
	}
	for _, m := range append(rep.Marks, observe.Mark{Stream: 1, Size: 1 << 62}, observe.Mark{Stream: 2, Size: 1 << 62}) {
		if m.Stream != 1 && m.Stream != 2 {
			continue
		}
		if err := add(m.Stream, m.Size); err != nil {
			return err
		}
	}
	return nil
}
