//go:build !cgo

// A program that is built without C loads no libraries. It can still find their files.

package dl

import (
	"os"
	"path/filepath"
)

type image struct{ path string }

func generation() uint64 { return 0 }

func images(string) []image { return nil }

func residentImage(string) *image { return nil }

func (im *image) file() (path string, ok bool) { return "", false }

// loaderFolders returns where the loader looks for a name without a slash, by ld.so(8).
func loaderFolders() []string {
	folders := filepath.SplitList(os.Getenv("LD_LIBRARY_PATH"))
	multiarch, _ := filepath.Glob("/usr/lib/*-linux-gnu")
	return append(append(folders, multiarch...), "/lib64", "/usr/lib64", "/lib", "/usr/lib")
}
