// The limits of resources and the umask that a command has asked for.

package record

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/key"
	_ "jitcache/core/limits" // the limits are those of the caller
	"jitcache/core/proc"
	"jitcache/observe"
)

// Masks of limits, by their numbers: those that a single process can run into, and all of
// them, as in /proc/self/limits.
const (
	ownLimits = 1<<unix.RLIMIT_CPU | 1<<unix.RLIMIT_FSIZE | 1<<unix.RLIMIT_DATA | 1<<unix.RLIMIT_STACK |
		1<<unix.RLIMIT_CORE | 1<<unix.RLIMIT_AS | 1<<unix.RLIMIT_NOFILE
	allLimits = 1<<howManyLimits - 1

	howManyLimits = 16 // RLIM_NLIMITS
)

// theUmask stands for the umask in a mask of limits.
const theUmask = 1 << 63

// limits is the digest of the limits in a mask: of those that are given, else of this process's.
func limits(asked uint64, given *observe.Limits) key.Digest {
	var all []byte
	for which := range howManyLimits {
		if l, ok := limit(which, given); ok && asked&(1<<which) != 0 {
			all = binary.LittleEndian.AppendUint64(all, l.Cur)
			all = binary.LittleEndian.AppendUint64(all, l.Max)
		}
	}
	if asked&theUmask != 0 {
		all = append(all, umask(given)...)
	}
	return key.Sum(all)
}

// ulimitOptions are the options of bash's ulimit that show a limit, by its number.
const ulimitOptions = "tfdscmunlvxiqerR"

// limitsChange says, for launched commands, which limits may be others, or that the umask may.
func limitsChange(asked uint64) string {
	text := ""
	for which := range howManyLimits {
		if asked&(1<<which) != 0 {
			text += " -" + ulimitOptions[which:which+1]
		}
	}
	switch {
	case asked == theUmask:
		return "umask changed"
	case asked&theUmask != 0:
		return "umask or limits changed (ulimit" + text + ")"
	}
	return "limits changed (ulimit" + text + ")"
}

func limit(which int, given *observe.Limits) (l unix.Rlimit, ok bool) {
	if given != nil {
		if l, ok = given.Of[which]; ok {
			return l, true
		}
	}
	return l, unix.Getrlimit(which, &l) == nil
}

// ownStatus is where the kernel tells the umask; a test replaces it.
var ownStatus = "/proc/self/status"

// umask returns the umask that is given, else this process's, as the kernel tells it, without changing it. Before
// Linux 4.7 the kernel tells nothing; a command that asks for the umask is refused there.
func umask(given *observe.Limits) []byte {
	if given != nil && given.Umask >= 0 {
		return fmt.Appendf(nil, "%#04o", given.Umask)
	}
	said, _ := proc.Read(ownStatus, 16<<10)
	_, rest, _ := bytes.Cut(said, []byte("\nUmask:\t"))
	mask, _, _ := bytes.Cut(rest, []byte("\n"))
	return mask
}

// askedLimits returns the mask of the limits that were asked for. The umask of a launched
// command is in its request already.
func (t *taker) askedLimits() (mask uint64) {
	for i := range t.run.Report.Uses {
		u := &t.run.Report.Uses[i]
		switch {
		case u.Use == observe.UseUmask:
			if !t.run.InPlace && keepsUmask && t.heedsUmask(u) {
				mask |= theUmask
			}
		case u.Use == observe.UseLimits && keepsLimits:
			mask |= t.limitsOf(u)
		}
	}
	return mask
}

// heedsUmask reports whether a program that may depend on the umask has asked for it.
// Linkers ask in order to make their output executable for everybody who may read it; that
// does not count.
func (t *taker) heedsUmask(u *observe.Used) bool { return u.Programs&^t.known.known != 0 }

func (t *taker) limitsOf(u *observe.Used) uint64 {
	number, again, _ := strings.Cut(u.Detail, " ")
	which, err := strconv.ParseUint(number, 10, 6)
	switch {
	case err != nil:
		return allLimits
	// bash asks once, whenever it starts, how many processes it may have.
	case which == unix.RLIMIT_NPROC && again == "" && u.Programs&^t.bash() == 0:
		return 0
	}
	return 1 << which & allLimits
}

// bash returns the shells that are bash.
func (t *taker) bash() uint64 {
	mask := t.known.shells
	for i := range t.run.Report.Programs {
		if p := &t.run.Report.Programs[i]; plainName(p.Path) != "bash" {
			mask &^= bitOf(p.ID)
		}
	}
	return mask
}
