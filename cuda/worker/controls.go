//go:build !control

package worker

// Mechanisms, each with the name of the control that takes it out (package control).
const (
	checkWorker = true // noworkercheck: a worker is used again only if what it has looked at is unchanged
	bounded     = true // nobound: the number of workers is bounded
	ownsFolder  = true // noownfolder: a worker has a folder of its own for precompiled headers
	comparesAll = true // anyheaders: headers are precompiled only for programs whose headers have the same text
	endsAtExit  = true // noendatexit: a process that ends ends its workers, and waits for them
)
