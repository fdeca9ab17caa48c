package launch

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// claimKey is the key of the lease where machines share a remote: leaseKey, with what can be
// known before the command runs of what it may read, which are the program and the files that
// its words name. So machines that build other branches in a folder of the same name do not
// wait for each other. What else the command reads is known only afterwards: if machines
// differ in that, one waits in vain, once; see core.Cache.Claim. A file that is named and
// written, and differs, makes two claims: then each compiles.
func (r *Request) claimKey() *key.Key {
	b := key.NewBuilder()
	b.Add("request", r.leaseKey().ID[:])
	program, _ := search(r.words[0])
	var named []string
	for _, path := range append([]string{program}, r.words[1:]...) {
		named = append(named, contentOf(path))
	}
	b.AddTexts("named files", named)
	b.SetKind(kind)
	b.SetName(r.request.Name)
	return mustSeal(b)
}

// mostNamed is the size up to which a file that is named is read: 16 MB take 5 ms. Of larger
// ones the size counts: a claim that is shared in vain costs a wait.
const mostNamed = 16 << 20

// contentOf says what is in a file, "" if none is at the path.
func contentOf(path string) string {
	var st unix.Stat_t
	if path == "" || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	if 0 < st.Size && st.Size <= mostNamed { // some of /proc are empty, and wait for a reader
		if data, err := os.ReadFile(path); err == nil {
			digest := key.Sum(data)
			return string(digest[:])
		}
	}
	return strconv.FormatInt(st.Size, 10)
}
