// Refuses results that may show the time of their compile.

package cuda

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/cuda/date"
	"jitcache/observe"
	"jitcache/record"
)

// looks has what was found in files, by the digests of their content.
var looks = request.NewTable[key.Digest, date.Look](4096)

// timeless refuses a result that may show the time of its compile. It searches the source,
// all other texts of the request, and every file that was read, except the compiler's own.
func (r *running) timeless(list *record.List, rep *observe.Report) error {
	if !lookForTime {
		return nil
	}
	all := date.At([]byte(r.source))
	for _, h := range r.headers {
		all.Join(date.At([]byte(h.Text)))
	}
	for _, text := range slices.Concat(r.options, r.expressions) {
		all.Join(date.At([]byte(text)))
	}
	for _, v := range r.work.Env {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(list.World.Also, name) {
			all.Join(date.At([]byte(value)))
		}
	}
	where := r.name
	if all.Suspect() == "" {
		where = "one of its headers"
	}
	if err := r.joinFiles(&all, list, rep); err != nil {
		return err
	}
	if word := all.Suspect(); word != "" {
		return request.Refuse(where, "may show the time: "+word)
	}
	return nil
}

// joinFiles adds what was found in the files that were read.
func (r *running) joinFiles(all *date.Look, list *record.List, rep *observe.Report) error {
	files := make(map[string]*record.File, len(list.Files))
	for i := range list.Files {
		f := &list.Files[i]
		path := f.Path
		if path[0] != '/' {
			path = r.work.Dir + "/" + path
		}
		files[path] = f
	}
	for i := range rep.Names {
		n := &rep.Names[i]
		if n.Bits&observe.Read == 0 || n.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		f := files[n.Path]
		if f == nil || f.Flags&record.Loader != 0 {
			continue // it does not count, or is a library
		}
		look, err := looks.Get(f.Digest, func() (date.Look, error) { return lookThrough(n, f.Digest) })
		if err != nil {
			return err
		}
		all.Join(look)
	}
	return nil
}

// lookThrough searches a file that was read. digest is that of the content that was read.
func lookThrough(n *observe.Name, digest key.Digest) (date.Look, error) {
	text := n.Content
	if n.Bits&observe.Sent == 0 {
		var err error
		if text, err = readText(n.Path); err != nil {
			return date.Look{}, request.Refuse(n.Path, err.Error())
		}
	}
	if isLibrary(text) {
		return date.Look{}, nil
	}
	if key.Sum(text) != digest {
		return date.Look{}, request.Refuse(n.Path, "changed during the run")
	}
	return date.At(text), nil
}

// readText reads a file. Of a library it reads only the first bytes, which identify it.
func readText(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, len(elf))
	n, _ := io.ReadFull(f, head)
	if isLibrary(head[:n]) {
		return head, nil
	}
	rest, err := io.ReadAll(f)
	return append(head[:n], rest...), err
}

const elf = "\x7fELF"

// isLibrary reports whether a file begins like a shared library, as the compiler's own do.
// No source begins like that.
func isLibrary(text []byte) bool { return bytes.HasPrefix(text, []byte(elf)) }
