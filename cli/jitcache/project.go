// The settings of a project: jitcache.toml sets the variables that the user has not set.

package main

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"jitcache/launch/project"
)

// readProject sets the variables of the project that this process is in. A file that is wrong is
// ignored, and said: a launched command does not fail because of it.
func readProject() {
	var buffer [unix.PathMax]byte
	n, err := syscall.Getcwd(buffer[:])
	if err != nil || n < 2 || buffer[0] != '/' {
		return
	}
	path := project.Find(string(buffer[:n-1]))
	if path == "" {
		return
	}
	settings, err := project.Read(path)
	if err != nil {
		fmt.Fprintf(os.Stderr, "jitcache: %s is ignored: %v\n", path, err)
		return
	}
	for _, s := range settings {
		if _, set := os.LookupEnv(s.Variable); !set {
			os.Setenv(s.Variable, s.Value)
		}
	}
}
