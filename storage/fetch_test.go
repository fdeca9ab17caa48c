// Large values of a batch are held one at a time.

package storage

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"jitcache/core/wire"
	"jitcache/storage/engine"
)

// large counts the values that an engine has given which are.
type large struct {
	*inMemory
	given atomic.Int32
}

func (l *large) Get(ctx context.Context, n engine.Name, limit int64) ([]byte, error) {
	value, err := l.inMemory.Get(ctx, n, limit)
	if len(value) > batched {
		l.given.Add(1)
	}
	return value, err
}

//jitcache:control wholebatch
func TestLargeValuesOfABatchAreHeldOneAtATime(t *testing.T) {
	const values = 3
	e := &large{inMemory: &inMemory{values: map[string][]byte{}}}
	socket, _, _ := serving(t, time.Minute, on(e), func(s *Server) { s.limit = 64 << 20 })
	request := wire.AppendSize(wire.AppendText([]byte{wire.Fetch}, "jitcache/1/team/"), values)
	value := bytes.Repeat([]byte("x"), batched+1<<20)
	object := append([]byte(objectMagic+"\x00\x01"), wire.AppendSize(nil, uint64(len(value)))...)
	object = append(object, value...)
	for n := range values {
		digest := fmt.Appendf(nil, "%032d", n)
		request = append(request, digest...)
		e.values[hex.EncodeToString(digest)] = object
	}
	c := dial(t, socket)
	c.SetDeadline(time.Now().Add(5 * time.Minute))
	if status, err := ask(t, c, request); status != wire.OK || err != nil {
		t.Fatal(status, err)
	}
	for n := range values {
		if status, err := wire.ReadStatus(c); status != wire.OK || err != nil {
			t.Fatalf("%d: %v, %v", n, status, err)
		}
		// The rest of this one is more than a socket takes, so the next is not there yet.
		if given := e.given.Load(); given != int32(n+1) {
			t.Errorf("%d values are held when the first byte of value %d has come", given, n)
		}
		if got, err := wire.ReadValue(c, wire.MaxValue); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("%d: %d bytes, %v", n, len(got), err)
		}
	}
}
