package cuda

import (
	"fmt"
	"os"
	"path/filepath"

	"jitcache/core/key"
	"jitcache/core/manifest"
	"jitcache/core/request"
	"jitcache/cuda/dl"
	"jitcache/cuda/driver"
	"jitcache/cuda/nvrtc"
)

// Key returns the key that the request has now. It looks at every file that the
// source can include, at the compiler's, and at the current device if no
// architecture was given; it loads neither NVRTC nor, with an architecture, the
// driver. cache may be nil.
func (r *Request) Key(cache manifest.Cache) (*key.Key, error) {
	rec, err := r.record()
	if err != nil {
		return nil, err
	}
	if rec.refused != nil {
		return nil, rec.refused
	}
	_, compiler, err := dl.Identify(dl.NVRTC, rec.compiler)
	if err != nil {
		return nil, libraryError{err}
	}
	arch, err := rec.arch()
	if err != nil {
		return nil, err
	}
	folder, err := rec.workingFolder()
	if err != nil {
		return nil, err
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	closure, err := rec.closure(r, cache)
	if err != nil {
		return nil, err
	}
	if closure.ShowsTime {
		return nil, request.Refuse(rec.name, "__DATE__ or __TIME__ is used in it or in a header, and the result shows the time")
	}
	now := circumstances{string(compiler.Value), arch, folder, closure}
	if rec.key != nil && rec.of == now && len(rec.opts.Files) == 0 {
		return rec.key, nil
	}
	k, err := rec.seal(r, compiler, now)
	if err != nil {
		return nil, err
	}
	rec.key, rec.of = k, now
	return k, nil
}

// workingFolder returns the working directory if the result shows it: debug
// information does.
func (rec *record) workingFolder() (string, error) {
	if !rec.opts.ShowsPaths {
		return "", nil
	}
	return os.Getwd()
}

// arch returns the architecture to compile for: the option's, else that of the
// current device. NVRTC's own default is an old one that changes from version to
// version.
func (rec *record) arch() (string, error) {
	if rec.opts.Arch != "" {
		return rec.opts.Arch, nil
	}
	arch, err := currentArch(rec.driver)
	if err != nil {
		return "", fmt.Errorf("no --gpu-architecture is given, and the device is not known: %w", err)
	}
	return arch, nil
}

func currentArch(locations dl.Locations) (string, error) {
	d, err := driver.Open(locations)
	if err != nil {
		return "", err
	}
	return d.Arch()
}

// addToKey adds what depends on the template alone.
func (t *template) addToKey() {
	t.toKey.Add("schema", []byte(schema))
	t.toKey.Add("target", []byte(t.target.String()))
	t.toKey.AddTexts("options", t.opts.Keyed)
	if t.opts.Link || t.target == nvrtc.LTOIR {
		t.toKey.Add("for the linker", nil)
	}
	t.toKey.AddTexts("name expressions", t.expressions)
	t.toKey.Add("headers in memory", t.headers[:])
	t.toKey.SetKind(t.target.String())
	if t.name != defaultName {
		t.toKey.SetName(t.name)
	}
}

func (rec *record) seal(r *Request, compiler dl.Identity, now circumstances) (*key.Key, error) {
	b := rec.toKey.Clone()
	// NVRTC names symbols of internal linkage after the file, without its folder.
	name := filepath.Base(rec.name)
	if rec.opts.ShowsPaths || now.closure.ShowsPaths {
		name = rec.name
		b.Add("paths of headers", now.closure.Paths[:])
	}
	b.AddDigest("source", len(r.Source), r.SourceDigest)
	b.Add("name", []byte(name))
	b.Add("arch", []byte(now.arch))
	b.Add("working folder", []byte(now.folder))
	b.Add("headers", now.closure.Digest[:])
	b.AddTagged("nvrtc", key.Tool, compiler.Value)
	for _, in := range compiler.Inputs {
		b.AddInput(in)
	}
	inputs, err := now.closure.List.Inputs()
	if err != nil {
		return nil, request.Refuse(rec.name, err.Error())
	}
	for _, in := range inputs {
		b.AddInput(in)
	}
	for i, path := range rec.opts.Files {
		if err := b.AddFile(fmt.Sprintf("file %d", i+1), path); err != nil {
			return nil, request.Refuse(path, err.Error())
		}
	}
	return b.Seal()
}
