// What the command says of remotes and of signing keys.

package cli

import (
	"os"
	"strings"
	"testing"
	"text/tabwriter"
)

func TestSigningKeyThatOthersMayReadIsWarnedOf(t *testing.T) {
	u := newAccount(t)
	secret := t.TempDir() + "/secret"
	u.ok("trust", "new", secret)
	u.put("a", "saxpy", "cubin", "code")
	for _, mode := range []os.FileMode{0o600, 0o400, 0o640, 0o604, 0o644} {
		if err := os.Chmod(secret, mode); err != nil {
			t.Fatal(err)
		}
		_, errs, status := u.run("sign", "-key", secret)
		if exposed := mode&0o077 != 0; status != 0 || strings.Contains(errs, "others may read the signing key") != exposed {
			t.Errorf("%04o: status %d, %q", mode, status, errs)
		}
	}
}

func TestRemotesAreATableForPeople(t *testing.T) {
	rows := []remoteRow{
		{
			URL: "redis://h", Source: "JITCACHE_REMOTE", Reads: true, Writes: true, Sends: true, Waiting: 3,
			Helper: []byte(`{"state":"up","hits":12,"misses":4,"miss_reasons":{"absent":3,"checksum":1},"errors":5,"received_bytes":2048,"sent_bytes":1024,"last_error":"no route"}`),
		},
		{URL: "s3://b", Source: "a file", Reads: true, Error: "no answer"},
		{URL: "file:///d", Source: "a file", Refused: "no helper"},
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	printRemotes(w, rows)
	w.Flush()
	const want = `REMOTE     STATE  HITS  MISSES  ERRORS  RECEIVED  SENT     WAITING
redis://h  up     12    4       5       2.0 KiB   1.0 KiB  3
s3://b     -      -     -       -       -         -        0
file:///d  -      -     -       -       -         -        0

redis://h (JITCACHE_REMOTE): read and written
  missed: 3 absent, 1 checksum
  last error: no route

s3://b (a file): read only
  its helper does not answer: no answer

file:///d (a file): not used: no helper
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
