// For how long a refusal is remembered.

package launch

import (
	"reflect"
	"testing"
	"time"

	"jitcache/core"
	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
	"jitcache/record"
)

func aRefusal() refusal {
	return refusal{why: "cat: reads its standard input", until: 1 << 60, stood: "/x", ran: []string{"/bin/cat", "/bin/sh"}, stamps: key.Sum([]byte("x"))}
}

func TestRefusalIsReadAsItWasWritten(t *testing.T) {
	want := aRefusal()
	b := want.append(nil)
	got, ok := parseRefusal(b)
	if !ok || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, ok)
	}
	for n := range b {
		if _, ok := parseRefusal(b[:n]); ok {
			t.Errorf("the first %d of %d bytes are a refusal", n, len(b))
		}
	}
	if _, ok := parseRefusal(append(b, 0)); ok {
		t.Error("with a byte behind it is a refusal")
	}
}

func TestRefusalIsForgottenAfterAWhile(t *testing.T) {
	cache, err := core.Open(core.Options{Values: map[string]string{"directory": t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	defer cache.Close()
	r, err := newRequest(&Options{}, []string{"cat"}, readStatus())
	if err != nil {
		t.Fatal(err)
	}
	l := newLookup(cache, r)
	for _, c := range []struct {
		until time.Duration
		plain bool
	}{{-time.Second, false}, {time.Minute, true}, {plainFor + time.Hour, false}} { // the last: a clock that was set back
		noted := refusal{why: "reads its standard input", until: time.Now().Add(c.until).UnixNano()}
		noted.stamps = l.stampsOf(nil, noted.why)
		cache.SaveNote(l.plainKey(), noted.append(nil))
		if got := l.plain() != ""; got != c.plain {
			t.Errorf("until %v from now: plain %v", c.until, got)
		}
	}
}

func TestHowLongARefusalIsRememberedDependsOnItsReason(t *testing.T) {
	used := func(uses ...observe.Use) *observe.Report {
		rep := &observe.Report{}
		for _, u := range uses {
			rep.Uses = append(rep.Uses, observe.Used{Use: u})
		}
		return rep
	}
	refused := func(u observe.Use) *request.Refused { return &request.Refused{What: "cc", Why: record.Why(u)} }
	for name, c := range map[string]struct {
		rep     *observe.Report
		refused *request.Refused
		want    time.Duration
	}{
		"the time of day":                {used(observe.UseClock, observe.UseSocket), refused(observe.UseClock), plainForContent},
		"a connection":                   {used(observe.UseClock, observe.UseSocket), refused(observe.UseSocket), plainFor},
		"something that goes on":         {&observe.Report{Outlived: true}, &request.Refused{What: "cc", Why: "left a process running"}, plainFor},
		"a file that was changed":        {used(observe.UseSocket), &request.Refused{What: "/a", Why: "was modified in place"}, plainForContent},
		"something that moved meanwhile": {used(), &request.Refused{What: "/a", Why: "was changed " + request.Meanwhile}, 0},
	} {
		if got := forHowLong(c.rep, c.refused); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
