// Statistics and logs without internal kinds.

package core

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"jitcache/core/store"
)

// allCounters returns counters of which each has another value.
func allCounters() *store.Counters {
	var c store.Counters
	for i := range c {
		c[i] = uint64(i+1) * 1_000_000_000
	}
	return &c
}

func TestTotalsWithoutInternalKindsAreSumsOfTheOthers(t *testing.T) {
	shown := map[string]*store.Counters{"cubin": allCounters(), "native": allCounters()}
	want, _ := statsOf(shown)
	shown["_records"], shown[NoteKind] = allCounters(), allCounters()
	s := Stats{}
	s.Total, s.Kinds = statsOf(shown)
	got := s.WithoutInternal()
	if !reflect.DeepEqual(got.Total, want) || len(got.Kinds) != 2 {
		t.Errorf("%+v, want %+v", got, want)
	}
	h := History{Total: s.Total, Kinds: s.Kinds, Days: []DayStats{
		{Day: "2026-03-01", Total: s.Total, Kinds: s.Kinds},
		{Day: "2026-03-02", Total: s.Total, Kinds: map[string]KindStats{"_records": s.Kinds["_records"]}},
	}}.WithoutInternal()
	if !reflect.DeepEqual(h.Total, want) || len(h.Days) != 1 || !reflect.DeepEqual(h.Days[0].Total, want) {
		t.Errorf("%+v, want %+v", h, want)
	}
}

func TestMissesOfInternalKindsAreLoggedForDebuggingOnly(t *testing.T) {
	for level, want := range map[string]bool{"miss": false, "debug": true} {
		log, o := t.TempDir()+"/log", in(t)
		o.Env = env{"JITCACHE_LOG": level, "JITCACHE_LOG_FILE": log}.get
		c := open(t, o)
		for _, kind := range []string{"_records", "cubin"} {
			k := testKey(t, "a", kind)
			k.Kind, k.Name = kind, "of "+kind
			get(t, c, k)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(text); !strings.Contains(text, "miss: of cubin") || strings.Contains(text, "of _records") != want {
			t.Errorf("%s:\n%s", level, text)
		}
	}
}

func TestResultThatWasCompiledWithoutALeaseIsTimed(t *testing.T) {
	c := open(t, in(t))
	k := testKey(t, "a", "x")
	k.Kind = "numba"
	if why := c.PutCompiled(k, []byte("code"), "", false, 3e9); why != store.None {
		t.Fatal(why)
	}
	c.Memory().Remove((*[32]byte)(&k.ID))
	if _, why := get(t, c, k); why != store.None {
		t.Fatal(why)
	}
	if n := c.Stats().Kinds["numba"]; n.Compiles != 1 || n.CompileTime != 3 || n.TimeSaved != 3 || n.Hits() != 1 {
		t.Errorf("%+v", n)
	}
}
