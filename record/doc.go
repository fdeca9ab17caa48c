// Package record remembers the world that a result was made in: every file that
// was read or looked at, every name that was absent, the environment, the
// processor. As long as all of that is what it was, the same command has the same
// result.
//
// Take makes a List of what package observe reports, or says what in the report
// makes the result one that cannot be repeated: what is not known to be harmless
// is refused. Check compares a list with the disk, by stat, and by content only
// where a stamp proves nothing. A Set has the last few lists of one request.
package record
