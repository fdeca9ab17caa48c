// What the kernel and MIDR_EL1 say of an aarch64 processor.

package cpu

import "golang.org/x/sys/unix"

// model reads MIDR_EL1, which the kernel answers for where features says so.
func model() uint64

func words() []uint32 {
	const (
		hwcap, hwcap2 = 16, 26  // AT_HWCAP, AT_HWCAP2 of linux/auxvec.h
		answered      = 1 << 11 // HWCAP_CPUID
	)
	features := []uint32{}
	all, _ := unix.Auxv()
	for _, pair := range all {
		if pair[0] == hwcap || pair[0] == hwcap2 {
			features = append(features, uint32(pair[0]), uint32(pair[1]), uint32(uint64(pair[1])>>32))
		}
		if pair[0] == hwcap && pair[1]&answered != 0 {
			m := model()
			features = append(features, uint32(m), uint32(m>>32))
		}
	}
	return features
}
