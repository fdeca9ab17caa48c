// Everything at once, for the race detector.

package core

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// For the race detector: every method at once, in two caches of one directory
// that is so small that puts evict all the time. Every hit is right.
func TestEverythingAtOnce(t *testing.T) {
	o := in(t)
	o.Values["max_size"] = "20000"
	o.Values["memory_size"] = "10000"
	caches := []*Cache{open(t, o), open(t, o)}
	ctx := context.Background()
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	var wg sync.WaitGroup
	for n := range 8 {
		c := caches[n%2]
		wg.Go(func() {
			for i := range rounds {
				text := fmt.Sprint((n*7 + i*5) % 40)
				k, want := testKey(t, "n", text), strings.Repeat(text+" ", 300)
				switch i % 8 {
				case 0, 1, 2:
					if got, _ := get(t, c, k); got != "" && got != want {
						t.Errorf("key %s: %.40q", text, got)
					}
				case 3:
					c.Put(k, []byte(want), "", true)
				case 4, 5:
					b, l, _, _ := c.Acquire(k, 0, false, true)
					if l != nil && i%16 < 8 {
						b, _ = l.Commit([]byte(want), "", true)
					}
					if l != nil {
						l.Release()
					}
					if b != nil {
						if string(b.Data()) != want {
							t.Errorf("key %s: %.40q", text, b.Data())
						}
						b.Release()
					}
				case 6:
					c.Remove(&k.ID)
					c.Explain(k)
				case 7:
					c.Stats()
					c.Flush()
					if i%64 == 7 {
						c.Trim(ctx, nil)
						c.Verify(ctx, false, nil)
						c.Clear(ctx, "cubin", nil)
					}
				}
			}
		})
	}
	wg.Wait()
}
