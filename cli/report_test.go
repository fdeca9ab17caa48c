// jitcache report, from a directory and a log to a file.

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestReportIsOnePageOfLedgerEntriesAndLog(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy <b>", "cubin", strings.Repeat("code", 1000))
	u.put("b", "y", "native", "code")
	folder := t.TempDir()
	stamp := time.Now().Format("2006-01-02T15:04:05.000 ")
	for i, line := range []string{"absent; since 2026-03-08 10:00:00: changed options", "checksum"} {
		log := filepath.Join(folder, "log."+string(rune('1'+i)))
		if err := os.WriteFile(log, []byte(stamp+"jitcache[7] miss: saxpy <b> (0123456789ab): "+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := filepath.Join(folder, "page.html")
	for _, args := range [][]string{{"report", page, "-log", folder + "/log.*"}, {"report", "-since", "7d", page}} {
		u.env["JITCACHE_LOG_FILE"] = folder + "/log.%p"
		if out := u.ok(args...); out != page+"\n" {
			t.Errorf("%v: %q", args, out)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{u.dir, "cubin", "native", "2 entries", ">options<", "saxpy &#60;b&#62;", "2 misses in", "<figure class='picture'>"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%v: the page lacks %q", args, want)
			}
		}
	}
	if left, _ := filepath.Glob(folder + "/.jitcache*"); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if out := u.ok("report", "-"); !strings.HasPrefix(out, "<!DOCTYPE html>") {
		t.Errorf("%.80q", out)
	}
}

func TestReportThatCannotBeMadeSaysWhyAndLeavesWhatWasThere(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report"},
		{"report", page, "-since", "yesterday"},
		{"report", page, "-log", page + ".none"},
		{"report", page + ".none/page.html"},
		{"report", filepath.Dir(page)},
	} {
		if out, errs, status := u.run(args...); status != exitFail || out != "" || errs == "" {
			t.Errorf("%v: status %d, %q, %q", args, status, out, errs)
		}
	}
	if text, _ := os.ReadFile(page); string(text) != "old" {
		t.Errorf("%q", text)
	}
	u.env["JITCACHE_LOG_FILE"] = page + ".none" // no log so far: no error
	u.ok("report", page)
}
