// What reaches a terminal: no escape of a foreign text, colours, and progress.

package cli

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"jitcache/core/plain"
)

// terminal runs a command on a pseudo terminal, and returns all that it wrote there.
func (u *account) terminal(t *testing.T, args ...string) (text string, status int) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, _ := io.ReadAll(master) // ends with EIO when the other side is closed
		read <- string(b)
	}()
	env := Environment{Get: func(n string) string { return u.env[n] }, Become: func(string) error { return os.ErrNotExist }}
	status = Main(append([]string{"jitcache"}, args...), env, slave, slave)
	slave.Close()
	return <-read, status
}

const evil = "evil\x1b[2J\x1b]0;owned\a\u009b31m\u202egnp\x7f\xffname"

// own are the sequences that the command itself draws with.
var own = regexp.MustCompile("\x1b\\[(0|1|31|33)m|\x1b\\[H\x1b\\[J|\r\x1b\\[K|\r")

// everyCommand has each command, with arguments that make it print something.
func everyCommand(t *testing.T, u *account, key string) map[string][]string {
	odd := t.TempDir() + "/\x1b[31mdir"
	return map[string][]string{
		"stats": {"stats"}, "report": {"report", "-"}, "no report": {"report", odd + "/x.html"}, "ls": {"ls", "-all"}, "show": {"show", evil}, "path": {"path", evil}, "export": {"export", key, t.TempDir() + "/f"},
		"explain": {"explain", evil}, "rm": {"rm", "no\x1b[2J"}, "trim": {"trim"}, "evict": {"evict", "-name", "\x1b[2J"}, "top": {"top", "-n", "1"}, "metrics": {"metrics"}, "clear": {"clear", "-kind", "nothing"}, "verify": {"verify"},
		"sign": {"sign", "-key", odd}, "trust": {"trust", "add", "no\x1b[2J"}, "init": {"init", odd}, "config": {"config"},
		"doctor": {"doctor"}, "dir": {"dir"}, "version": {"version"}, "completion": {"completion", "fish"},
		"bundle": {"bundle", "\x1b[2J"}, "run": {"run"}, "remote": {"remote", "\x1b[2J"}, "help": {"help"}, "no command": {"\x1b[2J"}, "no flag": {"ls", "-\x1b[2J"}, "json": {"ls", "-json", "-all"}, "show json": {"show", key, "-json"},
	}
}

func TestNoCommandLetsAnEscapeOfANameReachTheTerminal(t *testing.T) {
	u := newAccount(t)
	u.env["JITCACHE_NONSENSE"] = "\x1b[2J"
	k := u.put("a\x1b[2J", evil, "cubin", "code")
	u.put("b", "evil", "cubin", "code")
	root := (&command{}).root()
	commands := everyCommand(t, u, k.ID.String())
	for _, sub := range root.Subcommands {
		if commands[sub.Name] == nil {
			t.Errorf("%s is not tried", sub.Name)
		}
	}
	for name, args := range commands {
		text, _ := u.terminal(t, args...)
		text = own.ReplaceAllString(text, "")
		for _, r := range text {
			if r != '\n' && r != '\t' && plain.Obeyed(r) || r == utf8.RuneError {
				t.Errorf("%s: %q in %q", name, r, text)
				break
			}
		}
		if text == "" && name != "rm" && name != "export" && name != "trust" {
			t.Errorf("%s says nothing", name)
		}
	}
	if text, _ := u.terminal(t, "ls"); !strings.Contains(text, `evil\x1b[2J\x1b]0;owned\x07\u009b31m\u202egnp\u007f\xffname`) {
		t.Errorf("the name is not shown: %q", text)
	}
}

func TestColoursAreForTerminalsThatWantThem(t *testing.T) {
	u := newAccount(t)
	u.put("a", "saxpy", "cubin", "code")
	if text, _ := u.terminal(t, "ls"); !strings.Contains(text, "\x1b[1mKEY") || strings.Contains(text, "\x00") {
		t.Errorf("%q", text)
	}
	if text, status := u.terminal(t, "show", "nobody"); !strings.HasPrefix(text, "\x1b[33mjitcache:\x1b[0m ") || status != 1 {
		t.Errorf("%q", text)
	}
	for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		u.env[name] = value
		if text, _ := u.terminal(t, "ls"); strings.Contains(text, "\x1b") || strings.Contains(text, "\x00") || !strings.Contains(text, "saxpy") {
			t.Errorf("%s: %q", name, text)
		}
		delete(u.env, name)
	}
	if out := u.ok("ls"); strings.ContainsAny(out, "\x1b\x00") {
		t.Errorf("no terminal: %q", out)
	}
}

func TestProgressIsDrawnOnATerminalAndWipedOut(t *testing.T) {
	defer func(d time.Duration) { progressAfter = d }(progressAfter)
	progressAfter = 0
	u := newAccount(t)
	for n := range 50 {
		u.put(fmt.Sprint(n), "saxpy", "cubin", "code")
	}
	for _, name := range []string{"verify", "trim", "clear"} {
		text, status := u.terminal(t, name)
		drawn := strings.LastIndex(text, "\r"+name+":")
		if status != 0 || drawn < 0 || !strings.Contains(text[drawn:], "\r\x1b[K") {
			t.Errorf("%s: status %d, %q", name, status, text)
		}
		if _, errs, _ := u.run(name); errs != "" {
			t.Errorf("%s draws where nobody looks: %q", name, errs)
		}
	}
}

func TestCleanTakesTextInAnyPieces(t *testing.T) {
	const text = "größe \x1b \u009b \xff\xfe \u202e 漢字\x00b!\x00-"
	const want = `größe \x1b \u009b \xff\xfe \u202e 漢字!`
	for size := 1; size < len(text); size++ {
		var b strings.Builder
		c := &clean{w: &b}
		for i := 0; i < len(text); i += size {
			c.Write([]byte(text[i:min(i+size, len(text))]))
		}
		if c.writeRest(); b.String() != want {
			t.Errorf("in pieces of %d: %q", size, b.String())
		}
	}
}

// A name with a newline in it would look like a row of its own, with the details of another
// entry.
func TestNoNameIsRowsOfAList(t *testing.T) {
	u := newAccount(t)
	const name = "saxpy\n000000000000  cubin  1 B\tforged"
	k := u.put("a", name, "cubin", "code")
	for _, args := range [][]string{{"ls"}, {"ls", "-all"}, {"show", k.ID.String()}, {"explain", k.ID.String()}, {"explain", name}} {
		out := u.ok(args...)
		if !strings.Contains(out, `saxpy\x0a000000000000`) || !strings.Contains(out, `\x09forged`) {
			t.Errorf("%q:\n%s", args, out)
		}
		for _, row := range strings.Split(out, "\n") {
			if strings.HasPrefix(row, "000000000000") {
				t.Errorf("%q: a row that is none:\n%s", args, out)
			}
		}
	}
	if out := u.ok("ls", "-json"); !strings.Contains(out, `saxpy\n0000`) {
		t.Errorf("%s", out)
	}
}
