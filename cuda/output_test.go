// Output of the compiler is written whole.

package cuda

import (
	"bytes"
	"io"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestOutputOfTheCompilerIsWrittenWholeWhereWritesDoNotBlock(t *testing.T) {
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("warning\n"), 1<<16) // more than a pipe holds
	done := make(chan struct{})
	go func() {
		writeTo(pipe[1], text)
		unix.Close(pipe[1])
		close(done)
	}()
	r := os.NewFile(uintptr(pipe[0]), "pipe")
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("%d of %d bytes, %v", len(got), len(text), err)
	}
	<-done
}
