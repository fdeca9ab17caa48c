// The manual of `jitcache run`.

package cli

import "github.com/peterbourgon/ff/v3/ffcli"

const runHelp = `COMMAND is any command that makes files: a compiler, a linker, a code generator. The
first run records what the command looks at. While none of that changes, a later run
only puts back the files that the command left, and prints its output. A command that
cannot be repeated is run each time, and a failure is not kept.

  CC="jitcache run gcc"  cmake -D CMAKE_C_COMPILER_LAUNCHER="jitcache;run"
  ln -s $(which jitcache) DIR/g++      with DIR before the compiler's folder in PATH

A variable may stand for each flag: JITCACHE_PLACEHOLDER and JITCACHE_WITHHOLD (several
with : between), JITCACHE_BASE_DIR, JITCACHE_MAP, JITCACHE_RUN_JSON. docs/launcher.md
says when you need them.`

// run has the manual of `jitcache run`, and reports its wrong use. The program launches
// commands before it comes here (cli/jitcache).
func (c *command) run() *ffcli.Command {
	flags := c.flags("run")
	flags.String("placeholder", "", "let NAME stand for a path that differs in each run, `NAME=PATH`; * stands for anything but /")
	flags.String("base-dir", "", "the `PATH` of a folder whose own name means nothing")
	flags.String("map", "", "add `OPTION`=PATH=NAME to the command for each such name: -ffile-prefix-map")
	flags.String("withhold", "", "do not give the command the variables `NAMES`, patterns with : between; strict: none but those of toolchains")
	flags.BoolFunc("json", "print a line of JSON about what became of the command to standard error; -json=`FILE` appends it to FILE",
		func(string) error { return nil })
	run := c.new("run [flags] COMMAND [arguments]", "run a command through the cache", flags, 0, 1<<20, func(args []string) error {
		if len(args) > 0 { // something is before run
			return wrong("run: it stands first, as in `jitcache run gcc`; JITCACHE_DIR names another cache")
		}
		return wrong("run: which command?")
	})
	run.LongHelp = runHelp
	return run
}
