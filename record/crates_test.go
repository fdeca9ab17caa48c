// Compiles of crates of Rust, as reports, and words of archivers.

package record

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"jitcache/observe"
)

// compileOfCrate is a run of rustc in the folder /w, which reads a source and crates in /w/deps.
func compileOfCrate(words string, reads ...string) *taker {
	rep := &observe.Report{Programs: []observe.Program{{ID: 0, Path: "/bin/rustc", Args: strings.Fields("rustc " + words)}}}
	for _, path := range reads {
		rep.Names = append(rep.Names, observe.Name{Path: path, Bits: observe.Read, Mode: unix.S_IFREG, Programs: 1, Readers: 1})
	}
	t := &taker{run: &Run{Dir: "/w", Report: rep}}
	t.known = programs{all: 1, dateless: 1, crates: 1, blind: 1, unknown: true}
	t.dates()
	return t
}

//jitcache:control nocrates
func TestNamesInAFolderOfDependenciesDoNotCount(t *testing.T) {
	for words, want := range map[string]bool{
		"-L dependency=/w/deps --out-dir /w/deps": true,
		"-Ldependency=/w/deps":                    true,
		"-L dependency=deps":                      true,
		"-L dependency=/w/deps -L /w/deps":        false,
		"-L dependency=/w/deps -Ldeps":            false,
		"-L dependency=/w/deps -L crate=/w/deps":  false,
		"-L crate=deps":                           false,
		"-L dependency=/w/deps @more":             false,
		"-L dependency=/w/deps -gL/w/deps":        false,
		"-L dependency=/w/deps -OgL deps":         false,
		"-L dependency=/w/deps -g -O":             true,
		"-L dependency=/w/other":                  false,
		"--out-dir /w/deps":                       false,
	} {
		if is := compileOfCrate(words).holdsCrates("/w/deps", 1); is != want {
			t.Errorf("%s: %v", words, is)
		}
	}
	if compileOfCrate("-L dependency=/w/deps").holdsCrates("/w/deps", 1|2) {
		t.Error("another program has listed it")
	}
}

// A crate of macros is loaded into rustc and may ask for times; those of crates are new with each build.
//
//jitcache:control nomacros
func TestTimesCountWhereMacrosAreLoaded(t *testing.T) {
	const source, crate, macros = "/w/a.rs", "/w/deps/liba-1.rlib", "/w/deps/libm-2.so"
	for _, c := range []struct {
		words string
		reads []string
		dated string // of the files that are read
	}{
		{"-L dependency=/w/deps", []string{source, crate}, ""},
		{"-L dependency=/w/deps", []string{source, crate, macros}, source},
		{"-L dependency=/w/deps --extern m=/w/deps/libm-2.so", []string{source, crate}, source},
		{"-L dependency=/w/deps -L deps", []string{source, crate}, ""},
		{"--extern m=/w/libm.so", []string{source, "/w/liba.rlib"}, source + " /w/liba.rlib"},
	} {
		run := compileOfCrate(c.words, c.reads...)
		var dated []string
		for i := range run.run.Report.Names {
			if n := &run.run.Report.Names[i]; run.isDated(n) && n.Path != macros {
				dated = append(dated, n.Path)
			}
		}
		if is := strings.Join(dated, " "); is != c.dated {
			t.Errorf("%s, %q: %q", c.words, c.reads, is)
		}
	}
	// What was looked for and is absent was not loaded.
	run := compileOfCrate("-L dependency=/w/deps", source)
	run.run.Report.Names = append(run.run.Report.Names, observe.Name{Path: "/w/deps/librustc_driver.so", Readers: 1})
	if run.loadsMacros() {
		t.Error("an absent library is one of macros")
	}
}

func TestArchiversThatStoreTimesAreNotKnown(t *testing.T) {
	for words, want := range map[string]bool{
		"ar rcs lib.a a.o": false, "ar -rcs lib.a u.o": false, "ar qc lib.a a.o": false, "ar rcsD lib.a a.o": false, "ar d lib.a a.o": false,
		"ar rcu lib.a": true, "ar rcU lib.a": true, "ar xo lib.a": true, "ar tv lib.a": true, "ar -M": true, "ar @words": true, "ar --thin rc l.a": true,
		"ar rc -U l.a": true, "ranlib lib.a": false, "ranlib -D U.a": false, "ranlib -t lib.a": true, "ranlib -U lib.a": true,
	} {
		args := strings.Fields(words)
		if is := storesTimes(args[0], args); is != want {
			t.Errorf("%s: %v", words, is)
		}
	}
}
