// The servers that the tests of engines start.

package engine

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Real servers, each on loopback and with a folder of its own. One that this machine has
// not is skipped: tests/deps-ci.sh installs them.

// start runs a server until the test ends, and waits until its address answers.
func start(t *testing.T, network, address, program string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("there is no %s", program)
	}
	cmd := exec.Command(path, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 500 {
		if c, err := net.Dial(network, address); err == nil {
			c.Close()
			return cmd
		}
		time.Sleep(10 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	t.Fatalf("%s does not answer: %s", program, said.String())
	return nil
}

// address returns one that nobody has.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// redisOn starts Redis on a port, with further settings.
func redisOn(t *testing.T, more ...string) (at string) {
	t.Helper()
	at = address(t)
	_, port, _ := net.SplitHostPort(at)
	args := []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", t.TempDir()}
	start(t, "tcp", at, "redis-server", append(args, more...)...)
	return at
}

func open(t *testing.T, text string, attributes map[string]string) Engine {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	e, err := Open(&Config{u, attributes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// simpleHTTP keeps values as a server would that knows nothing of conditions.
func simpleHTTP(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	values := map[string][]byte{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		value, ok := values[r.URL.Path]
		switch {
		case r.Method == http.MethodPut:
			values[r.URL.Path], _ = io.ReadAll(r.Body)
			w.WriteHeader(http.StatusCreated)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case r.Method == http.MethodDelete:
			delete(values, r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Write(value)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/cache"
}

func nginx(t *testing.T) string {
	t.Helper()
	at, dir := address(t), t.TempDir()
	os.MkdirAll(dir+"/cache", 0o777)
	os.Chmod(dir, 0o755)
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/log;
events {} http { access_log off; client_body_temp_path %[1]s/body; client_max_body_size 64m;
proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
server { listen %[2]s; root %[1]s; location / { dav_methods PUT DELETE; create_full_put_path on; } } }`, dir, at)
	if u, err := user.Current(); err == nil {
		text = "user " + u.Username + "; " + text
	}
	os.WriteFile(dir+"/conf", []byte(text), 0o644)
	start(t, "tcp", at, "nginx", "-c", dir+"/conf", "-p", dir)
	return "http://" + at + "/cache"
}

// gateway starts an S3 server over a folder that has one bucket.
func gateway(t *testing.T) string {
	t.Helper()
	at, dir := address(t), t.TempDir()
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "user", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"} {
		t.Setenv(name, value)
	}
	if home, err := os.UserHomeDir(); err == nil { // where go install puts it
		t.Setenv("PATH", os.Getenv("PATH")+":"+filepath.Join(home, "go", "bin"))
	}
	os.MkdirAll(dir+"/bucket", 0o777)
	start(t, "tcp", at, "versitygw", "--access", "user", "--secret", "secret", "--port", at, "posix", dir)
	return "s3://bucket/some/prefix?endpoint=" + url.QueryEscape("http://"+at)
}

// engines calls fn with each engine.
func engines(t *testing.T, fn func(t *testing.T, e Engine)) {
	for name, make := range map[string]func(t *testing.T) Engine{
		"redis": func(t *testing.T) Engine { return open(t, "redis://"+redisOn(t), nil) },
		"redis+unix": func(t *testing.T) Engine {
			socket := t.TempDir() + "/redis.sock"
			start(t, "unix", socket, "redis-server", "--port", "0", "--unixsocket", socket, "--save", "")
			return open(t, "redis+unix://"+socket, nil)
		},
		"file":  func(t *testing.T) Engine { return open(t, "file://"+t.TempDir(), nil) },
		"http":  func(t *testing.T) Engine { return open(t, simpleHTTP(t), nil) },
		"nginx": func(t *testing.T) Engine { return open(t, nginx(t), nil) },
		"s3":    func(t *testing.T) Engine { return open(t, gateway(t), nil) },
	} {
		t.Run(name, func(t *testing.T) { fn(t, make(t)) })
	}
}

// aName returns a name of ours.
func aName(n int) Name {
	return Name{[]string{"jitcache", "1", "-", strings.Repeat("0", 56) + fmt.Sprintf("%08x", n)}}
}
