// Command jitcache-bundle is the jitcache command with the bundle commands and `remote push`. jitcache
// becomes this program when they are asked for. It does not have them itself, because the
// tables of zstd would make the start of each launched command a fifth longer.
package main

import (
	"os"

	"jitcache/cli"
)

func main() {
	env := cli.Environment{Get: os.Getenv, Bundle: bundleCommand, Push: pushCommand}
	os.Exit(cli.Main(os.Args, env, os.Stdout, os.Stderr))
}
