// Whether a command has the job server that make or cargo names to it.

package launch

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// make and cargo name in these variables where the tokens of their job server are: two
// descriptors of a pipe, or a FIFO. The tokens are no input of a command, and neither is their
// place (record.Rule). Whether there are any is one: gcc and rustc complain of a job server that
// is named and is not there. observe/tracer/jobserver.h says what one is.
var jobServerVariables = []string{"MAKEFLAGS", "MFLAGS", "CARGO_MAKEFLAGS"}

// The words that name it, by how they begin, and what they count as.
var (
	jobServerWords = []string{"--jobserver-auth=", "--jobserver-fds="}

	jobServerWorks  = "--jobserver-works"
	jobServerAbsent = "--jobserver-absent"
)

// markJobServers returns an environment as lists have it: it says of job servers only whether this
// process has them.
func markJobServers(env []string) []string {
	copied := false
	for i, e := range env {
		name, value, _ := strings.Cut(e, "=")
		if !slices.Contains(jobServerVariables, name) || !seesJobServers {
			continue
		}
		if !copied {
			env, copied = slices.Clone(env), true
		}
		env[i] = name + "=" + markedJobServer(value)
	}
	return env
}

// variablesOfJobServer returns the variables of job servers if the command has used one, or is told to: then
// gcc says if there is none.
func variablesOfJobServer(rep *observe.Report) []string {
	used := func(u observe.Used) bool { return u.Use == observe.UseJobServer }
	if slices.ContainsFunc(rep.Uses, used) || len(rep.Programs) > 0 && slices.Contains(rep.Programs[0].Args, "-flto=jobserver") {
		return jobServerVariables
	}
	return nil
}

// markedJobServer returns the value of a variable with a word for the job server that it names. The last
// word that names one is meant.
func markedJobServer(value string) string {
	words, last := strings.Split(value, " "), ""
	words = slices.DeleteFunc(words, func(w string) bool {
		for _, begin := range jobServerWords {
			if place, ok := strings.CutPrefix(w, begin); ok {
				last = place
				return true
			}
		}
		return false
	})
	switch {
	case last == "":
	case isJobServer(last):
		words = append(words, jobServerWorks)
	default:
		words = append(words, jobServerAbsent)
	}
	return strings.Join(words, " ")
}

// isJobServer reports whether there is a job server where a word says.
func isJobServer(place string) bool {
	var st, other unix.Stat_t
	if path, ok := strings.CutPrefix(place, "fifo:"); ok {
		return strings.HasPrefix(path, "/") && unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO &&
			unix.Access(path, unix.R_OK|unix.W_OK) == nil
	}
	reads, writes, _ := strings.Cut(place, ",")
	return isEnd(reads, unix.O_WRONLY, &st) && isEnd(writes, unix.O_RDONLY, &other) && st.Dev == other.Dev && st.Ino == other.Ino
}

// isEnd reports whether the command gets a descriptor of a number that is an end of a pipe, and
// not only the other one.
func isEnd(number string, other int, st *unix.Stat_t) bool {
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 0 || unix.Fstat(fd, st) != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return false
	}
	closes, _ := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && closes&unix.FD_CLOEXEC == 0 && flags&unix.O_ACCMODE != other
}
