// Redis with TLS, credentials, little room and a time to live.

package engine

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// certificate makes one that signs itself, for a host and for two hours from a time on.
func certificate(t *testing.T, host string, from time.Time) (certFile, keyFile string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, NotBefore: from, NotAfter: from.Add(2 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if ip := net.ParseIP(host); ip != nil {
		c.IPAddresses = []net.IP{ip}
	} else {
		c.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, _ := x509.MarshalECPrivateKey(secret)
	dir := t.TempDir()
	certFile, keyFile = dir+"/cert.pem", dir+"/key.pem"
	os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
	os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600)
	return certFile, keyFile
}

func TestRedisOverTLSIsTheOneThatItsNameSays(t *testing.T) {
	for _, c := range []struct {
		host  string
		valid time.Duration // from when on
		good  bool
	}{{"127.0.0.1", -time.Hour, true}, {"elsewhere.example", -time.Hour, false}, {"127.0.0.1", 5 * time.Hour, false}, {"127.0.0.1", -5 * time.Hour, false}} {
		host, good := c.host, c.good
		cert, secret := certificate(t, host, time.Now().Add(c.valid))
		at := address(t)
		_, port, _ := net.SplitHostPort(at)
		start(t, "tcp", at, "redis-server", "--port", "0", "--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", secret,
			"--tls-ca-cert-file", cert, "--tls-auth-clients", "no", "--save", "")
		e := open(t, "rediss://"+at, map[string]string{"ca-file": cert})
		if err := e.Probe(within(t)); (err == nil) != good {
			t.Errorf("%s, valid from %v on: %v", host, c.valid, err)
		}
		if err := open(t, "rediss://"+at, nil).Probe(within(t)); err == nil {
			t.Errorf("%s: a certificate that nobody has signed is good", host)
		}
	}
}

func TestCredentialsThatRedisDoesNotTakeAreDenied(t *testing.T) {
	at := redisOn(t, "--requirepass", "right", "--user", "reader", "on", ">pw", "~jitcache:*", "+get", "+strlen", "+getrange", "+ping")
	for url, want := range map[string]error{
		"redis://:right@" + at: nil, "redis://:wrong@" + at: ErrDenied, "redis://" + at: ErrDenied, "redis://reader:pw@" + at: ErrDenied,
	} {
		if _, err := open(t, url, nil).Put(within(t), aName(1), []byte("x"), true); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", url, err, want)
		}
	}
	for _, url := range []string{"redis://:wrong@" + at, "redis://" + at} {
		if got, err := open(t, url, nil).Get(within(t), aName(1), 10); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: get: %q, %v", url, got, err)
		}
	}
	if _, err := open(t, "redis://"+address(t), nil).Get(within(t), aName(1), 10); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("nobody listens: %v", err)
	}
	// Who may only read does read, though Redis refuses to renew.
	if got, err := open(t, "redis://reader:pw@"+at, nil).Get(within(t), aName(1), 10); string(got) != "x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRedisWithoutRoomRefusesAndGoesOnReading(t *testing.T) {
	at := redisOn(t, "--maxmemory", "3mb", "--maxmemory-policy", "noeviction")
	e := open(t, "redis://"+at, nil)
	if _, err := e.Put(within(t), aName(1), []byte("x"), true); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 2; i < 100 && err == nil; i++ {
		_, err = e.Put(within(t), aName(i), noise(200_000), true)
	}
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "OOM") {
		t.Errorf("full: %v", err)
	}
	if got, err := e.Get(within(t), aName(1), 10); string(got) != "x" || err != nil {
		t.Errorf("full: %q, %v", got, err)
	}
}

func TestTimeToLiveIsRenewedByAHit(t *testing.T) {
	at := redisOn(t)
	_, port, _ := net.SplitHostPort(at)
	e := open(t, "redis://"+at, map[string]string{"ttl": "100s"})
	if _, err := e.Put(within(t), aName(1), []byte("x"), true); err != nil {
		t.Fatal(err)
	}
	client := func(args ...string) string {
		out, err := exec.Command("redis-cli", append([]string{"-p", port}, args...)...).Output()
		if err != nil {
			t.Skip("there is no redis-cli")
		}
		return strings.TrimSpace(string(out))
	}
	name := (&inRedis{}).keyOf(aName(1))
	client("expire", name, "10")
	if _, err := e.Get(within(t), aName(1), 10); err != nil {
		t.Fatal(err)
	}
	if left := client("ttl", name); left != "100" && left != "99" {
		t.Errorf("%s seconds are left", left)
	}
	theirs := Name{[]string{"00ff"}} // another client's, which lives as long as that wants
	e.Put(within(t), theirs, []byte("x"), true)
	if left := client("ttl", "ccache:00ff"); left != "-1" {
		t.Errorf("ccache's: %s", left)
	}
}
