package cli

import "github.com/peterbourgon/ff/v3/ffcli"

const runHelp = `COMMAND is any command that makes files: a compiler, a linker, a code generator. jitcache
records what it looks at, the files that it leaves and what it prints. While nothing that
it looked at changes, the files and the output are put in place without running it. A
command that cannot be repeated runs each time, and failures are not kept.

  CC="jitcache run gcc"  cmake -D CMAKE_C_COMPILER_LAUNCHER="jitcache;run"
  ln -s $(which jitcache) DIR/g++   with DIR in PATH before the compiler: g++ is launched

Each flag has a variable: JITCACHE_PLACEHOLDER (with : between), JITCACHE_BASE_DIR,
JITCACHE_MAP, JITCACHE_RUN_JSON. docs/launcher.md says when they are needed.`

// run has the manual of `jitcache run`, and reports its wrong use. The program launches
// commands before it comes here (cli/jitcache).
func (c *command) run() *ffcli.Command {
	flags := c.flags("run")
	flags.String("placeholder", "", "`NAME=PATH`: PATH is a new name each time, and does not count; * in it stands for anything but /")
	flags.String("base-dir", "", "`PATH` of a folder whose own name does not count")
	flags.String("map", "", "add `OPTION`=PATH=NAME to the command for each of these paths, as -ffile-prefix-map")
	flags.BoolFunc("json", "print a line of JSON about the command to standard error; -json=`FILE` appends it to a file",
		func(string) error { return nil })
	run := c.new("run [flags] COMMAND [arguments]", "run a command, or put its kept result in place", flags, 0, 1<<20, func(args []string) error {
		if len(args) > 0 { // flags come before run
			return wrong("run comes first, as in `jitcache run gcc`; JITCACHE_DIR names another cache")
		}
		return wrong("run: which command?")
	})
	run.LongHelp = runHelp
	return run
}
