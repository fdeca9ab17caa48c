package include

import (
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"jitcache/core/key"
	"jitcache/core/manifest"
)

// An #include whose name depends on what only NVRTC knows, such as
//
//	#define CAT(x) <arch/x.h>
//	#include CAT(__CUDA_ARCH__)
//
// may lead to any file below the folders of the search path. Then all of them
// belong to the closure, and so do the names in every folder. The bounds of a
// closure bound this: CCCL and the toolkit's headers are 2,460 files and 30 MB,
// a home directory as -I is refused.

// everything is what a name may lead to that may be any: targets, each with its
// name below its place.
type everything struct {
	targets []target
	names   []string
}

// leavesPath reports whether a line that is not wholly known may name a file
// that is not below the search path.
func leavesPath(lines []string) bool {
	return slices.ContainsFunc(lines, func(line string) bool {
		line = strings.TrimLeft(line, " ")
		return strings.Contains(line, "..") || strings.HasPrefix(line, "</") || strings.HasPrefix(line, "\"/") || strings.Contains(line, "_FILE")
	})
}

// everything returns all that a name in a text may lead to.
func (w *walk) everything(from *text) (*everything, error) {
	if known := w.all[from.folder]; known != nil {
		return known, nil
	}
	all := &everything{}
	for i := range w.req.Headers {
		h := &w.req.Headers[i]
		w.reach(w.memory[h.Name])
		all.targets = append(all.targets, target{memory: w.memory[h.Name]})
		all.names = append(all.names, h.Name)
	}
	for place := range len(w.req.Dirs) + 1 {
		dir := from.folder
		if place > 0 {
			dir = w.req.Dirs[place-1]
		} else if from.noFolder {
			continue
		}
		if err := w.below(all, place, orHere(dir), "", nil); err != nil {
			return nil, err
		}
	}
	w.all[from.folder] = all
	return all, w.follow(all.targets)
}

// below adds the files below a folder. Symbolic links are followed, but not to a
// folder that the path already goes through.
func (w *walk) below(all *everything, place int, dir, under string, through []identity) error {
	here, err := w.disk.listing(dir)
	if err != nil || len(here.names) == 0 || slices.Contains(through, here.ident) {
		return err
	}
	through = append(slices.Clip(through), here.ident)
	for _, name := range here.names {
		full := join(dir, name)
		info, err := os.Stat(full)
		switch {
		case err != nil && key.IsAbsent(err):
			_, err = w.disk.lookup(full) // a link to nothing, for now
		case err == nil && info.IsDir():
			err = w.below(all, place, full, under+name+"/", through)
		case err == nil:
			var f *file
			if f, err = w.disk.lookup(full); err == nil && f.there() {
				all.targets = append(all.targets, target{place: place, file: f})
				all.names = append(all.names, under+name)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// folder is a folder whose names belong to the closure.
type folder struct {
	ident identity
	names []string
}

// listing returns the names in a folder and puts it on the list. Of one that is
// not there the folder above it is put on, in which it would appear.
func (d *disk) listing(dir string) (*folder, error) {
	if known := d.folders[dir]; known != nil {
		return known, nil
	}
	names, digest, stamp, err := key.ReadNames(dir)
	if key.IsAbsent(err) && dir != "/" && dir != "." {
		_, err = d.listing(path.Dir(strings.TrimRight(dir, "/")))
		return &folder{}, err
	}
	if err != nil {
		return nil, err
	}
	if len(names) > maxFiles || len(d.folders) > maxFiles {
		return nil, errors.New("too many files")
	}
	d.list.Folders = append(d.list.Folders, manifest.Folder{Path: dir, Stamp: stamp, Names: digest})
	d.folders[dir] = &folder{identity{stamp.Dev, stamp.Ino}, names}
	return d.folders[dir], nil
}
