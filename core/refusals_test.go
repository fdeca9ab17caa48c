// How long a refusal is remembered, and where.

package core

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"jitcache/core/key"
	"jitcache/core/store"
)

func TestRefusalIsRememberedUntilAResultIsStored(t *testing.T) {
	o := in(t)
	c, k := open(t, o), testKey(t, "a", "x")
	if r := c.LastRefusal(k.Name); r != nil {
		t.Errorf("before: %+v", r)
	}
	c.NotStored(k, "native", store.Unrepeatable, "/src/a.h: has a random name")
	other := open(t, o)
	r := other.LastRefusal(k.Name)
	if r == nil || r.Reason != store.Unrepeatable.String() || r.Why != "/src/a.h: has a random name" || time.Since(r.Time) > time.Minute {
		t.Fatalf("%+v", r)
	}
	if e := other.Explain(k); e.Refused == nil || *e.Refused != *r {
		t.Errorf("explained by %+v", e.Refused)
	}
	if r := other.LastRefusal("another"); r != nil {
		t.Errorf("another name: %+v", r)
	}
	if why := c.Put(k, []byte("code"), "", false); why != store.None {
		t.Fatal(why)
	}
	if r := other.LastRefusal(k.Name); r != nil {
		t.Errorf("after a result was stored: %+v", r)
	}
	c.NotStored(k, "native", store.Unrepeatable, "/src/b.h: has a random name")
	if r := other.LastRefusal(k.Name); r == nil || !strings.HasPrefix(r.Why, "/src/b.h") {
		t.Errorf("after a later refusal: %+v", r)
	}
}

func TestRefusalOfTheSameIsNotWrittenAgain(t *testing.T) {
	c, k := open(t, in(t)), testKey(t, "a", "x")
	c.NotStored(k, "run", store.Unrepeatable, "/src/a.h: random")
	first := c.LastRefusal(k.Name)
	c.NotStored(k, "run", store.Unrepeatable, "/src/a.h: random (seen in an earlier run; it is not observed for now)")
	if again := c.LastRefusal(k.Name); *again != *first {
		t.Errorf("%+v, then %+v", first, again)
	}
}

func TestRefusalOfAChangedInputKeepsItsPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kernel.cu")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := key.NewBuilder()
	if err := b.AddFile("source", path); err != nil {
		t.Fatal(err)
	}
	b.SetName("saxpy")
	k, err := b.Seal()
	if err == nil {
		err = os.WriteFile(path, []byte("after it"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, in(t))
	if why := c.Put(k, []byte("code"), "", false); why != store.InputChange {
		t.Fatal(why)
	}
	if r := c.LastRefusal("saxpy"); r == nil || !strings.HasPrefix(r.Why, path) || r.Reason != store.InputChange.String() {
		t.Errorf("%+v", r)
	}
}

func TestRefusalsAreNotKeptWhereNothingIsWritten(t *testing.T) {
	o := in(t)
	open(t, o).Close()
	o.Env = env{"JITCACHE": "readonly"}.get
	c, k := open(t, o), testKey(t, "a", "x")
	c.NotStored(k, "native", store.Unrepeatable, "/src/a.h: random")
	if r := c.LastRefusal(k.Name); r != nil {
		t.Errorf("%+v", r)
	}
}
