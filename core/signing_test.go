// What is signed here, and what is not.

package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"jitcache/core/key"
	"jitcache/core/store"
	"jitcache/core/trust"
)

// signer writes a secret key to a file.
func signer(t *testing.T) (trust.Secret, string) {
	t.Helper()
	s, path := secret(t), filepath.Join(t.TempDir(), "secret")
	if err := trust.WriteSecret(path, s); err != nil {
		t.Fatal(err)
	}
	return s, path
}

// signed returns how many entries of each state a directory has, if a key is trusted.
func signed(t *testing.T, dir string, by trust.Public) map[Signing]int {
	t.Helper()
	states := map[Signing]int{}
	c := open(t, Options{Values: map[string]string{"directory": dir}, Env: env{"HOME": t.TempDir(), "JITCACHE_KEYS": by.String()}.get})
	if err := c.EachSigned(t.Context(), func(_ string, s Signing) { states[s]++ }); err != nil {
		t.Fatal(err)
	}
	return states
}

//jitcache:control nosigning
func TestWhatIsMadeHereIsSignedWhenItIsStored(t *testing.T) {
	by, path := signer(t)
	for _, size := range []string{"0", "1M"} {
		o, warned := over(t)
		before := o.Env
		o.Env = func(name string) string {
			if name == "JITCACHE_SIGNING_KEY_FILE" {
				return path
			}
			return before(name)
		}
		o.Values["memory_size"] = size
		c := open(t, o)
		made, note := testKey(t, "n", "made"), testKey(t, "n", "note")
		if why := c.Put(made, []byte("made"), `{"a":1}`, false); why != store.None {
			t.Fatal(why)
		}
		_, l, _, _ := c.Acquire(testKey(t, "n", "leased"), -1, false, true)
		b, why := l.Commit([]byte("leased"), "", true)
		if why != store.None {
			t.Fatal(why)
		}
		b.Release()
		for _, data := range []string{"one", "one and two"} { // the second rests on the first, which is own
			c.SaveNote(note, []byte(data))
			if got := c.LoadNote(&note.ID); string(got) != data {
				t.Errorf("noted %q", got)
			}
		}
		c.Close()
		if n := signed(t, c.store.Root(), by.Public()); n[SignedByTrusted] != 3 || len(n) != 1 {
			t.Errorf("%s: %v; %s", size, n, *warned)
		}
		if got, why := get(t, open(t, o), made); got != "made" {
			t.Error(why)
		}
	}
}

//jitcache:control signsall
func TestWhatWasMadeElsewhereIsNotSignedHere(t *testing.T) {
	by, path := signer(t)
	passed, note := testKey(t, "n", "1"), testKey(t, "n", "note")
	dir := image(t, map[*key.Key]string{passed: "unsigned, of root", note: "note"})
	o, _ := trusting(t, env{"JITCACHE_SIGNING_KEY_FILE": path, "JITCACHE_KEYS": by.Public().String()}, dir)
	o.Values["file_system"] = "network" // so that it is copied
	c := open(t, o)
	if got, why := get(t, c, passed); got == "" {
		t.Fatal(why)
	}
	for data := range c.LayerNotes(&note.ID) {
		c.SaveNote(note, append(data, " and mine"...))
	}
	again := open(t, o) // which goes on with what the first has noted
	again.SaveNote(note, append(again.LoadNote(&note.ID), " and more"...))
	if n := files(t, c); n != 2 {
		t.Fatalf("%d files", n)
	}
	if done, err := c.Sign(t.Context(), by); err != nil || done != (Signed{Others: 2}) {
		t.Errorf("%+v, %v", done, err)
	}
	if n := signed(t, c.store.Root(), by.Public()); n[Unsigned] != 2 {
		t.Errorf("%v", n)
	}
}

func TestKeyThatCannotBeReadIsAWarningAndNothingIsSigned(t *testing.T) {
	_, path := signer(t)
	os.Chmod(path, 0o666)
	o, warned := trusting(t, env{"JITCACHE_SIGNING_KEY_FILE": path})
	c, k := open(t, o), testKey(t, "n", "1")
	if why := c.Put(k, []byte("x"), "", false); why != store.None {
		t.Error(why)
	}
	if !strings.Contains(*warned, path) || !strings.Contains(*warned, "not signed") {
		t.Errorf("warned of %q", *warned)
	}
	if got, why := get(t, open(t, o), k); got != "x" {
		t.Error(why)
	}
}

func TestKeyIsTrustedForWhatWasMadeFromATimeOn(t *testing.T) {
	by, k := secret(t), testKey(t, "n", "1")
	dir := signedImage(t, by, "", map[*key.Key]string{k: "signed"})
	for from, want := range map[string]store.Reason{
		"2001-01-01": store.None, "2200-01-01": store.Signature, "2200-01-01T10:00:00.5Z": store.Signature,
	} {
		o, _ := trusting(t, env{"JITCACHE_KEYS": "not-before=" + from + " " + by.Public().String() + " CI"}, dir)
		if got, why := get(t, open(t, o), k); why != want {
			t.Errorf("from %s on: %q, %v", from, got, why)
		}
	}
	// If several lines bound the key, the latest bound counts; also for copies.
	o, _ := trusting(t, env{"JITCACHE_KEYS": by.Public().String()}, dir)
	if got, why := get(t, open(t, o), k); got == "" {
		t.Fatal(why)
	}
	before := o.Env
	o.Env = func(name string) string {
		if name == "JITCACHE_KEYS" {
			return by.Public().String() + ",not-before=2200-01-01 " + by.Public().String()
		}
		return before(name)
	}
	c := open(t, o)
	if got, why := get(t, c, k); why != store.Signature {
		t.Errorf("copy: %q, %v", got, why)
	}
	states := map[Signing]int{}
	c.EachSigned(t.Context(), func(_ string, s Signing) { states[s]++ })
	if states[SignedTooEarly] != 1 {
		t.Errorf("%v", states)
	}
}

func TestSigningKeyThatOthersMayReadIsWarnedOf(t *testing.T) {
	for _, mode := range []os.FileMode{0o600, 0o644} {
		told.Clear()
		path := filepath.Join(t.TempDir(), "secret")
		secret, err := trust.NewSecret()
		if err == nil {
			err = trust.WriteSecret(path, secret)
		}
		if err == nil {
			err = os.Chmod(path, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
		o, warned := trusting(t, env{"JITCACHE_SIGNING_KEY_FILE": path})
		c := open(t, o)
		if exposed := mode != 0o600; strings.Contains(*warned, path+": others may read the signing key") != exposed || c.signer == nil {
			t.Errorf("%04o: warned of %q", mode, *warned)
		}
	}
}
