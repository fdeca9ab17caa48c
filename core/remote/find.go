// Where the helper's program is, and a job that runs it in place of itself.

package remote

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ProgramName is the name of the helper's program.
const ProgramName = "jitcache-storage"

// Find returns the path of the helper for one of jitcache's programs or the library: beside it,
// or beside the library that was installed with it; "" if there is none.
func Find(executable string) string {
	folder := filepath.Dir(executable) + "/"
	for _, place := range []string{
		"",                        // by hand, the library's folder
		"../lib/",                 // as it is built
		"../libexec/jitcache/",    // make install
		"../../libexec/jitcache/", // from lib/x86_64-linux-gnu
		"../jitcache/",            // pip install --target
		"../lib*/python*/*-packages/jitcache/",
	} {
		found, _ := filepath.Glob(folder + place + ProgramName)
		for _, path := range found {
			if syscall.Access(path, 1) == nil {
				return filepath.Clean(path)
			}
		}
	}
	return ""
}

// ShownText returns the text of remotes without passwords and tokens.
func ShownText(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		parts := strings.Split(word, "|")
		parts[0] = (&Setting{URL: parts[0]}).Shown()
		for j := range parts[1:] {
			switch name, _, set := strings.Cut(parts[j+1], "="); {
			case !set, name == "trust", name == "read-only", name == "ttl", name == "timeout", name == "layout":
			default:
				parts[j+1] = name + "=…"
			}
		}
		words[i] = strings.Join(parts, "|")
	}
	return strings.Join(words, " ")
}

// Serve executes the helper in place of this process, for a job whose programs may not start
// one. It returns only if that fails.
func (r *Remote) Serve() error {
	dir, err := r.socketPath()
	if err != nil {
		return err
	}
	environment := r.environment()
	socket := "CRSH_IPC_ENDPOINT=" + dir + "/" + r.socketName(environment)
	for i, v := range environment {
		if strings.HasPrefix(v, "CRSH_IDLE_TIMEOUT=") {
			environment[i] = "CRSH_IDLE_TIMEOUT=0"
		}
	}
	return &os.PathError{Op: "exec", Path: r.options.Program, Err: syscall.Exec(r.options.Program, []string{ProgramName}, append(environment, socket))}
}
