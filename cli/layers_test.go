// What doctor says of layers.

package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestDoctorShowsLayersAndWhoHasNamedThem(t *testing.T) {
	image := newAccount(t)
	image.put("a", "saxpy", "cubin", "code")
	u := newAccount(t)
	config := u.env["HOME"] + "/.config/jitcache"
	os.MkdirAll(config, 0o700)
	open := t.TempDir()
	os.Chmod(open, 0o777)
	os.WriteFile(config+"/config", []byte("layers = "+image.dir+":"+open+":/none\n"), 0o600)
	out, errs, _ := u.run("doctor")
	for _, want := range []string{
		image.dir + " (" + config + "/config): trusted", open + " (" + config + "/config): not used: anybody may write it",
		"/none (" + config + "/config): not used: it does not exist", "layers = " + image.dir,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if !strings.Contains(errs, "warning: layer "+open) {
		t.Errorf("warned of %q", errs)
	}
	var d diagnosis
	out, _, _ = u.run("doctor", "-json")
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Layers) != 3 || !d.Layers[0].Used || d.Layers[1].Used || d.Layers[1].Refused == "" || len(d.Settings) != 1 {
		t.Errorf("%+v %+v", d.Layers, d.Settings)
	}
}
