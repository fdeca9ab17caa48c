// What CPUID says of an x86_64 processor.

package cpu

import "github.com/klauspost/cpuid/v2" // core/cpuid, which stands for it

// leaves are asked for in this order: Intel's manual, volume 2, CPUID; AMD's,
// volume 3, appendix E.
var leaves = [][2]uint32{
	{0, 0},
	{1, 0},
	{4, 0},
	{4, 1},
	{4, 2},
	{4, 3},
	{7, 0},
	{7, 1},
	{13, 1},
	{0x14, 0},
	{0x19, 0},
	{0x1e, 0},
	{0x24, 0},
	{0x80000000, 0},
	{0x80000001, 0},
	{0x80000005, 0},
	{0x80000006, 0},
	{0x80000008, 0},
	{0x8000001d, 0},
}

func words() []uint32 {
	const saves = 1 << 27 // the system saves the registers of XGETBV's answer
	most, _, _, _ := cpuid.Ask(0, 0)
	mostExtended, _, _, _ := cpuid.Ask(0x80000000, 0)
	var all []uint32
	usable := false
	for _, l := range leaves {
		var r [4]uint32
		if l[0] <= most || l[0] >= 0x80000000 && l[0] <= mostExtended {
			r[0], r[1], r[2], r[3] = cpuid.Ask(l[0], l[1])
		}
		switch l[0] {
		case 1:
			usable = r[2]&saves != 0
			r[1] = 0 // its number
		case 4, 0x8000001d:
			r[0] &= 0x3fff // how many share the cache
		case 0x80000008:
			r[2] = 0 // how many there are
		}
		all = append(all, r[:]...)
	}
	if usable {
		low, high := cpuid.Saved() // what the system lets programs use
		all = append(all, low, high)
	}
	return all
}
