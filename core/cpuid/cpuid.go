// Package cpuid stands for github.com/klauspost/cpuid/v2, which two packages ask for
// three features of the processor, and which asks the processor for all that it has:
// brand, caches, topology. A virtual processor takes 30 us to answer each question,
// the host of a guest has to. That was 0.7 ms of each start of the launcher, half
// of it, and of each first load of the library.
//
// It has what those two use (go.mod: replace), and Ask and Saved for package record/cpu;
// it is no part of the module. The client of S3 in jitcache-storage asks for more; it is
// told that the processor has none of it, and goes without.
package cpuid

import "runtime"

// FeatureID is a feature.
type FeatureID int

// The features.
const (
	SSE2 FeatureID = iota
	AVX2
	AVX512F
)

// Features that no processor has here.
const (
	SSE4 FeatureID = AVX512F + 1 + iota
	CLMUL
	VPCLMULQDQ
	AVX512DQ
	AVX512BW
	AVX512VL
	ASIMD
	PMULL
	SHA3
	end
)

// Info is the processor.
type Info struct{ has [end]bool }

// CPU is the processor that this process runs on.
var CPU = detect()

// Has reports whether the processor has a feature that the system lets programs use.
func (c *Info) Has(id FeatureID) bool { return c.has[id] }

// Supports reports whether it has all of them.
func (c *Info) Supports(ids ...FeatureID) bool {
	for _, id := range ids {
		if !c.has[id] {
			return false
		}
	}
	return true
}

func detect() (c Info) {
	c.has[SSE2] = runtime.GOARCH == "amd64"
	c.has[AVX2], c.has[AVX512F] = vectors()
	return c
}
