// `jitcache evict`: removes entries by age, kind and name, whatever the cap.

package cli

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core/store"
	"jitcache/core/wildcard"
)

const evictHelp = `An entry that fits all that is given is removed, whatever the cap. A use is what eviction goes by:
a hit notes it at most once an hour. A name fits PATTERN if it is the same, or the same without
types (f for f(int64)), or if * stands for any text: -name 'm.*'. What an observed compile has
noted has the name of its results, and goes with them.`

func (c *command) evictCommand() *ffcli.Command {
	flags := c.flags("evict")
	older := flags.String("older-than", "", "entries that were not used for `TIME`: 12h, 30d, 2w, 1y")
	kind := flags.String("kind", "", "entries of `KIND`")
	name := flags.String("name", "", "entries whose name fits `PATTERN`")
	cmd := c.newCommand("evict [-older-than TIME] [-kind KIND] [-name PATTERN]", "remove entries that are old, of a kind, or of some names", flags, 0, 0, func([]string) error {
		if *older == "" && *kind == "" && *name == "" {
			return wrong("evict what? -older-than, -kind or -name says it; `jitcache clear` removes all")
		}
		before := int64(math.MaxInt64)
		if *older != "" {
			span, err := timeSpan("-older-than", *older)
			if err != nil {
				return err
			}
			before = time.Now().Add(-span).UnixNano()
		}
		cache, s, err := c.openCache()
		if err != nil {
			return err
		}
		defer cache.Close()
		var removed store.Cleared
		err = s.Walk(context.Background(), func(e *store.Entry) error {
			if e.Used >= before || *kind != "" && e.Kind != *kind || *name != "" && !fitsPattern(*name, e.Name) {
				return nil
			}
			found, why := cache.Remove(&e.ID)
			if why != store.None {
				return fmt.Errorf("%s cannot be removed: %v", e.Path, why)
			}
			if found {
				removed.Entries++
				removed.Bytes += e.Size
			}
			return nil
		})
		if err != nil {
			return err
		}
		return c.answerRemoved("evicted", removed)
	})
	cmd.LongHelp = evictHelp
	return cmd
}

// spans has the units of -older-than that package time lacks.
var spans = map[byte]time.Duration{'d': 24 * time.Hour, 'w': 7 * 24 * time.Hour, 'y': 365 * 24 * time.Hour}

// timeSpan reads the value of a flag: 90s, 12h, 30d, 2w, 1y.
func timeSpan(flag, text string) (time.Duration, error) {
	if unit := spans[text[len(text)-1]]; unit > 0 {
		if n, err := strconv.ParseInt(text[:len(text)-1], 10, 64); err == nil && n >= 0 && n <= math.MaxInt64/int64(unit) {
			return time.Duration(n) * unit, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, wrong(fmt.Sprintf("%s %q: want a time such as 12h, 30d, 2w or 1y", flag, text))
}

// fitsPattern reports whether a name is meant by a pattern, in which * stands for any text.
func fitsPattern(pattern, name string) bool {
	if strings.Contains(pattern, "*") {
		return wildcard.Matches(name, pattern)
	}
	return name != "" && fitOf(pattern, name) <= isBare
}
