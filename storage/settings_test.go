// A helper with wrong settings says what is wrong.

package storage

import (
	"errors"
	"os"
	"strings"
	"testing"

	"jitcache/storage/engine"
)

// A helper that ended at once would leave everybody with "no helper is running", and each
// process would start another one and wait for it.
func TestHelperWithWrongSettingsSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ url, name, value, want string }{
		{"redis://:hunter2@127.0.0.1/db99", "", "", "invalid database number"},
		{"http://127.0.0.1:80:80/x", "", "", "the URL cannot be read"},
		{"http://u:p%zzhunter2@127.0.0.1/", "", "", "the URL cannot be read"},
		{"http://127.0.0.1/?sig=hunter2", "", "", "the URL has a ? or a #"},
		{"http://", "", "", "has no host"},
		{"redis://127.0.0.1", "nosuch", "1", `"nosuch"`},
		{"redis://127.0.0.1", "max-object", "much", `max-object="much"`},
		{"redis://127.0.0.1", "timeout", "-1s", `timeout="-1s"`},
		{"http://127.0.0.1", "header", "hunter2", "header: want"},
		{"https://127.0.0.1", "ca-file", "/nowhere", "/nowhere"},
		{"file://relative", "", "", "want file:///DIRECTORY"},
	} {
		dir, err := os.MkdirTemp("", "storage")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		env := map[string]string{"CRSH_IPC_ENDPOINT": dir + "/s", "CRSH_URL": c.url}
		if c.name != "" {
			env["CRSH_NUM_ATTR"], env["CRSH_ATTR_KEY_0"], env["CRSH_ATTR_VALUE_0"] = "1", c.name, c.value
		}
		set, err := ReadSettings(func(name string) string { return env[name] })
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		s, err := New(set)
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		_, err = s.getValue(nameOf([]byte(ourKey)))
		said := s.failed(err)
		if !errors.Is(err, engine.ErrRefused) || !strings.Contains(said, c.want) {
			t.Errorf("%v: says %q", c, said)
		}
		if d := s.describeHelper(); !strings.Contains(d.LastError, c.want) || strings.Contains(said+d.LastError+d.URL, "hunter2") {
			t.Errorf("%v: describes %+v", c, d)
		}
	}
}
