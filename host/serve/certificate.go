package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"
)

// certificate is the server's certificate, which may be renewed while it serves.
type certificate struct {
	certFile, keyFile string
	logger            *slog.Logger
	now               atomic.Pointer[tls.Certificate]
	expired           sometimes
}

// openCertificate reads a certificate. One that is not valid now is refused.
func openCertificate(o Options) (*certificate, error) {
	if o.CertFile == "" && o.KeyFile == "" {
		return nil, nil
	}
	if o.CertFile == "" || o.KeyFile == "" {
		return nil, errors.New("TLS needs both files, the certificate and its key")
	}
	c := &certificate{certFile: o.CertFile, keyFile: o.KeyFile, logger: o.Logger}
	return c, c.load()
}

// load takes up what the files hold. With an error the certificate stays as it was.
func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return fmt.Errorf("TLS certificate %s with key %s: %w", c.certFile, c.keyFile, err)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
		return fmt.Errorf("TLS certificate %s is valid from %s to %s, which is not now: renew it", c.certFile,
			pair.Leaf.NotBefore.Format(time.DateTime), pair.Leaf.NotAfter.Format(time.DateTime))
	}
	c.now.Store(&pair)
	return nil
}

// reload is load for files that have changed.
func (c *certificate) reload() {
	if err := c.load(); err != nil {
		c.logger.Error("the TLS certificate was changed and cannot be used; the older one stays", "error", err)
	}
}

// get returns the certificate for a connection. One that has expired meanwhile is sent all
// the same: the client tells its user better than a broken connection could.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair := c.now.Load()
	if time.Now().After(pair.Leaf.NotAfter) {
		c.expired.do(func(more int) {
			c.logger.Error("the TLS certificate has expired; put a new one in its place, it is taken up at once",
				"file", c.certFile, "expired", pair.Leaf.NotAfter, "more", more)
		})
	}
	return pair, nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.get, NextProtos: []string{"http/1.1"}}
}
