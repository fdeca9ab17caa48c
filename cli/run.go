package cli

import "github.com/peterbourgon/ff/v3/ffcli"

const runHelp = `Any command that makes files: a compiler, a linker, a code generator. What it looks
at is recorded; while none of that changes, what it left and printed is put in place
instead. What cannot be repeated is run each time, and failures are not kept.

  CC="jitcache run gcc"  cmake -D CMAKE_C_COMPILER_LAUNCHER="jitcache;run"
  ln -s $(which jitcache) DIR/g++   DIR in PATH before the compiler: called so, it is g++

Each flag has a variable: JITCACHE_PLACEHOLDER (with : between), JITCACHE_BASE_DIR,
JITCACHE_MAP, JITCACHE_RUN_JSON. docs/launcher.md says when they are needed.`

// run is the manual of launching. The program launches before it comes here (cli/jitcache).
func (c *command) run() *ffcli.Command {
	flags := c.flags("run")
	flags.String("placeholder", "", "`NAME=PATH`: a name that is invented each time, and means nothing; * stands for anything but /")
	flags.String("base-dir", "", "`PATH` of a folder whose own name means nothing")
	flags.String("map", "", "`OPTION`=PATH=NAME is added to the command for each such name: -ffile-prefix-map")
	flags.BoolFunc("json", "a line of JSON for what became of the command, on standard error; -json=`FILE` adds it to a file",
		func(string) error { return nil })
	run := c.new("run [flags] COMMAND [arguments]", "run a command, or put in place what it came to before", flags, 0, 1<<20, func(args []string) error {
		if len(args) > 0 { // something is before run
			return wrong("run: it stands first, as in `jitcache run gcc`; JITCACHE_DIR names another cache")
		}
		return wrong("run: which command?")
	})
	run.LongHelp = runHelp
	return run
}
