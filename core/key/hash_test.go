// The hash agrees with BLAKE3, and how much memory it takes.

package key

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"lukechampine.com/blake3"
)

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i % 251)
	}
	return b
}

func TestHasherAgreesWithBlake3(t *testing.T) {
	for _, n := range []int{
		0, 1, 63, 64, 65, 1023, 1024, 1025, 2048, 2049, 3000, 4096, 8192, 16383, 16384, 16385,
		20000, 32768, 32769, 40000, 65536, 65537, 100000, 1 << 20, 1<<20 + 1, 1234567,
	} {
		data := pattern(n)
		want := Digest(blake3.Sum256(data))
		if got := Sum(data); got != want {
			t.Errorf("Sum of %d bytes = %x, want %x", n, got, want)
		}
		for _, step := range []int{1, 7, 1000, 16384, 16385, 50000} {
			if n > 100000 && step < 1000 {
				continue
			}
			var h hasher
			for rest := data; len(rest) > 0; {
				c := min(step, len(rest))
				h.Write(rest[:c])
				rest = rest[c:]
			}
			if got := h.Sum(); got != want {
				t.Errorf("hash of %d bytes in steps of %d = %x, want %x", n, step, got, want)
			}
		}
	}
}

func TestSumDoesNotAllocate(t *testing.T) {
	data := pattern(64 << 10)
	if n := testing.AllocsPerRun(20, func() { Sum(data) }); n != 0 {
		t.Errorf("Sum of 64 KiB allocates %v times", n)
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{64, 1 << 10, 4 << 10, 64 << 10, 1 << 20} {
		data := pattern(n)
		b.Run(fmt.Sprintf("%dB", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Sum(data)
			}
		})
	}
}

func TestManySmallFilesAreHashedInTheMemoryOfOne(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1000 {
		if d, err := SumReader(strings.NewReader("small")); err != nil || d != Sum([]byte("small")) {
			t.Fatal(d, err)
		}
	}
	runtime.ReadMemStats(&after)
	// New blocks for each file would be 1 GB. With the race detector a pool drops some of them.
	if took := after.TotalAlloc - before.TotalAlloc; took > 300<<20 {
		t.Errorf("%d bytes were allocated", took)
	}
}
