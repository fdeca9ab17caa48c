// Command jitcache launches commands, and looks after a compile cache; see packages
// launch and cli.
package main

import (
	"os"
	"strings"

	"jitcache/cli"
)

func main() {
	if status, done := launched(os.Args); done {
		os.Exit(status)
	}
	env := cli.Environment{Get: os.Getenv, Bundle: bundleCommand}
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "JITCACHE") {
			env.Names = append(env.Names, name)
		}
	}
	os.Exit(cli.Main(os.Args, env, os.Stdout, os.Stderr))
}
