// The features of the processor, as the kernel names them.

package cpuid

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestFeaturesAreThoseThatTheKernelNames(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the kernel names them otherwise")
	}
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nflags")
	line, _, _ := strings.Cut(rest, "\n")
	named := strings.Fields(line)
	if len(named) < 10 {
		t.Fatalf("no flags: %q", line)
	}
	all := true
	for id, name := range map[FeatureID]string{SSE2: "sse2", AVX2: "avx2", AVX512F: "avx512f"} {
		has := slices.Contains(named, name)
		if CPU.Has(id) != has {
			t.Errorf("%s: %v, the kernel says %v", name, CPU.Has(id), has)
		}
		all = all && has
	}
	if CPU.Supports(SSE2, AVX2, AVX512F) != all || !CPU.Supports() {
		t.Error("Supports is not Has of each")
	}
}
