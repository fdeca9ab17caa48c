// Lookups that go on to layers, and who may have written these.

package core

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// image makes a directory that a process has warmed, and returns it.
func image(t *testing.T, entries map[*key.Key]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "image")
	c := open(t, Options{Values: map[string]string{"directory": dir}, Env: env{"HOME": t.TempDir()}.get})
	for k, payload := range entries {
		if why := c.Put(k, []byte(payload), `{"from":"the image"}`, false); why != store.None {
			t.Fatal(why)
		}
	}
	c.Close()
	return dir
}

// over returns the options of a cache in a directory of its own, over layers.
func over(t *testing.T, layers ...string) (o Options, warned *string) {
	t.Helper()
	warned = new(string)
	return Options{
		Values: map[string]string{"directory": filepath.Join(t.TempDir(), "own")},
		Env:    env{"HOME": t.TempDir(), "JITCACHE_LAYERS": strings.Join(layers, ":")}.get,
		Sink:   func(_ Level, text string) { *warned += text + "\n" },
	}, warned
}

// tree returns everything below a directory: contents, modes and time stamps.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data := []byte{}
		if info.Mode().IsRegular() {
			data, err = os.ReadFile(path)
		}
		fmt.Fprintln(&all, path, info.Mode(), info.Size(), info.ModTime().UnixNano(), key.Sum(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func files(t *testing.T, c *Cache) int {
	t.Helper()
	n, err := c.Len()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

//jitcache:control nolayers
func TestLookupGoesOnToTheLayersInTheirOrder(t *testing.T) {
	a, b, none := testKey(t, "n", "a"), testKey(t, "n", "b"), testKey(t, "n", "none")
	first, second := image(t, map[*key.Key]string{a: "first"}), image(t, map[*key.Key]string{a: "second", b: "second"})
	for _, size := range []string{"0", "1M"} {
		o, warned := over(t, first, second)
		o.Values["memory_size"] = size
		c := open(t, o)
		for _, want := range []struct {
			k    *key.Key
			text string
			why  store.Reason
		}{{a, "first", store.None}, {b, "second", store.None}, {none, "", store.Absent}} {
			if got, why := get(t, c, want.k); got != want.text || why != want.why {
				t.Errorf("%s: got %q, %v; want %q, %v", size, got, why, want.text, want.why)
			}
			buf := make([]byte, 100)
			n, why := c.LookupInto(&want.k.ID, []byte(want.k.Kind), buf, NotOpened, nil)
			if string(buf[:n]) != want.text || why != want.why {
				t.Errorf("%s: into: got %q, %v", size, buf[:n], why)
			}
			if e := c.Explain(want.k); e.Hit != (want.why == store.None) || e.Reason != want.why.String() {
				t.Errorf("%s: explained as %+v", size, e)
			}
		}
		if files(t, c) != 0 {
			t.Errorf("%d entries are in the own directory", files(t, c))
		}
		if *warned != "" {
			t.Errorf("warned of %s", *warned)
		}
		n := c.Stats().Total
		if n.HitsLayer == 0 || n.HitsDisk != 0 || n.HitsLayer+n.HitsMemory != 4 || n.Misses != 2 {
			t.Errorf("%s: counted %+v", size, n)
		}
	}
}

//jitcache:control nolayers
func TestOnlyOneCompilesAndOnlyWhatNoLayerHas(t *testing.T) {
	there, missing := testKey(t, "n", "there"), testKey(t, "n", "missing")
	o, _ := over(t, image(t, map[*key.Key]string{there: "image"}))
	c := open(t, o)
	b, l, status, _ := c.Acquire(there, -1, false, true)
	if status != Hit || string(b.Data()) != "image" || l != nil {
		t.Fatalf("status %v", status)
	}
	b.Release()
	_, l, status, why := c.Acquire(missing, -1, false, true)
	if status != Leased || why != store.Absent {
		t.Fatalf("status %v, %v", status, why)
	}
	if _, why := l.Commit([]byte("compiled"), "", false); why != store.None {
		t.Fatal(why)
	}
	if files(t, c) != 1 {
		t.Errorf("%d entries in the own directory, want 1", files(t, c))
	}
}

func TestOwnEntryWinsOverTheLayers(t *testing.T) {
	k := testKey(t, "n", "1")
	o, _ := over(t, image(t, map[*key.Key]string{k: "image"}))
	c := open(t, o)
	if got, _ := get(t, c, k); got != "image" {
		t.Fatalf("got %q", got)
	}
	if why := c.Put(k, []byte("own"), "", true); why != store.None {
		t.Fatal(why)
	}
	for _, c := range []*Cache{c, open(t, o)} {
		if got, _ := get(t, c, k); got != "own" {
			t.Errorf("got %q after a put", got)
		}
	}
	if found, why := c.Remove(&k.ID); !found || why != store.None {
		t.Error(found, why)
	}
	if got, _ := get(t, c, k); got != "image" {
		t.Errorf("got %q after a remove", got)
	}
	if e := filepath.Join(c.store.Root(), "v1/entries"); files(t, c) != 0 {
		t.Errorf("%s is not empty", e)
	}
}

func TestDamagedOwnEntryIsServedByALayer(t *testing.T) {
	k := testKey(t, "n", "damaged")
	o, warned := over(t, image(t, map[*key.Key]string{k: "image"}))
	c := open(t, o)
	c.Put(k, []byte("own"), "", true)
	l, ok := c.Describe(&k.ID, "")
	if !ok {
		t.Fatal("no entry")
	}
	if err := os.WriteFile(l.Path, []byte("junk"), 0o600); err != nil {
		t.Fatal(err)
	}
	told.Clear()
	if got, why := get(t, open(t, o), k); got != "image" {
		t.Errorf("got %q, %v", got, why)
	}
	if !strings.Contains(*warned, "damaged (truncated)") {
		t.Errorf("warned of %q", *warned)
	}
}

func TestNothingIsEverWrittenToALayer(t *testing.T) {
	k := testKey(t, "n", "1")
	dir := image(t, map[*key.Key]string{k: "image"})
	before := tree(t, dir)
	o, _ := over(t, dir)
	o.Values["memory_size"] = "0"
	c := open(t, o)
	get(t, c, k)
	get(t, c, testKey(t, "n", "2"))
	c.Put(k, []byte("own"), "", true)
	c.Remove(&k.ID)
	c.Clear(t.Context(), "", nil)
	c.Trim(t.Context(), nil)
	c.Verify(t.Context(), false, nil)
	c.Maintain(&k.ID, 3)
	c.Explain(k)
	c.Close()
	if after := tree(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}

//jitcache:control anyowner
func TestLayerThatOthersMayWriteIsRefusedAndTheWarningNamesTheRule(t *testing.T) {
	k := testKey(t, "n", "1")
	for _, mode := range []os.FileMode{0o775, 0o757, 0o777 | os.ModeSticky} {
		for _, shared := range []string{"", "1"} {
			told.Clear()
			dir := image(t, map[*key.Key]string{k: "image"})
			if err := os.Chmod(dir, mode); err != nil {
				t.Fatal(err)
			}
			o, warned := over(t, dir)
			o.Values["shared"] = shared
			c := open(t, o)
			if _, why := get(t, c, k); why != store.Absent {
				t.Errorf("%v: %v", mode, why)
			}
			if strings.Count(*warned, "\n") != 1 || !strings.Contains(*warned, "may write it") || !strings.Contains(*warned, "chmod ") ||
				!strings.Contains(*warned, dir+" (JITCACHE_LAYERS)") || strings.Contains(*warned, "JITCACHE_SHARED") {
				t.Errorf("%v, shared %q: warned of %q", mode, shared, *warned)
			}
			if l := c.Layers(); len(l) != 1 || l[0].Refused == "" || c.Layered() {
				t.Errorf("%v: layers %+v", mode, l)
			}
		}
	}
}

//jitcache:control anyowner
func TestEntryOfALayerThatOthersMayWriteIsNotUsed(t *testing.T) {
	k := testKey(t, "n", "1")
	dir := image(t, map[*key.Key]string{k: "image"})
	hex := k.ID.String()
	if err := os.Chmod(dir+"/v1/entries/"+hex[:2]+"/"+hex[2:]+".jce", 0o664); err != nil {
		t.Fatal(err)
	}
	o, warned := over(t, dir)
	if _, why := get(t, open(t, o), k); why != store.WrongOwner {
		t.Error(why)
	}
	if !strings.Contains(*warned, "wrong owner") {
		t.Errorf("warned of %q", *warned)
	}
}

func TestLayerThatCannotBeUsedIsLeftOut(t *testing.T) {
	k := testKey(t, "n", "1")
	dir := image(t, map[*key.Key]string{k: "image"})
	empty, file := t.TempDir(), filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, nil, 0o600)
	o, warned := over(t, "relative/path", "/does/not/exist", empty, file, dir)
	c := open(t, o)
	if got, _ := get(t, c, k); got != "image" {
		t.Errorf("got %q", got)
	}
	for _, why := range []string{"not absolute", "does not exist", "is empty", "not a directory"} {
		if !strings.Contains(*warned, why) {
			t.Errorf("no warning says that it %s: %s", why, *warned)
		}
	}
	if left, _ := os.ReadDir(empty); len(left) != 0 {
		t.Errorf("%v was made", left)
	}
}

// A layer's own settings, such as the cap, are only for its own puts.
func TestLayersOwnSettingsAreNoOnesBusiness(t *testing.T) {
	k := testKey(t, "n", "1")
	dir := image(t, map[*key.Key]string{k: "image"})
	text := "shared = true\nlayers = /tmp\nmax-size = 1\n"
	if err := os.WriteFile(dir+"/v1/config", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o, _ := over(t, dir)
	c := open(t, o)
	if got, _ := get(t, c, k); got != "image" {
		t.Errorf("got %q", got)
	}
	if len(c.Layers()) != 1 || c.store.MaxSize() != store.DefaultMaxSize {
		t.Errorf("layers %v, cap %d", c.Layers(), c.store.MaxSize())
	}
}

//jitcache:control nocopies
func TestWhatIsFoundOnANetworkIsCopied(t *testing.T) {
	k := testKey(t, "n", "1")
	dir := image(t, map[*key.Key]string{k: "image"})
	for _, size := range []string{"0", "1M"} {
		o, _ := over(t, dir)
		o.Values["file_system"], o.Values["memory_size"] = "network", size
		c := open(t, o)
		if l := c.Layers(); len(l) != 1 || !strings.Contains(l[0].Copies, "network") {
			t.Fatalf("layers %+v", l)
		}
		b, why := c.Get(&k.ID, nil, nil)
		if why != store.None {
			t.Fatal(why)
		}
		b.Release()
		if err := os.Rename(dir, dir+".gone"); err != nil {
			t.Fatal(err)
		}
		for _, c := range []*Cache{c, open(t, o)} {
			b, why := c.Get(&k.ID, nil, nil)
			if why != store.None {
				t.Fatalf("%s: without the layer: %v", size, why)
			}
			if string(b.Data()) != "image" || b.Attributes() != `{"from":"the image"}` || b.Name() != "test" {
				t.Errorf("%q %q %q", b.Data(), b.Attributes(), b.Name())
			}
			b.Release()
		}
		os.Rename(dir+".gone", dir)
		// It does not look as if it had been made here.
		copied, why := c.store.Peek(&k.ID)
		if why != store.None || !bytes.Equal(store.ReadRecords(copied).Words, Somebody[:]) {
			t.Errorf("the copy is another entry: %v", why)
		}
		if n := c.Stats().Total; n.HitsLayer != 1 || n.Puts != 0 {
			t.Errorf("counted %+v", n)
		}
		if last := c.store.LastNamed("test"); len(last) != 1 || last[0].Key.ID != k.ID {
			t.Errorf("last named %v", last)
		}
	}
}

func entryFile(dir string, k *key.Key) string {
	hex := k.ID.String()
	return dir + "/v1/entries/" + hex[:2] + "/" + hex[2:] + ".jce"
}

func TestCopyOfALayersEntryHasAPathOfItsOwn(t *testing.T) {
	k := testKey(t, "n", "elf")
	o, _ := over(t, image(t, map[*key.Key]string{k: "\x7fELF and more"}))
	for _, how := range []string{"network", "local"} {
		o.Values["file_system"] = how
		c := open(t, o)
		b, why := c.Get(&k.ID, nil, nil)
		if why != store.None {
			t.Fatal(why)
		}
		s, _ := c.Store()
		pin, err := store.NewPin(s, t.TempDir(), b)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(pin.Path); !strings.HasPrefix(string(data), "\x7fELF and more") {
			t.Errorf("%s: %q, %v", how, data, err)
		}
		pin.Release()
		b.Release()
		c.Remove(&k.ID)
	}
}

func TestModesHoldForLayersToo(t *testing.T) {
	k, other := testKey(t, "n", "1"), testKey(t, "n", "2")
	dir := image(t, map[*key.Key]string{k: "image"})
	for mode, want := range map[string]store.Reason{"0": store.Off, "refresh": store.Refresh, "readonly": store.None, "on": store.None} {
		o, _ := over(t, dir)
		before := o.Env
		o.Env = func(name string) string {
			if name == "JITCACHE" {
				return mode
			}
			return before(name)
		}
		if mode == "readonly" { // there is no own directory, and none is made
			o.Values["directory"] = filepath.Join(t.TempDir(), "none")
		}
		c := open(t, o)
		if _, why := get(t, c, k); why != want {
			t.Errorf("%s: %v, want %v", mode, why, want)
		}
		if e := c.Explain(k); e.Hit != (want == store.None) {
			t.Errorf("%s: explained as %+v", mode, e)
		}
		if notes := 0; want != store.None {
			for range c.LayerNotes(&k.ID) {
				notes++
			}
			if notes != 0 {
				t.Errorf("%s: notes of layers", mode)
			}
		}
		if why := c.Put(other, []byte("x"), "", false); mode == "readonly" && why == store.None {
			t.Errorf("stored although %s", mode)
		}
	}
}

//jitcache:control nolayers
func TestLayersServeACacheWithoutADirectory(t *testing.T) {
	k, missing := testKey(t, "n", "1"), testKey(t, "n", "2")
	dir := image(t, map[*key.Key]string{k: "image"})
	refused := t.TempDir()
	os.Chmod(refused, 0o777)
	for _, size := range []string{"0", "1M"} {
		o, _ := over(t, dir)
		o.Values["directory"], o.Values["memory_size"] = refused, size
		c := open(t, o)
		if got, why := get(t, c, k); got != "image" {
			t.Errorf("%s: %q, %v", size, got, why)
		}
		buf := make([]byte, 100)
		if n, why := c.LookupInto(&k.ID, nil, buf, NotOpened, nil); string(buf[:n]) != "image" {
			t.Errorf("%s: into %q, %v", size, buf[:n], why)
		}
		if _, why := get(t, c, missing); why != store.NoDirectory {
			t.Errorf("%s: missing: %v", size, why)
		}
		c.Put(k, []byte("own"), "", true)
		if got, _ := get(t, c, k); size != "0" && got != "own" && got != "image" {
			t.Errorf("%s: %q after a put that could not be stored", size, got)
		}
		if n := c.Stats().Total; n.HitsLayer == 0 || n.Misses != 1 {
			t.Errorf("%s: counted %+v", size, n)
		}
	}
}

func TestNotesOfLayersAreGivenBesideTheOwn(t *testing.T) {
	k := testKey(t, "n", "note")
	first, second := image(t, map[*key.Key]string{k: "first"}), image(t, map[*key.Key]string{k: "second"})
	o, _ := over(t, first, second)
	c := open(t, o)
	c.SaveNote(k, []byte("own"))
	if own := c.LoadNote(&k.ID); string(own) != "own" {
		t.Errorf("own %q", own)
	}
	var got []string
	for note := range c.LayerNotes(&k.ID) {
		got = append(got, string(note))
	}
	if strings.Join(got, " ") != "first second" {
		t.Errorf("layers %q", got)
	}
}

func TestMissIsExplainedByTheLastEntryOfTheNameInALayer(t *testing.T) {
	old, now := testKey(t, "source", "old", "arch", "90"), testKey(t, "source", "new", "arch", "90")
	o, _ := over(t, image(t, map[*key.Key]string{old: "image"}))
	e := open(t, o).Explain(now)
	if e.Hit || e.LastKey != old.ID.String() || len(e.Changed) != 1 || e.Changed[0] != "source" {
		t.Errorf("%+v", e)
	}
}

// opened opens the file of an entry as the front does: it looks into one directory after
// the other.
func opened(t *testing.T, c *Cache, k *key.Key) Opened {
	t.Helper()
	o := Opened{Fd: NotThere}
	if c.Memory() != nil {
		o.Ticket = c.Memory().Ticket((*[32]byte)(&k.ID))
	}
	id := k.ID.String()
	for _, path := range c.EntryPaths() {
		fd, err := syscall.Open(path+id[:2]+"/"+id[2:]+".jce", syscall.O_RDONLY, 0)
		if err == nil {
			t.Cleanup(func() { syscall.Close(fd) })
			o.Fd, o.In = fd, path
			break
		}
	}
	return o
}

//jitcache:control nolayers
func TestFileThatTheFrontHasOpenedInALayerIsReadAsTheLayersOwn(t *testing.T) {
	k, other, absent := testKey(t, "n", "1"), testKey(t, "n", "2"), testKey(t, "n", "3")
	first := image(t, map[*key.Key]string{other: "first"})
	second := image(t, map[*key.Key]string{k: "second", other: "second"})
	o, _ := over(t, first, second)
	c := open(t, o)
	if len(c.EntryPaths()) != 3 || c.GoesBeyond() {
		t.Fatalf("paths %q, beyond %v", c.EntryPaths(), c.GoesBeyond())
	}
	for _, want := range []struct {
		k    *key.Key
		data string
	}{{k, "second"}, {other, "first"}} {
		b, why := c.Lookup(&want.k.ID, []byte(want.k.Kind), opened(t, c, want.k), nil)
		if why != store.None || string(b.Data()) != want.data {
			t.Fatal(why)
		}
		b.Release()
		if got, _ := get(t, c, want.k); got != want.data {
			t.Error(got)
		}
	}
	if n := c.Stats().Total; n.HitsLayer != 2 || n.HitsMemory != 2 || n.HitsDisk != 0 {
		t.Errorf("%+v", n)
	}
	if _, why := c.Lookup(&absent.ID, []byte(k.Kind), opened(t, c, absent), nil); why != store.Absent {
		t.Error(why)
	}
}

func TestFileThatTheFrontHasOpenedInALayerIsReadIntoABuffer(t *testing.T) {
	k := testKey(t, "n", "1")
	o, _ := over(t, image(t, map[*key.Key]string{k: "image"}))
	o.Values["memory_size"] = "0"
	c, buf := open(t, o), make([]byte, 1000)
	if n, why := c.LookupInto(&k.ID, []byte(k.Kind), buf, opened(t, c, k), nil); why != store.None || string(buf[:n]) != "image" {
		t.Error(n, why)
	}
	if n, why := c.LookupInto(&k.ID, []byte(k.Kind), buf[:2], opened(t, c, k), nil); why != store.None || n != len("image") {
		t.Error(n, why)
	}
	if n := c.Stats().Total; n.HitsLayer != 1 {
		t.Errorf("%+v", n)
	}
}

//jitcache:control anyowner
func TestFileThatTheFrontHasOpenedIsNotBelievedMoreThanItsLayer(t *testing.T) {
	k := testKey(t, "n", "1")
	bad, good := image(t, map[*key.Key]string{k: "bad"}), image(t, map[*key.Key]string{k: "good"})
	o, said := over(t, bad, good)
	c := open(t, o)
	found := opened(t, c, k)
	if err := syscall.Fchmod(found.Fd, 0o666); err != nil { // others may write it now
		t.Fatal(err)
	}
	b, why := c.Lookup(&k.ID, []byte(k.Kind), found, nil)
	if why != store.None || string(b.Data()) != "good" {
		t.Fatal(why)
	}
	b.Release()
	if !strings.Contains(*said, "cannot be used") {
		t.Errorf("%q", *said)
	}
	// The cache may have been opened again since, and have other layers.
	found.In = "/elsewhere/v1/entries/"
	c.Memory().Remove((*[32]byte)(&k.ID))
	if b, why := c.Lookup(&k.ID, []byte(k.Kind), found, nil); why != store.None || string(b.Data()) != "good" {
		t.Error(why)
	} else {
		b.Release()
	}
}

func TestSettingsComeFromEnvironmentUserAndMachineAndFromNobodyElse(t *testing.T) {
	k := testKey(t, "n", "1")
	dir := image(t, map[*key.Key]string{k: "image"})
	machine := t.TempDir()
	defer func(was string) { trust.Machine = was }(trust.Machine)
	trust.Machine = machine
	home, xdg := t.TempDir(), t.TempDir()
	os.MkdirAll(home+"/.config/jitcache", 0o700)
	os.Mkdir(xdg+"/jitcache", 0o700)
	for _, c := range []struct {
		file, source string
		env          env
	}{
		{machine + "/config", machine + "/config", env{"HOME": home}},
		{home + "/.config/jitcache/config", home + "/.config/jitcache/config", env{"HOME": home}},
		{xdg + "/jitcache/config", xdg + "/jitcache/config", env{"HOME": home, "XDG_CONFIG_HOME": xdg}},
		{"", "JITCACHE_LAYERS", env{"HOME": home, "XDG_CONFIG_HOME": xdg, "JITCACHE_LAYERS": dir}},
	} { // each beats those before it
		if c.file != "" {
			if err := os.WriteFile(c.file, []byte("# mine\n\nlayers = "+dir+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cache := open(t, Options{Values: map[string]string{"directory": filepath.Join(t.TempDir(), "own")}, Env: c.env.get})
		if got, why := get(t, cache, k); got != "image" {
			t.Errorf("%s: %v", c.source, why)
		}
		if l := cache.Layers(); len(l) != 1 || l[0].Source != c.source {
			t.Errorf("%s: layers %+v", c.source, l)
		}
	}
	// A directory may have come from elsewhere: its own settings must not name layers, or
	// users to trust.
	brought := open(t, Options{Values: map[string]string{"directory": filepath.Join(t.TempDir(), "own")}, Env: env{"HOME": t.TempDir()}.get})
	by := secret(t)
	for _, name := range []string{"config", "keys"} {
		text := "layers = " + dir + "\nunsigned = 1\nkeys = " + by.Public().String() + "\n" + by.Public().String() + "\n"
		for _, at := range []string{brought.store.Root(), brought.store.Root() + "/v1"} {
			if err := os.WriteFile(at+"/"+name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	trust.Machine = t.TempDir()
	again := open(t, Options{Values: map[string]string{"directory": brought.store.Root()}, Env: env{"HOME": t.TempDir()}.get})
	if _, unsigned := again.settings.trust.Get("unsigned"); unsigned || again.Layered() || again.Signers().Any() {
		t.Errorf("a directory names layers %+v, or whom to trust", again.Layers())
	}
	trust.Machine = machine
	// The last file with a setting overrides the others, as a whole.
	os.WriteFile(xdg+"/jitcache/config", []byte("layers = :\n"), 0o600)
	c := open(t, Options{Values: map[string]string{"directory": filepath.Join(t.TempDir(), "own")}, Env: env{"XDG_CONFIG_HOME": xdg}.get})
	if c.Layered() {
		t.Error("no layers are some")
	}
}
