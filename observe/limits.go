package observe

import (
	"fmt"
	"strconv"

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
		var which int
		var of unix.Rlimit
		if _, err := fmt.Sscanf(text, "%d %d %d", &which, &of.Cur, &of.Max); err != nil || which < 0 || which >= howManyLimits {
			return nil, fmt.Errorf("limit %.80q: want its number, the soft and the hard one", text)
		}
		l.Of[which] = of
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
