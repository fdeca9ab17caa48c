// Command jitcache launches commands, and looks after a compile cache; see packages
// launch and cli.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"jitcache/cli"
)

func main() {
	if status, done := launched(os.Args); done {
		os.Exit(status)
	}
	env := cli.Environment{Get: os.Getenv, Become: become}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "JITCACHE") {
			env.Names = append(env.Names, name)
		}
	}
	os.Exit(cli.Main(os.Args, env, os.Stdout, os.Stderr))
}

// become replaces this process by another program of jitcache, which lies beside this one
// and gets the same arguments. It returns only if that fails.
func become(name string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(self), name)
	if err := syscall.Exec(path, os.Args, os.Environ()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
