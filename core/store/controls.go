//go:build !control

package store

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	checkPayload  = true // nochecksum: payload and attributes have checksums
	checkFooter   = true // nofooter: the footer has a checksum of itself
	checkWrite    = true // nowritecheck: a put checks whether its write has worked
	callAgain     = true // noagain: a call that a signal has interrupted is repeated
	goOn          = true // short: a short read or write goes on
	closeFailed   = true // leak: a file is closed if something has failed with it
	checkLimit    = true // nolimit: nothing is written beyond the limit of file sizes (ulimit -f)
	makeAgain     = true // norepair: a put makes the folders that somebody has removed
	refuseLinks   = true // follow: no symbolic link below the root is followed
	wholeFile     = true // shorter: an entry must be as long as its file was when it was opened
	boundsWho     = true // manysigners: the number of signatures and the length of their names are bounded
	checkOwners   = true // anyowner: a file or directory is used only if nobody else may have written it
	checkRegular  = true // anyfile: only a regular file without a second name is locked, read, or written in place
	checkWritable = true // nowritable: Open finds out whether puts can work
	readsPinned   = true // nopinned: the file behind a path is looked at again
	clampCells    = true // noclamp: the ledger's cells do not go below zero
	asksFirst     = true // nofirst: a put into a free place notices if another put is quicker
	keepsDay      = true // anyday: counts belong to the day of the count, not of the writing
	takeSamples   = true // lookatall: an eviction from a large directory looks at a sample
	putsShare     = true // evictall: if there is much to evict, puts share the work
	sweepTemps    = true // notempsweep: what dead processes have left in the temp directory is removed
	locksConfig   = true // noconfiglock: one process at a time changes the settings of a directory
	sparesLiving  = true // sweepliving: what living processes have in the temp directory is not removed
	opensAgain    = true // keepopen: folders are opened each time that they are needed
)
