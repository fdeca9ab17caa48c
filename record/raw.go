// Reads regular files without the poller of Go's runtime, which asks the kernel four times about each.

package record

import (
	"io"

	"golang.org/x/sys/unix"
)

// rawFile is the descriptor of an open file.
type rawFile int

// openRaw opens a file. O_NONBLOCK: opening a FIFO must not wait for a writer.
func openRaw(path string) (rawFile, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	return rawFile(fd), err
}

func (f rawFile) close() { unix.Close(int(f)) }

// ReadAt is that of io.ReaderAt: of a regular file the kernel gives less only at the end.
func (f rawFile) ReadAt(b []byte, at int64) (int, error) {
	n, err := unix.Pread(int(f), b, at)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return max(n, 0), err
}

// readAsStamped returns the content of a file whose stamp was a moment ago was, with as few calls as there can
// be: a compile reads dozens of small headers. It returns nil if the file has another stamp, or cannot be read.
func readAsStamped(path string, was *Stamp) []byte {
	f, err := openRaw(path)
	if err != nil {
		return nil
	}
	data, after := make([]byte, was.Size), status{Read: was.Read}
	n, _ := f.ReadAt(data, 0)
	errno := after.OfDescriptor(int(f))
	f.close()
	if n != len(data) || errno != 0 || after.Kind() != unix.S_IFREG || !after.Stamp.Same(was) && seesRestamped {
		return nil
	}
	return data
}
