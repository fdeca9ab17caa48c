// Commands that are run unobserved, because they could not be kept, and for how long that is
// remembered.

package launch

import (
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
	"jitcache/record"
)

// Some commands can never be kept: they read their standard input, or talk to others. Some
// must not be observed: under the filter set-id programs get no privileges. The first run
// shows which these are, and later ones run without the observer. If the reason is gone by
// then, nothing goes wrong: the result is only not kept. So a reason is forgotten after a
// while, and at once if its files show that it may be gone.

// How long a reason is remembered. An input that asks for the time of day may change at any
// time; what a command does by itself changes rarely.
const (
	plainFor        = 24 * time.Hour
	plainForContent = 10 * time.Minute
)

// refusal is what is remembered of a command that cannot be kept.
type refusal struct {
	why   string
	until int64 // nanoseconds since 1970
	// stood is a path at which the command has changed or removed something: where nothing
	// stands, the command may be repeatable. "" for other reasons.
	stood string
	// ran are the programs and scripts that were run, and what was read by a program that has
	// asked for the time of day. stamps is a digest of what stat says of them, and of what else
	// may cure the command: after a change, it may do something else.
	ran    []string
	stamps key.Digest
}

// plainSchema is a part of the key of refusals. It changes with their encoding.
const plainSchema = "run plain 3"

func (l *lookup) plainKey() *key.Key {
	b := key.NewBuilder()
	b.Add(plainSchema, l.request.request.ID[:])
	b.Add("folder", []byte(record.Mark(l.request.dir, l.request.places)))
	b.Add("size of the cache", []byte(strconv.FormatInt(l.cache.Limit(), 10)))
	b.SetKind(key.NoteKind)
	return mustSeal(b)
}

// plain returns why the command is to be run without the observer, "" if it is not.
func (l *lookup) plain() string {
	r, ok := parseRefusal(l.cache.LoadNote(&l.plainKey().ID))
	if !ok || !remembers {
		return ""
	}
	if now := time.Now().UnixNano(); now > r.until || r.until > now+int64(plainFor) {
		return ""
	}
	if r.stood != "" && !stands(record.Unmark(r.stood, l.request.places)) {
		return ""
	}
	if forgets && r.stamps != l.stampsOf(r.ran, r.why) {
		return ""
	}
	return r.why
}

// remember notes why a command is to be run without the observer.
func (l *lookup) remember(rep *observe.Report, refused *request.Refused) {
	d := forHowLong(rep, refused)
	if d == 0 {
		return
	}
	r := refusal{why: refused.Error(), until: time.Now().Add(d).UnixNano(), stood: stoodBefore(rep, refused.What)}
	r.stood = record.Mark(r.stood, l.request.places)
	for i := range rep.Names {
		if n := &rep.Names[i]; n.Bits&observe.Ran != 0 && n.Bits&observe.Made == 0 {
			r.ran = append(r.ran, record.Mark(n.Path, l.request.places))
		}
	}
	for _, path := range causes(rep, refused) {
		r.ran = append(r.ran, record.Mark(path, l.request.places))
	}
	r.stamps = l.stampsOf(r.ran, r.why)
	l.cache.SaveNote(l.plainKey(), r.append(nil))
}

// forHowLong returns how long a command that could not be kept is run without the observer;
// 0 if the next run may be kept.
func forHowLong(rep *observe.Report, refused *request.Refused) time.Duration {
	if rep.Outlived {
		return plainFor
	}
	if refused.Moved() {
		return 0
	}
	for _, u := range rep.Uses {
		if record.Why(u.Use) != refused.Why {
			continue
		}
		if u.Detail == observe.LostOutput {
			return 0 // the disk was full, or a reader has closed the pipe
		}
		switch u.Use {
		case observe.UseClock, observe.UseUnsteady, observe.UseUnreadable, observe.UseHermetic:
			return plainForContent
		}
		return plainFor
	}
	return plainForContent
}

// stoodBefore returns the path if the command has changed something that stood there.
func stoodBefore(rep *observe.Report, path string) string {
	for i := range rep.Files {
		if f := &rep.Files[i]; f.Path == path && f.How&(observe.Changed|observe.Replaced|observe.Removed) != 0 && f.How&observe.Created == 0 {
			return path
		}
	}
	for i := range rep.Names {
		if n := &rep.Names[i]; n.Path == path && n.Bits&observe.Made != 0 && n.Mode != 0 {
			return path
		}
	}
	return ""
}

func stands(path string) bool {
	var st unix.Stat_t
	return unix.Lstat(path, &st) == nil
}

// mostCauses is up to how many files are looked at before each run that is not observed, at 1 us each.
const mostCauses = 256

// causes returns the files that may be why a command has asked for the time of day: those that the programs have
// read that asked. A source with __DATE__ may be mended.
func causes(rep *observe.Report, refused *request.Refused) (paths []string) {
	var asked uint64
	for _, u := range rep.Uses {
		if u.Use == observe.UseClock && refused.Why == record.Why(observe.UseClock) && looksForCures {
			asked |= u.Programs
		}
	}
	for i := range rep.Names {
		n := &rep.Names[i]
		if n.Readers&asked != 0 && n.Bits&(observe.Made|observe.Ran) == 0 && !strings.Contains(n.Path, ".so") && len(paths) < mostCauses {
			paths = append(paths, n.Path)
		}
	}
	return paths
}

// stampsOf returns a digest of what stat says of files, and of what else may be why a command is not kept: variables that
// set a date or load a library, and standard input, if that is in the reason. Files that do not exist count too.
func (l *lookup) stampsOf(paths []string, why string) key.Digest {
	var b []byte
	for _, e := range l.request.env {
		if strings.HasPrefix(e, "SOURCE_DATE_EPOCH=") || strings.HasPrefix(e, "LD_PRELOAD=") {
			b = append(append(b, e...), 0)
		}
	}
	var input unix.Stat_t
	if strings.Contains(why, "standard input") && unix.Fstat(0, &input) == nil {
		b = binary.LittleEndian.AppendUint64(b, uint64(input.Mode&unix.S_IFMT)<<32|input.Rdev)
	}
	if !looksForCures {
		b = nil
	}
	for _, path := range paths {
		var st unix.Stat_t
		if unix.Stat(record.Unmark(path, l.request.places), &st) == nil {
			for _, n := range []int64{int64(st.Dev), int64(st.Ino), st.Size, st.Mtim.Nano(), st.Ctim.Nano()} {
				b = binary.LittleEndian.AppendUint64(b, uint64(n))
			}
		}
		b = append(b, 0)
	}
	return key.Sum(b)
}

// append appends the refusal as bytes: docs/format.md, "Commands that are not kept".
func (r *refusal) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(r.until))
	b = appendText(appendText(b, r.why), r.stood)
	b = binary.AppendUvarint(b, uint64(len(r.ran)))
	for _, path := range r.ran {
		b = appendText(b, path)
	}
	return append(b, r.stamps[:]...)
}

// parseRefusal reads what append wrote.
func parseRefusal(b []byte) (r refusal, ok bool) {
	d := decoder{b: b}
	if until := d.take(8); until != nil {
		r.until = int64(binary.LittleEndian.Uint64(until))
	}
	r.why, r.stood = d.text(), d.text()
	r.ran = make([]string, d.count())
	for i := range r.ran {
		r.ran[i] = d.text()
	}
	copy(r.stamps[:], d.take(uint64(len(r.stamps))))
	return r, !d.bad && len(d.b) == 0 && r.why != ""
}
