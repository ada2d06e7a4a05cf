package serve_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolquay/toolquay/host/serve"
)

// pair are the files of a certificate.
type pair struct{ cert, key string }

// write makes a certificate for the loopback with a serial number, valid for a time from now.
func (p pair) write(t *testing.T, serial int64, valid time.Duration) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		os.WriteFile(p.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), 0o600),
		os.WriteFile(p.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
}

func newPair(t *testing.T) pair {
	t.Helper()
	dir := t.TempDir()
	return pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// connect opens a connection, and returns what came of it.
func connect(w *world, c *tls.Config) (state tls.ConnectionState, err error) {
	c.InsecureSkipVerify = true // what is looked at is which certificate came
	conn, err := tls.Dial("tcp", w.addr, c)
	if err != nil {
		return state, err
	}
	defer conn.Close()
	return conn.ConnectionState(), nil
}

// serial is the serial number of the certificate that new connections get.
func serial(t *testing.T, w *world) int64 {
	t.Helper()
	state, err := connect(w, &tls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return state.PeerCertificates[0].SerialNumber.Int64()
}

func TestTLS(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.write(t, 1, time.Hour)
	w := start(t, serve.Options{CertFile: p.cert, KeyFile: p.key})
	if !strings.HasPrefix(w.url, "https://127.0.0.1:") {
		t.Errorf("the URL is %s", w.url)
	}
	if got := serial(t, w); got != 1 {
		t.Errorf("the certificate is number %d", got)
	}
	if _, err := connect(w, &tls.Config{MaxVersion: tls.VersionTLS11}); err == nil { //nolint:gosec // it must be refused
		t.Error("TLS 1.1 is spoken")
	}
	if state, err := connect(w, &tls.Config{MaxVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}); err != nil || state.NegotiatedProtocol != "http/1.1" {
		t.Errorf("TLS 1.2: %q, %v", state.NegotiatedProtocol, err)
	}
	if got := do(t, "GET", "http://"+w.addr+"/healthz", nil); got.status != 400 {
		t.Errorf("HTTP without TLS: %d %s", got.status, got.body)
	}
	impatient := start(t, serve.Options{CertFile: p.cert, KeyFile: p.key, Limits: serve.Limits{HeaderTime: soon}})
	cut(t, dial(t, impatient)) // no handshake

	conn, err := tls.Dial("tcp", w.addr, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // as above
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", tokenA)
	if got := cut(t, conn); !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, "a POST /") {
		t.Errorf("it got %q", got)
	}
}

// TestCertificateIsFollowed renews a certificate, spoils it, and lets it expire.
func TestCertificateIsFollowed(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.write(t, 1, time.Hour)
	w := start(t, serve.Options{CertFile: p.cert, KeyFile: p.key})
	p.write(t, 2, time.Hour)
	until(t, "the second certificate", func() bool { return serial(t, w) == 2 })

	if err := os.WriteFile(p.key, []byte("no key"), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, "word of the spoilt key", func() bool { return strings.Contains(w.logs.String(), "cannot be used; the older one stays") })
	if got := serial(t, w); got != 2 {
		t.Errorf("with a spoilt key the certificate is number %d", got)
	}
	p.write(t, 3, -time.Minute)
	until(t, "word of the expired one", func() bool { return strings.Contains(w.logs.String(), "which is not now: renew it") })
	if got := serial(t, w); got != 2 {
		t.Errorf("with an expired certificate it is number %d", got)
	}
	until(t, "a short-lived one", func() bool {
		p.write(t, 4, 3*time.Second) // again where it was not seen while it was valid
		for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if serial(t, w) == 4 {
				return true
			}
		}
		return false
	})
	until(t, "word of its end", func() bool {
		return serial(t, w) == 4 && strings.Contains(w.logs.String(), "the TLS certificate has expired; put a new one in its place")
	})
	p.write(t, 5, time.Hour)
	until(t, "the last one", func() bool { return serial(t, w) == 5 })

	p.write(t, 6, -time.Minute)
	if _, err := serve.New(serve.Options{NoToken: true, CertFile: p.cert, KeyFile: p.key}); err == nil || !strings.Contains(err.Error(), "renew it") {
		t.Errorf("a start with an expired certificate: %v", err)
	}
}
