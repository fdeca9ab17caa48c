// Open: the engine of a URL.

package engine

// Open returns the engine of a URL. It connects to nothing.
func Open(c *Config) (Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	switch c.URL.Scheme {
	case "redis", "rediss", "redis+unix":
		return openRedis(c)
	case "http", "https":
		return openHTTP(c)
	case "file":
		return openFile(c)
	case "s3":
		return openS3(c)
	}
	return nil, usage("unknown scheme %q: want redis, rediss, redis+unix, http, https, file or s3", c.URL.Scheme)
}
