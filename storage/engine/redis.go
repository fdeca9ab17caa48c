// Redis as a remote.

package engine

import (
	"context"
	"crypto/tls"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// inRedis keeps values in Redis or a server with its protocol. A name of ours becomes
// jitcache:1:NAMESPACE:DIGITS, so that access rules can tell projects apart; another client's
// becomes ccache:DIGITS, as in ccache's own client.
type inRedis struct {
	client *redis.Client
	ttl    time.Duration // of ours, renewed by each hit
}

func openRedis(c *Config) (Engine, error) {
	u := *c.URL
	if u.Scheme == "redis+unix" {
		u.Scheme = "unix"
		u.Host = ""
	}
	o, err := redis.ParseURL(u.String())
	if err != nil {
		return nil, usage("%s", strings.ReplaceAll(err.Error(), c.URL.String(), "the URL"))
	}
	e := &inRedis{ttl: 90 * 24 * time.Hour}
	if v := c.attribute("ttl"); v != "" {
		if e.ttl, err = parseTTL(v); err != nil {
			return nil, err
		}
	}
	if o.TLSConfig != nil {
		if o.TLSConfig.RootCAs, err = c.roots(); err != nil {
			return nil, err
		}
		o.TLSConfig.MinVersion = tls.VersionTLS12
	}
	limit, timeout, err := c.Limits()
	if err != nil {
		return nil, err
	}
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = connecting, timeout, timeout
	o.ContextTimeoutEnabled = true
	o.MaxRetries = -1 // whoever asks has no time for a second try
	o.DialerRetries = 1
	o.DisableIdentity = true
	o.PoolSize = 32
	o.Dialer = dialer(redis.NewDialer(o), max(limit+1, atOnce))
	e.client = redis.NewClient(o)
	return e, nil
}

// parseTTL reads a time that may be in days; 0 is for ever.
func parseTTL(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		d, err := time.ParseDuration(days + "h")
		if err == nil && d >= 0 && d < 100*365*time.Hour {
			return 24 * d, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, usage("ttl=%q: want a time such as 90d or 12h, 0 for ever", text)
}

func (e *inRedis) keyOf(n Name) string {
	if !n.Ours() {
		return "ccache:" + n.Parts[0]
	}
	return strings.Join(n.Parts, ":")
}

func (e *inRedis) Get(ctx context.Context, n Name, limit int64) ([]byte, error) {
	// Redis sends a value whole, and its client reads it whole. So at first only as much is
	// requested as most values have; for a larger one the size is asked before the rest.
	key := e.keyOf(n)
	pipe := e.client.Pipeline()
	head := e.head(ctx, pipe, n, limit)
	if err := errors.Join(execute(ctx, pipe), head.Err()); err != nil {
		return nil, ofRedis(err)
	}
	value, _ := head.Bytes()
	switch n := int64(len(value)); {
	case n == 0:
		return nil, ErrNotFound
	case n > limit:
		return nil, ErrTooLarge
	case n < atOnce:
		return value, nil
	}
	size, err := e.client.StrLen(ctx, key).Result()
	switch {
	case err != nil:
		return nil, ofRedis(err)
	case size > limit:
		return nil, ErrTooLarge
	case size == atOnce:
		return value, nil
	}
	rest, err := e.client.GetRange(ctx, key, atOnce, limit-1).Bytes()
	return append(value, rest...), ofRedis(err)
}

// head requests the beginning of a value, and a longer lifetime for it. A read-only replica or an
// access rule may refuse the latter, which does not matter.
func (e *inRedis) head(ctx context.Context, pipe redis.Pipeliner, n Name, limit int64) *redis.StringCmd {
	key := e.keyOf(n)
	head := pipe.GetRange(ctx, key, 0, min(atOnce, limit+1)-1)
	if n.Ours() && !n.Brief() && e.ttl > 0 {
		pipe.Expire(ctx, key, e.ttl)
	}
	return head
}

// execute sends commands. It returns an error if they could not be sent; each command has its
// own error otherwise.
func execute(ctx context.Context, pipe redis.Pipeliner) error {
	all, err := pipe.Exec(ctx)
	if slices.ContainsFunc(all, func(c redis.Cmder) bool { return c.Err() == err }) {
		return nil
	}
	return err
}

// GetMany is Get for several names, in one round trip except for large values.
func (e *inRedis) GetMany(ctx context.Context, names []Name, limit int64) []Answer {
	pipe := e.client.Pipeline()
	heads := make([]*redis.StringCmd, len(names))
	for i, n := range names {
		heads[i] = e.head(ctx, pipe, n, limit)
	}
	failed := execute(ctx, pipe)
	answers := make([]Answer, len(names))
	for i, head := range heads {
		a, err := &answers[i], errors.Join(failed, head.Err())
		switch size := int64(len(head.Val())); {
		case err != nil:
			a.Err = ofRedis(err)
		case size == 0:
			a.Err = ErrNotFound
		case size > limit || size == atOnce:
			a.Value, a.Err = e.Get(ctx, names[i], limit)
		default:
			a.Value, _ = head.Bytes()
		}
	}
	return answers
}

// atOnce is how much of a value is requested without knowing its size. Most entries are smaller.
// A larger value takes two more round trips.
const atOnce = 4 << 20

func (e *inRedis) Put(ctx context.Context, n Name, value []byte, overwrite bool) (bool, error) {
	var ttl time.Duration
	switch {
	case n.Brief():
		ttl = brief
	case n.Ours():
		ttl = e.ttl
	}
	if overwrite {
		err := e.client.Set(ctx, e.keyOf(n), value, ttl).Err()
		return err == nil, ofRedis(err)
	}
	err := e.client.SetArgs(ctx, e.keyOf(n), value, redis.SetArgs{Mode: "NX", TTL: ttl}).Err()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return err == nil, ofRedis(err)
}

// brief is the lifetime of claims and pulses that nobody removes: longer than any compile.
const brief = time.Hour

func (e *inRedis) Remove(ctx context.Context, n Name) (bool, error) {
	count, err := e.client.Del(ctx, e.keyOf(n)).Result()
	return count > 0, ofRedis(err)
}

func (e *inRedis) Atomic() bool { return true }

func (e *inRedis) Probe(ctx context.Context) error { return ofRedis(e.client.Ping(ctx).Err()) }

func (e *inRedis) Close() { e.client.Close() }

// ofRedis tells errors of Redis from those of the network.
func ofRedis(err error) error {
	var said redis.Error
	if err == nil || !errors.As(err, &said) {
		return bare(err)
	}
	word, _, _ := strings.Cut(said.Error(), " ")
	switch word {
	case "NOAUTH", "WRONGPASS", "NOPERM":
		return wrap(ErrDenied, said.Error())
	}
	return wrap(ErrRefused, said.Error())
}

// bare returns an error without its URL, which may have a password.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
