// What the loader's cache says about libraries.

package record

import (
	"bytes"
	"encoding/binary"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"jitcache/core/key"
	"jitcache/core/request"
)

// The loader's cache, /etc/ld.so.cache, has paths for thousands of libraries, and changes
// with every package that installs one. Only what it says about the libraries that were
// loaded or looked for counts: which paths it has for them, in which order.

const loaderCache = "/etc/ld.so.cache"

// The format of glibc 2.2 and later (sysdeps/generic/dl-cache.h): a head of 48
// bytes that begins with the magic and the number of entries, and entries of 24:
// flags, offsets of name and path from the head's begin, version, capabilities.
// Before it an older format may stand.
const (
	loaderMagic = "glibc-ld.so.cache1.1"
	loaderHead  = 48
	loaderEntry = 24
	loaderMost  = 64 << 20
)

// loaderDigest is the digest of what the cache at a path says about libraries.
func loaderDigest(path string, libraries map[string]bool) (key.Digest, Stamp, error) {
	data, stamp, err := readAll(path, loaderMost)
	if err != nil {
		return key.Digest{}, stamp, err
	}
	return loaderSays(data, libraries), stamp, nil
}

// asked is a question to a cache: by its stamp without the time of reading, about which
// libraries.
type asked struct {
	stamp     Stamp
	libraries key.Digest
}

// mostAsked is how many answers a process remembers. Each compile of a worker asks the same
// question, and reading and searching the cache takes a hundredth of a small compile.
const mostAsked = 64

var answered = request.NewTable[asked, key.Digest](mostAsked)

// rememberedLoaderDigest is loaderDigest for a cache whose stamp was a moment ago was.
func rememberedLoaderDigest(path string, was *Stamp, libraries map[string]bool) (key.Digest, Stamp, error) {
	if !was.Proves() {
		return loaderDigest(path, libraries)
	}
	q := asked{*was, key.Sum(key.AppendTexts(nil, slices.Sorted(maps.Keys(libraries))...))}
	q.stamp.Read = 0
	if digest, known := answered.Find(q); known {
		return digest, *was, nil
	}
	digest, stamp, err := loaderDigest(path, libraries)
	if err == nil && stamp.Same(was) && stamp.Proves() {
		answered.Put(q, digest)
	}
	return digest, stamp, err
}

// loaderSays is loaderDigest for a cache's content. Content that is no valid cache counts
// whole.
func loaderSays(data []byte, libraries map[string]bool) key.Digest {
	at := bytes.Index(data, []byte(loaderMagic))
	if at < 0 || len(data) < at+loaderHead {
		return key.Sum(data)
	}
	table := data[at:]
	n := uint64(binary.LittleEndian.Uint32(table[len(loaderMagic):]))
	if n > uint64(len(table)-loaderHead)/loaderEntry {
		return key.Sum(data)
	}
	var says []byte
	for i := range n {
		e := table[loaderHead+i*loaderEntry:][:loaderEntry]
		name, path := textAt(table, e[4:]), textAt(table, e[8:])
		if libraries[name] {
			says = append(says, e[:4]...)
			says = append(says, e[12:]...)
			says = key.AppendTexts(says, name, path)
		}
	}
	return key.Sum(says)
}

// textAt returns the text in table at the offset that b holds.
func textAt(table, b []byte) string {
	at := uint64(binary.LittleEndian.Uint32(b))
	if at >= uint64(len(table)) {
		return ""
	}
	rest := table[at:]
	if end := bytes.IndexByte(rest, 0); end >= 0 {
		rest = rest[:end]
	}
	return string(rest)
}

// libraries are the names of libraries that the list has, found or not.
func (l *List) libraries() map[string]bool {
	names := map[string]bool{}
	add := func(name string) {
		if strings.Contains(name, ".so") {
			names[name] = true
		}
	}
	for i := range l.Files {
		add(filepath.Base(l.Files[i].Path))
	}
	for i := range l.Folders {
		for _, name := range l.Folders[i].Absent {
			add(name)
		}
	}
	return names
}
