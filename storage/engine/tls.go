// The certificates that TLS trusts.

package engine

import (
	"crypto/x509"
	"os"
)

// roots returns the certificates that TLS trusts; nil stands for those of the system, which
// SSL_CERT_FILE and SSL_CERT_DIR can name.
func (c *Config) roots() (*x509.CertPool, error) {
	file := c.attribute("ca-file")
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, usage("ca-file: %v", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, usage("ca-file=%q: there is no certificate in it", file)
	}
	return pool, nil
}
