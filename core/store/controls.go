//go:build !control

package store

import "syscall"

// What control builds of the tests go without (package control).
const (
	checkPayload  = true // checksums of payload and attributes
	checkFooter   = true // the footer's checksum of itself
	checkWrite    = true // a put looks at whether its write has worked
	callAgain     = true // a call that a signal has interrupted is made again
	goOn          = true // a read or write that has moved less than was asked for goes on
	closeFailed   = true // what something has failed with is closed
	checkLimit    = true // nothing is written beyond the limit of the size of files
	makeAgain     = true // a put makes the folders that somebody has removed
	refuseLinks   = true // no symbolic link below the root is followed
	wholeFile     = true // an entry is as long as its file was when it was opened
	boundsWho     = true // so many signatures are looked at, and names of such a length
	checkOwners   = true // who may have written a file or a directory decides whether it is used
	checkRegular  = true // what is written in place is a regular file with no other name
	checkWritable = true // Open finds out whether puts can work
	readsPinned   = true // the file behind a path is looked at again
	clampCells    = true // the ledger's cells do not go below zero
	asksFirst     = true // a put that sees nothing in its place is told if another one is quicker
	keepsDay      = true // what is written on a later day is booked for the day of the count
	takeSamples   = true // an eviction from a large directory looks at a sample
	putsShare     = true // puts share the work where there is much to evict
	sweepTemps    = true // copies of processes that are gone are removed from the temp directory
	sparesLiving  = true // and those of others are not
)

// folderAt opens a folder each time that it is needed.
func (s *Store) folderAt(path string) (int, syscall.Errno) { return s.openNow(path) }
