// How each output came to its place, and with which permissions.

package launch

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"jitcache/observe"
	"jitcache/record"
)

// The permissions of an output are those that the command would give it now. Where the command makes
// a new file they follow from the command and the umask, which is in the request. Where it writes into a
// file that stands, that file's permissions stay, and are no part of the result.

// placed notes how a file came to its place, and which permissions it has where nothing stands.
// It returns why that cannot be told, "" if it can.
func (t *taker) placed(o *output, f *observe.File, st *unix.Stat_t) string {
	how := t.outputs[f.Path]
	o.counts = how.Counts
	if how.Placement == record.Replacing {
		return ""
	}
	const intoOld = observe.Replaced | observe.InPlace
	into, old := f.How&intoOld == intoOld, f.OverMode
	free := f.Asked &^ t.request.state.umask & 0o7777
	// gold makes its output executable as it makes it. If it finds an empty file, it lets those run it who
	// may read it; bfd lets everybody whom the umask lets.
	executable := how.Placement == record.InPlaceIfEmpty && f.Asked&0o111 != 0
	if executable {
		free &^= 0o111
	}
	lists := len(attribute(filepath.Dir(f.Path), defaultList)) != 0 // in place of the umask
	o.placement, o.moded, o.asked = how.Placement, f.How&observe.Moded != 0, o.mode
	switch {
	case !into && executable && !lists:
		o.moded, o.asked = true, free
	case !into:
		if o.moded && !lists {
			o.asked, o.adds = free, how.Adds && o.mode&free == free
		}
	case st.Gid != f.OverGroup:
		return "the command gave it to another group"
	case how.Counts, f.Asked == observe.Unasked:
		o.asked = old // else it is in the list that a file stands there
	case lists:
		return "is overwritten in a folder with a default access list"
	case !o.moded:
		o.mode, o.asked = free, free
	case how.Adds && !executable && o.mode&old == old:
		o.mode, o.asked, o.adds = free|o.mode&^old, free, true
	case how.Adds && old != free:
		return "its permissions follow from those of the file that was there before"
	default:
		o.asked = old
	}
	return ""
}

// over returns the permissions that the output has if the command writes into a file with the
// permissions stands. It reports false if that is not known.
func (o *output) over(stands uint32) (mode uint32, known bool) {
	switch {
	case !o.moded:
		return stands, true
	case stands == o.asked:
		return o.mode, true
	case o.adds:
		return stands | o.mode&^o.asked, true
	}
	return 0, false
}

// inPlace reports whether the command would write into a file that stands.
func (o *output) inPlace(st *unix.Stat_t) bool {
	return o.placement == record.InPlace || o.placement == record.InPlaceIfEmpty && st.Size == 0
}

// given says what the command has given a file that a new file in its folder would not have: a group, an
// access list, bits of a folder; "" for nothing.
func given(path string, st *unix.Stat_t, into bool) string {
	var above unix.Stat_t
	if !seesGiven || into && len(attribute(path, accessList)) == 0 {
		return ""
	}
	if into {
		return "has an access list"
	}
	if err := unix.Stat(filepath.Dir(path), &above); err != nil {
		return "is in a folder that cannot be read"
	}
	group, inherits := uint32(os.Getegid()), above.Mode&unix.S_ISGID
	if inherits != 0 {
		group = above.Gid
	}
	kind := st.Mode & unix.S_IFMT
	switch {
	case st.Gid != group:
		return "the command gave it to another group"
	case kind == unix.S_IFDIR && st.Mode&(unix.S_ISUID|unix.S_ISGID) != inherits:
		return "is a folder with the set-group-ID or set-user-ID bit"
	case kind != unix.S_IFLNK && hasList(path, kind == unix.S_IFDIR):
		return "has an access list"
	}
	return ""
}

// The attributes that hold access lists (acl(5)).
const (
	accessList  = "system.posix_acl_access"
	defaultList = "system.posix_acl_default"
)

func attribute(path, name string) []byte {
	buffer := make([]byte, 4096)
	n, err := unix.Lgetxattr(path, name, buffer)
	if err != nil {
		return nil
	}
	return buffer[:n]
}

// hasList reports whether a file or folder has another access list than its folder gives.
func hasList(path string, isFolder bool) bool {
	above := attribute(filepath.Dir(path), defaultList)
	if isFolder && !bytes.Equal(attribute(path, defaultList), above) {
		return true
	}
	return !bytes.Equal(named(attribute(path, accessList)), named(above))
}

// named returns an access list without the permissions that are those of the file, by which chmod
// changes the list too; nothing for a list that says no more than they do.
func named(list []byte) []byte {
	const head, size = 4, 8 // a version; then tag, permissions and id of each entry (posix_acl_xattr.h)
	const owner, group, mask, others = 1, 4, 16, 32
	list = bytes.Clone(list)
	masked, more := false, false
	for at := head; at+size <= len(list); at += size {
		tag := binary.LittleEndian.Uint16(list[at:])
		masked = masked || tag == mask
		more = more || tag != owner && tag != group && tag != others
	}
	if !more {
		return nil
	}
	for at := head; at+size <= len(list); at += size {
		switch tag := binary.LittleEndian.Uint16(list[at:]); {
		case tag == owner, tag == mask, tag == others, tag == group && !masked:
			list[at+2], list[at+3] = 0, 0
		}
	}
	return list
}
