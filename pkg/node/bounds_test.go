package node_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/node"
)

// A node closes the connections that are too many, in all and from one address, and
// says how few streams of HTTP/2 it takes on one.
func TestANodeBoundsWhatOneClientHas(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	cert, key := ca.issue(t, "api", time.Now().Add(time.Hour))
	for name, cfg := range map[string]node.Config{
		"in all": {MaxConnections: 4, MaxConnectionsPerAddress: 100}, "from one address": {MaxConnections: 100, MaxConnectionsPerAddress: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg.TLSCert, cfg.TLSKey = cert, key
			n := start(t, cfg)
			roots := x509.NewCertPool()
			roots.AddCert(ca.cert)
			d := tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, NextProtos: []string{"h2"}}}
			opened := 0
			deadline := time.Now().Add(20 * time.Second)
			for range 4 {
				c, err := d.DialContext(t.Context(), "tcp", n.HTTPAddr())
				if err != nil {
					t.Fatalf("connection %d: %v", opened+1, err)
				}
				t.Cleanup(func() { c.Close() })
				opened++
				_ = c.SetDeadline(deadline)
				if streams := maxStreams(t, c); streams != 50 {
					t.Errorf("%d streams on one connection", streams)
				}
			}
			if c, err := d.DialContext(t.Context(), "tcp", n.HTTPAddr()); err == nil {
				c.Close()
				t.Error("there is a fifth connection")
			}
		})
	}
}

// maxStreams reads the limit in what a server says first on a connection of HTTP/2.
func maxStreams(t *testing.T, c net.Conn) uint32 {
	t.Helper()
	if _, err := io.WriteString(c, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+strings.Repeat("\x00", 3)+"\x04"+strings.Repeat("\x00", 5)); err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 9)
	if _, err := io.ReadFull(c, head); err != nil {
		t.Fatal(err)
	}
	settings := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	if _, err := io.ReadFull(c, settings); err != nil || head[3] != 4 {
		t.Fatalf("frame of type %d, %v", head[3], err)
	}
	for ; len(settings) >= 6; settings = settings[6:] {
		if binary.BigEndian.Uint16(settings) == 3 {
			return binary.BigEndian.Uint32(settings[2:])
		}
	}
	return 0
}
