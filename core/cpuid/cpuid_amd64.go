// CPUID and XGETBV.

package cpuid

// Ask asks the processor, by CPUID.
func Ask(leaf, sub uint32) (a, b, c, d uint32)

// Saved returns which registers the system saves, and so lets programs use: the result
// of XGETBV. Call it only if Ask(1, 0) has the bit OSXSAVE.
func Saved() (low, high uint32)

// vectors: Intel's manual, volume 1, 14.3 and 15.2. Registers that the system does
// not save must not be used.
func vectors() (avx2, avx512 bool) {
	const (
		xsave  = 1<<26 | 1<<27
		avx    = 1<<1 | 1<<2
		masks  = 1<<5 | 1<<6 | 1<<7
		leaf7  = 7
		isAVX2 = 1 << 5
		isF    = 1 << 16
	)
	if _, _, c, _ := Ask(1, 0); c&xsave != xsave {
		return false, false
	}
	saved, _ := Saved()
	if saved&avx != avx {
		return false, false
	}
	// AVX says that leaf 7 is there or zero: no processor has XSAVE without it.
	_, b, _, _ := Ask(leaf7, 0)
	return b&isAVX2 != 0, b&isF != 0 && saved&masks == masks
}
