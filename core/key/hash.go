// BLAKE3 in the calling goroutine.

package key

import (
	"io"
	"math/bits"
	"os"
	"sync"

	"lukechampine.com/blake3"
	"lukechampine.com/blake3/guts"
)

// blockSize is what one call into guts compresses: 16 chunks of 1 KiB, the
// width of its widest vector code.
const blockSize = guts.MaxSIMD * guts.ChunkSize

// hasher is BLAKE3 in one goroutine.
//
// blake3.Sum256 and blake3.Hasher start goroutines and allocate for anything
// above 1 KiB: 17 us for 4 KiB here, against 2 us for the same compression
// functions driven from one loop. Nor should a library inside somebody else's
// process spend a goroutine per call. The digests are the same
// (TestHasherAgreesWithBlake3).
//
// Each step is one call on 16 KiB, a few microseconds, so the Go scheduler can
// stop the loop soon at any time; asynchronous preemption is off in libjitcache
// (ARCHITECTURE.md, "Go inside").
type hasher struct {
	buf     [blockSize]byte
	n       int           // bytes waiting in buf; a full buf waits, it may be the root
	chunks  uint64        // chunks already compressed; its bits say which of stack is in use
	stack   [64][8]uint32 // chaining values of finished subtrees, by height
	scratch guts.Node
}

// Write adds p to the hash. It never fails.
func (h *hasher) Write(p []byte) (int, error) {
	total := len(p)
	for len(p) > 0 {
		if h.n == blockSize {
			h.push(&h.buf)
			h.n = 0
		}
		// Whole blocks go straight from p, but never the last one: only Sum
		// knows whether that is the root.
		for h.n == 0 && len(p) > blockSize {
			h.push((*[blockSize]byte)(p))
			p = p[blockSize:]
		}
		c := copy(h.buf[h.n:], p)
		h.n += c
		p = p[c:]
	}
	return total, nil
}

func (h *hasher) push(block *[blockSize]byte) {
	h.scratch = guts.CompressBuffer(block, blockSize, &guts.IV, h.chunks, 0)
	cv := guts.ChainingValue(h.scratch)
	height := bits.TrailingZeros64(guts.MaxSIMD)
	for i := height; ; i++ {
		if h.chunks&(1<<i) == 0 {
			h.stack[i] = cv
			break
		}
		h.scratch = guts.ParentNode(h.stack[i], cv, &guts.IV, 0)
		cv = guts.ChainingValue(h.scratch)
	}
	h.chunks += guts.MaxSIMD
}

// Sum returns the digest of everything written.
func (h *hasher) Sum() Digest {
	node := guts.CompressBuffer(&h.buf, h.n, &guts.IV, h.chunks, 0)
	for i := 0; i < bits.Len64(h.chunks); i++ {
		if h.chunks&(1<<i) != 0 {
			node = guts.ParentNode(h.stack[i], guts.ChainingValue(node), &guts.IV, 0)
		}
	}
	node.Flags |= guts.FlagRoot
	out := guts.WordsToBytes(guts.CompressNode(node))
	return Digest(out[:32])
}

// Sum returns the BLAKE3 digest of b. It starts no goroutine.
func Sum(b []byte) Digest {
	if len(b) <= guts.ChunkSize {
		return blake3.Sum256(b)
	}
	var h hasher
	h.Write(b)
	return h.Sum()
}

// SumReader returns the BLAKE3 digest of all bytes of r. It starts no goroutine.
func SumReader(r io.Reader) (Digest, error) {
	s := sums.Get().(*summing)
	defer sums.Put(s)
	s.hasher = hasher{}
	for {
		n, err := r.Read(s.block[:])
		s.hasher.Write(s.block[:n])
		if err == io.EOF {
			return s.hasher.Sum(), nil
		}
		if err != nil {
			return Digest{}, err
		}
	}
}

// summing has the buffers for hashing a file. They are reused: a compile looks at
// hundreds of small files, and with new buffers for each the garbage collector ran
// after every few.
type summing struct {
	hasher hasher
	block  [64 << 10]byte
}

var sums = sync.Pool{New: func() any { return new(summing) }}

func contentDigest(f *os.File) ([]byte, error) {
	d, err := SumReader(f)
	return d[:], err
}
