// The settings: their names, and what is accepted as their values.

package project

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// Names are the settings, each with the variable that it stands for and its meaning.
var Names = []struct{ Name, Variable, Meaning string }{
	{"base-dir", "JITCACHE_BASE_DIR", "a folder whose own name means nothing"},
	{"placeholders", "JITCACHE_PLACEHOLDER", "names for paths that differ in each run"},
	{"map", "JITCACHE_MAP", "option by which compilers keep these names out of their output"},
	{"withhold", "JITCACHE_WITHHOLD", "variables that commands are not given"},
	{"keep", "JITCACHE_KEEP", "programs whose results are kept, patterns; without it all"},
	{"hermetic", "JITCACHE_HERMETIC", "the second that commands are shown as all times"},
	{"log", "JITCACHE_LOG", "miss or debug: what is logged"},
	{"log-file", "JITCACHE_LOG_FILE", "file for the log, in the folder of the project"},
}

// Setting is a setting of a file, in the form of its variable.
type Setting struct{ Name, Variable, Value string }

// maps are the options that a file may have added to a command. Another option could load code
// (-fplugin).
var maps = []string{"-ffile-prefix-map", "-fdebug-prefix-map", "-fmacro-prefix-map", "--remap-path-prefix"}

// Read reads a file. If anything in it is wrong, nothing of it counts: it returns an error that
// says what, without the path.
func Read(path string) ([]Setting, error) {
	text, err := content(path)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return nil, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	for name := range values {
		if !isName(name) && keepsTrust {
			return nil, refused(name)
		}
	}
	var settings []Setting
	for _, n := range Names {
		value, ok := values[n.Name]
		if !ok {
			continue
		}
		text, err := textOf(n.Name, value, folder)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.Name, err)
		}
		settings = append(settings, Setting{n.Name, n.Variable, text})
	}
	return settings, nil
}

func isName(name string) bool {
	return slices.ContainsFunc(Names, func(n struct{ Name, Variable, Meaning string }) bool { return n.Name == name })
}

// elsewhere are settings that exist, but that the author of a project does not decide on.
var elsewhere = []string{
	"remotes", "remote", "layers", "keys", "trust", "namespace", "signing-key-file", "unsigned", "shared", "dir", "directory", "storage",
}

func refused(name string) error {
	if slices.Contains(elsewhere, name) {
		return fmt.Errorf("%s is no setting of a project: whose results are used is decided in the environment, ~/.config/jitcache or /etc/jitcache", name)
	}
	return fmt.Errorf("there is no setting %.60q", name)
}

// textOf returns a setting's value as its variable has it. Paths may be relative to the folder of
// the file.
func textOf(name string, value any, folder string) (string, error) {
	switch name {
	case "placeholders":
		return placeholders(value, folder)
	case "withhold":
		return words(value, `["CI_*", "BUILD_NUMBER"]`)
	case "keep":
		return programs(value)
	case "hermetic":
		return second(value)
	}
	text, ok := value.(string)
	if !ok {
		return "", fmt.Errorf("want a text")
	}
	switch name {
	case "base-dir":
		return absolute(text, folder)
	case "map":
		if !slices.Contains(maps, text) && keepsTrust {
			return "", fmt.Errorf("%.60q: want one of %s", text, strings.Join(maps, ", "))
		}
	case "log":
		if text != "miss" && text != "debug" {
			return "", fmt.Errorf("%.60q: want miss or debug", text)
		}
	case "log-file":
		return inside(text, folder)
	}
	return text, nil
}

// placeholders turns a table of names and paths into NAME=PATH with : between.
func placeholders(value any, folder string) (string, error) {
	table, ok := value.(map[string]any)
	if !ok {
		return "", fmt.Errorf(`want a table, { TMP = "/tmp/*" }`)
	}
	var all []string
	for name, value := range table {
		text, ok := value.(string)
		if !ok || name == "" || strings.ContainsAny(name, ":/\x00\x01\n{}") {
			return "", fmt.Errorf(`%.60q: want a path, as in { TMP = "/tmp/*" }`, name)
		}
		path, err := absolute(text, folder)
		if err != nil {
			return "", err
		}
		all = append(all, name+"="+path)
	}
	slices.Sort(all)
	return strings.Join(all, ":"), nil
}

// programs joins a list of patterns for names of programs. An empty one would mean all of them.
func programs(value any) (string, error) {
	text, err := words(value, `["gcc", "*-g++"]`)
	if err != nil {
		return "", err
	}
	for _, pattern := range filepath.SplitList(text) {
		if _, err := filepath.Match(pattern, ""); err != nil || strings.Contains(pattern, "/") {
			return "", fmt.Errorf(`%.60q: want a pattern for the name of a program, "gcc" or "*-g++"`, pattern)
		}
	}
	if text == "" {
		return "", fmt.Errorf(`want at least one program, ["gcc", "*-g++"]`)
	}
	return text, nil
}

// second turns true, false or a number of seconds into a text.
func second(value any) (string, error) {
	switch v := value.(type) {
	case bool:
		if v {
			return "1", nil
		}
		return "0", nil
	case int64:
		if v > 1 {
			return strconv.FormatInt(v, 10), nil
		}
	}
	return "", fmt.Errorf("want true, false, or a second since 1970")
}

// words joins a list of patterns.
func words(value any, sample string) (string, error) {
	list, ok := value.([]any)
	if !ok {
		return "", fmt.Errorf(`want a list, %s`, sample)
	}
	var all []string
	for _, w := range list {
		text, ok := w.(string)
		if !ok || text == "" || text == "+" || strings.Contains(text, ":") {
			return "", fmt.Errorf(`want a list of patterns, %s`, sample)
		}
		all = append(all, text)
	}
	return strings.Join(all, ":"), nil
}

func absolute(path, folder string) (string, error) {
	if path == "" || strings.Contains(path, ":") {
		return "", fmt.Errorf("%.60q: want a path without a colon", path)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	path = filepath.Clean(path)
	if _, err := filepath.Match(path, ""); err != nil || path == "/" || strings.ContainsAny(path, "\x00\n") {
		return "", fmt.Errorf("%.60q: want the path of a folder below the root, or a pattern for it", path)
	}
	return path, nil
}

// inside returns the path of a log, which is a file in the folder, and not a link: what others
// have written must not make a user write elsewhere.
func inside(path, folder string) (string, error) {
	path, err := absolute(path, folder)
	if err != nil || !staysInside {
		return path, err
	}
	if strings.Contains(path, "%") {
		return "", fmt.Errorf("%.60q: want a path without %%", path)
	}
	within, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("%s: there is no such folder", filepath.Dir(path))
	}
	if within != folder && !strings.HasPrefix(within, folder+"/") {
		return "", fmt.Errorf("%s is not in the folder of the file", path)
	}
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	return path, nil
}
