// Reads what strace writes.

package compare

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What strace -f -y -xx says of a tree, as the names that its calls have.

// traced are the calls that strace is to show: all that name a file, those that make
// processes, and those that list or enter an open folder.
const traced = "%file,%process,fchdir,getdents,getdents64"

// seen is what the processes of a tree did with names.
type seen struct {
	names map[string]bool // absolute, by the folder's path without links where relative
	made  map[string]bool // that came to be, or were removed
	cwd   map[string]string
	open  map[string]string // the beginnings of calls that are unfinished, by process
}

// Where the paths of a call are: places of a folder's descriptor, -1 for none, and of a
// path. The others have one path, in the first place.
var places = map[string][][2]int{
	"openat": {{0, 1}}, "openat2": {{0, 1}}, "newfstatat": {{0, 1}}, "statx": {{0, 1}}, "readlinkat": {{0, 1}},
	"faccessat": {{0, 1}}, "faccessat2": {{0, 1}}, "mkdirat": {{0, 1}}, "mknodat": {{0, 1}}, "unlinkat": {{0, 1}},
	"fchmodat": {{0, 1}}, "fchownat": {{0, 1}}, "utimensat": {{0, 1}}, "execveat": {{0, 1}}, "name_to_handle_at": {{0, 1}},
	"renameat": {{0, 1}, {2, 3}}, "renameat2": {{0, 1}, {2, 3}}, "linkat": {{0, 1}, {2, 3}}, "symlinkat": {{1, 2}},
	"rename": {{-1, 0}, {-1, 1}}, "link": {{-1, 0}, {-1, 1}}, "symlink": {{-1, 1}}, "inotify_add_watch": {{-1, 1}},
}

// Calls that name no file though strace counts some of them among those that do.
var nameless = map[string]bool{
	"getcwd": true, "fchdir": true, "getdents": true, "getdents64": true, "clone": true, "clone3": true, "fork": true,
	"vfork": true, "exit": true, "exit_group": true, "wait4": true, "waitid": true, "kill": true, "tkill": true, "tgkill": true,
	"pidfd_open": true, "pidfd_send_signal": true, "rt_sigqueueinfo": true, "rt_tgsigqueueinfo": true, "unshare": true,
	"execve_": true,
}

var (
	line    = regexp.MustCompile(`^(\d+) +(.*)$`)
	resumed = regexp.MustCompile(`^<\.\.\. \w+ resumed>(.*)$`)
	call    = regexp.MustCompile(`^(\w+)\((.*)\) += (-?\d+|\?|0x[0-9a-f]+)(.*)$`)
)

// parse reads what strace has written of a tree that began in a folder.
func parse(t *testing.T, text []byte, folder string) *seen {
	t.Helper()
	s := &seen{names: map[string]bool{}, made: map[string]bool{}, cwd: map[string]string{}, open: map[string]string{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		m := line.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Fatalf("strace: %.200q", lines.Text())
		}
		process, what := m[1], m[2]
		if s.cwd[process] == "" {
			s.cwd[process] = s.inherited(folder)
		}
		if r := resumed.FindStringSubmatch(what); r != nil {
			what = s.open[process] + r[1]
			delete(s.open, process)
		}
		if begin, ok := strings.CutSuffix(what, " <unfinished ...>"); ok {
			s.open[process] = begin
			continue
		}
		if strings.HasPrefix(what, "---") || strings.HasPrefix(what, "+++") {
			continue
		}
		c := call.FindStringSubmatch(what)
		if c == nil {
			t.Fatalf("strace: %.300q", what)
		}
		s.call(process, c[1], arguments(c[2]), !strings.HasPrefix(c[3], "-") && c[3] != "?", c[3])
	}
	return s
}

// inherited is the folder of a process that is met for the first time: that of one that is
// about to make another.
func (s *seen) inherited(folder string) string {
	for process, begin := range s.open {
		if strings.Contains(begin, "fork(") || strings.Contains(begin, "clone") {
			return s.cwd[process]
		}
	}
	return folder
}

func (s *seen) call(process, name string, args []string, ok bool, result string) {
	switch name {
	case "fork", "vfork", "clone", "clone3":
		if ok {
			s.cwd[result] = s.cwd[process]
		}
	case "fchdir":
		if ok {
			s.cwd[process] = decorated(args[0])
		}
	case "getdents", "getdents64":
		s.names[decorated(args[0])] = true
	}
	if nameless[name] {
		return
	}
	where := places[name]
	if where == nil {
		where = [][2]int{{-1, 0}}
	}
	var paths []string
	for _, w := range where {
		if w[0] >= 0 && w[0] < len(args) && strings.HasPrefix(args[w[0]], "AT_FDCWD<") {
			s.cwd[process] = decorated(args[w[0]])
		}
		path := s.path(process, args, w)
		paths = append(paths, path)
		if path != "" {
			s.names[path] = true
		}
	}
	if !ok {
		return
	}
	last := paths[len(paths)-1]
	flags := strings.Join(args, " ")
	switch name {
	case "chdir":
		s.cwd[process] = last
	case "creat", "mkdir", "mkdirat", "mknod", "mknodat", "symlink", "symlinkat", "link", "linkat", "unlink", "unlinkat", "rmdir":
		s.made[last] = true
	case "rename", "renameat", "renameat2":
		s.made[paths[0]], s.made[last] = true, true
	case "open", "openat":
		if strings.Contains(flags, "O_CREAT") || strings.Contains(flags, "O_WRONLY") || strings.Contains(flags, "O_RDWR") {
			s.made[last] = true
		}
	}
}

// path is what arguments name, "" if nothing.
func (s *seen) path(process string, args []string, w [2]int) string {
	if w[1] >= len(args) || !strings.HasPrefix(args[w[1]], `"`) {
		return ""
	}
	path := unquoted(args[w[1]])
	switch {
	case path == "" || strings.HasPrefix(path, "/"):
		return path
	case w[0] < 0 || strings.HasPrefix(args[w[0]], "AT_FDCWD"):
		return s.cwd[process] + "/" + path
	}
	return decorated(args[w[0]]) + "/" + path
}

// arguments splits what is between the brackets of a call.
func arguments(text string) (all []string) {
	depth, quoted, begin := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case strings.IndexByte(")]}>", c) >= 0 && (c != '>' || i == 0 || text[i-1] != '='):
			depth--
		case c == ',' && depth == 0:
			all = append(all, strings.TrimSpace(text[begin:i]))
			begin = i + 1
		}
	}
	return append(all, strings.TrimSpace(text[begin:]))
}

// unquoted is a string of -xx; decorated what -y says of a descriptor.
func unquoted(text string) string {
	text = strings.Trim(text, `"`)
	out := make([]byte, 0, len(text)/4)
	for i := 0; i+4 <= len(text); i += 4 {
		b, err := strconv.ParseUint(text[i+2:i+4], 16, 8)
		if err != nil {
			return text
		}
		out = append(out, byte(b))
	}
	return string(out)
}

func decorated(text string) string {
	begin, end := strings.IndexByte(text, '<'), strings.IndexByte(text, '>')
	if begin < 0 || end < begin {
		return ""
	}
	return unquoted(text[begin+1 : end])
}

// straced runs words under strace, and returns what it has shown.
func straced(t *testing.T, dir string, words, env []string) *seen {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	run(t, dir, append([]string{"strace", "-f", "-qq", "-y", "-xx", "-s", "8192", "-e", "trace=" + traced, "-e", "signal=none", "-o", log}, words...), env)
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, text, dir)
}
