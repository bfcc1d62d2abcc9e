package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-run/weft/internal/follow"
)

// Own is one of the node's own: the API's, followed on disk, or the one that it shows to etcd,
// which is looked at for each connection. A renewed one counts without a restart; while the files
// cannot be taken, because they are empty, cut or do not fit, the one from before counts.
type Own struct {
	what              string // the settings
	certFile, keyFile string
	log               *slog.Logger

	mu        sync.Mutex
	unread    func(bool) // is told whether the files cannot be taken; may be nil; guarded by mu
	cert, key []byte     // what pair was made of; guarded by mu
	pair      atomic.Pointer[tls.Certificate]
	told      string // the last complaint of fresh; guarded by mu
}

// Open reads the files; what is wrong with them ends the start. One
// that has expired does not: clients say so themselves, and health does not mind.
func Open(ctx context.Context, what, certFile, keyFile string, log *slog.Logger, unread func(bool)) (*Own, error) {
	c := &Own{what: what, certFile: certFile, keyFile: keyFile, log: log, unread: unread}
	if err := c.read(ctx); err != nil {
		return nil, fmt.Errorf("read %s: %w", what, err)
	}
	return c, nil
}

// Get is for [tls.Config].GetCertificate.
func (c *Own) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil }

// Fresh looks at the files and gives the certificate that counts.
func (c *Own) Fresh(ctx context.Context) *tls.Certificate {
	err := c.read(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != c.told {
		c.told = text
		c.tell(ctx, err)
	}
	return c.pair.Load()
}

// Telling tells unread from now on.
func (c *Own) Telling(unread func(bool)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = unread
	unread(c.told != "")
}

// Run follows changes until ctx ends. Cert and key are two files: between their
// changes they do not fit, and the next look finds that they do.
func (c *Own) Run(ctx context.Context) error {
	return follow.Run(ctx, c.read, func(ctx context.Context, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.tell(ctx, err)
	})
}

// tell says what became of a look. The caller holds mu.
func (c *Own) tell(ctx context.Context, err error) {
	if c.unread != nil {
		c.unread(err != nil)
	}
	if err == nil {
		c.log.InfoContext(ctx, "the files of a certificate are well again", slog.String("settings", c.what))
		return
	}
	c.log.ErrorContext(ctx, "certificate not read again; the one from before counts on", slog.String("settings", c.what), slog.Any("error", err))
}

// read takes over what the files have, if that is something new.
func (c *Own) read(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return err
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return err
	}
	if bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	if err := wholePEM(cert); err != nil {
		return fmt.Errorf("%s: %w", c.certFile, err)
	}
	if follow.Cut(c.cert, cert) {
		return fmt.Errorf("%s is the beginning of what it was; if that is meant, restart the node", c.certFile)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return err
	}
	c.cert, c.key = cert, key
	c.pair.Store(&pair)
	attrs := []any{slog.String("settings", c.what), slog.String("subject", pair.Leaf.Subject.String()), slog.Time("notAfter", pair.Leaf.NotAfter)}
	if time.Now().After(pair.Leaf.NotAfter) {
		c.log.ErrorContext(ctx, "the certificate has expired; the other side refuses it", attrs...)
	} else {
		c.log.InfoContext(ctx, "certificate read", attrs...)
	}
	return nil
}

// wholePEM finds a block that ends within itself, which all who read PEM pass over: of a chain they
// take what is before.
func wholePEM(src []byte) error {
	begun, whole := bytes.Count(src, []byte("-----BEGIN ")), 0
	for rest := src; ; whole++ {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
	}
	if begun != whole {
		return fmt.Errorf("%d blocks of PEM begin in it, and %d are whole", begun, whole)
	}
	return nil
}

// Authorities reads certificates that are trusted; nil, the system's, if there is
// no file.
func Authorities(setting, file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", setting, err)
	}
	if err := wholePEM(pem); err != nil {
		return nil, fmt.Errorf("%s %s: %w", setting, file, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s %s has no certificate in PEM form", setting, file)
	}
	return pool, nil
}
