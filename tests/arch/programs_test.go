// No C files of a program include each other in a circle.

package arch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// programs are the folders of the C programs beside the library.
var programs = []string{"observe/tracer", "cuda/worker/program"}

// arrows returns for each C file of a folder, with its header, which others it includes.
func arrows(t *testing.T, folder string) map[string][]string {
	t.Helper()
	to := map[string][]string{}
	for _, pattern := range []string{"*.c", "*.h"} {
		found, _ := filepath.Glob(filepath.Join(root(t), folder, pattern))
		for _, path := range found {
			f := readC(t, path)
			for _, i := range f.includes {
				if below := strings.TrimSuffix(i, ".h"); below != f.room && !strings.Contains(i, "/") {
					to[f.room] = append(to[f.room], below)
				}
			}
		}
	}
	return to
}

// circle returns files of which each includes the next, and the last includes the first.
func circle(to map[string][]string) []string {
	done := map[string]bool{}
	var walk func(way []string) []string
	walk = func(way []string) []string {
		here := way[len(way)-1]
		if i := slices.Index(way[:len(way)-1], here); i >= 0 {
			return way[i:]
		}
		if done[here] {
			return nil
		}
		for _, next := range to[here] {
			if found := walk(append(slices.Clone(way), next)); found != nil {
				return found
			}
		}
		done[here] = true
		return nil
	}
	for from := range to {
		if found := walk([]string{from}); found != nil {
			return found
		}
	}
	return nil
}

func TestNoFilesOfAProgramIncludeEachOtherInACircle(t *testing.T) {
	for _, folder := range programs {
		to := arrows(t, folder)
		if len(to) < 2 {
			t.Errorf("%s: %d files", folder, len(to))
		}
		if found := circle(to); found != nil {
			t.Errorf("%s: %s", folder, strings.Join(found, " -> "))
		}
	}
	if circle(map[string][]string{"a": {"b", "c"}, "c": {"d"}, "d": {"a"}}) == nil {
		t.Error("a circle is not found")
	}
}
