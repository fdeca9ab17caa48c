// A disk that does not answer keeps nobody.

package engine

import (
	"context"
	"errors"
	"testing"
	"time"
)

// stuck is an engine on a disk that does not answer, until it does.
type stuck struct {
	Engine
	answers chan bool
}

func (s *stuck) Get(context.Context, Name, int64) ([]byte, error) {
	<-s.answers
	return []byte("value"), nil
}

func (s *stuck) Probe(context.Context) error {
	<-s.answers
	return nil
}

//jitcache:control waitsfordisks
func TestDiskThatDoesNotAnswerKeepsNobody(t *testing.T) {
	s := &stuck{answers: make(chan bool)}
	e := newWaited(s)
	briefly := func() context.Context {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	done := make(chan bool)
	go func() {
		defer close(done)
		for range 2 * mostWaited {
			if _, err := e.Get(briefly(), aName(1), 100); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			if err := e.Probe(briefly()); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatal("it waits for the disk")
	}
	if n := len(e.free); n != mostWaited {
		t.Errorf("%d calls wait for the disk", n)
	}
	close(s.answers)
	if got, err := e.Get(within(t), aName(1), 100); string(got) != "value" || err != nil {
		t.Errorf("it answers again: %q, %v", got, err)
	}
}
