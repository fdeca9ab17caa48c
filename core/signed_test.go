// Signed entries of layers: verified, copied, or refused.

package core

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

func secret(t *testing.T) trust.Secret {
	t.Helper()
	s, err := trust.NewSecret()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// signedImage makes a directory whose entries are signed, and that anybody may write.
func signedImage(t *testing.T, by trust.Secret, namespace string, entries map[*key.Key]string) string {
	t.Helper()
	dir := image(t, entries)
	c := open(t, Options{Values: map[string]string{"directory": dir}, Env: env{"HOME": t.TempDir(), "JITCACHE_NAMESPACE": namespace}.get})
	done, err := c.Sign(t.Context(), by)
	if err != nil || done.Signed != len(entries) || done.Bad != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	c.Close()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// trusting returns the options of a cache over layers with further variables.
func trusting(t *testing.T, more env, layers ...string) (Options, *string) {
	t.Helper()
	o, warned := over(t, layers...)
	before := o.Env
	o.Env = func(name string) string {
		if v, ok := more[name]; ok {
			return v
		}
		return before(name)
	}
	return o, warned
}

//jitcache:control nocopies
func TestSignedEntryOfALayerThatAnybodyMayWriteIsVerifiedAndCopied(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	for _, size := range []string{"0", "1M"} {
		o, warned := trusting(t, env{"JITCACHE_KEYS": by.Public().String() + " of CI"}, dir)
		o.Values["memory_size"] = size
		c := open(t, o)
		if l := c.Layers(); len(l) != 1 || !l[0].Signed || l[0].Refused != "" {
			t.Fatalf("layers %+v", l)
		}
		if got, why := get(t, c, k); got != "signed" {
			t.Fatalf("%s: %q, %v; %s", size, got, why, *warned)
		}
		// Later changes of the layer must not matter: the copy is no link.
		was, err := os.ReadFile(entryFile(dir, k))
		if err != nil {
			t.Fatal(err)
		}
		os.WriteFile(entryFile(dir, k), []byte("rewritten"), 0o666)
		if got, why := get(t, open(t, o), k); got != "signed" {
			t.Errorf("%s: after the layer was rewritten: %q, %v", size, got, why)
		}
		copied, _ := os.ReadFile(entryFile(c.store.Root(), k))
		if !bytes.Equal(copied, was) {
			t.Error("the copy is not what was signed")
		}
		os.WriteFile(entryFile(dir, k), was, 0o666)
		if *warned != "" {
			t.Errorf("warned of %s", *warned)
		}
	}
}

//jitcache:control nocopies
func TestEntryThatIsRewrittenByAnotherNameAfterItWasVerifiedStaysWhatItWas(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	another := filepath.Join(dir, "another name")
	if err := os.Link(entryFile(dir, k), another); err != nil {
		t.Fatal(err)
	}
	o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
	c := open(t, o)
	if got, why := get(t, c, k); got != "signed" {
		t.Fatalf("%q, %v", got, why)
	}
	if err := os.WriteFile(another, []byte("rewritten"), 0o666); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(entryFile(dir, k)); string(data) != "rewritten" {
		t.Fatal("the names are not of one file")
	}
	if got, why := get(t, open(t, o), k); got != "signed" {
		t.Errorf("%q, %v", got, why)
	}
	// The own file has no second name either.
	var own syscall.Stat_t
	if err := syscall.Stat(entryFile(c.store.Root(), k), &own); err != nil || own.Nlink != 1 {
		t.Errorf("%d names, %v", own.Nlink, err)
	}
}

func TestWithoutATrustedKeyALayerThatAnybodyMayWriteIsRefused(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	for _, keys := range []string{"", "withdrawn " + by.Public().String(), by.Public().String() + ",withdrawn " + by.Public().String(), "ed25519:nonsense"} {
		told.Clear()
		o, warned := trusting(t, env{"JITCACHE_KEYS": keys}, dir)
		if _, why := get(t, open(t, o), k); why != store.Absent {
			t.Errorf("%q: %v", keys, why)
		}
		if !strings.Contains(*warned, "may write it") {
			t.Errorf("%q: warned of %q", keys, *warned)
		}
	}
}

// forged is an attack on an entry: it gets the bytes of a signed one, and returns the bytes
// to put into the layer, and under which key.
type forged struct {
	name string
	do   func(t *testing.T, by trust.Secret, k, other *key.Key) (dir string)
}

// rewrite stores an item as an attacker would, with the signature of another.
func rewrite(t *testing.T, dir string, it store.Item, signatures ...[]byte) {
	t.Helper()
	os.Chmod(dir, 0o700)
	s, err := store.Open(store.Options{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	it.Replace = true
	if _, why := s.Put(it); why != store.None {
		t.Fatal(why)
	}
	for _, sig := range signatures {
		b, why := s.Get(&it.Key.ID)
		if why != store.None {
			t.Fatal(why)
		}
		if why := s.AddSignature(b, sig); why != store.None {
			t.Fatal(why)
		}
		b.Release()
	}
	os.Chmod(dir, 0o777)
}

// signatures returns the signatures on an entry.
func signatures(t *testing.T, dir string, k *key.Key) [][]byte {
	t.Helper()
	os.Chmod(dir, 0o700)
	s, err := store.Open(store.Options{Directory: dir})
	if err != nil {
		t.Fatal(err)
	}
	b, why := s.Get(&k.ID)
	if why != store.None {
		t.Fatal(why)
	}
	return store.ReadRecords(b).Signatures
}

func attacks() []forged {
	signed := func(t *testing.T, by trust.Secret, k *key.Key) string {
		return signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	}
	again := func(change func(it *store.Item, k, other *key.Key)) func(t *testing.T, by trust.Secret, k, other *key.Key) string {
		return func(t *testing.T, by trust.Secret, k, other *key.Key) string {
			dir := signed(t, by, k)
			it := store.Item{Key: k, Payload: []byte("signed"), Attributes: `{"from":"the image"}`}
			sigs := signatures(t, dir, k)
			change(&it, k, other)
			rewrite(t, dir, it, sigs...)
			return dir
		}
	}
	return []forged{
		{"unsigned", func(t *testing.T, _ trust.Secret, k, _ *key.Key) string {
			dir := image(t, map[*key.Key]string{k: "unsigned"})
			os.Chmod(dir, 0o777)
			return dir
		}},
		{"of a stranger", func(t *testing.T, _ trust.Secret, k, _ *key.Key) string { return signed(t, secret(t), k) }},
		{"for another namespace", func(t *testing.T, by trust.Secret, k, _ *key.Key) string {
			return signedImage(t, by, "another", map[*key.Key]string{k: "signed"})
		}},
		{"payload", again(func(it *store.Item, _, _ *key.Key) { it.Payload = []byte("forged") })},
		{"attributes", again(func(it *store.Item, _, _ *key.Key) { it.Attributes = `{"from":"somebody"}` })},
		{"no attributes", again(func(it *store.Item, _, _ *key.Key) { it.Attributes = "" })},
		{"cost", again(func(it *store.Item, _, _ *key.Key) { it.Cost = 1 << 40 })},
		{"time", again(func(*store.Item, *key.Key, *key.Key) {})},
		{"kind", again(func(it *store.Item, k, _ *key.Key) {
			moved := *k
			moved.Kind = "cubin"
			it.Key = &moved
		})},
		{"name", again(func(it *store.Item, k, _ *key.Key) {
			moved := *k
			moved.Name = "another"
			it.Key = &moved
		})},
		{"components", again(func(it *store.Item, k, _ *key.Key) {
			moved := *k
			moved.Parts = nil
			it.Key = &moved
		})},
		{"moved to another key", func(t *testing.T, by trust.Secret, k, other *key.Key) string {
			dir := signed(t, by, other)
			rewrite(t, dir, store.Item{Key: k, Payload: []byte("signed"), Attributes: `{"from":"the image"}`}, signatures(t, dir, other)...)
			return dir
		}},
		{"file of another key", func(t *testing.T, by trust.Secret, k, other *key.Key) string {
			dir := signed(t, by, other)
			os.MkdirAll(filepath.Dir(entryFile(dir, k)), 0o777)
			if err := os.Rename(entryFile(dir, other), entryFile(dir, k)); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"signature of the key alone", again(func(it *store.Item, _, _ *key.Key) { it.Payload = nil })},
	}
}

//jitcache:control anysignature
func TestForgedEntryOfALayerIsNeverUsedNorCopied(t *testing.T) {
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			by, k, other := secret(t), testKey(t, "n", "1"), testKey(t, "n", "2")
			dir := a.do(t, by, k, other)
			o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
			c := open(t, o)
			if got, why := get(t, c, k); why != store.Signature && why != store.ForeignKey {
				t.Errorf("got %q, %v", got, why)
			}
			for note := range c.LayerNotes(&k.ID) {
				t.Errorf("note %q", note)
			}
			if n := files(t, c); n != 0 {
				t.Errorf("%d entries were copied", n)
			}
		})
	}
}

func TestOneOfSeveralSignaturesIsEnough(t *testing.T) {
	k, by, stranger := testKey(t, "n", "1"), secret(t), secret(t)
	dir := signedImage(t, stranger, "", map[*key.Key]string{k: "signed"})
	b := signatures(t, dir, k)
	s, _ := store.Open(store.Options{Directory: dir})
	entry, _ := s.Get(&k.ID)
	st, _, _ := Statement(entry)
	mine := by.Sign(st, "")
	if why := s.AddSignature(entry, mine.Append(nil)); why != store.None {
		t.Fatal(why)
	}
	os.Chmod(dir, 0o777)
	if now := signatures(t, dir, k); len(now) != 2 || !bytes.Equal(now[0], b[0]) {
		t.Fatalf("%d signatures", len(now))
	}
	os.Chmod(dir, 0o777)
	for _, keys := range []string{by.Public().String(), stranger.Public().String(), by.Public().String() + ", withdrawn " + stranger.Public().String()} {
		o, _ := trusting(t, env{"JITCACHE_KEYS": keys}, dir)
		if got, why := get(t, open(t, o), k); got != "signed" {
			t.Errorf("%s: %v", keys, why)
		}
	}
}

//jitcache:control nowithdrawal
func TestCopyOfAWithdrawnKeysEntryIsAMissAndIsReplaced(t *testing.T) {
	k, by, own := testKey(t, "n", "1"), secret(t), testKey(t, "n", "own")
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	for _, size := range []string{"0", "1M"} {
		o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
		o.Values["memory_size"] = size
		c := open(t, o)
		get(t, c, k)
		c.Put(own, []byte("mine"), "", false)
		if files(t, c) != 2 {
			t.Fatal("it was not copied")
		}
		before := o.Env
		o.Env = func(name string) string {
			if name == "JITCACHE_KEYS" {
				return "withdrawn " + by.Public().String()
			}
			return before(name)
		}
		c = open(t, o)
		if _, why := get(t, c, k); why != store.Signature {
			t.Errorf("%s: %v", size, why)
		}
		buf := make([]byte, 100)
		if _, why := c.LookupInto(&k.ID, nil, buf, NotOpened, nil); why != store.Signature {
			t.Errorf("%s: into: %v", size, why)
		}
		if e := c.Explain(k); e.Hit || e.Reason != "no trusted signature" {
			t.Errorf("%s: %+v", size, e)
		}
		if note := c.LoadNote(&k.ID); note != nil {
			t.Errorf("%s: note %q", size, note)
		}
		if got, _ := get(t, c, own); got != "mine" {
			t.Errorf("%s: what was compiled here is %q", size, got)
		}
		if why := c.Put(k, []byte("compiled"), "", false); why != store.None {
			t.Error(why)
		}
		if got, why := get(t, open(t, o), k); got != "compiled" {
			t.Errorf("%s: %q, %v after it was compiled", size, got, why)
		}
	}
}

//jitcache:control nowithdrawal
func TestNoteThatRestsOnAWithdrawnWordIsForgotten(t *testing.T) {
	k, by := testKey(t, "n", "note"), secret(t)
	dir := signedImage(t, by, "", map[*key.Key]string{k: "of the layer"})
	o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
	c := open(t, o)
	for note := range c.LayerNotes(&k.ID) {
		c.SaveNote(k, append(note, " and mine"...)) // merged, as package record does
	}
	// Another process, which sees only its own notes, goes on with the merged note.
	again := open(t, o)
	again.SaveNote(k, append(again.LoadNote(&k.ID), " and more"...))
	if got := open(t, o).LoadNote(&k.ID); string(got) != "of the layer and mine and more" {
		t.Fatalf("noted %q", got)
	}
	before := o.Env
	o.Env = func(name string) string {
		if name == "JITCACHE_KEYS" {
			return "withdrawn " + by.Public().String()
		}
		return before(name)
	}
	if got := open(t, o).LoadNote(&k.ID); got != nil {
		t.Errorf("still %q", got)
	}
}

func TestOnlyWhatWasCompiledHereIsSigned(t *testing.T) {
	passed, mine, note := testKey(t, "n", "1"), testKey(t, "n", "2"), testKey(t, "n", "note")
	ci, me := secret(t), secret(t)
	dir := signedImage(t, ci, "", map[*key.Key]string{passed: "signed", note: "note"})
	o, _ := trusting(t, env{"JITCACHE_KEYS": ci.Public().String()}, dir)
	c := open(t, o)
	get(t, c, passed)
	for data := range c.LayerNotes(&note.ID) {
		c.SaveNote(note, data)
	}
	c.Put(mine, []byte("mine"), "", false)
	for _, want := range []Signed{{Signed: 1, Others: 2}, {Before: 1, Others: 2}} {
		if done, err := c.Sign(t.Context(), me); err != nil || done != want {
			t.Errorf("%+v, %v; want %+v", done, err, want)
		}
	}
	states := map[Signing]int{}
	c.EachSigned(t.Context(), func(_ string, s Signing) { states[s]++ })
	if states[SignedByTrusted] != 1 || states[SignedByStranger] != 1 || states[Unsigned] != 1 {
		t.Errorf("%v", states)
	}
	if got, _ := get(t, open(t, o), mine); got != "mine" {
		t.Errorf("after signing %q", got)
	}
}

//jitcache:control anysignature
func TestEntryThatWasReplacedBetweenLookupsIsVerifiedEachTime(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	o, _ := trusting(t, env{"JITCACHE": "readonly", "JITCACHE_KEYS": by.Public().String()}, dir)
	o.Values["memory_size"] = "0"
	c := open(t, o) // it cannot copy
	if got, why := get(t, c, k); got != "signed" {
		t.Fatal(why)
	}
	rewrite(t, dir, store.Item{Key: k, Payload: []byte("forged")}, signatures(t, dir, k)...)
	if got, why := get(t, c, k); why != store.Signature {
		t.Errorf("%q, %v", got, why)
	}
}

func TestWhatIsNoEntryInALayerOfAnybodyStopsNobody(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"link":      func(p string) error { return os.Symlink("/etc/passwd", p) },
		"pipe":      func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"folder":    func(p string) error { return os.Mkdir(p, 0o777) },
		"device":    func(p string) error { return os.Symlink("/dev/zero", p) },
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o666) },
		"a lot":     func(p string) error { os.WriteFile(p, nil, 0o666); return os.Truncate(p, 1<<40) },
		"too large": func(p string) error { os.WriteFile(p, nil, 0o666); return os.Truncate(p, store.LargestOfAnybody+1) },
	} {
		t.Run(name, func(t *testing.T) {
			k, by := testKey(t, "n", "1"), secret(t)
			dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
			os.Remove(entryFile(dir, k))
			if err := put(entryFile(dir, k)); err != nil {
				t.Fatal(err)
			}
			o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
			c := open(t, o)
			if got, why := get(t, c, k); why == store.None || got != "" {
				t.Errorf("%q, %v", got, why)
			}
			if n := files(t, c); n != 0 {
				t.Errorf("%d entries were copied", n)
			}
		})
	}
}

func TestLinksInALayerOfAnybodyAreNotFollowed(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	private := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	dir := signedImage(t, by, "", map[*key.Key]string{})
	shard := filepath.Dir(entryFile(dir, k))
	os.RemoveAll(shard)
	if err := os.Symlink(filepath.Dir(entryFile(private, k)), shard); err != nil {
		t.Fatal(err)
	}
	o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
	if _, why := get(t, open(t, o), k); why != store.Symlink {
		t.Error(why)
	}
}

func TestEntryThatIsRewrittenWhileItIsReadIsTheSignedOneOrAMiss(t *testing.T) {
	k, by := testKey(t, "n", "1"), secret(t)
	signedText := strings.Repeat("signed", 1000)
	dir := signedImage(t, by, "", map[*key.Key]string{k: signedText})
	good, err := os.ReadFile(entryFile(dir, k))
	if err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir, store.Item{Key: k, Payload: []byte(strings.Repeat("forged", 1000)), Attributes: `{"from":"the image"}`}, signatures(t, dir, k)...)
	os.Chmod(dir, 0o777)
	bad, err := os.ReadFile(entryFile(dir, k))
	if err != nil || len(bad) != len(good) {
		t.Fatal(len(good), len(bad), err)
	}
	o, _ := trusting(t, env{"JITCACHE": "readonly", "JITCACHE_KEYS": by.Public().String()}, dir)
	o.Values["memory_size"] = "0"
	c := open(t, o)
	stop := make(chan bool)
	var writers sync.WaitGroup
	for _, data := range [][]byte{good, bad} {
		writers.Go(func() {
			f, err := os.OpenFile(entryFile(dir, k), os.O_WRONLY, 0) // in place, as through a hard link
			if err != nil {
				return
			}
			defer f.Close()
			for {
				select {
				case <-stop:
					return
				default:
					f.WriteAt(data, 0)
				}
			}
		})
	}
	hits := 0
	for range 3000 {
		got, why := get(t, c, k)
		if why == store.None {
			hits++
		}
		if why == store.None && got != signedText {
			t.Fatalf("got %.20q", got)
		}
	}
	close(stop)
	writers.Wait()
	t.Logf("%d of 3000 lookups were hits", hits)
}
