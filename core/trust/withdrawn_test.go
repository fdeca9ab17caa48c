// No withdrawal is lost, whatever a file of keys looks like.

package trust

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// If a file of keys exists and cannot be read, it may withdraw any key. Otherwise an entry
// that a withdrawn key has signed would be a hit.
//
//jitcache:control nowithdrawal
func TestFileOfKeysThatCannotBeReadWithdrawsAllOfThem(t *testing.T) {
	p, q := fixed(1).Public(), fixed(2).Public()
	for name, spoil := range map[string]func(path string) error{
		"nothing":          func(string) error { return nil },
		"others may write": func(path string) error { return os.Chmod(path, 0o666) },
		"too large":        func(path string) error { return os.Truncate(path, most+1) },
		"a folder":         func(path string) error { os.Remove(path); return os.Mkdir(path, 0o700) },
		"a pipe":           func(path string) error { os.Remove(path); return syscall.Mkfifo(path, 0o600) },
	} {
		user, machine := t.TempDir(), t.TempDir()
		for _, known := range []Known{{Key: p, Withdrawn: true}, {Key: q, Name: "CI"}} {
			if err := Note(user, known); err != nil {
				t.Fatal(err)
			}
		}
		if err := spoil(KeysFile(user)); err != nil {
			t.Fatal(err)
		}
		k := ReadKeys(environment(map[string]string{"JITCACHE_KEYS": p.String() + "," + q.String()}), []string{user, machine}, "")
		readable := name == "nothing"
		if k.Trusts(p) || !k.Rejects(p, 1) || k.Trusts(q) != readable || k.Any() != readable || !k.AnyWithdrawn() {
			t.Errorf("%s: %+v", name, k)
		}
		if !readable && (len(k.Problems) != 1 || !strings.Contains(k.Problems[0], KeysFile(user)+" is ignored: ")) {
			t.Errorf("%s: %q", name, k.Problems)
		}
		if k.Withdraws(Public{}) {
			t.Errorf("%s: what nobody has signed is withdrawn", name)
		}
	}
}

// HOME may be another user's. That user's file neither names nor withdraws a key here.
func TestFileOfKeysOfAnotherUserSaysNothing(t *testing.T) {
	p, dir := fixed(1).Public(), t.TempDir()
	if err := Note(dir, Known{Key: p, Withdrawn: true}); err != nil {
		t.Fatal(err)
	}
	if os.Chown(KeysFile(dir), 12345, 12345) != nil {
		return // not root
	}
	k := ReadKeys(environment(map[string]string{"JITCACHE_KEYS": p.String()}), []string{dir}, "")
	if !k.Trusts(p) || len(k.Problems) != 1 || !strings.Contains(k.Problems[0], "belongs to user 12345") {
		t.Errorf("%+v", k)
	}
}

// A line that cannot be read may have withdrawn or bounded the key in it. If another file
// names the key, it must not be trusted without bounds.
//
//jitcache:control nowithdrawal
func TestKeyInALineThatCannotBeReadIsNotTrusted(t *testing.T) {
	p, q := fixed(1).Public(), fixed(2).Public()
	for _, line := range []string{
		"withdraw KEY", "withdrawn: KEY", "withdrawn not-before=soon KEY", "not-before=soon withdrawn KEY", "not-before=soon KEY CI",
		"not-before= KEY", "\x00withdrawn KEY", "CI KEY", "withdrawn KEY",
	} {
		line = strings.ReplaceAll(line, "KEY", p.String())
		k := ReadKeys(environment(map[string]string{"JITCACHE_KEYS": p.String() + "," + line + "," + q.String()}), nil, "")
		if k.Trusts(p) || !k.Trusts(q) {
			t.Errorf("%q: %+v", line, k)
		}
	}
}

// The clock of a machine may be before 1970. Then a key without a bound is trusted too, and
// one that is bounded at 1970 is not.
func TestEntryFromBefore1970IsTrustedUnlessTheKeyIsBounded(t *testing.T) {
	s := fixed(1)
	for bound, want := range map[string]bool{"": true, "not-before=1970-01-01 ": false, "not-before=1970-01-02 ": false, "withdrawn ": false} {
		folder := t.TempDir()
		os.WriteFile(KeysFile(folder), []byte(bound+s.Public().String()+"\n"), 0o600)
		k := ReadKeys(environment(nil), []string{folder}, "")
		if err := Note(folder, k.All[0]); err != nil { // which must not take the bound away
			t.Fatal(err)
		}
		for _, k := range []*Keys{k, ReadKeys(environment(nil), []string{folder}, "")} {
			for _, made := range []int64{-1 << 63, -1, 0} {
				st := &Statement{Kind: "cubin", Created: made, Payload: []byte("payload")}
				if got := k.Accepts(st, []Signature{s.Sign(st, "")}); got != want {
					t.Errorf("%q, made at %d: accepted %v", bound, made, got)
				}
				if k.Rejects(s.Public(), made) == want {
					t.Errorf("%q, made at %d: rejected %v", bound, made, want)
				}
			}
		}
	}
}

// FuzzKeys: whatever comes before it, a line that withdraws a key withdraws it.
func FuzzKeys(f *testing.F) {
	p := fixed(1).Public()
	f.Add("withdrawn\n"+p.String(), "")
	f.Add("not-before=2026-01-01 ", " CI\n"+p.String())
	f.Add(strings.Repeat("x", 1<<16), "\n#")
	f.Fuzz(func(t *testing.T, before, after string) {
		k := &Keys{}
		k.parseKeys(before+"\nwithdrawn "+p.String()+"\n"+after, "keys")
		if k.Trusts(p) || !k.Withdraws(p) {
			t.Errorf("%+v", k)
		}
		said := 0
		for _, line := range strings.Split(before+"\n"+after, "\n") {
			if words := strings.Fields(line); len(words) > 0 && words[0][0] != '#' {
				said++
			}
		}
		if n := len(k.All) + len(k.Problems); n < said+1 {
			t.Errorf("%d lines, of which %d are told of", said+1, n)
		}
	})
}
