// What the in-process tier keeps, and what goes first.

package memory

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"jitcache/core/blob"
)

// entry returns a blob of size bytes under a key that depends on n alone.
func entry(t testing.TB, n, size int, kind string) *blob.Blob {
	t.Helper()
	b, err := blob.New(size)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Buffer() {
		b.Buffer()[i] = byte(n)
	}
	b.SetSize(size)
	id := id(n)
	b.SetEntry(&id, []byte(kind), 0, 1000)
	return b
}

func id(n int) (id [32]byte) {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	for i := 0; i < 32; i += 8 {
		binary.LittleEndian.PutUint64(id[i:], r.Uint64())
	}
	return id
}

func put(t testing.TB, m *Memory, n, size int, kind string) {
	t.Helper()
	b := entry(t, n, size, kind)
	m.Put(b)
	b.Release()
}

func has(m *Memory, n int) bool {
	key := id(n)
	b, _ := m.Get(&key)
	if b == nil {
		return false
	}
	defer b.Release()
	return len(b.Data()) == 0 || b.Data()[0] == byte(n)
}

func TestWhatIsPutIsThereUntilRemoved(t *testing.T) {
	before := blob.Live()
	m := New(1 << 20)
	for n := range 200 {
		put(t, m, n, 100, "generic")
	}
	for n := range 200 {
		if !has(m, n) {
			t.Fatalf("%d is missing", n)
		}
	}
	if has(m, 200) {
		t.Error("200 was never put")
	}
	key := id(7)
	if !m.Remove(&key) || m.Remove(&key) || has(m, 7) {
		t.Error("remove does not remove once")
	}
	if _, n := m.Size(); n != 199 {
		t.Errorf("%d entries, want 199", n)
	}
	m.Free()
	if blob.Live() != before {
		t.Errorf("%d blobs leak", blob.Live()-before)
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	// Room for three entries of this size, but not for four. The test need not know what
	// exactly an entry counts for.
	probe := New(1 << 20)
	put(t, probe, 0, 1000, "generic")
	weight, _ := probe.Size()
	probe.Free()

	m := New(3*weight + weight/2)
	defer m.Free()
	for n := range 3 {
		put(t, m, n, 1000, "generic")
	}
	has(m, 0) // now 1 is the one used longest ago
	put(t, m, 3, 1000, "generic")
	if has(m, 1) {
		t.Error("1 is still there")
	}
	for _, n := range []int{2, 0, 3} {
		if !has(m, n) {
			t.Errorf("%d is gone", n)
		}
	}
	put(t, m, 4, 1000, "generic") // 2 was looked at first above
	if has(m, 2) {
		t.Error("2 is still there")
	}
}

func TestSizeNeverExceedsTheCap(t *testing.T) {
	const limit = 100_000
	m := New(limit)
	defer m.Free()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		put(t, m, r.IntN(500), r.IntN(5000), "generic")
		if bytes, _ := m.Size(); bytes > limit {
			t.Fatalf("%d bytes, cap %d", bytes, limit)
		}
	}
}

func TestEntryLargerThanTheCapIsNotKept(t *testing.T) {
	m := New(10_000)
	defer m.Free()
	put(t, m, 1, 1000, "generic")
	put(t, m, 2, 20_000, "generic")
	if has(m, 2) || !has(m, 1) {
		t.Error("it is kept, or has pushed another out")
	}
}

func TestPutReplaces(t *testing.T) {
	m := New(1 << 20)
	defer m.Free()
	put(t, m, 1, 100, "generic")
	put(t, m, 1, 200, "generic")
	key := id(1)
	b, _ := m.Get(&key)
	defer b.Release()
	if _, n := m.Size(); n != 1 || len(b.Data()) != 200 {
		t.Errorf("%d entries, %d bytes", n, len(b.Data()))
	}
}

func TestClearByKind(t *testing.T) {
	m := New(1 << 20)
	defer m.Free()
	for n := range 50 {
		put(t, m, n, 10, []string{"cubin", "native"}[n%2])
	}
	m.Clear("cubin")
	for n := range 50 {
		if has(m, n) != (n%2 == 1) {
			t.Fatalf("entry %d: %v", n, has(m, n))
		}
	}
	m.Clear("")
	if bytes, n := m.Size(); bytes != 0 || n != 0 {
		t.Errorf("%d bytes in %d entries are left", bytes, n)
	}
}

func TestHitsAreCountedByKindOnce(t *testing.T) {
	m := New(1 << 20)
	defer m.Free()
	put(t, m, 1, 10, "cubin")
	put(t, m, 2, 10, "native")
	for range 3 {
		has(m, 1)
	}
	has(m, 2)
	has(m, 3)
	got := map[string]Hits{}
	for _, h := range m.Drain() {
		got[h.Kind] = h
	}
	if len(got) != 2 || got["cubin"].Hits != 3 || got["cubin"].Saved != 3000 || got["native"].Hits != 1 {
		t.Errorf("%v", got)
	}
	if again := m.Drain(); len(again) != 0 {
		t.Errorf("drained twice: %v", again)
	}
}

func TestKindsBeyondTheTableAreCountedTogether(t *testing.T) {
	m := New(1 << 20)
	defer m.Free()
	for n := range 40 {
		put(t, m, n, 10, fmt.Sprintf("kind-%d", n))
		has(m, n)
	}
	total, other := uint64(0), uint64(0)
	for _, h := range m.Drain() {
		total += h.Hits
		if h.Kind == "other" {
			other = h.Hits
		}
	}
	if total != 40 || other != 25 {
		t.Errorf("%d hits, %d of them of other kinds; want 40 and 25", total, other)
	}
}

func TestManyThreadsAgree(t *testing.T) {
	before := blob.Live()
	m := New(50_000)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 3))
			for range 5000 {
				n := r.IntN(100)
				switch r.IntN(10) {
				case 0:
					put(t, m, n, 10+r.IntN(2000), "generic")
				case 1:
					key := id(n)
					m.Remove(&key)
				case 2:
					m.Drain()
				case 3:
					if r.IntN(100) == 0 {
						m.Clear("generic")
					}
				default:
					key := id(n)
					if b, _ := m.Get(&key); b != nil {
						if d := b.Data(); d[0] != byte(n) || d[len(d)-1] != byte(n) {
							t.Errorf("entry %d has other bytes", n)
						}
						b.Release()
					}
				}
			}
		})
	}
	wg.Wait()
	m.Free()
	if blob.Live() != before {
		t.Errorf("%d blobs leak", blob.Live()-before)
	}
}

func BenchmarkHit(b *testing.B) {
	m := New(1 << 20)
	put(b, m, 1, 100, "generic")
	key := id(1)
	for b.Loop() {
		e, _ := m.Get(&key)
		e.Release()
	}
}
