// Keys that processes note and withdraw at the same time.

package trust

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
)

// keysEach is how many keys each process of the test withdraws.
const keysEach = 40

func TestMain(m *testing.M) {
	if folder := os.Getenv("TRUST_TEST_NOTE"); folder != "" {
		first, _ := strconv.Atoi(os.Getenv("TRUST_TEST_FIRST"))
		for i := range keysEach {
			if err := Note(folder, Known{Key: numbered(first + i), Withdrawn: true}); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// numbered returns a key that differs for each number.
func numbered(n int) (p Public) {
	p[0], p[1] = byte(n), byte(n>>8)
	return p
}

// If one process could undo what another has just written, a withdrawn key would be
// trusted again, and nobody would be told.
//
//jitcache:control notelock
func TestKeysThatProcessesWithdrawAtTheSameTimeAreAllWithdrawn(t *testing.T) {
	const processes = 6
	folder := t.TempDir()
	var others []*exec.Cmd
	for i := range processes {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "TRUST_TEST_NOTE="+folder, fmt.Sprint("TRUST_TEST_FIRST=", 1+i*keysEach))
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		others = append(others, c)
	}
	for _, c := range others {
		if err := c.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	k := ReadKeys(environment(nil), []string{folder}, "")
	for n := 1; n <= processes*keysEach; n++ {
		if !k.Withdraws(numbered(n)) {
			t.Errorf("key %d is not withdrawn", n)
		}
	}
}

// A file that holds a part of a key would stop the next try, because it exists.
func TestKeyThatCannotBeWrittenLeavesNoFile(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	path := t.TempDir() + "/secret"
	var before syscall.Rlimit
	syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before)
	limit := before
	limit.Cur = 10
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	err := WriteSecret(path, Secret{key: make([]byte, 64)})
	syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before)
	if _, e := os.Stat(path); err == nil || e == nil {
		t.Errorf("%v, and the file: %v", err, e)
	}
}

// What a program or a person gives as a name may come from somebody else.
func TestNameOfAKeyTrustsNoOtherKey(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"ci\n" + numbered(2).String(), "ci\r\nx", numbered(2).String(), "of " + numbered(2).String()} {
		if err := Note(folder, Known{Key: numbered(1), Name: name}); err == nil {
			t.Errorf("%q is a name", name)
		}
	}
	if k := ReadKeys(environment(nil), []string{folder}, ""); len(k.All) != 0 {
		t.Errorf("%+v", k.All)
	}
}

// A key is withdrawn until somebody trusts it again, and not until another one is noted.
func TestNoteOfAKeyLeavesWhatIsSaidOfOthers(t *testing.T) {
	folder := t.TempDir()
	text := fmt.Sprintf("withdrawn %s %s\nwithdrawn not-before=x %s %s\n", numbered(1), numbered(3), numbered(2), numbered(3))
	os.WriteFile(KeysFile(folder), []byte(text), 0o600)
	if err := Note(folder, Known{Key: numbered(3)}); err != nil {
		t.Fatal(err)
	}
	k := ReadKeys(environment(nil), []string{folder}, "")
	if !k.Withdraws(numbered(1)) || !k.Withdraws(numbered(2)) || !k.Trusts(numbered(3)) {
		text, _ := os.ReadFile(KeysFile(folder))
		t.Errorf("%s", text)
	}
}
