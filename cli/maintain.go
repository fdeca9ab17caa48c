// jitcache trim, clear and verify, and their progress.

package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"jitcache/core"
	"jitcache/core/store"
)

// progressAfter is how long a pass runs before it draws progress. Most end earlier.
var progressAfter = time.Second

// progress draws how far a pass is, if standard error is a terminal. Ctrl-C may end the
// pass at any time: what it has done stays done, and no entry is half removed.
func (c *command) progress(what string) (p store.Progress, done func()) {
	if !c.terminal {
		return nil, func() {}
	}
	start, drawn := time.Now(), false
	p = func(share float64, entries int) {
		if time.Since(start) > progressAfter {
			drawn = true
			fmt.Fprintf(c.rawErr, "\r%s: %3.0f %%, %d entries ", what, 100*share, entries)
		}
	}
	return p, func() {
		if drawn {
			fmt.Fprint(c.rawErr, "\r\033[K")
		}
	}
}

func (c *command) trimCommand() *ffcli.Command {
	return c.newCommand("trim", "evict entries beyond the cap, and remove what dead processes left", nil, 0, 0, func([]string) error {
		cache, _, err := c.openCache()
		if err != nil {
			return err
		}
		return c.trimNow(cache)
	})
}

func (c *command) trimNow(cache *core.Cache) error {
	p, done := c.progress("trim")
	removed, err := cache.Trim(context.Background(), p)
	done()
	if err != nil {
		return err
	}
	return c.answerRemoved("evicted", removed)
}

func (c *command) answerRemoved(what string, n store.Cleared) error {
	return c.printAnswer(map[string]any{"entries": n.Entries, "bytes": n.Bytes}, func() {
		fmt.Fprintf(c.stdout, "%s %s, %s\n", what, store.FormatEntries(n.Entries), store.FormatSize(n.Bytes))
	})
}

func (c *command) clearCommand() *ffcli.Command {
	flags := c.flags("clear")
	kind := flags.String("kind", "", "only entries of `KIND`")
	return c.newCommand("clear [-kind KIND]", "remove all entries, or those of a kind", flags, 0, 0, func([]string) error {
		cache, _, err := c.openCache()
		if err != nil {
			return err
		}
		defer cache.Close()
		p, done := c.progress("clear")
		removed, err := cache.Clear(context.Background(), *kind, p)
		done()
		if err != nil {
			return err
		}
		return c.answerRemoved("removed", removed)
	})
}

func (c *command) verifyCommand() *ffcli.Command {
	flags := c.flags("verify")
	keep := flags.Bool("keep", false, "report damaged entries, do not remove them")
	signatures := flags.Bool("signatures", false, "say which entries no trusted key has signed, and remove nothing")
	return c.newCommand("verify [-keep] [-signatures] [-json]", "read every entry, and remove the damaged ones", flags, 0, 0, func([]string) error {
		cache, _, err := c.openCache()
		if err != nil {
			return err
		}
		if *signatures {
			return c.verifySignatures(cache)
		}
		p, done := c.progress("verify")
		r, err := cache.Verify(context.Background(), *keep, p)
		done()
		if err != nil {
			return err
		}
		err = c.printAnswer(core.NewReport(r), func() {
			for _, b := range r.Bad {
				fmt.Fprintf(c.stdout, "%s: %v\n", b.Path, b.Reason)
			}
			fmt.Fprintf(c.stdout, "%s, %s: %d bad, %d removed\n", store.FormatEntries(r.Entries), store.FormatSize(r.Bytes), len(r.Bad), r.Removed)
		})
		if err == nil && len(r.Bad) > 0 {
			return no("there are bad entries")
		}
		return err
	})
}

// verifySignatures prints the entries that no trusted key has signed.
func (c *command) verifySignatures(cache *core.Cache) error {
	states := map[core.Signing]int{}
	odd := map[string]core.Signing{}
	err := cache.EachSigned(context.Background(), func(path string, state core.Signing) {
		states[state]++
		if state != core.SignedByTrusted {
			odd[path] = state
		}
	})
	if err != nil {
		return err
	}
	signed := states[core.SignedByTrusted]
	err = c.printAnswer(map[string]any{"signed": signed, "not": odd}, func() {
		for _, path := range sorted(odd) {
			fmt.Fprintf(c.stdout, "%s\t%s\n", path, odd[path])
		}
		fmt.Fprintf(c.stdout, "%s, %d signed by a key that is trusted\n", store.FormatEntries(signed+len(odd)), signed)
	})
	if err == nil && len(odd) > 0 {
		return no("not every entry is signed by a key that is trusted")
	}
	return err
}
