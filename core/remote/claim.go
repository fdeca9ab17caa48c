// The library's side of a claim on a key among the machines of a remote.

package remote

import (
	"errors"
	"time"

	"jitcache/core/key"
	"jitcache/core/wire"
)

// Claim is the right to compile a key among all machines of a remote. It is a connection to the
// helper, and ends with Done, with Release, or with this process, however that ends.
type Claim struct{ c *conn }

// Turn is the answer to a request for a claim.
type Turn byte

// The turns.
const (
	Nobodys = Turn(wire.Nobodys) // there are no claims here, or it is not known: compile
	Mine    = Turn(wire.Mine)    // compile, unless the result is there by now
	Theirs  = Turn(wire.Theirs)  // another machine compiles it: ask again
	Over    = Turn(wire.Over)    // it does not any more: look for the result, then ask again
)

// Claim asks for the claim on a key, and waits for it at most for wait. waited says that the
// answer was Theirs before. Time that passes while another machine compiles does not count as
// vain. Time that the helper takes does, unless awaited says that the other machine was alive a
// moment ago; see Get.
func (r *Remote) Claim(id *key.ID, wait time.Duration, waited, awaited bool) (*Claim, Turn) {
	now := int64(time.Since(epoch))
	most := mostRequest
	if awaited = awaited && waitsForLiving; !awaited {
		if now < r.claimless.Load() || !r.Asks() {
			return nil, Nobodys
		}
		most = min(Spent.Left(), mostRequest)
	}
	began := time.Now()
	wait = max(wait, 0)
	c, turn, late, err := r.askForClaim(id, wait, waited, began.Add(wait+most))
	switch {
	case err != nil:
		if !awaited {
			Spent.Vain(max(time.Since(began)-wait-late, 0))
		}
		r.claimless.Store(now + int64(firstPause))
	case turn == Nobodys:
		r.claimless.Store(now + int64(lastPause))
	}
	return c, turn
}

func (r *Remote) askForClaim(id *key.ID, wait time.Duration, waited bool, deadline time.Time) (mine *Claim, turn Turn, late time.Duration, err error) {
	c, err := r.connect(deadline)
	if err != nil {
		return nil, Nobodys, 0, err
	}
	turn = Nobodys
	if c.greeting.Jitcache {
		request := wire.AppendText([]byte{wire.Claim}, "jitcache/1/"+r.segment+"/"+id.String())
		request = append(wire.AppendSize(request, uint64(wait/time.Millisecond)), 0)
		if waited {
			request[len(request)-1] = 1
		}
		turn, err = c.turn(request)
	}
	if turn == Mine {
		return &Claim{c}, Mine, c.late, nil
	}
	c.closeSocket()
	return nil, turn, c.late, err
}

// turn asks for a claim. An error comes with Nobodys.
func (c *conn) turn(request []byte) (Turn, error) {
	if _, err := c.askStatus(request); err != nil {
		return Nobodys, err
	}
	b, err := wire.ReadByte(c)
	switch turn := Turn(b); {
	case err != nil:
		return Nobodys, err
	case turn > Over:
		return Nobodys, errors.New("the helper's answer has an unknown status")
	default:
		return turn, nil
	}
}

// Done hands the claim over to the helper, which ends it once the result in the outbox at this
// path is sent. Done does not wait for that.
func (m *Claim) Done(outbox string) {
	m.c.deadline = time.Now().Add(telling)
	m.c.askStatus(wire.AppendValue([]byte{wire.Done}, []byte(outbox))) // or it ends now, with the connection
	m.c.closeSocket()
}

// telling is how long a request may take whose work the helper does afterwards.
const telling = 500 * time.Millisecond

// Release ends a claim without a result.
func (m *Claim) Release() { m.c.closeSocket() }

// Descriptor returns the descriptor of the connection. If this process executes another program,
// that one holds the claim as long as the descriptor is open.
func (m *Claim) Descriptor() int { return m.c.fd }

// Adopt returns the claim behind an inherited descriptor.
func Adopt(fd int) *Claim { return &Claim{&conn{fd: fd, greeted: true}} }
