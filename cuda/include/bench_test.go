package include

import (
	"os"
	"path/filepath"
	"testing"

	"jitcache/core/manifest"
)

// The header that the targets are set for: 444 files, 4.5 MB.
func blockReduce(b *testing.B) *Request {
	b.Helper()
	root := os.Getenv(installed[0].variable)
	if root == "" {
		b.Skip(installed[0].variable + " is not set")
	}
	dirs := []string{filepath.Join(root, installed[0].cccl), filepath.Join(root, installed[0].runtime)}
	return &Request{Source: "#include <cub/block/block_reduce.cuh>\n", Name: "k.cu", Dirs: dirs}
}

func BenchmarkFind(b *testing.B) {
	req := blockReduce(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Find(req); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	c, err := Find(blockReduce(b))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if state, why := c.List.Check(); state == manifest.Changed {
			b.Fatal(why)
		}
	}
}

func BenchmarkHit(b *testing.B) {
	c, err := Find(blockReduce(b))
	if err != nil {
		b.Fatal(err)
	}
	set := &manifest.Set{}
	set.Add(c.List)
	data := set.Append(nil)
	b.ReportAllocs()
	for b.Loop() {
		set, err := manifest.ParseSet(data)
		if err != nil || set.Find().List == nil {
			b.Fatal(err)
		}
	}
}
