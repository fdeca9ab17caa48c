//go:build !control

package worker

// What control builds of the tests go without (package control).
const (
	checkWorker = true // a worker is used again only if what it has looked at is unchanged
	bounded     = true // the number of workers is bounded
	ownsFolder  = true // a worker has a folder of its own for precompiled headers
	comparesAll = true // headers are precompiled only for programs whose headers have the same text
	endsAtExit  = true // a process that ends ends its workers, and waits for them
)
