// Calls that cannot be cancelled, and their deadlines.

package engine

import "context"

// waited wraps an Engine whose calls cannot be cancelled: a network disk that does not answer
// keeps them in the kernel. The caller waits no longer than its context allows, and at most
// mostWaited calls are stuck at a time.
type waited struct {
	Engine
	free chan bool // a place for each call
}

// mostWaited is how many calls may run at once: each stuck call holds a thread.
const mostWaited = 64

func newWaited(e Engine) *waited { return &waited{e, make(chan bool, mostWaited)} }

// until returns the result of fn, or an error when the context ends. fn goes on then, so its
// arguments must not be changed.
func until[T any](ctx context.Context, w *waited, fn func() (T, error)) (value T, err error) {
	if !endsWaits {
		return fn()
	}
	select {
	case w.free <- true:
	case <-ctx.Done():
		return value, ctx.Err()
	}
	type answer struct {
		value T
		err   error
	}
	came := make(chan answer, 1)
	go func() {
		value, err := fn()
		came <- answer{value, err}
		<-w.free
	}()
	select {
	case a := <-came:
		return a.value, a.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

func (w *waited) Get(ctx context.Context, n Name, limit int64) ([]byte, error) {
	return until(ctx, w, func() ([]byte, error) { return w.Engine.Get(ctx, n, limit) })
}

func (w *waited) Put(ctx context.Context, n Name, value []byte, overwrite bool) (bool, error) {
	return until(ctx, w, func() (bool, error) { return w.Engine.Put(ctx, n, value, overwrite) })
}

func (w *waited) Remove(ctx context.Context, n Name) (bool, error) {
	return until(ctx, w, func() (bool, error) { return w.Engine.Remove(ctx, n) })
}

func (w *waited) Probe(ctx context.Context) error {
	_, err := until(ctx, w, func() (bool, error) { return true, w.Engine.Probe(ctx) })
	return err
}
