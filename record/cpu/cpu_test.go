// The description of the processor is the same on every core.

package cpu

import (
	"bytes"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDescriptionIsTheSameOnEveryCore(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	defer unix.SchedSetaffinity(0, &all)
	first := words()
	if len(first) == 0 {
		t.Fatal("nothing is known of the processor")
	}
	for core := range runtime.NumCPU() {
		var only unix.CPUSet
		only.Set(core)
		if err := unix.SchedSetaffinity(0, &only); err != nil {
			continue // not a core of ours
		}
		if again := words(); len(again) != len(first) {
			t.Fatal(first, again)
		} else {
			for i := range again {
				if again[i] != first[i] {
					t.Fatalf("word %d: %x, then %x", i, first[i], again[i])
				}
			}
		}
	}
	if !bytes.HasPrefix(Description(), []byte("cpu")) {
		t.Error(Description())
	}
}
