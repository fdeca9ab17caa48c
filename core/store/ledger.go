// The ledger: one file with the size of each shard and the counters.

package store

import (
	"context"
	"encoding/binary"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"
	"golang.org/x/sys/unix"

	"jitcache/core/lockfile"
)

// The ledger is one file of fixed size: the bytes and entries of each of the 256
// shards, and the counters. Because of it the cost of a put and of an open does not
// depend on the number of entries. It is advice: if it is damaged or lost, the shards
// are counted again, a few at a time.
//
// Little-endian: a header of 64 bytes, 256 cells of bytes (8) and count (8),
// the counters of 16 kinds, XXH3-64 of all before.
const (
	ledgerMagic  = "jcledger"
	ledgerHeader = 64
	ledgerCells  = ledgerHeader
	ledgerKinds  = ledgerCells + shards*16
	ledgerSum    = ledgerKinds + maxKinds*kindSize
	ledgerSize   = ledgerSum + 8 // 14,664 bytes
	shards       = 256
	maxKinds     = 16
	kindSize     = 16 + counterSlots*8
)

// unknownCount is the count of a cell that must be counted again.
const unknownCount = ^uint64(0)

type cell struct {
	bytes, count uint64
}

// ledger is the parsed file.
type ledger struct {
	swept   int64 // when leftovers were last swept, nanoseconds since 1970
	zeroed  int64 // when the counters were last set to zero, likewise
	cursor  uint8 // the shard that the next eviction looks at first
	refused refusalNote
	cells   [shards]cell
	kinds   counterTable
	evicted counterTable // by this process since it read the file; not in the file
}

// refusalNote is the last put that was refused, for `jitcache doctor`.
type refusalNote struct {
	at     int64
	reason Reason
}

// unknownLedger takes the place of a ledger that cannot be read.
func unknownLedger() *ledger {
	l := new(ledger)
	for i := range l.cells {
		l.cells[i] = cell{0, unknownCount}
	}
	return l
}

// The header: magic (8), version (4), cursor (4), swept (8), zeroed (8), time
// of the last refusal (8), its reason (4), then zeros.
func (l *ledger) encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, ledgerSize)
	copy(b, ledgerMagic)
	le.PutUint32(b[8:], formatVersion)
	le.PutUint32(b[12:], uint32(l.cursor))
	le.PutUint64(b[16:], uint64(l.swept))
	le.PutUint64(b[24:], uint64(l.zeroed))
	le.PutUint64(b[32:], uint64(l.refused.at))
	le.PutUint32(b[40:], uint32(l.refused.reason))
	for i, c := range l.cells {
		le.PutUint64(b[ledgerCells+16*i:], c.bytes)
		le.PutUint64(b[ledgerCells+16*i+8:], c.count)
	}
	l.kinds.encode(b[ledgerKinds:ledgerSum])
	le.PutUint64(b[ledgerSum:], xxh3.Hash(b[:ledgerSum]))
	return b
}

func parseLedger(b []byte) (*ledger, bool) {
	le := binary.LittleEndian
	if len(b) != ledgerSize || string(b[:8]) != ledgerMagic || le.Uint32(b[8:]) != formatVersion ||
		le.Uint64(b[ledgerSum:]) != xxh3.Hash(b[:ledgerSum]) {
		return nil, false
	}
	l := &ledger{
		cursor:  uint8(le.Uint32(b[12:])),
		swept:   int64(le.Uint64(b[16:])),
		zeroed:  int64(le.Uint64(b[24:])),
		refused: refusalNote{int64(le.Uint64(b[32:])), Reason(le.Uint32(b[40:]))},
	}
	for i := range l.cells {
		l.cells[i] = cell{le.Uint64(b[ledgerCells+16*i:]), le.Uint64(b[ledgerCells+16*i+8:])}
	}
	l.kinds.decode(b[ledgerKinds:ledgerSum])
	return l, true
}

// total adds the cells up. Shards are samples of the whole, so unknown ones are taken
// to be like the rest.
func (l *ledger) total() (bytes, count uint64) {
	known := uint64(0)
	for _, c := range l.cells {
		if c.count != unknownCount {
			bytes, count, known = bytes+c.bytes, count+c.count, known+1
		}
	}
	if known > 0 && known < shards {
		bytes, count = bytes/known*shards, count/known*shards
	}
	return bytes, count
}

// apply adds a change to a cell. A cell never goes below zero: two processes may both
// subtract one entry. An unknown cell stays unknown.
func (l *ledger) apply(shard int, d change) {
	c := &l.cells[shard]
	if c.count == unknownCount {
		return
	}
	if !clampCells {
		c.bytes, c.count = c.bytes+uint64(d.bytes), c.count+uint64(d.count)
		return
	}
	c.bytes = uint64(max(0, int64(c.bytes)+d.bytes))
	c.count = uint64(max(0, int64(c.count)+d.count))
}

// readLedger reads the ledger without its lock. If a write is going on, the checksum
// shows it, and a moment later the ledger is whole.
func (s *Store) readLedger() (*ledger, syscall.Errno) {
	var e syscall.Errno
	for range 3 {
		var b []byte
		if b, e = s.readSmall("ledger", ledgerSize); e != 0 {
			return unknownLedger(), e
		}
		if l, ok := parseLedger(b); ok {
			return l, 0
		}
	}
	return unknownLedger(), unix.EIO
}

// writeLedger writes the ledger in place. Its lock is held.
func (s *Store) writeLedger(l *ledger) syscall.Errno {
	fd, size, e := s.openToWrite("ledger")
	if e != 0 {
		return e
	}
	e = pwriteAll(fd, l.encode(), 0)
	if e == 0 && size > ledgerSize {
		unix.Ftruncate(fd, ledgerSize) // another program has made it longer
	}
	if ec := closeFd(fd); e == 0 {
		e = ec
	}
	return e
}

// lockLedger tries to take the ledger's lock.
func (s *Store) lockLedger() (*lockfile.Lock, error) { return s.TryLock("ledger", nil) }

// ledgerWait is how long a command waits for the ledger's lock before it goes on
// without it.
const ledgerWait = 2 * time.Second

// waitLedger takes the ledger's lock and reads the ledger. If it cannot have the lock,
// it returns nil for it: at worst a count is wrong until the shard is counted again.
func (s *Store) waitLedger(ctx context.Context) (unlocker, *ledger) {
	return s.waitLedgerUntil(ctx, time.Now().Add(ledgerWait))
}

// waitLedgerUntil is waitLedger with an end. It tries at least once.
func (s *Store) waitLedgerUntil(ctx context.Context, end time.Time) (lock unlocker, l *ledger) {
	for {
		held, err := s.lockLedger()
		if held != nil {
			lock = held
		}
		if held != nil || err != nil || ctx.Err() != nil || !time.Now().Before(end) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	l, _ = s.readLedger()
	return lock, l
}

type unlocker interface{ Unlock() }

// Reasons must fit the counters.
const _ = uint(reasonBaseGap - reasonEnd)

const reasonBaseGap = Reason(refusalBase - missBase)
