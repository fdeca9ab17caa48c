// Flags and words in any order, help, and wrong use.

package cli

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// Each row is a slip of a first day. The answer is one line that names what is wrong, and
// nothing is done.
func TestWrongUseIsToldInOneLine(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	for args, want := range map[string]string{
		"ls -kind":                  "flag needs an argument: -kind",
		"stats -since":              "flag needs an argument: -since",
		"ls -directory":             "flag needs an argument: -directory",
		"init -mode":                "flag needs an argument: -mode",
		"ls -nonsense":              "-nonsense",
		"ls -last x":                `"x" for flag -last`,
		"ls --json=maybe":           `"maybe" for`,
		"ls -n -1":                  "-n and -last want",
		"ls -last -5":               "-n and -last want",
		"config max-size -5":        "-5",
		"remote flush -timeout x":   `"x" for flag -timeout`,
		"init -mode 777 DIR":        `mode "777"`,
		"init -mode 7700 DIR":       `mode "7700"`,
		"init -group no-such DIR":   `group "no-such"`,
		"clear -kind EMPTY":         "-kind",
		"clear -kind=":              "-kind",
		"-directory EMPTY clear":    "-directory",
		"rm EMPTY":                  "an argument is empty",
		"show EMPTY":                "an argument is empty",
		"rm saxpy EMPTY":            "an argument is empty",
		"report EMPTY":              "an argument is empty",
		"-directory DIR ls":         "DIR does not exist",
		"-directory DIR clear":      "DIR does not exist",
		"report DIR/x.html":         "DIR/x.html: no such file",
		"config -directory DIR":     "DIR does not exist",
		"export -directory EMPTY -": "-directory",
	} {
		dir := t.TempDir() + "/new"
		words := strings.Fields(strings.ReplaceAll(args, "DIR", dir))
		for i, w := range words {
			if w == "EMPTY" {
				words[i] = ""
			}
		}
		out, errs, status := u.run(words...)
		want = strings.ReplaceAll(want, "DIR", dir)
		if status != 2 || out != "" || !strings.HasPrefix(errs, "jitcache: ") || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("jitcache %s: status %d, says %q%q, want %q", args, status, out, errs, want)
		}
		if _, err := os.Lstat(dir); err == nil {
			t.Errorf("jitcache %s has made the directory", args)
		}
	}
	if out := u.ok("ls"); !strings.Contains(out, "saxpy") {
		t.Errorf("an entry was removed: %q", out)
	}
}

func TestHelpThatIsAskedForIsData(t *testing.T) {
	u := newAccount(t)
	for _, args := range []string{"-help", "--help", "-h", "ls -help", "-h ls", "trust add --help", "help"} {
		if out := u.ok(strings.Fields(args)...); !strings.HasPrefix(out, "usage: jitcache ") {
			t.Errorf("%s: %q", args, out)
		}
	}
	if out := u.ok("trust", "add", "-h"); !strings.Contains(out, "-not-before") {
		t.Errorf("help of another command: %q", out)
	}
}

// A cap may be set, and a bundle added, before anything has made the directory.
func TestDirectoryIsMadeByWhatFillsIt(t *testing.T) {
	u := newAccount(t)
	dir := t.TempDir() + "/new"
	u.ok("-directory", dir, "config", "max-size", "1Gi")
	if out := u.ok("-directory", dir, "config"); !strings.Contains(out, "max-size = 1073741824") {
		t.Errorf("%q", out)
	}
}

// $(jitcache dir) and $(jitcache path NAME) are the names of files, whatever bytes they have.
func TestPathIsPrintedAsItIs(t *testing.T) {
	u := newAccount(t)
	u.dir += "\xff\xfe\x1b[31m"
	u.env["JITCACHE_DIR"] = u.dir
	u.put("a", "saxpy", "cubin", "code")
	if out := u.ok("dir"); out != u.dir+"\n" {
		t.Errorf("%q", out)
	}
	if _, err := os.Stat(strings.TrimSuffix(u.ok("path", "saxpy"), "\n")); err != nil {
		t.Error(err)
	}
}

func TestDoctorMakesNoDirectoryThatIsMistyped(t *testing.T) {
	u := newAccount(t)
	dir := t.TempDir() + "/new"
	out, _, status := u.run("doctor", "-directory", dir)
	if _, err := os.Stat(dir); err == nil || status != 1 || !strings.Contains(out, dir+" does not exist") {
		t.Errorf("status %d, %v, %s", status, err, out)
	}
}

// Root may replace a device by a file, and must not: the machine's /dev/null would be gone.
func TestReportTakesNoDevicesPlace(t *testing.T) {
	u := newAccount(t)
	pipe := t.TempDir() + "/pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(pipe)
		read <- string(text)
	}()
	u.ok("report", pipe)
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is replaced: %v, %v", info, err)
	}
	if page := <-read; !strings.Contains(page, "<html") {
		t.Errorf("%.40q", page)
	}
}
