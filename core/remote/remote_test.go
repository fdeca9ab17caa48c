// Helpers that are right, slow, wrong or gone.

package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/wire"
)

// helperOf listens where the helper of a remote would, and answers as fn does. It is
// written from the text of the protocol, and uses nothing of package storage.
func helperOf(t *testing.T, r *Remote, fn func(c net.Conn)) {
	t.Helper()
	dir, err := r.socketPath()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", dir+"/"+r.socketName(r.environment()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				fn(c)
			}()
		}
	}()
}

// fresh returns a remote of its own, and gives the process its budget back.
func fresh(t *testing.T) *Remote {
	t.Helper()
	Spent = Budget{}
	dir, err := os.MkdirTemp("", "remote")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	r, err := New(Setting{URL: "redis://test"}, Options{Folder: dir + "/sockets", Program: "/bin/false", Env: func(string) string { return "" }, Namespace: "team"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var id = key.ID{1, 2, 3}

// get asks for id, and returns what came and how long it took.
func get(r *Remote) (data []byte, took time.Duration, err error) {
	began := time.Now()
	_, err = r.Get(&id, func(n int) []byte {
		data = make([]byte, n)
		return data
	}, false)
	return data, time.Since(began), err
}

// stock greets as a helper that knows nothing of jitcache, reads the request for id and
// gives an answer.
func stock(answer []byte) func(c net.Conn) {
	return func(c net.Conn) {
		c.Write([]byte{1, 2, 0, 1})
		want := "jitcache/1/team/" + id.String()
		request := make([]byte, 2+len(want))
		if _, err := io.ReadFull(c, request); err != nil || request[0] != 0 || int(request[1]) != len(want) || string(request[2:]) != want {
			return
		}
		c.Write(answer)
		io.Copy(io.Discard, c)
	}
}

func TestHelperThatIsWrittenFromTheProtocolServes(t *testing.T) {
	for _, n := range []int{0, 1, 5000, 3 << 20} {
		r := fresh(t)
		want := bytes.Repeat([]byte{7}, n)
		helperOf(t, r, stock(append(wire.AppendSize([]byte{0}, uint64(n)), want...)))
		for range 3 {
			if got, _, err := get(r); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d: %d bytes, %v", n, len(got), err)
			}
		}
	}
	r := fresh(t)
	helperOf(t, r, stock([]byte{1}))
	if _, _, err := get(r); !errors.Is(err, ErrAbsent) || !r.Asks() {
		t.Errorf("absent: %v, asks %v", err, r.Asks())
	}
	r = fresh(t)
	helperOf(t, r, stock([]byte{2, 4, 'd', 'o', 'w', 'n'}))
	if _, _, err := get(r); err == nil || err.Error() != "down" || r.Asks() {
		t.Errorf("error: %v, asks %v", err, r.Asks())
	}
}

//jitcache:control onestops
func TestEntryThatIsDamagedSaysNothingOfTheOthers(t *testing.T) {
	r := fresh(t)
	for text, want := range map[string]bool{"entry: the stored value is not an entry": true, "down: refused": false, "too slow": false} {
		r.off.Store(0)
		var asks atomic.Int32
		helperOf(t, r, func(c net.Conn) {
			asks.Add(1)
			stock(wire.AppendErr(nil, text))(c)
		})
		for range 3 {
			if _, _, err := get(r); err == nil {
				t.Errorf("%s: no error", text)
			}
		}
		if r.Asks() != want || (asks.Load() == 3) != want {
			t.Errorf("%s: %d requests, asks %v", text, asks.Load(), r.Asks())
		}
		os.RemoveAll(r.options.Folder)
	}
}

func TestHelperIsAskedBeforeItHasGreeted(t *testing.T) {
	r := fresh(t)
	helperOf(t, r, func(c net.Conn) {
		request := make([]byte, 2+len("jitcache/1/team/")+64)
		if _, err := io.ReadFull(c, request); err != nil || request[0] != wire.Get {
			return
		}
		c.Write([]byte{1, 1, 0, wire.Noop}) // its greeting and the answer as one
	})
	if _, took, err := get(r); !errors.Is(err, ErrAbsent) {
		t.Errorf("%v after %v", err, took)
	}
}

// bad are helpers that do wrong, by name.
var bad = map[string]func(c net.Conn){
	"says nothing":         func(c net.Conn) { io.Copy(io.Discard, c) },
	"closes at once":       func(net.Conn) {},
	"another version":      func(c net.Conn) { c.Write([]byte{9, 1, 0}) },
	"stores nothing":       func(c net.Conn) { c.Write([]byte{1, 1, 1}) },
	"noise":                func(c net.Conn) { c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) },
	"half a greeting":      func(c net.Conn) { c.Write([]byte{1, 200, 0}); io.Copy(io.Discard, c) },
	"no answer":            stock(nil),
	"an unknown answer":    stock([]byte{77}),
	"negative length":      stock(wire.AppendSize([]byte{0}, math.MaxUint64)),
	"ten gigabytes":        stock(wire.AppendSize([]byte{0}, 10e9)),
	"half a length":        stock([]byte{0, 1, 2}),
	"less than it says":    stock(append(wire.AppendSize([]byte{0}, 1000), "short"...)),
	"a large, empty value": stock(wire.AppendSize([]byte{0}, wire.MaxValue)),
	"a byte a moment": func(c net.Conn) {
		stock(wire.AppendSize([]byte{0}, 1000))(deaf{c})
		for {
			time.Sleep(50 * time.Millisecond)
			if _, err := c.Write([]byte{1}); err != nil {
				return
			}
		}
	},
}

// deaf is a connection on which nothing more comes.
type deaf struct{ net.Conn }

func (d deaf) Read(b []byte) (int, error) {
	if len(b) > 1000 { // io.Copy, after the request
		return 0, io.EOF
	}
	return d.Conn.Read(b)
}

// slack is how much longer than it is to take a wait may take on a machine that others do not use.
const slack = 400 * time.Millisecond

// lateBeside measures beside a test how late this machine wakes those that wait, until it is
// asked. A wait may take longer by that: the library, which measures it too, does not count it.
func lateBeside() (asked func() time.Duration) {
	const nap = 5 * time.Millisecond
	end, sum := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			began := time.Now()
			select {
			case <-end:
				sum <- late + max(time.Since(began)-nap, 0)
				return
			case <-time.After(nap):
				late += time.Since(began) - nap
			}
		}
	}()
	return func() time.Duration {
		close(end)
		return <-sum
	}
}

func TestWhateverAHelperDoesWaitingForItStaysWithinTheBudget(t *testing.T) {
	for name, fn := range bad {
		t.Run(name, func(t *testing.T) {
			r := fresh(t)
			helperOf(t, r, fn)
			var total time.Duration
			late := lateBeside()
			for range 50 {
				r.off.Store(0) // as if its pause were over
				_, took, err := get(r)
				if total += took; err == nil {
					t.Fatal("no error")
				}
			}
			if most := atFirst + slack + late(); total > most {
				t.Errorf("%v was waited, of %v", total, most)
			}
			r.off.Store(0)
			Spent = Budget{}
			get(r)
			late = lateBeside()
			_, took, err := get(r)
			if !errors.Is(err, ErrNotAsked) && !errors.Is(err, ErrSpent) || took > 10*time.Millisecond+late() {
				t.Errorf("a moment after a failure: %v, %v", err, took)
			}
		})
	}
}

//jitcache:control nobudget
func TestBudgetGrowsWithWhatIsCompiled(t *testing.T) {
	r := fresh(t)
	helperOf(t, r, bad["says nothing"])
	get(r)
	if Spent.Left() > 0 {
		t.Fatalf("%v is left", Spent.Left())
	}
	Spent.Compiled(15 * time.Second) // 2% are 300 ms
	r.off.Store(0)
	late := lateBeside()
	_, took, _ := get(r)
	if most := 300*time.Millisecond + slack + late(); took < 100*time.Millisecond || took > most {
		t.Errorf("%v was waited, of %v", took, most)
	}
}

func TestHelperThatCannotWorkIsNotWaitedFor(t *testing.T) {
	for name, program := range map[string]string{"ends at once": "/bin/false", "is not there": "/nowhere/jitcache-storage", "is no program": "/etc/passwd"} {
		r := fresh(t)
		r.options.Program = program
		var total time.Duration
		late := lateBeside()
		for range 20 {
			r.off.Store(0)
			_, took, err := get(r)
			if total += took; err == nil {
				t.Fatal("no error")
			}
		}
		if total > atFirst+slack+late() {
			t.Errorf("%s: %v was waited", name, total)
		}
	}
}

func TestFolderOfSocketsIsThisUsersAlone(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"others may enter": func(d string) error { os.Mkdir(d, 0o700); return os.Chmod(d, 0o711) },
		"a link":           func(d string) error { os.Mkdir(d+"2", 0o700); return os.Symlink(d+"2", d) },
		"a file":           func(d string) error { return os.WriteFile(d, nil, 0o600) },
		"another's": func(d string) error {
			if os.Getuid() != 0 {
				return os.Symlink("/", d)
			}
			os.Mkdir(d, 0o700)
			return os.Chown(d, 12345, 12345)
		},
	} {
		r := fresh(t)
		if err := spoil(r.options.Folder); err != nil {
			t.Fatal(err)
		}
		if _, _, err := get(r); err == nil || r.socket != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

//jitcache:control anysocket
func TestSocketOfAnotherUserIsNotUsed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it takes root to be another user")
	}
	r := fresh(t)
	dir, err := r.socketPath()
	if err != nil {
		t.Fatal(err)
	}
	// SO_PEERCRED has who listens, at the time of listen.
	path := dir + "/" + r.socketName(r.environment())
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	listened := make(chan error)
	go func() { listened <- asUser(12345, func() error { return syscall.Listen(fd, 5) }) }()
	if err := <-listened; err != nil {
		t.Fatal(err)
	}
	over := make(chan bool)
	go func() {
		defer close(over)
		for {
			c, _, err := syscall.Accept(fd)
			if err != nil {
				return
			}
			syscall.Write(c, append([]byte{1, 1, 0}, wire.AppendSize([]byte{0}, 0)...))
		}
	}()
	defer func() {
		// Whoever accepts ends before the descriptor is closed: its number may soon be that of another test's socket.
		syscall.Shutdown(fd, syscall.SHUT_RDWR)
		<-over
	}()
	if _, _, err := get(r); !errors.Is(err, errStranger) {
		t.Error(err)
	}
}

func TestNamesOfSocketsAreShortAndDifferWhereHelpersDo(t *testing.T) {
	r := fresh(t)
	r.options.Folder = "/" + strings.Repeat("long/", 40)
	dir, err := r.socketPath()
	if err != nil || len(dir+"/"+r.socketName(r.environment())) > mostSocket {
		t.Errorf("%s, %v", dir, err)
	}
	seen := map[string]string{}
	for name, change := range map[string]func(r *Remote){
		"as it is": func(*Remote) {}, "URL": func(r *Remote) { r.URL += "x" }, "program": func(r *Remote) { r.options.Program = "/bin/sh" },
		"attribute": func(r *Remote) { r.Attributes = []string{"ttl", "1d"} },
		"credential": func(r *Remote) {
			r.options.Env = func(n string) string { return map[string]string{"AWS_PROFILE": "x"}[n] }
		},
	} {
		r := fresh(t)
		change(r)
		got := r.socketName(r.environment())
		if other, twice := seen[got]; twice {
			t.Errorf("%s and %s have one helper", name, other)
		}
		seen[got] = name
	}
}

func TestSettingsAreReadAndPasswordsAreNotShown(t *testing.T) {
	all, problems := Parse(" redis://u:hunter2@h:1/2|ttl=1d|read-only  s3://b/p?region=x|trust=unsigned file:///d\n")
	if len(problems) != 0 || len(all) != 3 || !all[0].ReadOnly || all[0].Unsigned || all[1].ReadOnly || !all[1].Unsigned ||
		fmt.Sprint(all[0].Attributes) != "[ttl 1d]" || all[2].URL != "file:///d" {
		t.Errorf("%+v, %v", all, problems)
	}
	for _, bad := range []string{"hunter2", "ftp://u:hunter2@h", "redis://u:hunter2@h|trust=all", "redis://u:hunter2@h|read-only=false", "redis://u:hunter2@h|", "://"} {
		all, problems := Parse(bad + " file:///d")
		if len(all) != 1 || len(problems) != 1 || strings.Contains(problems[0], "ter2@") {
			t.Errorf("%s: %+v, %v", bad, all, problems)
		}
	}
	for url, shown := range map[string]string{
		"cache.example:6379": "cache.example:6379", "u:hunter2@h": "…@h", "ftp://u:hunter2@h": "ftp://u:…@h", "/srv/cache|trust=unsigned": "/srv/cache",
	} {
		if _, problems := Parse(url); len(problems) != 1 || !strings.HasPrefix(problems[0], "the remote "+shown+" is no URL of redis, ") {
			t.Errorf("%s: %q", url, problems)
		}
	}
	for url, want := range map[string]string{
		"redis://u:hunter2@h:1/2": "redis://u:…@h:1/2", "redis://:hunter2@h": "redis://:…@h", "redis://h:1/x@y": "redis://h:…@y",
		"http://u:hun/ter2@h/p": "http://u:…@h/p", "file:///d": "file:///d", "redis://h": "redis://h",
		"http://h/p?sig=hunter2": "http://h/p?…", "https://u:hunter2@h/?a=hunter2": "https://u:…@h/?…", "s3://b/p?region=x": "s3://b/p?region=x",
	} {
		if got := (&Setting{URL: url}).Shown(); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

func TestNamespacesBecomeNamesThatDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, n := range []string{"", "-", "=", "a", "A", "a-b", "a_b", "a/b", "../x", ".", "=2D", "ü", "a b"} {
		s := Segment(n)
		if other, twice := seen[s]; twice {
			t.Errorf("%q and %q are %q", n, other, s)
		}
		if strings.ContainsAny(s, "/. %:\x00") || s == "" {
			t.Errorf("%q: %q", n, s)
		}
		seen[s] = n
	}
	if _, err := New(Setting{}, Options{Program: "/x", Namespace: strings.Repeat("/", 60)}); err == nil {
		t.Error("a namespace that is too long is taken")
	}
}
