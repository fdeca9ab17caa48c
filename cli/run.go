// The manual of `jitcache run`.

package cli

import "github.com/peterbourgon/ff/v3/ffcli"

const runHelp = `COMMAND is any command that makes files: a compiler, a linker, a code generator. The
first run records what the command looks at. While none of that changes, a later run
only puts back the files that the command left, and prints its output. A command that
cannot be repeated is run each time, and a failure is not kept.

  CC="jitcache gcc"     cmake -D CMAKE_C_COMPILER_LAUNCHER=jitcache     RUSTC_WRAPPER=jitcache
  ln -s $(which jitcache) DIR/g++      with DIR before the compiler's folder in PATH

The word run may be left out where COMMAND is no command of jitcache and no flag is given.
A variable stands for each flag, where there is no place for one, and several values of it
have : between. jitcache.toml, in the folder of the command or above, may have the same for
a project; ` + "`jitcache config`" + ` shows what counts here, and why.

  -base-dir, -placeholder   for callers that compile in a folder with a new name each time:
                            TMP=/tmp/* lets TMP stand for such a name in lookups, and -map
                            keeps it out of what compilers write
  -withhold                 for variables that differ in each run, such as a job's number
  -hermetic                 for programs that read the clock as they start, and in another
                            checkout, where files have other times: neither can matter then

With JITCACHE_LOG=miss each miss says what has changed, and what is not kept, why. With -json
each command is a line: hit, miss, kept, not kept or plain, with the reason.
JITCACHE=0 runs commands without the cache, JITCACHE=refresh runs them anew.`

// runCommand has the manual of `jitcache run`, and reports its wrong use. The program launches
// commands before it comes here (cli/jitcache).
func (c *command) runCommand() *ffcli.Command {
	flags := c.flags("run")
	flags.String("placeholder", "", "let NAME stand for a path that differs in each run, `NAME=PATH`; * stands for anything but / (JITCACHE_PLACEHOLDER)")
	flags.String("base-dir", "", "the `PATH` of a folder whose own name means nothing (JITCACHE_BASE_DIR)")
	flags.String("map", "", "add `OPTION`=PATH=NAME to the command for each such name: -ffile-prefix-map (JITCACHE_MAP)")
	flags.String("withhold", "", "do not give the command the variables `NAMES`, patterns with : between; strict: none but those of toolchains (JITCACHE_WITHHOLD)")
	flags.BoolFunc("hermetic", "show the command one time for all files, and start its clock then: SOURCE_DATE_EPOCH, or -hermetic=`SECOND` since 1970; "+
		"only variables of toolchains (JITCACHE_HERMETIC)", func(string) error { return nil })
	flags.BoolFunc("json", "print a line of JSON about what became of the command to standard error; -json=`FILE` appends it to FILE (JITCACHE_RUN_JSON)",
		func(string) error { return nil })
	run := c.newCommand("run [flags] COMMAND [arguments]", "run a command through the cache", flags, 0, 1<<20, func(args []string) error {
		if len(args) > 0 { // something is before run
			return wrong("run: it must be the first word, as in `jitcache run gcc`; JITCACHE_DIR names another cache")
		}
		return wrong("run: which command?")
	})
	run.LongHelp = runHelp
	return run
}
