// Hermetic runs: a command is shown one second as the time of all files, and as when its clock starts.

package launch

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"jitcache/core/key"
	"jitcache/core/request"
	"jitcache/observe"
	"jitcache/record"
)

// usualSecond is the one that is shown if nobody names another: the beginning of 1980, before which the times in zip
// archives cannot be.
const usualSecond = 315532800

// lastSecond is that of the year 9999: many programs cannot print a later one.
const lastSecond = 253402300799

// SetHermetic reads what the user says of hermetic runs: a second since 1970, "1" for that of SOURCE_DATE_EPOCH, or "0".
func (o *Options) SetHermetic(text string) error {
	second := int64(usualSecond)
	switch text {
	case "", "0", "false":
		o.Hermetic = nil
		return nil
	case "1", "true":
		if text = os.Getenv("SOURCE_DATE_EPOCH"); text == "" {
			break
		}
		fallthrough
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > lastSecond {
			return fmt.Errorf("%.40q: want a second since 1970, or 1 for that of SOURCE_DATE_EPOCH", text)
		}
		second = n
	}
	o.Hermetic = &second
	return nil
}

// deciders are programs that decide by the times of files what to do, and may leave work undone if all are equally old.
// observe.Hermetic says how a row is read.
var deciders = []string{
	"make", "gmake", "bmake", "pmake", "dmake", "remake", "mingw32-make", "omake", "ninja", "ninja-build", "samu", "n2",
	"cmake", "ctest", "meson", "muon", "scons", "waf", "tup", "redo", "redo-ifchange", "jam", "bjam", "b2", "xmake", "rake",
	"ant", "mvn", "mvnd", "gradle", "gradlew", "sbt", "javac", "cargo", "go", "dune", "ocamlbuild", "ghc", "stack", "cabal",
	"gnatmake", "gprbuild", "fpc", "guile", "guild", "racket", "raco", "julia", "latexmk", "rubber", "texi2dvi", "texi2pdf",
	"rsync", "unison", "ccache",
	"clang -fmodules", "clang++ -fmodules", "clang -include-pch", "clang++ -include-pch", "python setup.py", "python _in_process.py",
	"test -nt", "test -ot", "[ -nt", "[ -ot", "find -newer", "find -anewer", "find -cnewer",
	"cp -u", "cp --up", "mv -u", "mv --up", "tar -u", "tar --up",
}

// decides returns the name under which a command's program is among deciders, "" if it is not. The tracer looks for all
// that the command starts.
func decides(words []string) string {
	names := []string{filepath.Base(words[0])}
	if path, err := search(words[0]); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			names = append(names, filepath.Base(real))
		}
	}
	for _, d := range deciders {
		for _, name := range names {
			if version, ok := strings.CutPrefix(name, d); ok && strings.Trim(version, "-.0123456789") == "" && seesDeciders {
				return d
			}
		}
	}
	return ""
}

// plainIfHermetic returns why a hermetic command is to be run without the observer, "" if it is not.
func (r *Request) plainIfHermetic() string {
	if r.hermetic == nil {
		return ""
	}
	if name := decides(r.words); name != "" {
		return name + " decides by times, so it does not run hermetically"
	}
	return ""
}

// environ returns what the command is given of an environment.
func (o *Options) environ(env []string) []string {
	f := o.Environment
	f.Strict = f.Strict || o.Hermetic != nil
	return f.OfLaunched(env)
}

// ofPython keep Python from using compiled files: it takes one for good if its source has the time that is written in it.
var ofPython = []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONPYCACHEPREFIX=/dev/null"}

// withoutCompiled returns the environment for a hermetic run.
func withoutCompiled(env []string) []string {
	if !compilesAnew {
		return env
	}
	env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		return strings.HasPrefix(e, "PYTHONDONTWRITEBYTECODE=") || strings.HasPrefix(e, "PYTHONPYCACHEPREFIX=")
	})
	return append(env, ofPython...)
}

// addHermetic adds the mode and the second to a request.
func (r *Request) addHermetic(b *key.Builder) {
	if r.hermetic != nil && countsSecond {
		b.Add(partSecond, binary.LittleEndian.AppendUint64(nil, uint64(*r.hermetic)))
	}
}

// endOfHermetic refuses a run that could not be shown one second to its end.
func endOfHermetic(rep *observe.Report) error {
	for _, u := range rep.Uses {
		if u.Use == observe.UseHermetic && len(rep.Programs) > 0 { // whatever else there is may follow from it
			return request.Refuse(filepath.Base(rep.Programs[0].Path)+" ("+u.Detail+")", record.Why(u.Use))
		}
	}
	return nil
}

// shown returns what the observer is told to show, nil if the command is not hermetic.
func (r *Request) shown() *observe.Hermetic {
	if r.hermetic == nil {
		return nil
	}
	return &observe.Hermetic{Second: *r.hermetic, Deciders: deciders}
}
