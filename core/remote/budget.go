// Budget: how long a process may wait for remotes without getting anything.

package remote

import (
	"sync/atomic"
	"time"
)

// Budget is how long a process may wait for remotes in vain: a second, plus two per cent of
// its compile time.
type Budget struct {
	spent, compiled atomic.Int64
}

// Spent is the budget of this process.
var Spent Budget

const (
	atFirst = time.Second
	share   = 50 // a fiftieth of compile time
)

// Left returns how much of the budget is left.
func (b *Budget) Left() time.Duration {
	if !budgeted {
		return time.Hour
	}
	return atFirst + time.Duration(b.compiled.Load()/share-b.spent.Load())
}

// Vain draws a vain wait from the budget; a negative time gives it back.
func (b *Budget) Vain(d time.Duration) { b.spent.Add(int64(d)) }

// Compiled adds a compile to the budget.
func (b *Budget) Compiled(d time.Duration) { b.compiled.Add(int64(max(d, 0))) }
