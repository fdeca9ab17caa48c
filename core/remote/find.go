package remote

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ProgramName is what the helper's program is called.
const ProgramName = "jitcache-storage"

// Find returns the path of the helper for a program of jitcache's or the library, "" if
// it is not there: beside it, or where the library is that was installed with it.
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

// ShownText returns remotes as they may be shown: without passwords and tokens.
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

// Serve becomes the helper, for as long as the job runs that it is started from: where
// programs may not start one. It returns only if that cannot be.
func (r *Remote) Serve() error {
	dir, err := r.place()
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
