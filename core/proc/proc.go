// Package proc reads the small files of /proc.
package proc

import "golang.org/x/sys/unix"

// Read returns the content of a file, at most the first most bytes.
//
// Package os would start the runtime's poller, which takes up to ten more system calls,
// and needs descriptors that a host may close.
func Read(path string, most int) ([]byte, error) {
	fd, err := again(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	text := make([]byte, 0, most)
	for len(text) < most {
		n, err := again(func() (int, error) { return unix.Read(fd, text[len(text):most]) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		text = text[:len(text)+n]
	}
	return text, nil
}

// BootID returns the id of this run of the kernel as the kernel writes it, with a line end;
// empty if it is unknown.
func BootID() []byte {
	id, _ := Read("/proc/sys/kernel/random/boot_id", 64)
	return id
}

// again repeats a call that a signal has interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}
