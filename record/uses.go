// What a command used that no file shows, such as the clock or the network: which of it counts, and
// which refuses the result.

package record

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// programs are masks of the programs of a run. Bit i stands for program i; programs from
// 63 on share the last bit.
type programs struct {
	unknown   bool   // one of them may obey anything
	all       uint64 // without the process that started the first one, which has the last bit
	known     uint64 // they obey only what is documented
	blind     uint64 // they do not use modification times
	timeless  uint64 // the same, because the command's owner says so
	drivers   uint64 // they take options
	compilers uint64 // they read sources
	foreign   uint64 // they would be known, but for a library that was loaded into them
	strangers uint64 // they may tell two names of one file apart, or not
	clang     uint64
	dates     uint64 // they are known, and use modification times
	linkers   uint64
	wrappers  uint64 // Open MPI's
	starters  uint64 // they may obey any variable, and use the clock for themselves: wrappers, make
	followers uint64 // they read what compilers have preprocessed
	removers  uint64 // they remove their output if it stands, and is not empty
	openers   uint64 // they open their output if it stands, remove it, and read nothing of it
	adders    uint64 // they add to their output if it stands
	clearers  uint64 // they list the folder for temporary files, to remove theirs
	dateless  uint64 // they are not known, and do not use modification times
	crates    uint64 // they are rustc, or what becomes its linker
	shells    uint64
	python    uint64
	// They are known, and have loaded a library that may be another one than theirs. It may obey anything and use times. Their
	// questions for the clock are still theirs: most compilers ask when they start, and LD_LIBRARY_PATH may be set everywhere.
	substituted uint64
}

func bitOf(id int) uint64 { return 1 << min(uint(id), 63) }

// programs finds out which of the programs are known.
func (t *taker) programs() programs {
	var p programs
	if t.run.Compiler != nil {
		return programs{blind: ^uint64(0), known: ^uint64(0), strangers: ^uint64(0)}
	}
	var not [excuses]uint64
	for i := range t.run.Report.Programs {
		bit := bitOf(t.run.Report.Programs[i].ID)
		program := &t.run.Report.Programs[i]
		one := programsOf(program.Path, bit, t.run.Notes)
		if runsWhatItMakes(program) || usesTimes(program) {
			one = programs{} // which may do anything
		}
		p.crates |= one.readsCrates(program)
		p.all |= bit
		for k, mask := range one.masks() {
			*p.masks()[k] |= *mask
			if k < excuses {
				not[k] |= bit &^ *mask
			}
		}
	}
	if keepsShared {
		masks := p.masks()
		for k, mask := range masks[:excuses] {
			*mask &^= not[k]
		}
	}
	p.clearers |= t.linkTimeMakes()
	if links := t.ofLinks(); p.all&^(p.known|links) == 0 {
		p.known |= links
		p.starters &^= links
		p.shells &^= links
	}
	others := p.all &^ p.known
	libraries := taker{run: t.run, known: p, reals: t.reals}
	strange, substituted := libraries.strange()
	t.needed, t.foreign, p.foreign = libraries.needed, libraries.foreign, strange
	p.known &^= strange
	others |= strange
	p.substituted = substituted & p.known
	p.timeless = t.timeless()
	p.blind = p.known&^(p.dates|p.substituted) | p.dateless | p.timeless
	p.strangers = others &^ (p.shells | p.python | p.starters&^p.followers)
	p.unknown = others != 0 || p.known == 0
	return p
}

// excuses is how many of the masks, from the first, say that something does not count.
// Programs that share a bit have it in such a mask only if each of them would.
const excuses = 9

// masks returns the masks that programsOf fills, the excuses first.
func (p *programs) masks() [16]*uint64 {
	return [16]*uint64{
		&p.known, &p.linkers, &p.wrappers, &p.starters, &p.followers, &p.clearers, &p.dateless, &p.shells, &p.python,
		&p.drivers, &p.compilers, &p.clang, &p.dates, &p.removers, &p.openers, &p.adders,
	}
}

// programsOf returns the masks of a single program.
func programsOf(path string, bit uint64, notes Notes) (p programs) {
	family := familyOf(path, notes)
	switch {
	case family != nil && family.does&strange != 0:
		for does, mask := range map[int]*uint64{
			wrapping: &p.wrappers, following: &p.followers, clearing: &p.clearers, dateless: &p.dateless, starter: &p.starters,
		} {
			if family.does&does != 0 {
				*mask = bit
			}
		}
	case family != nil:
		p.known = bit
		p.mark(family, plainName(path), bit)
	case isShell(path, notes):
		p.shells = bit
	case isPython(path, notes):
		p.python = bit
	}
	return p
}

// timeless returns the command's program if its owner says that it does not use times. The
// owner says so of one run: a program that is started again may have been told otherwise.
func (t *taker) timeless() uint64 {
	all, runs := t.run.Report.Programs, 0
	for i := range all {
		if all[i].ID == all[0].ID {
			runs++
		}
	}
	if !t.run.Timeless || runs != 1 {
		return 0
	}
	return bitOf(all[0].ID)
}

// mark notes what a known program does.
func (p *programs) mark(f *family, name string, bit uint64) {
	if f.does&linking != 0 {
		p.linkers |= bit
	}
	if f.does&driving != 0 && !slices.Contains(inner, name) {
		p.drivers |= bit
	}
	if f.does&compiling != 0 {
		p.compilers |= bit
	}
	if f.does&removing != 0 {
		p.removers |= bit
	}
	if f.does&adding != 0 {
		p.adders |= bit
	}
	if f.does&opening != 0 {
		p.openers |= bit
	}
	if f.marker == clangMarker {
		p.clang |= bit
	}
	// gold writes the times of its inputs into an incremental link.
	if name == "gold" || name == "ld.gold" {
		p.dates |= bit
	}
}

// whys says why a command that has used something cannot be repeated. A map would cost each
// process the time to fill it.
var whys = [...]string{
	observe.UseClock:      "depends on the time of day",
	observe.UseInput:      "reads its standard input",
	observe.UseUmask:      "asks for the umask, which this kernel does not tell",
	observe.UseDescriptor: "uses a file descriptor that it inherited",
	observe.UseSocket:     "connects to a socket",
	observe.UseDevice:     "uses a device",
	observe.UseIPC:        "shares memory with other processes",
	observe.UsePrivilege:  "needs privileges",
	observe.UseNamespace:  "changes its root or its namespaces",
	observe.UseTrace:      "inspects other processes",
	observe.UseForeign:    "runs a program that cannot be observed",
	observe.UseAttributes: "reads extended attributes",
	observe.UseUnknown:    "makes an unknown system call",
	observe.UseUnreadable: "names something that cannot be read",
	observe.UseShared:     "has processes that cannot be told apart",
	observe.UseUnsteady:   "looks for a file that appeared during the run",
	observe.UseSignal:     "looks for other processes",
	observe.UseIdentity:   "becomes another user",
	observe.UseDenied:     "was denied permission to change a file",
	observe.UseMounts:     "asks what is mounted",
	observe.UseHermetic:   "cannot run hermetically",
	observe.UseInode:      "asks for a file's owner, links, number, blocks or other times",
}

// Why returns the reason for which a result that depends on a use is not kept, as in its
// refusal.
func Why(u observe.Use) string {
	if int(u) < len(whys) && whys[u] != "" {
		return whys[u]
	}
	return "does something that is not known"
}

// uses refuses a run whose result may differ if it is repeated.
func (t *taker) uses() error {
	if t.run.Compiler != nil && len(t.run.Report.Programs) != 1 {
		return request.Refuse(t.run.command(), "runs another program")
	}
	for i := range t.run.Report.Uses {
		u := &t.run.Report.Uses[i]
		switch u.Use {
		case observe.UseFolder, observe.UseHost, observe.UseLimits, observe.UseJobServer:
			continue // they count: world
		case observe.UseStdin, observe.UseGiven:
			if launched.take == nil || !t.run.InPlace {
				continue // it was given /dev/null
			}
			if err := launched.take(t, u); err != nil {
				return err
			}
			continue
		case observe.UseUmask:
			// It counts: world. Of a command that is launched it is in the request.
			if t.run.InPlace || !t.known.unknown || !t.heedsUmask(u) || len(umask(t.run.Limits)) != 0 {
				continue
			}
		case observe.UseClock:
			if t.harmlessClock(u) {
				continue
			}
		case observe.UseDevice:
			// bash opens the terminal to see whether there is one.
			if u.Detail == "/dev/tty" && u.Programs&^t.known.shells == 0 {
				continue
			}
		case observe.UseSocket:
			if strings.HasSuffix(u.Detail, "/nscd/socket") || t.listsInterfaces(u) {
				continue
			}
		case observe.UseUnknown, observe.UseUnreadable:
			if t.listsInterfaces(u) {
				continue
			}
		case observe.UseInode:
			if u.Programs&^t.known.known == 0 {
				continue
			}
		case observe.UseIPC:
			if t.asksFakeroot(u) {
				continue
			}
		case observe.UseMounts:
			if t.looksForItself(u) {
				continue
			}
		case observe.UseDenied:
			// Python runs the same whether it may write a .pyc or not.
			if u.Programs&^t.known.python == 0 && IsScratch(u.Detail) {
				continue
			}
		}
		what := t.run.command()
		if u.Detail != "" {
			what += " (" + u.Detail + ")"
		}
		if u.Programs&t.known.foreign != 0 {
			what += ", with " + t.foreign + " in it"
		}
		return request.Refuse(what, Why(u.Use))
	}
	return nil
}

// harmlessClock reports whether the clock was asked for something other than a date that
// gets into the result: by a known program in any way but time(2), which can be told apart
// where the program uses glibc; or by Python, which seeds generators and compares times.
func (t *taker) harmlessClock(u *observe.Used) bool {
	if t.run.Compiler != nil {
		return true // the owner has looked through the text
	}
	harmless := t.known.python | t.followers()
	if u.Detail != "time" {
		harmless |= t.known.known&t.withGlibc() | t.known.shells | t.known.starters
	}
	return u.Programs&^harmless == 0
}

// withGlibc returns the programs that have loaded glibc, where time(2) is a call of its own,
// and the launcher, which has no use for a date. Other C libraries implement time(2) by the
// call that they use for every clock.
func (t *taker) withGlibc() (mask uint64) {
	if !keepsLibrary {
		return ^uint64(0)
	}
	for i := range t.run.Report.Programs {
		if p := &t.run.Report.Programs[i]; plainName(p.Path) == launcher {
			mask |= bitOf(p.ID)
		}
	}
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if _, name := split(n.Path); name == "libc.so.6" || strings.HasPrefix(name, "libc-2.") {
			mask |= n.Readers
		}
	}
	return mask
}

// followers returns the programs that have read nothing in which __DATE__ could still stand:
// only files that the tree has made, libraries, and files that are no text.
func (t *taker) followers() uint64 {
	mask := t.known.followers
	for i := range t.run.Report.Names {
		n := &t.run.Report.Names[i]
		if n.Readers&mask == 0 || n.Mode&unix.S_IFMT != unix.S_IFREG || isLibrary(n.Path) || isZone(n.Path) || n.Path == loaderCache ||
			lessThanContent(n.Path) || isBitcode(n.Path) {
			continue
		}
		mask &^= n.Readers
	}
	return mask
}

// isBitcode reports whether a file is a library of LLVM's, such as CUDA's libdevice.
func isBitcode(path string) bool { return bytes.HasPrefix(headOf(path), []byte("BC\xc0\xde")) }

func (t *taker) used(use observe.Use, by uint64) bool {
	return slices.ContainsFunc(t.run.Report.Uses, func(u observe.Used) bool { return u.Use == use && u.Programs&by != 0 })
}

// world notes what counts beside files.
func (t *taker) world() {
	w := &t.list.World
	if t.run.Compiler != nil {
		t.compilerWorld(w)
		return
	}
	all := ^uint64(0)
	w.Rule = KnownVariables
	if t.obeysAny() {
		w.Rule = max(AllVariables, t.run.Unknown)
	}
	if !keepsEnvironment {
		w.Rule = NoVariables
	}
	if keepsDir && t.used(observe.UseFolder, all) && t.run.Dir != t.run.Private {
		w.Dir = realDir(t.run.Dir)
	}
	w.Also = t.also()
	s := Surroundings{Env: t.run.Env, Places: t.run.Places}
	w.Variables = s.variables(w.Rule, w.Also)
	if keepsProcessor && (t.native || t.mayAskAnything() || t.saysNative()) {
		w.CPU = Processor()
	}
	// Shells ask for the host's name to set a variable that they do not export; Open MPI's
	// wrapper asks because all of Open MPI's programs do at their start.
	if t.used(observe.UseHost, all&^(t.known.shells|t.known.wrappers)) {
		w.Host = host()
	}
	if asked := t.askedLimits(); t.mayAskAnything() && asked != 0 {
		w.Asked, w.Limits = asked, limits(asked, t.run.Limits)
	}
}

// obeysAny reports whether one of the programs may obey any variable.
func (t *taker) obeysAny() bool { return t.mayAskAnything() || t.variable }

// mayAskAnything reports whether one of the programs, or a library in one, is not known.
func (t *taker) mayAskAnything() bool { return t.known.unknown || t.known.substituted != 0 }

// also returns the names of variables that count beside those of the rule: those of the
// terminal, if the command prints to one; those whose value is a folder in which something
// was looked at; and PWD if the folder counts or was looked at by that name. (gcc looks at
// PWD to see whether it names the current folder.)
func (t *taker) also() []string {
	names := slices.Clone(t.run.Also)
	if t.zone != 0 {
		names = append(names, "TZ", "TZDIR")
	}
	if t.beside {
		names = append(names, "TMPDIR")
	}
	if t.run.Terminal {
		names = append(names, ofTerminals...)
	}
	// COLUMNS may decide how wide the output is: gcc --help.
	if len(t.run.Report.Out) > 0 {
		names = append(names, "COLUMNS")
	}
	if t.obeysAny() {
		return names
	}
	for _, e := range t.run.Env {
		name, value, _ := strings.Cut(e, "=")
		if name == "PWD" {
			if t.list.World.Dir != "" || t.isLookedAt(value) {
				names = append(names, name)
			}
			continue
		}
		if len(value) > 1 && value[0] == '/' && !documentedNames().has(name) && !withheldNames().has(name) && !isUnasked(name) && t.isFolderOf(value) {
			names = append(names, name)
		}
	}
	if keepsNamed {
		names = append(names, t.named()...)
	}
	names = append(names, t.searched()...)
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *taker) isLookedAt(path string) bool {
	return slices.ContainsFunc(t.run.Report.Names, func(n observe.Name) bool {
		return n.Path == path && n.Bits&observe.Absolute != 0
	})
}

// isFolderOf reports whether something was looked at below a folder, other than files that
// the command itself put there, as it does in one for temporary files.
func (t *taker) isFolderOf(value string) bool {
	prefix := strings.TrimRight(value, "/") + "/"
	return slices.ContainsFunc(t.run.Report.Names, func(n observe.Name) bool {
		return strings.HasPrefix(n.Path, prefix) && n.Bits&observe.Made == 0 && !t.private(n.Path)
	})
}

// saysNative reports whether an argument of any program, or a variable, asks for
// this processor.
func (t *taker) saysNative() bool {
	for _, p := range t.run.Report.Programs {
		if slices.ContainsFunc(p.Args, func(a string) bool { return strings.Contains(a, "native") }) {
			return true
		}
	}
	return slices.ContainsFunc(t.run.Env, func(e string) bool {
		name, value, _ := strings.Cut(e, "=")
		return strings.Contains(value, "native") && !withheldNames().has(name)
	})
}
