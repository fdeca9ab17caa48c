//go:build control

package store

import (
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/core/control"
)

var (
	checkPayload  = !control.Is("nochecksum")
	checkFooter   = !control.Is("nofooter")
	checkWrite    = !control.Is("nowritecheck")
	callAgain     = !control.Is("noagain")
	goOn          = !control.Is("short")
	closeFailed   = !control.Is("leak")
	checkLimit    = !control.Is("nolimit")
	makeAgain     = !control.Is("norepair")
	refuseLinks   = !control.Is("follow")
	wholeFile     = !control.Is("shorter")
	boundsWho     = !control.Is("manysigners")
	checkOwners   = !control.Is("anyowner")
	checkRegular  = !control.Is("anyfile")
	checkWritable = !control.Is("nowritable")
	readsPinned   = !control.Is("nopinned")
	clampCells    = !control.Is("noclamp")
	asksFirst     = !control.Is("nofirst")
	keepsDay      = !control.Is("anyday")
	takeSamples   = !control.Is("lookatall")
	putsShare     = !control.Is("evictall")
	sweepTemps    = !control.Is("notempsweep")
	locksConfig   = !control.Is("noconfiglock")
	sparesLiving  = !control.Is("sweepliving")
)

// keptOpen holds the descriptors of folders by their paths.
var keptOpen sync.Map

func (s *Store) folderAt(path string) (int, syscall.Errno) {
	if !control.Is("keepopen") {
		return s.openNow(path)
	}
	if fd, ok := keptOpen.Load(path); ok {
		again, err := unix.Dup(fd.(int))
		return again, errno(err)
	}
	fd, e := s.openNow(path)
	if e == 0 {
		if own, err := unix.Dup(fd); err == nil {
			keptOpen.Store(path, own)
		}
	}
	return fd, e
}
