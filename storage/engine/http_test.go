// Statuses, redirects and pages of HTTP servers.

package engine

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o666) }

func serve(t *testing.T, fn http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(fn)
	t.Cleanup(s.Close)
	return s
}

func TestStatusesMeanWhatTheySay(t *testing.T) {
	code := 0
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(code)
		w.Write([]byte("<html>"))
	})
	e := open(t, s.URL, nil)
	for status, want := range map[int]error{404: ErrNotFound, 410: ErrNotFound, 401: ErrDenied, 403: ErrDenied, 400: ErrRefused, 304: ErrRefused} {
		code = status
		if _, err := e.Get(within(t), aName(1), 100); !errors.Is(err, want) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, status := range []int{501, 405} {
		code = status
		var busy *Unavailable
		if _, err := e.Put(within(t), aName(1), []byte("x"), true); !errors.Is(err, ErrRefused) || errors.As(err, &busy) {
			t.Errorf("%d: %v", status, err)
		}
	}
	for _, status := range []int{429, 500, 503} {
		code = status
		_, err := e.Get(within(t), aName(1), 100)
		if busy := new(Unavailable); !errors.As(err, &busy) || busy.For != 7*time.Second {
			t.Errorf("%d: %v", status, err)
		}
	}
}

//jitcache:control unreadpages
func TestPageBesideAStatusCostsNoConnection(t *testing.T) {
	var connections atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(map[string]int{http.MethodGet: 404, http.MethodPut: 201, http.MethodDelete: 200}[r.Method])
		w.Write([]byte("<html>" + strings.Repeat(" ", 3000)))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	e := open(t, s.URL, nil)
	for n := range 10 {
		if _, err := e.Get(within(t), aName(n), 100); !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
		if stored, err := e.Put(within(t), aName(n), []byte("x"), true); !stored || err != nil {
			t.Fatal(err)
		}
		if removed, err := e.Remove(within(t), aName(n)); !removed || err != nil {
			t.Fatal(err)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 30 requests", n)
	}
}

// Who does not know conditions may say so, with a status that begins as those of outages do.
func TestS3ThatKnowsNoConditionsIsNotDown(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.Header().Set("Content-Type", "application/xml")
			w.WriteHeader(http.StatusNotImplemented)
			w.Write([]byte("<Error><Code>NotImplemented</Code></Error>"))
		}
	})
	e := open(t, "s3://bucket/prefix?region=here&endpoint="+s.URL, nil)
	var busy *Unavailable
	if _, err := e.Put(within(t), aName(1), []byte("x"), false); !errors.Is(err, ErrRefused) || errors.As(err, &busy) {
		t.Errorf("%v", err)
	}
}

func TestRedirectsAreFollowedAFewTimes(t *testing.T) {
	hops := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if hops--; hops < 0 {
			w.Write([]byte("here"))
			return
		}
		http.Redirect(w, r, r.URL.Path, http.StatusFound)
	})
	e := open(t, s.URL, nil)
	for n, good := range map[int]bool{0: true, mostRedirects: true, mostRedirects + 1: false, 1 << 30: false} {
		hops = n
		if got, err := e.Get(within(t), aName(1), 100); (err == nil && string(got) == "here") != good {
			t.Errorf("%d: %q, %v", n, got, err)
		}
	}
}

func TestCredentialsGoToTheirHostAlone(t *testing.T) {
	var got http.Header
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	first := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	for _, a := range []map[string]string{{"bearer-token": "secret"}, {"@header": "X-Token=secret"}, {}} {
		got = nil
		open(t, strings.Replace(first.URL, "//", "//user:secret@", 1), a).Get(within(t), aName(1), 100)
		if got == nil {
			t.Fatal("it was not followed")
		}
		for name, values := range got {
			if name == "Authorization" || strings.Contains(strings.Join(values, ""), "secret") {
				t.Errorf("%v: %s: %v", a, name, values)
			}
		}
	}
}

func TestDatesOfAServerSayNothing(t *testing.T) {
	for _, off := range []time.Duration{-5 * time.Hour, 5 * time.Hour} {
		then := time.Now().Add(off).UTC().Format(http.TimeFormat)
		busy := false
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			for _, name := range []string{"Date", "Last-Modified", "Expires"} {
				w.Header().Set(name, then)
			}
			w.Header().Set("Retry-After", then)
			if busy {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			w.Write([]byte("value"))
		})
		e := open(t, s.URL, nil)
		if got, err := e.Get(within(t), aName(1), 100); string(got) != "value" || err != nil {
			t.Errorf("%v: %q, %v", off, got, err)
		}
		busy = true
		_, err := e.Get(within(t), aName(1), 100)
		var unavailable *Unavailable
		if !errors.As(err, &unavailable) || unavailable.For != 0 {
			t.Errorf("%v: %v: it is left alone for as long as its clock says", off, err)
		}
	}
}

func TestTokenInAFileIsReadForEachRequest(t *testing.T) {
	var got string
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Authorization") })
	file := t.TempDir() + "/token"
	e := open(t, s.URL, map[string]string{"bearer-token-file": file})
	if _, err := e.Get(within(t), aName(1), 100); !errors.Is(err, ErrDenied) {
		t.Error(err)
	}
	for _, token := range []string{"one", "two"} {
		os.WriteFile(file, []byte(token+"\n"), 0o600)
		e.Get(within(t), aName(1), 100)
		if got != "Bearer "+token {
			t.Errorf("%q", got)
		}
	}
}

func TestAnswerIsReadUpToTheLimitWhateverItSays(t *testing.T) {
	for name, fn := range map[string]http.HandlerFunc{
		"announced": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "10000000000") },
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
	} {
		if _, err := open(t, serve(t, fn).URL, nil).Get(within(t), aName(1), 1<<20); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
	short := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		w.Write([]byte("short"))
	})
	if got, err := open(t, short.URL, nil).Get(within(t), aName(1), 1<<20); err == nil {
		t.Errorf("truncated: %q", got)
	}
}

// The redirect to a page of a login is no success of what was put.
func TestPutThatBecomesAGetStoresNothing(t *testing.T) {
	for _, code := range []int{http.StatusFound, http.StatusSeeOther, http.StatusMovedPermanently} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/login" {
				w.Write([]byte("<html>"))
				return
			}
			http.Redirect(w, r, "/login", code)
		})
		e := open(t, s.URL, nil)
		if stored, err := e.Put(within(t), aName(1), []byte("x"), true); stored || !errors.Is(err, ErrRefused) {
			t.Errorf("%d: stored %v, %v", code, stored, err)
		}
		if removed, err := e.Remove(within(t), aName(1)); removed || !errors.Is(err, ErrRefused) {
			t.Errorf("%d: removed %v, %v", code, removed, err)
		}
	}
	var got string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/there") {
			body, _ := io.ReadAll(r.Body)
			got = r.Method + string(body)
			return
		}
		http.Redirect(w, r, "/there"+r.URL.Path, http.StatusTemporaryRedirect)
	})
	if stored, err := open(t, s.URL, nil).Put(within(t), aName(1), []byte("x"), true); !stored || err != nil || got != "PUTx" {
		t.Errorf("307: stored %v, %v, %q", stored, err, got)
	}
}

// The body of such an answer is the connection itself. Reading it would keep the request for
// as long as the server keeps the connection.
func TestServerThatSwitchesProtocolsKeepsNobody(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		c, _, _ := w.(http.Hijacker).Hijack()
		t.Cleanup(func() { c.Close() })
		c.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"))
	})
	e := open(t, s.URL, nil)
	began := time.Now()
	if _, err := e.Get(within(t), aName(1), 100); !errors.Is(err, ErrRefused) {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestURLWithAQueryIsRefused(t *testing.T) {
	for _, at := range []string{"http://host/path?sig=secret", "https://host/#x", "http://host?"} {
		u, err := url.Parse(at)
		if err == nil {
			_, err = Open(&Config{URL: u})
		}
		if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", at, err)
		}
	}
}
