package remote

import (
	"sync/atomic"
	"time"
)

// Budget is what a process may lose by waiting for remotes in vain: a second, and two
// per cent of what it has spent on compiling.
type Budget struct {
	spent, compiled atomic.Int64
}

// Spent is the budget of this process.
var Spent Budget

const (
	atFirst = time.Second
	share   = 50 // a fiftieth of compile time
)

// Left returns how long may be waited yet.
func (b *Budget) Left() time.Duration {
	if !budgeted {
		return time.Hour
	}
	return atFirst + time.Duration(b.compiled.Load()/share-b.spent.Load())
}

// Vain says that so long was waited for nothing; less than nothing takes that back.
func (b *Budget) Vain(d time.Duration) { b.spent.Add(int64(d)) }

// Compiled says that a compile took so long.
func (b *Budget) Compiled(d time.Duration) { b.compiled.Add(int64(max(d, 0))) }
