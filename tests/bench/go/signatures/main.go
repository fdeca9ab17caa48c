// Command signatures verifies as many Ed25519 signatures as its word says, on all
// processors: what no way of taking in signed entries goes without.
package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// message is as long as what is signed of an entry in a namespace of some letters.
var message = make([]byte, 200)

func main() {
	left, err := strconv.ParseInt(os.Args[1], 10, 64)
	public, secret, err2 := ed25519.GenerateKey(rand.Reader)
	if err != nil || err2 != nil {
		fmt.Fprintln(os.Stderr, "signatures:", err, err2)
		os.Exit(2)
	}
	signature := ed25519.Sign(secret, message)
	var count atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for count.Add(1) <= left {
				if !ed25519.Verify(public, message, signature) {
					os.Exit(1)
				}
			}
		})
	}
	all.Wait()
}
