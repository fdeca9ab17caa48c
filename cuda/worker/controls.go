//go:build !control

package worker

// What control builds of the tests go without (package control).
const (
	checkWorker = true // a worker is used again only if what it has looked at is unchanged
	bounded     = true // the number of workers is bounded
	endsAtExit  = true // a process that ends ends its workers, and waits for them
)
