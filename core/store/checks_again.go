//go:build !control_norepair

package store

// makeAgain lets a put make the folders that somebody has removed. A control
// build of the tests turns it off.
const makeAgain = true
