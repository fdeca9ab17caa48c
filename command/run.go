// A running command, and the result made of what it leaves.

package command

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"jitcache/core/key"
	"jitcache/core/lockfile"
	"jitcache/core/request"
	"jitcache/observe"
	"jitcache/record"
)

// run is a running command, with its private folder.
type run struct {
	spec     *Spec
	observed *observe.Run
	dir      string   // the folder that it runs in
	folder   *private // the private folder that was made for it
	private  string   // the path of folder
	env      []string
	limits   *observe.Limits
	notes    record.Notes
}

// temporary is a folder in the private one, for the command's temporary files. Names of
// texts do not begin with a dot.
const temporary = ".tmp"

// ownFolder is another name of the folder that a process runs in. Compilers take it from PWD, for debug information, if it
// leads to that folder; so the private folder's own name, which is another one each time, does not get there.
const ownFolder = "/proc/self/cwd"

func start(j *Job) (Running, error) {
	s, env := j.spec, j.env
	r := &run{spec: s, dir: s.Dir, env: env, limits: j.known.limits}
	if j.cache != nil {
		r.notes = j.cache
	}
	if err := r.makePrivate(env); err != nil {
		return nil, err
	}
	if s.Dir == "" {
		r.dir = r.private
	}
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = strings.ReplaceAll(a, Private, r.private)
	}
	env = replace(env, "TMPDIR", filepath.Join(r.private, temporary))
	if s.Dir == "" && hidesPrivate {
		env = replace(env, "PWD", ownFolder)
	}
	if s.Withhold {
		env = replace(env, "CCACHE_DISABLE", "1") // one cache is enough, and the files of ccache cannot be observed
	}
	observed, err := observe.Start(&observe.Command{Args: args, Dir: r.dir, Env: env, Limits: j.known.limits, Stdin: -1, Plain: j.plain()})
	if err != nil {
		r.End()
		return nil, err
	}
	r.observed = observed
	return r, nil
}

// makePrivate makes the private folder, with the texts in it. It tries TMPDIR first, then
// other places.
func (r *run) makePrivate(env []string) (err error) {
	for _, in := range []string{variable(env, "TMPDIR"), "/tmp", "/var/tmp", r.spec.Dir} {
		if in == "" {
			continue
		}
		if failed := r.makePrivateIn(in); failed == nil {
			return nil
		} else if err == nil {
			err = failed
		}
		r.End()
	}
	return fmt.Errorf("command: no folder to run in: %w", err)
}

func (r *run) makePrivateIn(folder string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if r.folder, err = newPrivate(folder); err != nil {
		return err
	}
	r.private = r.folder.path
	if err := os.Mkdir(filepath.Join(r.private, temporary), 0o700); err != nil {
		return err
	}
	for i := range r.spec.Texts {
		t := &r.spec.Texts[i]
		path := filepath.Join(r.private, t.Name)
		if !lockfile.FitsLimit(int64(len(t.Data))) {
			return &os.PathError{Op: "write", Path: path, Err: syscall.EFBIG}
		}
		if err := os.WriteFile(path, t.Data, 0o600); err != nil {
			return err
		}
		if err := os.Chtimes(path, textTime, textTime); err != nil {
			return err
		}
	}
	return nil
}

// textTime is the modification time of every text. __TIMESTAMP__ shows it. Texts come from
// memory, and have no time of their own.
var textTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// variable returns a variable of an environment, "" if it is not set.
func variable(env []string, name string) string {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value
		}
	}
	return ""
}

// replace returns an environment with a variable set.
func replace(env []string, name, value string) []string {
	changed := make([]string, 0, len(env)+1)
	for _, e := range env {
		if !strings.HasPrefix(e, name+"=") {
			changed = append(changed, e)
		}
	}
	return append(changed, name+"="+value)
}

// End ends the command if it still runs, and removes the folder.
func (r *run) End() {
	if r.observed != nil {
		r.observed.Cancel()
	}
	if r.private != "" {
		r.folder.remove()
		r.private = ""
	}
}

// Wait waits for the command.
func (r *run) Wait(d time.Duration) bool { return r.observed.Wait(d) }

// Made returns the result of the command, with the list of what it looked at.
func (r *run) Made() (*Made, error) {
	rep, err := r.observed.Report()
	if err != nil {
		return nil, err
	}
	m := &Made{Report: rep, Log: r.log(rep)}
	if m.Payload, m.Attributes, err = r.result(rep); err != nil || m.Payload == nil {
		return m, err
	}
	if r.isElsewhere() {
		m.Why = request.Refuse(r.spec.Output, "is a link that leads elsewhere")
		return m, nil
	}
	run := record.Run{Report: rep, Dir: r.dir, Env: r.env, Limits: r.limits, Private: r.private, Leaves: r.leaves, Notes: r.notes, Timeless: r.spec.Timeless}
	m.List, m.Why = run.Take()
	return m, nil
}

// isElsewhere reports whether the output is a link to a file outside the private folder.
// The command may not have read that file, and then no list has its content.
func (r *run) isElsewhere() bool {
	path, err := filepath.EvalSymlinks(filepath.Join(r.private, r.spec.Output))
	folder, failed := filepath.EvalSymlinks(r.private)
	return refusesElsewhere && (err != nil || failed != nil || !strings.HasPrefix(path, folder+"/"))
}

// leaves reports whether the command may leave a file. It may leave none: nobody asks about
// files in the private folder.
func (r *run) leaves(string) bool { return false }

// result returns what the command made, nil if it failed, and the attributes of the entry.
func (r *run) result(rep *observe.Report) (payload []byte, attributes string, err error) {
	if !rep.Status.Exited() || rep.Status.ExitStatus() != 0 {
		return nil, "", nil
	}
	if payload = r.output(); len(payload) == 0 {
		return nil, "", nil // whatever its status says
	}
	text, err := json.Marshal(map[string]string{"log": r.log(rep), "compiler": filepath.Base(r.spec.Args[0])})
	return payload, string(text), err
}

// output reads the file that the command made, nil if there is none. O_NONBLOCK keeps it
// from waiting for a writer if the command made a pipe.
func (r *run) output() []byte {
	f, err := os.OpenFile(filepath.Join(r.private, r.spec.Output), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	data := make([]byte, st.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil
	}
	return data
}

// log returns what the command printed, without the name of the private folder.
func (r *run) log(rep *observe.Report) string {
	text := string(interleave(rep))
	if r.private != "" {
		text = strings.ReplaceAll(text, r.private+"/", "")
	}
	return text
}

// interleave joins standard output and standard error, in the order in which they were
// written.
func interleave(rep *observe.Report) []byte {
	var all []byte
	done := [2]uint64{}
	streams := [2][]byte{rep.Out, rep.Err}
	take := func(i int, upTo uint64) {
		upTo = min(upTo, uint64(len(streams[i])))
		if upTo > done[i] {
			all = append(all, streams[i][done[i]:upTo]...)
			done[i] = upTo
		}
	}
	for _, m := range rep.Marks {
		if m.Stream == 1 || m.Stream == 2 {
			take(m.Stream-1, m.Size)
		}
	}
	take(0, uint64(len(rep.Out)))
	take(1, uint64(len(rep.Err)))
	return all
}

// resultKey returns the key of the result in the world of a list.
func (s *Spec) resultKey(l *record.List) (*key.Key, error) {
	b := key.NewBuilder()
	s.addParts(b)
	for _, p := range l.Parts() {
		b.AddDigest(p.Label, 0, p.Digest)
	}
	b.SetKind(s.Kind)
	b.SetName(s.Name)
	return b.Seal()
}
