// Limits of resources and the umask that a command is given.

package observe

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Limits are the limits of resources and the umask that a command is given in place of those of this process.
type Limits struct {
	Of    map[int]unix.Rlimit // by number
	Umask int                 // negative: that of this process
}

// howManyLimits is the number of limits that Linux has (RLIM_NLIMITS).
const howManyLimits = 16

// ParseLimits reads limits, each its number, the soft and the hard one, and a umask, octal; nil if there are none.
func ParseLimits(limits []string, umask string) (*Limits, error) {
	if len(limits) == 0 && umask == "" {
		return nil, nil
	}
	l := &Limits{Of: map[int]unix.Rlimit{}, Umask: -1}
	for _, text := range limits {
		var n [3]uint64
		words, err := strings.Fields(text), error(nil)
		for i := 0; i < min(len(words), len(n)) && err == nil; i++ {
			n[i], err = strconv.ParseUint(words[i], 10, 64)
		}
		if err != nil || len(words) != len(n) || n[0] >= howManyLimits {
			return nil, fmt.Errorf("limit %.80q: want its number, the soft and the hard one", text)
		}
		l.Of[int(n[0])] = unix.Rlimit{Cur: n[1], Max: n[2]}
	}
	if umask != "" {
		mask, err := strconv.ParseUint(umask, 8, 9)
		if err != nil {
			return nil, fmt.Errorf("umask %.80q: want an octal number", umask)
		}
		l.Umask = int(mask)
	}
	return l, nil
}
