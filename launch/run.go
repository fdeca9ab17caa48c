// Run: replays a command's result, or becomes the observer that runs it.

package launch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"jitcache/core"
	"jitcache/core/store"
	"jitcache/observe"
	"jitcache/record"
)

// open makes the request for a command of this process, and opens the cache.
func open(o *Options, words []string, state status) (*lookup, error) {
	r, err := newRequest(o, words, state)
	if err != nil {
		return nil, err
	}
	record.Launches()
	core.StorageProgram = func() string { return core.FindStorage(self()) }
	// No warnings: standard error belongs to the command. JITCACHE_LOG gets them.
	cache, err := core.Open(core.Options{Values: map[string]string{"memory_size": "0"}, Env: os.Getenv, Launcher: true})
	if err != nil {
		return nil, err
	}
	return newLookup(cache, r), nil
}

// Run runs a command or replays its result. It returns the exit status if this process has
// not become the command. given are the words that the launcher was started with.
func Run(o *Options, words, given []string) int {
	// Inside an observed tree the outer observer must see what the command looks at, and
	// beside another tracer there can be no observer.
	state, began := readStatus(), time.Now()
	if state.tracer != 0 {
		return o.become(words) // without an event: it would be an output of the outer command
	}
	if !o.keepsOf(words) {
		o.newTeller(words, os.Getpid(), began).say(ranOnly, "JITCACHE_KEEP, or the project's keep, does not name the program", nil)
		return o.become(words)
	}
	if hasLittleSpace() {
		const why = "the address space is limited to less than 1 GB (ulimit -v)"
		o.newTeller(words, os.Getpid(), began).say(ranOnly, why, nil)
		if os.Getenv("JITCACHE_LOG") != "" {
			if l, err := open(o, words, state); err == nil {
				l.cache.NotObserved(l.request.request, why)
			}
		}
		return o.become(words)
	}
	l, err := open(o, words, state)
	if err != nil {
		o.newTeller(words, os.Getpid(), began).say(ranOnly, err.Error(), nil)
		return o.become(words)
	}
	l.teller = o.newTeller(l.request.words, os.Getpid(), began)
	why := state.only()
	if strings.Contains(l.request.stream, string(rune(closed))) {
		why = "a standard descriptor is closed"
	}
	if why != "" {
		l.cache.NotObserved(l.request.request, why)
		l.teller.say(ranOnly, why, nil)
		return o.become(l.request.words)
	}
	status, done, why := l.run(given)
	if done {
		return status
	}
	l.teller.say(ranOnly, why, nil)
	l.cache.Close()
	return o.become(l.request.words)
}

// run returns the exit status if the command is done; else why it is to be run without the
// observer.
func (l *lookup) run(given []string) (status int, done bool, why string) {
	_, refused := l.cache.Store()
	if l.cache.Mode() == core.ModeOff {
		return 0, false, "the cache is off"
	}
	if refused != nil && !l.cache.Layered() {
		return 0, false, refused.Error()
	}
	if plain := l.request.plainIfHermetic(); plain != "" {
		l.cache.NotStored(l.request.request, kind, store.Unrepeatable, plain)
		return 0, false, plain
	}
	found, why := l.find()
	if found != nil {
		status, done, why = l.replay(found)
		if done || l.gone != found.id {
			return status, done, why
		}
	}
	if refused != nil {
		return 0, false, refused.Error()
	}
	if plain := l.plain(); plain != "" {
		plain += " (seen in an earlier run; it is not observed for now)"
		l.cache.NotStored(l.request.request, kind, store.Unrepeatable, plain)
		return 0, false, plain
	}
	program := l.program()
	if program == "" {
		return 0, false, "there is no such program"
	}
	if l.cache.Mode() == core.ModeReadOnly {
		const why = "nothing is stored: JITCACHE is readonly"
		l.cache.NotObserved(l.request.request, why)
		return 0, false, why
	}
	if why == "" && (l.teller != nil || l.cache.LogsMisses()) {
		why = l.whyUnknown()
	}
	why = l.cache.MissedBecause(l.request.request, kind, why)
	found, lease := l.claim()
	if found != nil {
		return l.replay(found)
	}
	return 0, false, l.observe(program, lease, why, given)
}

// replay puts a result in place. If that cannot be done, it returns why.
func (l *lookup) replay(found *result) (status int, done bool, why string) {
	defer found.release()
	begun, err := false, found.admitted(l.request)
	if err == nil {
		err = found.files(l.request.places)
	}
	if err == nil {
		l.noteMaker(found.headers(l.request.places), &found.id)
		l.cache.Close()
		begun, err = found.print(l.request.places)
	}
	if errors.Is(err, errGone) {
		l.gone = found.id
		l.cache.Remove(&found.id) // what the command makes now takes its place
	}
	if err != nil && !begun {
		l.cache.NotUsed(l.request.request, err.Error())
		return 0, false, err.Error()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "jitcache: write error: %v\n", err)
		status = 1
	}
	l.teller.say(hit, "", &found.id)
	return status, true, ""
}

// claim takes the lease, after waiting while another process runs the command.
func (l *lookup) claim() (found *result, lease *core.Lease) {
	k := l.request.leaseKey()
	if l.cache.Claims() {
		k = l.request.claimKey()
	}
	for first := true; ; first = false {
		lease, status := l.cache.Claim(k, -1, false, first, func() bool {
			if found == nil {
				found, _ = l.find()
			}
			return found != nil
		})
		if status != core.Busy {
			return found, lease
		}
	}
}

// observe becomes the observer, which runs the command. It returns, with the reason, only if
// that fails. missing is why no result was found.
func (l *lookup) observe(program string, lease *core.Lease, missing string, given []string) (why string) {
	if observe.Tracer == "" {
		exe, err := os.Executable()
		if err != nil {
			return err.Error()
		}
		observe.Tracer = observe.Find(exe)
	}
	if observe.Tracer == "" {
		l.cache.NotStored(l.request.request, kind, store.Unrepeatable, observe.ErrNoTracer.Error())
		lease.Release()
		return observe.ErrNoTracer.Error()
	}
	r := l.request
	env, unknown := r.env, record.EveryVariable
	if !record.IsKnown(program, l.cache) {
		env, unknown = record.WithholdSession(env), record.SessionVariables
	}
	lockName, lock := lease.Descriptor()
	began := time.Now()
	front := &observe.Front{Lock: lock, LockName: lockName, Claim: lease.ClaimDescriptor(), Failures: l.teller != nil, Keep: func(files observe.Files) []string {
		ran := Ran{Files: files, Began: began, Unknown: unknown, Claim: lease.ClaimDescriptor()}
		return append([]string{self(), KeepName, ran.String()}, given...)
	}}
	l.teller.say(missed, missing, nil)
	l.cache.Close() // writes the counters; exec closes the rest
	c := &observe.Command{Args: r.words, Dir: r.dir, Env: env, Inherit: true, Pass: true, Terminals: tells, Hermetic: r.shown()}
	err := c.Become(front)
	lease.Release()
	return err.Error()
}

func self() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return exe
}

// program returns the file of the command, "" if there is none that can be executed.
func (l *lookup) program() string {
	path, _ := search(l.request.words[0])
	return path
}

// IsProgram reports whether there is a program of this name, as for a shell.
func IsProgram(name string) bool {
	_, err := search(name)
	return err == nil
}

// search finds a program as execvp does. The error is what a shell would say.
func search(name string) (string, error) {
	if strings.Contains(name, "/") {
		if err := unix.Access(name, unix.X_OK); err != nil {
			return "", err
		}
		return name, nil
	}
	path, ok := os.LookupEnv("PATH")
	if !ok {
		path = "/bin:/usr/bin"
	}
	var why error = unix.ENOENT
	for _, dir := range filepath.SplitList(path) {
		if dir == "" {
			dir = "."
		}
		found := dir + "/" + name
		switch err := unix.Access(found, unix.X_OK); {
		case err == nil:
			if info, err := os.Stat(found); err == nil && info.Mode().IsRegular() {
				return found, nil
			}
			why = unix.EACCES // what exec returns for a folder
		case errors.Is(err, unix.EACCES):
			why = err
		}
	}
	return "", why
}

// become executes the command in place of this process. If that fails, it returns the status
// to exit with.
func (o *Options) become(words []string) int {
	path, err := search(words[0])
	if err == nil {
		env, _ := environ()
		env = o.environ(env)
		err = unix.Exec(path, words, env)
		if err == unix.ENOEXEC { // a script without an interpreter: execvp gives it to the shell
			err = unix.Exec("/bin/sh", append([]string{"/bin/sh", path}, words[1:]...), env)
		}
	}
	fmt.Fprintf(os.Stderr, "jitcache: %s: %v\n", words[0], err)
	if err == unix.ENOENT {
		return 127
	}
	return 126
}
