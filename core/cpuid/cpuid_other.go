// Processors without the CPUID instruction.

//go:build !amd64

package cpuid

func vectors() (avx2, avx512 bool) { return false, false }
