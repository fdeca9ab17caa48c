// Command jitcache-bundle is jitcache with what it takes to make bundles and to add them.
// jitcache becomes it for that: the tables of zstd would make each start of a command
// that is launched a fifth longer.
package main

import (
	"os"

	"jitcache/cli"
)

func main() {
	env := cli.Environment{Get: os.Getenv, Bundle: bundleCommand}
	os.Exit(cli.Main(os.Args, env, os.Stdout, os.Stderr))
}
