package record

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"jitcache/core/request"
	"jitcache/observe"
)

// programs are masks of the programs of a run: bit i is program i, the last bit all
// from 63 on, which share it.
type programs struct {
	unknown   bool   // one of them may obey anything
	all       uint64 // not what started the first one, which has the last bit too
	known     uint64 // those that obey what is documented
	blind     uint64 // those that ask for no modification times
	timeless  uint64 // that of them of which the owner says so
	drivers   uint64 // those that take options
	compilers uint64 // those that read sources
	strangers uint64 // those of which nobody knows what they do with two names of one file
	clang     uint64
	dates     uint64 // those that are known, and do use times
	linkers   uint64
	wrappers  uint64 // Open MPI's
	starters  uint64 // those, make, and others that have their own use for a clock
	followers uint64 // those that read what compilers have preprocessed
	clearers  uint64 // those that list the folder for temporary files to remove theirs
	shells    uint64
	python    uint64
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
		one := programsOf(t.run.Report.Programs[i].Path, bit)
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
	others := p.all &^ p.known
	if strange := (&taker{run: t.run, known: p}).strange(); strange != 0 {
		p.known &^= strange
		others |= strange
	}
	p.timeless = t.timeless()
	p.blind = p.known&^p.dates | p.timeless
	p.strangers = others &^ (p.shells | p.python | p.starters&^p.followers)
	p.unknown = others != 0 || p.known == 0
	return p
}

// excuses is how many of the masks say that something does not count. Where programs
// share a bit, it is theirs only if it is that of all of them.
const excuses = 8

// masks returns the masks that programsOf fills, those that excuse something first.
func (p *programs) masks() [12]*uint64 {
	return [12]*uint64{
		&p.known, &p.linkers, &p.wrappers, &p.starters, &p.followers, &p.clearers, &p.shells, &p.python,
		&p.drivers, &p.compilers, &p.clang, &p.dates,
	}
}

// programsOf is a program by itself.
func programsOf(path string, bit uint64) (p programs) {
	family := familyOf(path)
	switch {
	case family != nil && family.does&strange != 0:
		switch {
		case family.does&wrapping != 0:
			p.wrappers = bit
		case family.does&following != 0:
			p.followers = bit
		case family.does&clearing != 0:
			p.clearers = bit
		}
		p.starters = bit
	case family != nil:
		p.known = bit
		p.mark(family, plainName(path), bit)
	case isShell(path):
		p.shells = bit
	case isPython(path):
		p.python = bit
	}
	return p
}

// timeless is the command's program, if its owner says that it takes no notice of times:
// of that one run of it. One that is started again is not known to be told the same.
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
	if f.marker == clangMarker {
		p.clang |= bit
	}
	// gold writes the times of what it links into what it links incrementally.
	if name == "gold" || name == "ld.gold" {
		p.dates |= bit
	}
}

// whys says why what has used something cannot be repeated. It is no map, which each process
// would have to fill.
var whys = [...]string{
	observe.UseClock:      "depends on the time of day",
	observe.UseInput:      "reads its standard input",
	observe.UseUmask:      "asks for the umask, which this kernel does not tell",
	observe.UseDescriptor: "uses a descriptor that it was given",
	observe.UseSocket:     "connects to something",
	observe.UseDevice:     "uses a device",
	observe.UseIPC:        "shares memory with others",
	observe.UsePrivilege:  "needs privileges",
	observe.UseNamespace:  "changes its root or its namespaces",
	observe.UseTrace:      "looks into other processes",
	observe.UseForeign:    "runs a program that cannot be observed",
	observe.UseAttributes: "reads extended attributes",
	observe.UseUnknown:    "makes a system call that is not known",
	observe.UseUnreadable: "names something that cannot be read",
	observe.UseShared:     "has processes that cannot be told apart",
	observe.UseUnsteady:   "looks at a file that appears meanwhile",
	observe.UseSignal:     "looks for other processes",
	observe.UseIdentity:   "becomes another user",
	observe.UseDenied:     "may not make or change what it wants to",
	observe.UseInode:      "asks for a file's owner, links, number, blocks or other times",
}

// Why returns why a result that depends on a use is not kept, as its refusal says it.
func Why(u observe.Use) string {
	if int(u) < len(whys) && whys[u] != "" {
		return whys[u]
	}
	return "does something that is not known"
}

// uses refuses what cannot be repeated.
func (t *taker) uses() error {
	if t.run.Compiler != nil && len(t.run.Report.Programs) != 1 {
		return request.Refuse(t.run.command(), "runs another program")
	}
	for i := range t.run.Report.Uses {
		u := &t.run.Report.Uses[i]
		switch u.Use {
		case observe.UseFolder, observe.UseHost, observe.UseLimits:
			continue // they count: world
		case observe.UseUmask:
			// It counts: world. Of a command that is launched it is in the request.
			if t.run.InPlace || !t.known.unknown || !t.heedsUmask(u) || len(umask()) != 0 {
				continue
			}
		case observe.UseClock:
			if t.harmlessClock(u) {
				continue
			}
		case observe.UseDevice:
			// bash opens the terminal, to see whether there is one.
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
		case observe.UseDenied:
			// Python runs the same whether it may keep what it makes of its sources or not.
			if u.Programs&^t.known.python == 0 && IsScratch(u.Detail) {
				continue
			}
		}
		what := t.run.command()
		if u.Detail != "" {
			what += " (" + u.Detail + ")"
		}
		return request.Refuse(what, Why(u.Use))
	}
	return nil
}

// listsInterfaces reports whether a use is how Open MPI's wrapper asks which network
// interfaces there are: its start is that of all of Open MPI's programs. What it
// tells the compiler does not depend on them.
func (t *taker) listsInterfaces(u *observe.Used) bool {
	// SIOCGIFCONF and its like (linux/sockios.h)
	return u.Programs&^t.known.wrappers == 0 &&
		(u.Detail == "socket" || strings.HasPrefix(u.Detail, "ioctl 0x89") || strings.HasPrefix(u.Detail, "/proc/net/"))
}

// harmlessClock reports whether the clock was asked for something else than a
// date that gets into the result: by a known program in any way but time(2), which is
// told apart in glibc; by Python, which seeds and compares with it all the time.
func (t *taker) harmlessClock(u *observe.Used) bool {
	if t.run.Compiler != nil {
		return true // whoever has it compile has looked through the text
	}
	harmless := t.known.python | t.followers()
	if u.Detail != "time" {
		harmless |= t.known.known&t.withGlibc() | t.known.shells | t.known.starters
	}
	return u.Programs&^harmless == 0
}

// withGlibc are the programs that have loaded glibc, whose time(2) is one of its own, and the
// launcher, which has no use for a date. Other C libraries ask the clock for the date that
// they ask for everything.
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

// followers are the programs that have read nothing in which a date could still be
// asked for: only what the tree has made, libraries, and what is no text.
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
	if keepsProcessor && (t.native || t.known.unknown || t.saysNative()) {
		w.CPU = Processor()
	}
	// Shells ask for the host's name to set a variable that is not given to anybody,
	// Open MPI's wrapper because all of Open MPI's programs do when they start.
	if t.used(observe.UseHost, all&^(t.known.shells|t.known.wrappers)) {
		w.Host = host()
	}
	if asked := t.askedLimits(); t.known.unknown && asked != 0 {
		w.Asked, w.Limits = asked, limits(asked)
	}
}

// obeysAny reports whether one of the programs may obey any variable.
func (t *taker) obeysAny() bool { return t.known.unknown || t.variable }

// also returns variables that count though nobody documents them: those of a terminal
// that is printed to; those that name a folder in which something was looked at; and
// PWD where the folder counts, or was looked at by that name, by which gcc sees whether
// it may take it for the folder.
func (t *taker) also() []string {
	var names []string
	if t.zone != 0 {
		names = append(names, "TZ", "TZDIR")
	}
	if t.beside {
		names = append(names, "TMPDIR")
	}
	if t.run.Terminal {
		names = append(names, ofTerminals...)
	}
	// What is printed may be as wide as this says, where it is asked for: gcc --help.
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
		if len(value) > 1 && value[0] == '/' && !documentedNames().has(name) && !withheldNames().has(name) && t.isFolderOf(value) {
			names = append(names, name)
		}
	}
	if keepsNamed {
		names = append(names, t.named()...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (t *taker) isLookedAt(path string) bool {
	return slices.ContainsFunc(t.run.Report.Names, func(n observe.Name) bool {
		return n.Path == path && n.Bits&observe.Absolute != 0
	})
}

// isFolderOf reports whether something was looked at below a folder that the
// command did not put there itself, as it does in one for temporary files.
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
