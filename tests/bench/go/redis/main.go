// Command redis gets values with go-redis as its manual shows it: the floor under a hit
// in a remote. Its argument is the address; it reads lines of names, and prints for each
// line how many nanoseconds it took to get them all, one after the other.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

func main() {
	client := redis.NewClient(&redis.Options{Addr: os.Args[1]})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		names := strings.Fields(in.Text())
		begun := time.Now()
		for _, name := range names {
			if b, err := client.Get(context.Background(), name).Bytes(); err != nil || len(b) == 0 {
				fmt.Fprintf(os.Stderr, "redis: %s: %v\n", name, err)
				os.Exit(2)
			}
		}
		fmt.Println(time.Since(begun).Nanoseconds())
	}
}
