// Starting the helper in a build without C.

//go:build !cgo

package remote

import (
	"fmt"
	"os"
	"syscall"
)

// startHelper starts a helper through a process that starts it and ends, so that it is no child
// of this process. The command is built without C, and its own SIGCHLD does not matter.
func startHelper(program string, environment []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	_ = closesAll // the one between closes what it has inherited
	pid, err := syscall.ForkExec(program, []string{"jitcache-storage", "--detach"}, &syscall.ProcAttr{
		Dir: "/", Env: environment, Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
	})
	if err != nil {
		return fmt.Errorf("it cannot be started: %w", err)
	}
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return nil
		}
	}
}
