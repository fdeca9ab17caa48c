package native

import (
	"os"
	"path/filepath"
	"strings"
)

// gcc has its options from specs, and clang from configuration files, if there
// are any. With -v they name those that they read, which count as a program does;
// here are the names under which they look for more.

// noSpecs returns the names under which gcc would read specs, if there were any:
// in the folders of its programs, below each in that of the target and the version,
// such as x86_64-linux-gnu/12, and in lib of the target.
func noSpecs(folders []string) (absent []string) {
	folders = unique(folders)
	for _, dir := range folders {
		target, version := filepath.Split(filepath.Clean(dir))
		if target = filepath.Base(target); !strings.Contains(dir, "/gcc/") || target == "gcc" {
			continue
		}
		folders = append(folders, filepath.Join(dir, "../../../..", target, "lib"))
		for _, other := range folders {
			folders = append(folders, filepath.Join(other, target, version))
		}
		break
	}
	for _, dir := range folders {
		absent = append(absent, filepath.Join(dir, "specs"))
	}
	return missingOf(absent)
}

// noConfiguration returns the names of clang's configuration files, which it reads
// from version 16 on: in the folder of its program, and where distributions have
// it look.
func noConfiguration(target string, folders ...string) (absent []string) {
	for _, dir := range append(folders, "/etc/clang") {
		for _, driver := range []string{"clang", "clang++"} {
			absent = append(absent, filepath.Join(dir, driver+".cfg"), filepath.Join(dir, target+"-"+driver+".cfg"))
		}
		absent = append(absent, filepath.Join(dir, target+".cfg"))
	}
	return missingOf(absent)
}

// missingOf returns those of paths under which there is nothing.
func missingOf(paths []string) (found []string) {
	for _, path := range unique(paths) {
		if _, err := os.Stat(path); err != nil && filepath.IsAbs(path) {
			found = append(found, path)
		}
	}
	return found
}
