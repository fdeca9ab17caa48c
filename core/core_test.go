// Lookups, puts, modes and directories of a cache.

package core

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"jitcache/core/blob"
	"jitcache/core/key"
	"jitcache/core/plain"
	"jitcache/core/store"
)

// env is an environment for Options.
type env map[string]string

func (e env) get(name string) string { return e[name] }

func open(t testing.TB, o Options) *Cache {
	t.Helper()
	c, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// in returns the options of a cache in a directory of the test.
func in(t testing.TB) Options {
	return Options{Values: map[string]string{"directory": filepath.Join(t.TempDir(), "c")}}
}

func testKey(t testing.TB, add ...string) *key.Key {
	t.Helper()
	b := key.NewBuilder()
	for i := 0; i < len(add); i += 2 {
		if err := b.Add(add[i], []byte(add[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	b.SetName("test")
	k, err := b.Seal()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func get(t testing.TB, c *Cache, k *key.Key) (string, store.Reason) {
	t.Helper()
	b, why := c.Get(&k.ID, []byte(k.Kind), func() *key.Key { return k })
	if why != store.None {
		return "", why
	}
	defer b.Release()
	return string(b.Data()), why
}

func TestHitComesFromMemoryThenFromDisk(t *testing.T) {
	o := in(t)
	c := open(t, o)
	k := testKey(t, "a", "x")
	if _, why := get(t, c, k); why != store.Absent {
		t.Fatal(why)
	}
	if why := c.Put(k, []byte("code"), "", false); why != store.None {
		t.Fatal(why)
	}
	get(t, c, k)
	other := open(t, o)
	get(t, other, k)
	get(t, other, k)
	total := c.Stats().Total
	if total.HitsMemory != 1 || total.HitsDisk != 0 || total.Misses != 1 || total.Puts != 1 {
		t.Errorf("the cache that put: %+v", total)
	}
	c.Flush()
	total = other.Stats().Total
	if total.HitsMemory != 2 || total.HitsDisk != 1 {
		t.Errorf("both together: %+v", total)
	}
}

func TestModes(t *testing.T) {
	o := in(t)
	k := testKey(t, "a", "x")
	open(t, o).Put(k, []byte("old"), "", false)
	for _, c := range []struct {
		mode   string
		get    store.Reason
		put    store.Reason
		now    string
		leased bool
	}{
		{"", store.None, store.None, "old", false},
		{"on", store.None, store.None, "old", false},
		{"0", store.Off, store.Off, "old", true},
		{"readonly", store.None, store.ReadOnly, "old", false},
		{"refresh", store.Refresh, store.None, "new", true},
	} {
		t.Run("JITCACHE="+c.mode, func(t *testing.T) {
			o := o
			o.Env = env{"JITCACHE": c.mode}.get
			cache := open(t, o)
			if _, why := get(t, cache, k); why != c.get {
				t.Errorf("get: %v, want %v", why, c.get)
			}
			if why := cache.Put(k, []byte("new"), "", false); why != c.put {
				t.Errorf("put: %v, want %v", why, c.put)
			}
			b, l, status, _ := cache.Acquire(k, -1, false, true)
			if leased := status == Leased; leased != c.leased {
				t.Errorf("acquire: %v", status)
			}
			release(b, l)
			if got, _ := get(t, open(t, Options{Values: o.Values}), k); got != c.now {
				t.Errorf("the directory has %q, want %q", got, c.now)
			}
		})
	}
}

func release(b *blob.Blob, l *Lease) {
	if b != nil {
		b.Release()
	}
	if l != nil {
		l.Release()
	}
}

func TestWithoutADirectoryItIsInMemoryOnly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	var warnings []string
	o := Options{Values: map[string]string{"directory": file}, Sink: func(_ Level, text string) { warnings = append(warnings, text) }}
	c := open(t, o)
	open(t, o) // says it no second time
	k := testKey(t, "a", t.Name())
	if why := c.Put(k, []byte("x"), "", false); why != store.NoDirectory {
		t.Errorf("put: %v", why)
	}
	if got, why := get(t, c, k); got != "x" || why != store.None {
		t.Errorf("get: %q, %v", got, why)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "memory only") {
		t.Errorf("warnings: %q", warnings)
	}
	if n, err := c.Len(); n != 1 || err != nil {
		t.Errorf("%d entries, %v", n, err)
	}
	if s := c.Stats(); s.Refused == "" || s.Memory.Entries != 1 {
		t.Errorf("%+v", s)
	}
}

func TestWhichDirectory(t *testing.T) {
	for _, c := range []struct {
		option string
		env    env
		want   string
	}{
		{"/o", env{"JITCACHE_DIR": "/j", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/o"},
		{"", env{"JITCACHE_DIR": "/j", "XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/j"},
		{"", env{"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/jitcache"},
		{"", env{"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/jitcache"},
		{"", env{"HOME": "/h"}, "/h/.cache/jitcache"},
	} {
		o := Options{Env: c.env.get, Values: map[string]string{}}
		if c.option != "" {
			o.Values["directory"] = c.option
		}
		if got, rule := o.Directory(); got != c.want || rule == "" {
			t.Errorf("option %q, %v: %q (%s), want %q", c.option, c.env, got, rule, c.want)
		}
	}
}

func TestBadOptionIsAnErrorAndABadVariableAWarning(t *testing.T) {
	for name, bad := range map[string]string{"max_size": "much", "memory_size": "-1", "durable": "perhaps", "trust": "me", "file_system": "tape", "nonsense": "1"} {
		o := in(t)
		o.Values[name] = bad
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}
	for name, bad := range map[string]string{"JITCACHE": "maybe", "JITCACHE_SIZE": "much", "JITCACHE_MEMORY": "x", "JITCACHE_LOG": "all", "JITCACHE_TRUST": "me", "JITCACHE_FS": "tape", "JITCACHE_SHARED": "2"} {
		var warnings []string
		o := in(t)
		o.Env = env{name: bad}.get
		o.Sink = func(_ Level, text string) { warnings = append(warnings, text) }
		c := open(t, o)
		if len(warnings) != 1 || !strings.Contains(warnings[0], name) {
			t.Errorf("%s=%s: %q", name, bad, warnings)
		}
		if c.store == nil || c.Mode() != On {
			t.Errorf("%s=%s was not ignored", name, bad)
		}
	}
}

func TestSizesFromTheEnvironment(t *testing.T) {
	o := in(t)
	o.Values["max_size"] = "1M"
	o.Env = env{"JITCACHE_SIZE": "2000", "JITCACHE_MEMORY": "0"}.get
	c := open(t, o)
	if c.memory != nil {
		t.Error("JITCACHE_MEMORY=0, but there is a tier")
	}
	if c.store.MaxSize() != 2000 || c.store.Config().MaxSize != 1e6 {
		t.Errorf("cap %d, stored %d", c.store.MaxSize(), c.store.Config().MaxSize)
	}
	if why := c.Put(testKey(t, "a", "x"), make([]byte, 5000), "", false); why != store.TooLarge {
		t.Errorf("put: %v", why)
	}
}

func TestAttributesAreAJSONObject(t *testing.T) {
	for _, good := range []string{"", "{}", ` {"a": [1, null]}`, "\n{}\n"} {
		if err := CheckAttributes(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{" ", "[]", "1", `"x"`, "{", `{"a":}`, "{}x", "null"} {
		if err := CheckAttributes(bad); !errors.Is(err, ErrAttributes) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

//jitcache:control noinputs
func TestChangedInputIsHandedBackAndNotKept(t *testing.T) {
	for _, directory := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "header")
		os.WriteFile(path, []byte("before"), 0o600)
		b := key.NewBuilder()
		b.AddFile("header", path)
		k, _ := b.Seal()
		o := in(t)
		if !directory {
			o.Values["directory"] = path
		}
		c := open(t, o)
		_, l, status, _ := c.Acquire(k, -1, false, true)
		if status != Leased {
			t.Fatal(status)
		}
		os.WriteFile(path, []byte("edited"), 0o600)
		got, why := l.Commit([]byte("code"), "", true)
		if why != store.InputChange || got == nil || string(got.Data()) != "code" {
			t.Errorf("commit: %v, %v", got, why)
		}
		release(got, nil)
		if _, why := get(t, c, k); why == store.None {
			t.Error("a later lookup hits")
		}
	}
}

func TestExplainNamesWhatChanged(t *testing.T) {
	c := open(t, in(t))
	c.Put(testKey(t, "source", "x", "arch", "sm_80", "old", "1"), []byte("code"), "", false)
	e := c.Explain(testKey(t, "source", "y", "arch", "sm_80", "new", "1"))
	if e.Hit || e.Reason != "absent" || e.Name != "test" || e.LastKey == "" ||
		!slices.Equal(e.Changed, []string{"source"}) || !slices.Equal(e.Added, []string{"new"}) || !slices.Equal(e.Removed, []string{"old"}) {
		t.Errorf("%+v", e)
	}
	if e := c.Explain(testKey(t, "source", "x", "arch", "sm_80", "old", "1")); !e.Hit || e.Reason != "" {
		t.Errorf("%+v", e)
	}
	if n := c.Stats().Total; n.Misses != 0 {
		t.Errorf("explaining was counted: %+v", n)
	}
}

func TestMissIsLoggedWithWhatChanged(t *testing.T) {
	o := in(t)
	log := filepath.Join(t.TempDir(), "log-%p")
	o.Env = env{"JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": log}.get
	c := open(t, o)
	c.Put(testKey(t, "source", "x"), []byte("code"), "", false)
	get(t, c, testKey(t, "source", "y"))
	get(t, c, testKey(t, "source", "x"))
	text, err := os.ReadFile(strings.Replace(log, "%p", fmt.Sprint(os.Getpid()), 1))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 1 || !strings.Contains(lines[0], "miss: test (") || !strings.Contains(lines[0], "absent") || !strings.HasSuffix(lines[0], ": changed source") {
		t.Errorf("%q", lines)
	}
}

// People read logs on a terminal, and anybody may have chosen a name.
func TestNothingInANameReachesTheTerminalByTheLog(t *testing.T) {
	o := in(t)
	log := filepath.Join(t.TempDir(), "log")
	o.Env = env{"JITCACHE_LOG": "debug", "JITCACHE_LOG_FILE": log}.get
	c := open(t, o)
	k := testKey(t, "a\x1b[2J\n\u009b\u202e", "x")
	k.Name = "evil\x1b]0;owned\a\njitcache[1] hit: forged\u2028\x7f"
	get(t, c, k)
	c.Put(k, []byte("code"), "", false)
	get(t, c, k)
	text, err := os.ReadFile(log)
	if err != nil || !strings.Contains(string(text), `evil\x1b]0;owned\x07 jitcache[1] hit: forged`) {
		t.Fatalf("%v: %q", err, text)
	}
	for line := range strings.Lines(string(text)) {
		if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), plain.Obeyed) || !strings.HasPrefix(line, "20") {
			t.Errorf("%q", line)
		}
	}
}

func TestDamagedEntryIsAWarningOnce(t *testing.T) {
	o := in(t)
	var warnings []string
	o.Values["memory_size"] = "0"
	o.Sink = func(_ Level, text string) { warnings = append(warnings, text) }
	c := open(t, o)
	for i := range 2 {
		k := testKey(t, "n", fmt.Sprint(i))
		c.Put(k, []byte("code"), "", false)
		files, _ := filepath.Glob(filepath.Join(c.store.Root(), "v1/entries", k.ID.String()[:2], "*"))
		os.Truncate(files[0], 3)
		if _, why := get(t, c, k); why != store.Truncated {
			t.Error(why)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "damaged") {
		t.Errorf("%q", warnings)
	}
}

//jitcache:control nolease
func TestOneOfManyCachesCompiles(t *testing.T) {
	o := in(t)
	k := testKey(t, "a", "x")
	var mu sync.Mutex
	compiled := 0
	var wg sync.WaitGroup
	for range 4 {
		c := open(t, o)
		for range 4 {
			wg.Go(func() {
				for first := true; ; first = false {
					b, l, status, _ := c.Acquire(k, -1, false, first)
					if status == Busy {
						continue
					}
					if status == Leased {
						mu.Lock()
						compiled++
						mu.Unlock()
						time.Sleep(50 * time.Millisecond)
						b, _ = l.Commit([]byte("code"), "", true)
					}
					if string(b.Data()) != "code" {
						t.Errorf("%q", b.Data())
					}
					b.Release()
					return
				}
			})
		}
	}
	wg.Wait()
	if compiled != 1 {
		t.Errorf("%d compiles", compiled)
	}
}

func TestLeaseGivenUpGoesToTheNext(t *testing.T) {
	c := open(t, in(t))
	k := testKey(t, "a", "x")
	_, l, status, _ := c.Acquire(k, -1, false, true)
	if status != Leased {
		t.Fatal(status)
	}
	if _, _, status, _ := c.Acquire(k, -1, false, true); status != Busy {
		t.Errorf("taken, but %v", status)
	}
	l.Release()
	l.Release()
	b, l, status, _ := c.Acquire(k, -1, false, true)
	if status != Leased {
		t.Errorf("given up, but %v", status)
	}
	release(b, l)
}

func TestTimeoutGivesALeaseThatLocksNothing(t *testing.T) {
	c := open(t, in(t))
	k := testKey(t, "a", "x")
	_, first, _, _ := c.Acquire(k, -1, false, true)
	for _, timeout := range []time.Duration{0, 30 * time.Millisecond} {
		start := time.Now()
		_, l, status, _ := c.Acquire(k, timeout, false, true)
		if status != Timeout || l == nil {
			t.Fatalf("timeout %v: %v", timeout, status)
		}
		if d := time.Since(start); d < timeout || d > timeout+2*time.Second {
			t.Errorf("timeout %v took %v", timeout, d)
		}
		l.Release()
	}
	_, l, _, _ := c.Acquire(k, 0, false, true)
	b, why := l.Commit([]byte("theirs"), "", true)
	if why != store.None {
		t.Error(why)
	}
	release(b, nil)
	b, _ = first.Commit([]byte("mine"), "", true)
	if string(b.Data()) != "mine" {
		t.Errorf("the committed bytes are %q", b.Data())
	}
	release(b, nil)
	if got, _ := get(t, c, k); got != "theirs" {
		t.Errorf("the entry is %q, the first that was stored is kept", got)
	}
}

func TestThreadThatHoldsALeaseNeverWaits(t *testing.T) {
	c := open(t, in(t))
	k, other := testKey(t, "a", "x"), testKey(t, "a", "y")
	_, l, _, _ := c.Acquire(k, -1, false, true)
	defer l.Release()
	_, theirs, _, _ := c.Acquire(other, -1, false, true)
	defer theirs.Release()
	start := time.Now()
	for _, wanted := range []*key.Key{k, other} {
		_, again, status, _ := c.Acquire(wanted, -1, true, true)
		if status != Leased {
			t.Errorf("%v", status)
		}
		again.Release()
	}
	if d := time.Since(start); d > time.Second {
		t.Errorf("waited %v", d)
	}
}

func TestWaitingIsCountedOnce(t *testing.T) {
	c := open(t, in(t))
	k := testKey(t, "a", "x")
	_, l, _, _ := c.Acquire(k, -1, false, true)
	before := c.Stats().Total.Waits // on a busy machine the first lookup may count as a wait
	go func() {
		time.Sleep(250 * time.Millisecond)
		b, _ := l.Commit([]byte("code"), "", true)
		b.Release()
	}()
	for first := true; ; first = false {
		b, _, status, _ := c.Acquire(k, -1, false, first)
		if status == Hit {
			b.Release()
			break
		}
	}
	if n := c.Stats().Total; n.Waits != before+1 || n.WaitTime < 0.2 || n.Misses != 2 || n.Compiles != 1 || n.CompileTime < 0.2 {
		t.Errorf("%+v", n)
	}
}

func TestLookupIntoCountsHits(t *testing.T) {
	for _, memory := range []string{"0", "1M"} {
		o := in(t)
		o.Values["memory_size"] = memory
		c := open(t, o)
		k := testKey(t, "a", "x")
		c.Put(k, []byte("0123456789"), "", false)
		buf := make([]byte, 2000)
		if n, why := c.LookupInto(&k.ID, nil, buf, NotOpened, nil); n != 10 || why != store.None || string(buf[:n]) != "0123456789" {
			t.Errorf("memory %s: %d, %v", memory, n, why)
		}
		if n, why := c.LookupInto(&k.ID, nil, buf[:5], NotOpened, nil); n != 10 || why != store.None {
			t.Errorf("memory %s, too little room: %d, %v", memory, n, why)
		}
		id := testKey(t, "a", "y").ID
		if _, why := c.LookupInto(&id, []byte("cubin"), buf, NotOpened, nil); why != store.Absent {
			t.Errorf("memory %s: %v", memory, why)
		}
		if s := c.Stats(); s.Kinds["cubin"].Misses != 1 {
			t.Errorf("memory %s: %+v", memory, s)
		}
	}
}

func TestNoBlobLeaks(t *testing.T) {
	before := blob.Live()
	o := in(t)
	c := open(t, o)
	for i := range 50 {
		k := testKey(t, "n", fmt.Sprint(i))
		_, l, _, _ := c.Acquire(k, -1, false, true)
		b, _ := l.Commit([]byte("code"), `{"a":1}`, i%2 == 0)
		release(b, nil)
		c.Put(k, []byte("code"), "", true)
		get(t, c, k)
		c.Explain(k)
	}
	c.Close()
	c.Memory().Free()
	if n := blob.Live() - before; n != 0 {
		t.Errorf("%d blobs leak", n)
	}
}
