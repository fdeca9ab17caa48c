// An HTTP server as a remote.

package engine

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// inHTTP keeps values on any server that takes GET, PUT and DELETE: nginx with DAV,
// bazel-remote, a proxy before a bucket.
type inHTTP struct {
	client *http.Client
	base   string // without a slash at its end
	layout string
	header http.Header
	token  string // a file, read again for each request
}

func openHTTP(c *Config) (Engine, error) {
	switch {
	case c.URL.Host == "":
		return nil, usage("the URL has no host")
	case c.URL.RawQuery != "" || c.URL.ForceQuery || c.URL.Fragment != "":
		// All names would have one path, and whatever secret it has would be shown.
		return nil, usage("the URL has a ? or a #: a token goes into header= or bearer-token=")
	}
	layout, err := c.layout()
	if err != nil {
		return nil, err
	}
	e := &inHTTP{layout: layout, header: http.Header{"User-Agent": {"jitcache-storage"}}, token: c.attribute("bearer-token-file")}
	u := *c.URL
	if u.User != nil {
		password, _ := u.User.Password()
		r := http.Request{Header: e.header}
		r.SetBasicAuth(u.User.Username(), password)
		u.User = nil
	}
	if t := c.attribute("bearer-token"); t != "" {
		e.header.Set("Authorization", "Bearer "+t)
	}
	if h := c.attribute("header"); h != "" {
		name, value, ok := strings.Cut(h, "=")
		if !ok {
			return nil, usage("header: want NAME=VALUE")
		}
		e.header.Set(name, value)
	}
	e.base = strings.TrimRight(u.String(), "/")
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	e.client = &http.Client{Transport: transport, CheckRedirect: followed}
	return e, nil
}

// transport returns what HTTP and S3 connect with.
func (c *Config) transport() (*http.Transport, error) {
	roots, err := c.roots()
	if err != nil {
		return nil, err
	}
	_, timeout, err := c.Limits()
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: connecting}).DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    connecting,
		ResponseHeaderTimeout:  timeout,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        90 * time.Second,
		DisableCompression:     true, // a size is a size
	}, nil
}

// mostRedirects is how many are followed: a load balancer and a bucket make two.
const mostRedirects = 3

// followed decides about a redirect. Credentials go to the host that they are for:
// net/http takes away those that it knows for another host, and ours come by Header.
func followed(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) > mostRedirects:
		return wrap(ErrRefused, "too many redirects")
	case first.Scheme == "https" && r.URL.Scheme != "https":
		return wrap(ErrRefused, "a redirect from https to "+r.URL.Scheme)
	case r.Method != via[0].Method:
		// A PUT would become a GET, whose success says nothing of the value.
		return wrap(ErrRefused, "a redirect turned "+via[0].Method+" into "+r.Method)
	case r.URL.Host != first.Host:
		for name := range r.Header {
			r.Header.Del(name)
		}
	}
	return nil
}

func (e *inHTTP) do(ctx context.Context, method, url string, body []byte, more ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, bare(err)
	}
	for name, values := range e.header {
		r.Header[name] = values
	}
	if e.token != "" {
		text, err := os.ReadFile(e.token)
		if err != nil {
			return nil, wrap(ErrDenied, "the bearer token cannot be read")
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(text)))
	}
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	answer, err := e.client.Do(r)
	if err == nil && answer.StatusCode == http.StatusSwitchingProtocols {
		answer.Body.Close() // it is the connection, which no deadline ends
		return nil, wrap(ErrRefused, answer.Status)
	}
	return answer, bare(err)
}

// pages is how much of an unwanted body is read, such as the page of a 404.
const pages = 16 << 10

// finish ends an answer. The connection can be used again only if the whole body was read.
func finish(answer *http.Response) {
	if readsPages {
		io.CopyN(io.Discard, answer.Body, pages)
	}
	answer.Body.Close()
}

func (e *inHTTP) url(n Name) string { return e.base + "/" + n.pathIn(e.layout) }

func (e *inHTTP) Get(ctx context.Context, n Name, limit int64) ([]byte, error) {
	answer, err := e.do(ctx, http.MethodGet, e.url(n), nil)
	if err != nil {
		return nil, err
	}
	defer finish(answer)
	if err := ofStatus(answer); err != nil {
		return nil, err
	}
	return readAll(answer.Body, answer.ContentLength, limit)
}

func (e *inHTTP) Put(ctx context.Context, n Name, value []byte, overwrite bool) (bool, error) {
	var more []string
	if !overwrite {
		// Few servers obey the condition, so look first, too.
		if _, err := e.head(ctx, n); err == nil {
			return false, nil
		}
		more = []string{"If-None-Match", "*"}
	}
	answer, err := e.do(ctx, http.MethodPut, e.url(n), value, more...)
	if err != nil {
		return false, err
	}
	defer finish(answer)
	if answer.StatusCode == http.StatusPreconditionFailed {
		return false, nil
	}
	err = ofStatus(answer)
	return err == nil, err
}

func (e *inHTTP) head(ctx context.Context, n Name) (size int64, err error) {
	answer, err := e.do(ctx, http.MethodHead, e.url(n), nil)
	if err != nil {
		return 0, err
	}
	finish(answer)
	return answer.ContentLength, ofStatus(answer)
}

// Atomic: few servers know conditions.
func (e *inHTTP) Atomic() bool { return false }

func (e *inHTTP) Remove(ctx context.Context, n Name) (bool, error) {
	answer, err := e.do(ctx, http.MethodDelete, e.url(n), nil)
	if err != nil {
		return false, err
	}
	defer finish(answer)
	err = ofStatus(answer)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

func (e *inHTTP) Probe(ctx context.Context) error {
	answer, err := e.do(ctx, http.MethodHead, e.base+"/", nil)
	if err != nil {
		return err
	}
	finish(answer)
	if answer.StatusCode >= 500 {
		return ofStatus(answer)
	}
	return nil
}

func (e *inHTTP) Close() { e.client.CloseIdleConnections() }

// ofStatus returns what a status means, nil for success.
func ofStatus(answer *http.Response) error {
	switch code := answer.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusNotFound || code == http.StatusGone:
		return ErrNotFound
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return wrap(ErrDenied, answer.Status)
	case code == http.StatusNotImplemented: // of a method, and no outage
		return wrap(ErrRefused, answer.Status)
	case code >= 500 || code == http.StatusTooManyRequests:
		return &Unavailable{Why: fmt.Sprintf("the server says %d", code), For: retryAfter(answer)}
	default:
		return wrap(ErrRefused, fmt.Sprintf("the server says %d", code))
	}
}

// Unavailable says how long the engine asks to be left alone; 0 if it does not say.
type Unavailable struct {
	Why string
	For time.Duration
}

func (u *Unavailable) Error() string { return u.Why }

// longest is the longest such time that is obeyed.
const longest = 5 * time.Minute

func retryAfter(answer *http.Response) time.Duration {
	var seconds int
	if _, err := fmt.Sscanf(answer.Header.Get("Retry-After"), "%d", &seconds); err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(min(seconds, 1<<20))*time.Second, longest)
}
