// A bucket of S3 as a remote.

package engine

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// inS3 keeps values in a bucket: s3://BUCKET/PREFIX?endpoint=…&region=…. Credentials come from
// where users of S3 have them: the environment, ~/.aws, the machine's role.
type inS3 struct {
	client *minio.Client
	bucket string
	prefix string // with a slash at its end, or empty
	layout string
}

func openS3(c *Config) (Engine, error) {
	layout, err := c.layout()
	if err != nil {
		return nil, err
	}
	if c.URL.Host == "" || c.URL.User != nil {
		return nil, usage("want s3://BUCKET/PREFIX; credentials come from AWS_* variables, ~/.aws/credentials or the role of the machine")
	}
	q := c.URL.Query()
	endpoint, region := q.Get("endpoint"), q.Get("region")
	if region == "" {
		region = firstOf(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	}
	if endpoint == "" {
		endpoint = firstOf(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), "https://s3.amazonaws.com")
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, usage("endpoint=%q: want a URL of http or https", endpoint)
	}
	transport, err := c.transport()
	if err != nil {
		return nil, err
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Transport: transport, Timeout: connecting}},
		}),
		Secure: at.Scheme == "https", Transport: transport, Region: region, MaxRetries: 1,
	})
	if err != nil {
		return nil, usage("%v", err)
	}
	prefix := strings.Trim(c.URL.Path, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &inS3{client, c.URL.Host, prefix, layout}, nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (e *inS3) key(n Name) string { return e.prefix + n.pathIn(e.layout) }

func (e *inS3) Get(ctx context.Context, n Name, limit int64) ([]byte, error) {
	core := minio.Core{Client: e.client}
	body, info, _, err := core.GetObject(ctx, e.bucket, e.key(n), minio.GetObjectOptions{})
	if err != nil {
		return nil, ofS3(err)
	}
	defer body.Close()
	value, err := readAll(body, info.Size, limit)
	return value, ofS3(err)
}

func (e *inS3) Put(ctx context.Context, n Name, value []byte, overwrite bool) (bool, error) {
	o := minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true}
	if !overwrite {
		o.SetMatchETagExcept("*")
	}
	_, err := e.client.PutObject(ctx, e.bucket, e.key(n), bytes.NewReader(value), int64(len(value)), o)
	if minio.ToErrorResponse(err).StatusCode == http.StatusPreconditionFailed {
		return false, nil
	}
	return err == nil, ofS3(err)
}

func (e *inS3) Remove(ctx context.Context, n Name) (bool, error) {
	if _, err := e.client.StatObject(ctx, e.bucket, e.key(n), minio.StatObjectOptions{}); err != nil {
		if err := ofS3(err); !errors.Is(err, ErrNotFound) {
			return false, err
		}
		return false, nil
	}
	err := e.client.RemoveObject(ctx, e.bucket, e.key(n), minio.RemoveObjectOptions{})
	return err == nil, ofS3(err)
}

func (e *inS3) Atomic() bool { return true }

func (e *inS3) Probe(ctx context.Context) error {
	_, err := e.client.StatObject(ctx, e.bucket, e.prefix+"jitcache/probe", minio.StatObjectOptions{})
	if err = ofS3(err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (e *inS3) Close() {}

// ofS3 tells errors of S3 from those of the network.
func ofS3(err error) error {
	r := minio.ToErrorResponse(err)
	switch {
	case err == nil:
		return nil
	case r.StatusCode == http.StatusNotFound || r.Code == minio.NoSuchKey:
		return ErrNotFound
	case r.StatusCode == http.StatusUnauthorized || r.StatusCode == http.StatusForbidden:
		return wrap(ErrDenied, r.Code)
	case r.StatusCode == http.StatusNotImplemented: // conditions, by those that say so
		return wrap(ErrRefused, r.Code)
	case r.StatusCode >= 500 || r.StatusCode == http.StatusTooManyRequests:
		return &Unavailable{Why: "the server says " + r.Code}
	case r.StatusCode != 0:
		return wrap(ErrRefused, r.Code)
	}
	return bare(err)
}
