// jitcache stats, by day and by kind.

package cli

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"jitcache/core"
	"jitcache/core/key"
)

func TestStatsSinceCountDaysByKind(t *testing.T) {
	u := newAccount(t)
	u.put("a", "x", "cubin", "code")
	u.put("b", "y", "native", "code")
	today := time.Now().UTC().Format(core.DayLayout)
	for _, since := range []string{"today", "1d", "7d", "2w", "20y", today, "1970-01-01"} {
		var h core.History
		if err := json.Unmarshal([]byte(u.ok("stats", "-since", since, "-json")), &h); err != nil {
			t.Fatal(err)
		}
		if h.Kinds["cubin"].Puts != 1 || h.Kinds["native"].Puts != 1 || h.Total.Puts != 2 || len(h.Days) != 1 ||
			h.Days[0].Kinds["cubin"].Puts != 1 || h.First != h.Days[0].Day || h.Since > today {
			t.Errorf("%s: %+v", since, h)
		}
		text := u.ok("stats", "--since="+since)
		if !strings.Contains(text, "cubin") || !strings.Contains(text, "native") || !strings.Contains(text, h.Since) {
			t.Errorf("%s:\n%s", since, text)
		}
		if some := strings.Contains(text, "remembered"); some != (h.Since < h.First) {
			t.Errorf("%s:\n%s", since, text)
		}
	}
}

// miss looks for an entry of a kind that is not there.
func (u *account) miss(kind string) {
	u.t.Helper()
	c, err := core.Open(core.Options{Env: func(n string) string { return u.env[n] }})
	if err != nil {
		u.t.Fatal(err)
	}
	defer c.Close()
	c.Get(&key.ID{}, []byte(kind), nil)
}

func TestInternalKindsAreShownWhenAskedFor(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	u.put("b", "of saxpy", "_records", "noted")
	for _, kind := range []string{"cubin", "_records"} {
		u.miss(kind)
	}
	page := t.TempDir() + "/page.html"
	for _, args := range [][]string{
		{"stats"}, {"stats", "-since", "today"}, {"stats", "-json"}, {"stats", "-since", "today", "-json"}, {"ls"}, {"ls", "-json"}, {"report", page},
	} {
		for _, all := range []bool{false, true} {
			asked := args
			if all {
				asked = append(slices.Clone(args), "-all")
			}
			text := u.ok(asked...)
			if args[0] == "report" {
				data, err := os.ReadFile(page)
				if err != nil {
					t.Fatal(err)
				}
				_, text, _ = strings.Cut(string(data), "<table>") // of what was counted
				text, _, _ = strings.Cut(text, "</table>")
			}
			if strings.Contains(text, "_records") != all || !strings.Contains(text, "cubin") {
				t.Errorf("%v:\n%s", asked, text)
			}
		}
	}
	if text := u.ok("ls", "-kind", "_records"); !strings.Contains(text, "of saxpy") {
		t.Errorf("%s", text)
	}
	if text := u.ok("stats"); !strings.Contains(text, "total") {
		t.Errorf("%s", text)
	}
}

// The golden days are of 2025: days before the first day asked for do not count.
func TestStatsSinceLeaveOutWhatWasBefore(t *testing.T) {
	u := newAccount(t)
	u.put("a", "x", "cubin", "code")
	data, err := os.ReadFile("../tests/golden/days")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(u.dir+"/v1/days", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := u.ok("stats", "-since", "today"); strings.Contains(text, "cubin") {
		t.Errorf("%s", text)
	}
	if text := u.ok("stats"); !strings.Contains(text, "cubin") {
		t.Errorf("%s", text)
	}
}

func TestFirstDayOfWhatAUserMeans(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"today": "2026-03-01", "1d": "2026-03-01", "2d": "2026-02-28", "1w": "2026-02-23", "1y": "2025-03-02", "2026-01-31": "2026-01-31",
	} {
		day, err := firstDay(text, now)
		if err != nil || day.Format(core.DayLayout) != want {
			t.Errorf("%s: %v, %v; want %s", text, day, err, want)
		}
	}
	for _, text := range []string{"d", "-1d", "0d", "1", "1h", "3.5d", "2026-03-02", "tomorrow", "1e3d", "20000d"} {
		if day, err := firstDay(text, now); err == nil {
			t.Errorf("%s: %v, want an error", text, day)
		}
	}
}
