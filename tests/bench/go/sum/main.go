// Command sum hashes with key.Sum: the floor under the making of a key. It
// reads lines of two numbers, a size and a count, and prints for each how many
// nanoseconds so many sums took.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"jitcache/core/key"
)

// sources is how many buffers are hashed in turn, as in c/keys.c.
const sources = 16

func main() {
	in := bufio.NewScanner(os.Stdin)
	var bufs [sources][]byte
	for in.Scan() {
		var size, n int
		if _, err := fmt.Sscan(in.Text(), &size, &n); err != nil {
			fmt.Fprintf(os.Stderr, "sum: %v\n", err)
			os.Exit(2)
		}
		for i := range bufs {
			if len(bufs[i]) != size {
				bufs[i] = fill(size, uint64(i)+1)
			}
		}
		begun := time.Now()
		for i := range n {
			key.Sum(bufs[i%sources])
		}
		fmt.Println(time.Since(begun).Nanoseconds())
	}
}

func fill(size int, x uint64) []byte {
	b := make([]byte, size)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}
