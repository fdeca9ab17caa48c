// What a result from another machine may do: where it may write, and what it may send to a
// terminal.

package launch

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/record"
)

// A result that another machine has made is accepted because a trusted key has signed it, or
// because a remote may hold unsigned results. The caller of a compile uses the result himself;
// that of a launched command is written to the disk and the terminal. So it is written only
// where this command's own words point, and its output has no escapes that a terminal obeys.

// admitted returns an error if a result that was not made here would write elsewhere than into
// the folder that the command runs in, a folder that one of its words names, or a folder that
// it makes in those; or a hidden file that no word names.
func (r *result) admitted(q *Request) error {
	if !r.foreign || !admits {
		return nil
	}
	named := q.named()
	folders := []string{real(q.dir)}
	for _, path := range named {
		folders = append(folders, real(filepath.Dir(path)))
		if isFolder(path) {
			folders = append(folders, real(path))
		}
	}
	for i := range r.outputs {
		o := &r.outputs[i]
		path := q.path(record.Unmark(o.path, q.places))
		at := filepath.Join(real(filepath.Dir(path)), filepath.Base(path))
		hidden := strings.HasPrefix(filepath.Base(path), ".") && !slices.Contains(named, path)
		if !slices.Contains(folders, filepath.Dir(at)) || hidden {
			return fmt.Errorf("%s: comes from another machine, and no argument of the command names it", path)
		}
		if o.kind == link {
			to := record.Unmark(o.text, q.places)
			if filepath.IsAbs(to) || !slices.Contains(folders, real(filepath.Dir(filepath.Join(filepath.Dir(at), to)))) {
				return fmt.Errorf("%s: comes from another machine, and is a symbolic link to another place", path)
			}
		}
		if o.kind == folder {
			folders = append(folders, at)
		}
	}
	return nil
}

// path returns the absolute form of a path.
func (q *Request) path(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(q.dir, name)
}

// named returns the paths that the command's words may name: a whole word, and its parts
// behind an equals sign, a comma or an option's letter.
func (q *Request) named() (all []string) {
	for _, word := range q.words[1:] {
		texts := append(strings.FieldsFunc(word, func(c rune) bool { return c == '=' || c == ',' }), word)
		if len(word) > 2 && word[0] == '-' {
			texts = append(texts, word[2:])
		}
		for _, text := range texts {
			if text[:min(len(text), 1)] != "-" && text != "" {
				all = append(all, q.path(text))
			}
		}
	}
	return all
}

// real returns the path of a folder without links, or the path itself if there is no such
// folder.
func real(folder string) string {
	if path, err := filepath.EvalSymlinks(folder); err == nil {
		return path
	}
	return folder
}

func isFolder(path string) bool {
	var st unix.Stat_t
	return unix.Stat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR
}

func isTerminal(fd int) bool {
	_, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	return err == nil
}

// harmless returns a text without the sequences that a terminal obeys, other than colours and
// the erasure of a line's end, which compilers print with them.
func harmless(text []byte) []byte {
	var out []byte
	for {
		at, size := sequence(text)
		out = append(out, plainText(text[:at])...)
		if size == 0 {
			return out
		}
		if s := text[at : at+size]; isColour(s) {
			out = append(out, s...)
		}
		text = text[at+size:]
	}
}

// sequence returns where the first sequence for a terminal begins, and its size; the end of the
// text and 0 if there is none. Package regexp would make each start of the launcher a fiftieth
// slower, by its tables.
func sequence(text []byte) (at, size int) {
	for ; at < len(text); at++ {
		if text[at] != escape {
			continue
		}
		if size = obeyed(text[at+1:]); size > 0 {
			return at, 1 + size
		}
	}
	return at, 0
}

const escape = 0x1b

// obeyed returns how much of a text belongs to the escape in front of it: a string up to BEL or
// ESC \ (a title, a link), parameters and a letter, or a letter alone; 0 if it is no sequence.
func obeyed(text []byte) int {
	if len(text) > 0 && text[0] == ']' {
		end := 1 + bytes.IndexAny(text[1:], "\x07\x1b")
		switch {
		case end == 0:
		case text[end] == 0x07:
			return end + 1
		case bytes.HasPrefix(text[end+1:], []byte{'\\'}):
			return end + 2
		}
	}
	if len(text) > 0 && text[0] == '[' {
		end := 1 + run(text[1:], '0', '?')
		end += run(text[end:], ' ', '/')
		if run(text[end:], '@', '~') > 0 {
			return end + 1
		}
	}
	end := run(text, ' ', '/')
	if run(text[end:], '0', '~') > 0 {
		return end + 1
	}
	return 0
}

// run returns how many bytes at the beginning of a text are from low to high.
func run(text []byte, low, high byte) (n int) {
	for n < len(text) && low <= text[n] && text[n] <= high {
		n++
	}
	return n
}

// isColour reports whether a sequence is a colour, or erases the end of a line.
func isColour(s []byte) bool {
	last := len(s) - 1
	if last < 2 || s[1] != '[' || s[last] != 'm' && s[last] != 'K' {
		return false
	}
	return len(bytes.Trim(s[2:last], "0123456789;")) == 0
}

// plainText drops control characters, those of eight bits too, except tabs and line ends.
func plainText(text []byte) []byte {
	return bytes.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0 {
			return -1
		}
		return c
	}, text)
}
