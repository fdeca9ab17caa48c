// Reading an entry: opening its file, checking it, and verifying every byte.

package store

import (
	"encoding/binary"
	"runtime"
	"syscall"

	"jitcache/core/blob"
	"jitcache/core/key"
)

// wholeRead is the largest file that is read before its footer is checked. The size of a
// larger file alone must not cause an allocation: anybody can make a sparse file of a
// terabyte.
const wholeRead = 16 << 20

// touchAfter is how old the recency of an entry may be before a hit renews it,
// see smallCount.
const touchAfter = int64(3600e9)

// RecencyLag is the longest time by which the recency of an entry is behind its last use, in nanoseconds: a read does not
// renew what is less than an hour old, and a process that has read it renews it an hour later (core/memory). Recency says
// nothing where several machines may see the directory (Mount.Network): there nobody renews it.
const RecencyLag = 2 * touchAfter

// entryPath has room for the path of an entry, absolute and ending in a NUL. Most cache
// roots fit; a longer one costs an allocation.
type entryPath struct {
	buf [320]byte
}

func (s *Store) entryPath(p *entryPath, id *key.ID) []byte {
	var digits [2 * len(id)]byte
	putHex(&digits, id)
	b := append(p.buf[:0], s.entries...)
	b = append(b, digits[:2]...)
	b = append(b, '/')
	b = append(b, digits[2:]...)
	return append(b, entrySuffix+"\x00"...)
}

// PathOf returns the path of a key's entry, which need not exist.
func (s *Store) PathOf(id *key.ID) string {
	var p entryPath
	path := s.entryPath(&p, id)
	return string(path[:len(path)-1]) // without the NUL
}

const entrySuffix = ".jce"

// putHex writes an ID in hexadecimal, four bytes at a time. Digit by digit it would take
// as long as the rest of a miss without the system call.
func putHex(dst *[2 * len(key.ID{})]byte, id *key.ID) {
	for i := 0; i < len(id); i += 4 {
		// Half a byte each, in the order of the digits.
		x := uint64(binary.LittleEndian.Uint32(id[i:]))
		x = (x | x<<16) & 0x0000ffff0000ffff
		x = (x | x<<8) & 0x00ff00ff00ff00ff
		x = (x>>4 | x<<8) & 0x0f0f0f0f0f0f0f0f
		letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101 // 10 and above
		binary.LittleEndian.PutUint64(dst[2*i:], x+0x3030303030303030+letters*('a'-'0'-10))
	}
}

// openEntry opens an entry and checks whether its file may be used at all. If why is None,
// fd is open, and the caller closes it.
func (s *Store) openEntry(id *key.ID, st *syscall.Stat_t) (fd int, why Reason) {
	var p entryPath
	path := s.entryPath(&p, id)
	fd, e := s.openBelow(path, flagsRead, 0)
	if e != 0 {
		return -1, reasonOf(e)
	}
	if why = s.checkFile(fd, st, id); why != None {
		abandon(fd)
		return -1, why
	}
	return fd, None
}

// checkFile says whether an entry's open file may be used at all.
func (s *Store) checkFile(fd int, st *syscall.Stat_t, id *key.ID) (why Reason) {
	if e := fstat(fd, st); e != 0 {
		return reasonOf(e)
	}
	why = s.trust.checkEntry(st)
	if why == None && st.Size < footerSize {
		why = Truncated
	}
	if why == None && st.Size > wholeRead {
		why = checkEnd(fd, st.Size, id)
	}
	return why
}

// checkEnd reads the footer of a large file, before anything is allocated for
// the rest.
func checkEnd(fd int, size int64, id *key.ID) Reason {
	f, why := readFooter(fd, size)
	if why == None && f.id != *id {
		return ForeignKey
	}
	return why
}

func readFooter(fd int, size int64) (f footer, why Reason) {
	if size < footerSize {
		return f, Truncated
	}
	b := make([]byte, footerSize) // escapes: f.kind aliases it
	n, e := preadFull(fd, b, size-footerSize)
	if e != 0 {
		return f, reasonOf(e)
	}
	return parseFooter(b[:n], size)
}

// Get returns the entry under id, read and verified, with a reference for the caller;
// or nil and the reason of the miss.
func (s *Store) Get(id *key.ID) (*blob.Blob, Reason) {
	var st syscall.Stat_t
	fd, why := s.openEntry(id, &st)
	if why != None {
		return nil, why
	}
	b, why := s.getOpened(fd, &st, id)
	closeFd(fd)
	return b, why
}

// Peek is Get without a change of the entry's recency.
func (s *Store) Peek(id *key.ID) (*blob.Blob, Reason) {
	var st syscall.Stat_t
	fd, why := s.openEntry(id, &st)
	if why != None {
		return nil, why
	}
	defer closeFd(fd)
	return s.readOpened(fd, &st, id)
}

// GetFrom is Get from a file that the caller has opened, at EntryPath, and closes.
func (s *Store) GetFrom(fd int, id *key.ID) (*blob.Blob, Reason) {
	var st syscall.Stat_t
	if why := s.checkFile(fd, &st, id); why != None {
		return nil, why
	}
	return s.getOpened(fd, &st, id)
}

func (s *Store) getOpened(fd int, st *syscall.Stat_t, id *key.ID) (*blob.Blob, Reason) {
	b, why := s.readOpened(fd, st, id)
	if why == None {
		s.renew(fd, st)
	}
	return b, why
}

// EntryPath returns the prefix of the path of every entry. The rest is the ID in
// hexadecimal, with a slash after the first byte, and a suffix (docs/format.md). Open
// the file with flagsRead, and without following links.
func (s *Store) EntryPath() string { return s.entries }

func (s *Store) readOpened(fd int, st *syscall.Stat_t, id *key.ID) (*blob.Blob, Reason) {
	b, err := blob.New(int(st.Size))
	if err != nil {
		return nil, NoMemory
	}
	buf := b.Buffer()
	n, e := readFull(fd, buf)
	if e != 0 {
		b.Release()
		return nil, reasonOf(e)
	}
	f, a, why := verifyEntry(buf[:n], id)
	if why == None && n < len(buf) && wholeFile {
		why = Truncated // while it was read; in a blob the footer must end the buffer
	}
	if why != None {
		b.Release()
		return nil, why
	}
	fill(b, &f, a)
	b.SetFile(uint64(st.Dev), st.Ino)
	runtime.KeepAlive(id)
	return b, None
}

// GetInto reads the payload of an entry into buf and verifies it. It returns the size
// of the payload. If that is larger than buf, nothing was verified, and the caller
// calls again with a larger buf. It saves copying a large payload out of a blob.
//
// If buf has room for the whole file, that takes one read. The kind may alias buf.
func (s *Store) GetInto(id *key.ID, buf []byte) (size int, kind []byte, cost int64, why Reason) {
	var st syscall.Stat_t
	fd, why := s.openEntry(id, &st)
	if why != None {
		return 0, nil, 0, why
	}
	size, kind, cost, why = s.getInto(fd, &st, id, buf)
	closeFd(fd)
	return size, kind, cost, why
}

// GetIntoFrom is GetInto from a file that the caller has opened and closes.
func (s *Store) GetIntoFrom(fd int, id *key.ID, buf []byte) (size int, kind []byte, cost int64, why Reason) {
	var st syscall.Stat_t
	if why := s.checkFile(fd, &st, id); why != None {
		return 0, nil, 0, why
	}
	return s.getInto(fd, &st, id, buf)
}

func (s *Store) getInto(fd int, st *syscall.Stat_t, id *key.ID, buf []byte) (size int, kind []byte, cost int64, why Reason) {
	var f footer
	if int(st.Size) <= len(buf) {
		f, why = readWhole(fd, buf[:st.Size], id)
	} else {
		f, why = readParts(fd, st.Size, buf, id)
	}
	if why == None && f.payload <= uint64(len(buf)) {
		s.renew(fd, st)
	}
	return int(f.payload), f.kind, f.cost, why
}

func readWhole(fd int, buf []byte, id *key.ID) (footer, Reason) {
	n, e := readFull(fd, buf)
	if e != 0 {
		return footer{}, reasonOf(e)
	}
	f, _, why := verifyEntry(buf[:n], id)
	return f, why
}

// readParts reads the footer, the attributes and the payload with a read each. It stops
// after the footer if buf has no room for the payload.
func readParts(fd int, size int64, buf []byte, id *key.ID) (footer, Reason) {
	f, why := readFooter(fd, size)
	if why != None {
		return f, why
	}
	if f.id != *id {
		return f, ForeignKey
	}
	if f.payload > uint64(len(buf)) {
		return f, None
	}
	attrs := make([]byte, f.attributes)
	n, e := preadFull(fd, attrs, int64(f.payload))
	if e != 0 {
		return f, reasonOf(e)
	}
	if _, why := verifyAttributes(attrs[:n], &f); why != None {
		return f, why
	}
	payload := buf[:f.payload]
	if n, e = preadFull(fd, payload, 0); e != 0 {
		return f, reasonOf(e)
	}
	if n < len(payload) {
		return f, Truncated
	}
	if checkPayload && sumPayload(payload) != f.payloadSum {
		return f, Checksum
	}
	return f, None
}

// renew renews the recency of an entry that was just hit, if that is due.
func (s *Store) renew(fd int, st *syscall.Stat_t) {
	if s.refuse != None || s.mount.Network {
		return
	}
	age := s.now() - (st.Mtim.Sec*1e9 + st.Mtim.Nsec)
	// A time in the future (a copied directory, a clock put back) counts as now.
	if s.small.Load() || age > touchAfter || age < -touchAfter {
		touch(fd, s.stamp())
	}
}

// Touch renews the recency of an entry that is used from memory.
func (s *Store) Touch(id *key.ID) {
	if s.refuse != None || s.mount.Network {
		return
	}
	var st syscall.Stat_t
	if fd, why := s.openEntry(id, &st); why == None {
		touch(fd, s.stamp())
		closeFd(fd)
	}
}

// stamp returns the present time, and always a later one than before. Eviction compares
// these times, and the kernel's own stamps are equal within a timer tick (3 distinct
// ones in 300 writes were measured).
func (s *Store) stamp() int64 {
	for {
		last := s.last.Load()
		now := max(s.now(), last+1)
		if s.last.CompareAndSwap(last, now) {
			return now
		}
	}
}

// Has reports whether there is a good entry under id.
func (s *Store) Has(id *key.ID) bool {
	b, why := s.Get(id)
	if why != None {
		return false
	}
	b.Release()
	return true
}
