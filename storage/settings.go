// The settings of a helper.

package storage

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"jitcache/storage/engine"
)

// Settings are the settings of a helper. It gets them in the environment, as the protocol says.
type Settings struct {
	Endpoint string // path of the socket
	Engine   engine.Config
	Idle     time.Duration // after which it ends if nobody asks; 0 never
	// URL is what may be shown of the URL.
	URL string
	// wrong says why the URL cannot be read.
	wrong error
}

// mostAttributes is how many are read.
const mostAttributes = 64

// ReadSettings reads the settings. No error shows a password.
func ReadSettings(env func(string) string) (*Settings, error) {
	s := &Settings{Endpoint: env("CRSH_IPC_ENDPOINT")}
	if s.Endpoint == "" || env("CRSH_URL") == "" {
		return nil, errors.New("CRSH_IPC_ENDPOINT and CRSH_URL are not set: jitcache and ccache start this program when they need it")
	}
	if !filepath.IsAbs(s.Endpoint) {
		return nil, errors.New("CRSH_IPC_ENDPOINT is not an absolute path")
	}
	u, err := url.Parse(env("CRSH_URL"))
	if err != nil {
		u, s.wrong = &url.URL{}, fmt.Errorf("%w: the URL cannot be read", engine.ErrUsage)
	}
	s.Engine.URL, s.URL = u, shown(u)
	if v := env("CRSH_IDLE_TIMEOUT"); v != "" {
		seconds, err := strconv.ParseUint(v, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("CRSH_IDLE_TIMEOUT=%.20q: want seconds", v)
		}
		s.Idle = time.Duration(seconds) * time.Second
	}
	s.Engine.Attributes = map[string]string{}
	if v := env("CRSH_NUM_ATTR"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n > mostAttributes {
			return nil, fmt.Errorf("CRSH_NUM_ATTR=%.20q: want a number up to %d", v, mostAttributes)
		}
		for i := range n {
			name := env(fmt.Sprintf("CRSH_ATTR_KEY_%d", i))
			s.Engine.Attributes[name] = env(fmt.Sprintf("CRSH_ATTR_VALUE_%d", i))
		}
	}
	return s, nil
}

// shown returns what may be shown of a URL. A query may have a token, unless it is one of ours.
func shown(u *url.URL) string {
	if u.Scheme == "http" || u.Scheme == "https" {
		bare := *u
		bare.RawQuery, bare.Fragment = "", ""
		u = &bare
	}
	return u.Redacted()
}

// openEngine opens the engine. Errors of engine.ErrUsage are the user's.
func (s *Settings) openEngine() (engine.Engine, error) {
	if s.wrong != nil {
		return nil, s.wrong
	}
	if _, _, err := s.Engine.Limits(); err != nil {
		return nil, err
	}
	return engine.Open(&s.Engine)
}
