// Which directories are opened, and how new ones are made.

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"jitcache/core/key"
)

func size(n int64) func(*Options) { return func(o *Options) { o.MaxSize = &n } }

func dir(d string) func(*Options) { return func(o *Options) { o.Directory = d } }

func refused(t *testing.T, o Options) *Refused {
	t.Helper()
	s, err := Open(o)
	var r *Refused
	if !errors.As(err, &r) {
		t.Fatalf("opened as %v, error %v; want it refused", s, err)
	}
	if strings.Contains(r.Error(), "\n") {
		t.Errorf("message of several lines: %v", r)
	}
	return r
}

func TestOpenMakesAPrivateDirectory(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	s := open(t)
	put(t, s, testKey(t, 1), []byte("x"))
	err := filepath.Walk(s.Root(), func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if info.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"CACHEDIR.TAG", "README.txt", "v1/VERSION", "v1/config"} {
		if _, err := os.Stat(filepath.Join(s.Root(), name)); err != nil {
			t.Error(err)
		}
	}
}

func TestFilesFollowTheModeOfTheRoot(t *testing.T) {
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	for _, mode := range []os.FileMode{0o755, 0o750, os.ModeSetgid | 0o770, os.ModeSetgid | 0o775} {
		root := t.TempDir()
		if err := os.Chmod(root, mode); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir(root), func(o *Options) { o.Trust.Shared = true })
		put(t, s, testKey(t, 1), []byte("x"))
		s.Flush()
		err := filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
			want := mode.Perm()
			if !info.IsDir() {
				want &= 0o666
			}
			if info.Mode().Perm() != want {
				t.Errorf("root %v: %s has mode %v", mode, strings.TrimPrefix(path, root), info.Mode())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnotherFormatIsNotUsed(t *testing.T) {
	s := open(t)
	if err := os.WriteFile(s.v1+"/VERSION", []byte("jitcache 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := refused(t, Options{Directory: s.Root()}); r.Reason != NewerFormat {
		t.Errorf("reason %v", r.Reason)
	}
}

func TestDirectoryThatCannotBeIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	for name, c := range map[string]struct {
		o    Options
		want Reason
	}{
		"a file":              {Options{Directory: file}, NotRegular},
		"below a file":        {Options{Directory: file + "/x"}, NotRegular},
		"missing, reading":    {Options{Directory: filepath.Join(t.TempDir(), "x"), ReadOnly: true}, NoDirectory},
		"empty name":          {Options{Directory: ""}, NoDirectory},
		"writable by anybody": {Options{Directory: func() string { d := t.TempDir(); os.Chmod(d, 0o777); return d }()}, WrongOwner},
		"writable by group":   {Options{Directory: func() string { d := t.TempDir(); os.Chmod(d, 0o770); return d }()}, WrongOwner},
	} {
		t.Run(name, func(t *testing.T) {
			if r := refused(t, c.o); r.Reason != c.want {
				t.Errorf("reason %v, want %v: %v", r.Reason, c.want, r)
			}
		})
	}
}

func TestTrustOfTheRoot(t *testing.T) {
	const me, other = 1000, 1001
	for name, c := range map[string]struct {
		t    Trust
		uid  uint32
		mode uint32
		ok   bool
	}{
		"mine":                       {Trust{}, me, 0o700, true},
		"mine, readable":             {Trust{}, me, 0o755, true},
		"mine, group writes":         {Trust{}, me, 0o775, false},
		"mine, all write":            {Trust{}, me, 0o777, false},
		"root's":                     {Trust{}, 0, 0o755, true},
		"root's, group writes":       {Trust{}, 0, 0o2775, false},
		"another's":                  {Trust{}, other, 0o755, false},
		"another's, named":           {Trust{Users: []uint32{other}}, other, 0o755, true},
		"another's, named, group":    {Trust{Users: []uint32{other}}, other, 0o775, false},
		"shared, root's, group":      {Trust{Shared: true}, 0, 0o2775, true},
		"shared, another's":          {Trust{Shared: true}, other, 0o2770, true},
		"shared, but for anybody":    {Trust{Shared: true}, 0, 0o2777, false},
		"shared, anybody and sticky": {Trust{Shared: true}, 0, 0o1777, false},
	} {
		c.t.euid = me
		r := c.t.checkRoot("/x", &syscall.Stat_t{Uid: c.uid, Mode: syscall.S_IFDIR | c.mode})
		if (r == nil) != c.ok {
			t.Errorf("%s: %v", name, r)
		}
		if r != nil && r.Mend == "" {
			t.Errorf("%s: nothing said of how to mend it", name)
		}
	}
}

func TestTrustOfAnEntry(t *testing.T) {
	const me, other, group = 1000, 1001, 50
	for name, c := range map[string]struct {
		t        Trust
		uid, gid uint32
		mode     uint32
		want     Reason
	}{
		"mine":                    {Trust{}, me, 1, 0o600, None},
		"root's":                  {Trust{}, 0, 0, 0o644, None},
		"another's":               {Trust{}, other, 1, 0o644, WrongOwner},
		"another's, named":        {Trust{Users: []uint32{other}}, other, 1, 0o644, None},
		"mine, group writes":      {Trust{}, me, 1, 0o660, WrongOwner},
		"mine, all write":         {Trust{}, me, 1, 0o606, WrongOwner},
		"shared, of the group":    {Trust{Shared: true, gid: group}, other, group, 0o660, None},
		"shared, foreign group":   {Trust{Shared: true, gid: group}, other, 51, 0o660, WrongOwner},
		"shared, mine":            {Trust{Shared: true, gid: group}, me, 51, 0o600, None},
		"shared, anybody writes":  {Trust{Shared: true, gid: group}, other, group, 0o666, WrongOwner},
		"named, but group writes": {Trust{Users: []uint32{other}}, other, 1, 0o660, WrongOwner},
	} {
		c.t.euid = me
		if why := c.t.checkEntry(&syscall.Stat_t{Uid: c.uid, Gid: c.gid, Mode: syscall.S_IFREG | c.mode}); why != c.want {
			t.Errorf("%s: %v, want %v", name, why, c.want)
		}
	}
	if why := (&Trust{}).checkEntry(&syscall.Stat_t{Mode: syscall.S_IFIFO | 0o600}); why != NotRegular {
		t.Errorf("pipe: %v", why)
	}
}

func TestMaxSizeBelongsToTheDirectory(t *testing.T) {
	root := filepath.Join(t.TempDir(), "c")
	raise := func(o *Options) { o.Raise = true }
	for _, step := range []struct {
		what    string
		options []func(*Options)
		want    int64
	}{
		{"set when it is made", []func(*Options){size(1000)}, 1000},
		{"found again", nil, 1000},
		{"set again", []func(*Options){size(500)}, 500},
		{"not lowered without naming the directory", []func(*Options){size(100), raise}, 500},
		{"raised without naming it", []func(*Options){size(800), raise}, 800},
		{"unlimited", []func(*Options){size(0), raise}, 0},
		{"unlimited is not lowered", []func(*Options){size(900), raise}, 0},
	} {
		s := open(t, append(step.options, dir(root))...)
		if s.MaxSize() != step.want || s.Config().MaxSize != step.want {
			t.Errorf("%s: %d, stored %d, want %d", step.what, s.MaxSize(), s.Config().MaxSize, step.want)
		}
	}
	for5 := int64(5)
	if s := open(t, dir(root), func(o *Options) { o.Size = &for5 }); s.MaxSize() != 5 || s.Config().MaxSize != 0 {
		t.Errorf("for this process only: %d, stored %d", s.MaxSize(), s.Config().MaxSize)
	}
}

func TestConfigKeepsWhatItDoesNotKnow(t *testing.T) {
	s := open(t)
	os.WriteFile(s.v1+"/config", []byte("max-size = 7Ki\nfuture = yes\n# note\nshared=true\n"), 0o600)
	s = open(t, dir(s.Root()))
	if c := s.Config(); c.MaxSize != 7<<10 || !c.Shared {
		t.Errorf("%+v", c)
	}
	if err := s.Configure(func(c *Config) { c.MaxSize = 9 }); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(s.v1 + "/config")
	c, err := parseConfig(text)
	if !strings.Contains(string(text), "future = yes\n# note\n") || strings.Count(string(text), "#") != 2 || c.MaxSize != 9 || err != nil {
		t.Errorf("config is now %q", text)
	}
}

// A long line must not end the file: the cap and other settings after it must not be lost.
func TestConfigIsReadWholeOrNotAtAll(t *testing.T) {
	s := open(t)
	for size, whole := range map[int]bool{1 << 10: true, 1<<16 - 100: true, 1<<16 + 1: false, 1 << 20: false} {
		text := strings.Repeat("x", size) + "\nmax-size = 500G\nfuture = yes"
		os.WriteFile(s.v1+"/config", []byte(text), 0o600)
		c, err := Open(Options{Directory: s.Root()})
		var refused *Refused
		switch {
		case !whole:
			if !errors.As(err, &refused) || refused.Reason != Malformed || !strings.Contains(err.Error(), "v1/config") {
				t.Errorf("%d: %v", size, err)
			}
			if now, _ := os.ReadFile(s.v1 + "/config"); string(now) != text {
				t.Errorf("%d: it was rewritten", size)
			}
		case err != nil:
			t.Errorf("%d: %v", size, err)
		case c.Config().MaxSize != 500e9 || len(c.config.other) != 2:
			t.Errorf("%d: cap %d, %d other lines", size, c.Config().MaxSize, len(c.config.other))
		}
	}
}

// With the default in its place, the next put could evict most of a larger cache.
func TestCapThatIsNoSizeRefusesTheDirectory(t *testing.T) {
	s := open(t)
	put(t, s, testKey(t, 1), []byte("x"))
	for _, value := range []string{"", "500 gigs", "-1", "1e99", "5i", "NaN"} {
		text := "max-size = " + value + "\nshared = false\n"
		os.WriteFile(s.v1+"/config", []byte(text), 0o600)
		_, err := Open(Options{Directory: s.Root()})
		var refused *Refused
		if !errors.As(err, &refused) || refused.Reason != Malformed || !strings.Contains(err.Error(), "v1/config: max-size") {
			t.Errorf("%q: %v", value, err)
		}
		if now, _ := os.ReadFile(s.v1 + "/config"); string(now) != text {
			t.Errorf("%q: it was rewritten", value)
		}
	}
}

func TestSymlinkedRootIsResolvedOnce(t *testing.T) {
	base := t.TempDir()
	os.Mkdir(base+"/real", 0o700)
	os.Symlink("real", base+"/link")
	s := open(t, dir(base+"/link"))
	if !strings.HasSuffix(s.Root(), "/real") {
		t.Errorf("root %s", s.Root())
	}
	put(t, s, testKey(t, 1), []byte("x"))
	if _, why := get(t, s, testKey(t, 1)); why != None {
		t.Error(why)
	}
}

//jitcache:control follow
func TestLinkBelowTheRootIsNotFollowed(t *testing.T) {
	for name, path := range map[string]func(s *Store, k *key.Key) string{
		"entry":  (*Store).fileOf,
		"shard":  func(s *Store, k *key.Key) string { return filepath.Dir(s.fileOf(k)) },
		"folder": func(s *Store, _ *key.Key) string { return s.v1 + "/entries" },
	} {
		s := open(t)
		k := testKey(t, 1)
		put(t, s, k, []byte("x"))
		at := path(s, k)
		os.Rename(at, s.root+"/moved")
		os.Symlink(s.root+"/moved", at)
		if _, why := get(t, s, k); why != Symlink {
			t.Errorf("%s is a link: %v", name, why)
		}
		haveOpenat2.Store(false)
		if _, why := get(t, s, k); why != Symlink {
			t.Errorf("%s is a link, without openat2: %v", name, why)
		}
		haveOpenat2.Store(true)
	}
}

func TestReadOnlyStoreWritesNothing(t *testing.T) {
	s := open(t)
	k := testKey(t, 1)
	put(t, s, k, []byte("x"))
	s.Flush()
	before := snapshot(t, s.Root())
	r := open(t, dir(s.Root()), func(o *Options) { o.ReadOnly = true })
	if got, why := get(t, r, k); why != None || string(got) != "x" {
		t.Errorf("%q, %v", got, why)
	}
	if _, why := r.Put(Item{Key: testKey(t, 2)}); why != ReadOnly {
		t.Errorf("put: %v", why)
	}
	if _, why := r.Remove(&k.ID); why != ReadOnly {
		t.Errorf("remove: %v", why)
	}
	if _, err := r.Clear(context.Background(), "", nil); err == nil {
		t.Error("clear: no error")
	}
	if rep, err := r.Verify(context.Background(), false, nil); err != nil || rep.Entries != 1 {
		t.Errorf("verify: %+v, %v", rep, err)
	}
	r.CountHit(HitsDisk, []byte("generic"), 0)
	r.Flush()
	if after := snapshot(t, s.Root()); after != before {
		t.Errorf("the directory was\n%s\nand is\n%s", before, after)
	}
}

// snapshot lists a tree with sizes and times.
func snapshot(t *testing.T, root string) string {
	t.Helper()
	var b strings.Builder
	filepath.Walk(root, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		if !info.IsDir() {
			b.WriteString(path + " " + info.ModTime().String() + "\n")
		}
		return nil
	})
	return b.String()
}

// A killed process, or a power cut, may have left the first file of a cache empty. Another
// process that opens the cache at that moment must not see half of a layout.
func TestEmptyVersionIsNoCacheYet(t *testing.T) {
	root := filepath.Join(t.TempDir(), "cache")
	s := open(t, dir(root))
	put(t, s, testKey(t, 1), []byte("x"))
	version := filepath.Join(root, "v1", "VERSION")
	if err := os.Truncate(version, 0); err != nil {
		t.Fatal(err)
	}
	get(t, open(t, dir(root)), testKey(t, 1))
	if text, _ := os.ReadFile(version); string(text) != versionText {
		t.Errorf("VERSION is %q", text)
	}
	left, err := os.ReadDir(filepath.Join(root, "v1", "tmp"))
	if err != nil || len(left) != 0 {
		t.Errorf("left in tmp: %v, %v", left, err)
	}
}

func TestCacheIsMadeByManyAtOnce(t *testing.T) {
	for range 20 {
		root := filepath.Join(t.TempDir(), "cache")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				s, err := Open(Options{Directory: root})
				if err != nil {
					t.Error(err)
				} else if _, why := s.Put(Item{Key: testKey(t, i), Payload: []byte("x")}); why != None {
					t.Error(why)
				}
			})
		}
		wg.Wait()
	}
}
