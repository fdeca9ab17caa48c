// Package cpuid replaces github.com/klauspost/cpuid/v2 (go.mod: replace). Two packages
// use that one to ask for three features of the processor, but it asks the processor for
// everything: brand, caches, topology. In a virtual machine each question takes 30 us,
// because the hypervisor answers it. That was 0.7 ms of each start of the launcher, half
// of it, and of each first load of the library.
//
// This package has what those two use, and Ask and Saved for package record/cpu. It is a
// module of its own. The S3 client in jitcache-storage asks for more features; it is told
// that the processor has none of them.
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
