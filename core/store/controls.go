//go:build !control

package store

import "syscall"

// What control builds of the tests go without (package control).
const (
	checkPayload  = true // checksums of payload and attributes
	checkFooter   = true // the footer's checksum of itself
	checkWrite    = true // a put checks whether its write has worked
	callAgain     = true // a call that a signal has interrupted is repeated
	goOn          = true // a short read or write goes on
	closeFailed   = true // a file is closed if something has failed with it
	checkLimit    = true // nothing is written beyond the limit of file sizes (ulimit -f)
	makeAgain     = true // a put makes the folders that somebody has removed
	refuseLinks   = true // no symbolic link below the root is followed
	wholeFile     = true // an entry must be as long as its file was when it was opened
	boundsWho     = true // the number of signatures and the length of names are bounded
	checkOwners   = true // a file or directory is used only if nobody else may have written it
	checkRegular  = true // only a regular file without a second name is written in place
	checkWritable = true // Open finds out whether puts can work
	readsPinned   = true // the file behind a path is looked at again
	clampCells    = true // the ledger's cells do not go below zero
	asksFirst     = true // a put into a free place notices if another put is quicker
	keepsDay      = true // counts belong to the day of the count, not of the writing
	takeSamples   = true // an eviction from a large directory looks at a sample
	putsShare     = true // if there is much to evict, puts share the work
	sweepTemps    = true // copies of processes that are gone are removed from the temp directory
	locksConfig   = true // one process at a time changes the settings of a directory
	sparesLiving  = true // copies of running processes are not removed
)

// folderAt opens a folder; no folder is kept open.
func (s *Store) folderAt(path string) (int, syscall.Errno) { return s.openNow(path) }
