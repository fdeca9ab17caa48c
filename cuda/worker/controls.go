//go:build !control

package worker

// What control builds of the tests go without (package control).
const (
	checkWorker = true // what a worker has looked at is looked at again before it is used again
	bounded     = true // there are so many workers, and no more
)
