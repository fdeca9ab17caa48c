// The key under which machines that share a remote claim a command.

package launch

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
)

// claimKey is the key of the lease where machines share a remote. It is leaseKey with what is
// known of the inputs before the command runs: the program, and the files that its words
// name. So machines that build different branches in folders of one name do not wait for each
// other. The other inputs are known only afterwards. If machines differ in those, one of them
// waits in vain, once; see core.Cache.Claim. If they differ in an old output that a word
// names, they have two claims, and each compiles.
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

// mostNamed is the size up to which the content of a named file counts: 16 MB take 5 ms to
// read. Of larger files only the size counts. A claim that is shared in vain costs a wait.
const mostNamed = 16 << 20

// contentOf returns the digest of a file, or its size if it is large; "" if there is none.
func contentOf(path string) string {
	var st unix.Stat_t
	if path == "" || unix.Stat(path, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	if 0 < st.Size && st.Size <= mostNamed { // some files of /proc have no size, and reading them blocks
		if data, err := os.ReadFile(path); err == nil {
			digest := key.Sum(data)
			return string(digest[:])
		}
	}
	return strconv.FormatInt(st.Size, 10)
}
