package command

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/node"
)

// newHealthCommand asks the node of this machine or container how it is: the
// health check of an image that has no shell and no curl. It takes the node's
// own settings, so that in a container, where they are in the environment, it
// needs no arguments.
func newHealthCommand(stdout io.Writer, environ func() []string) *cobra.Command {
	var s settings
	var live bool
	var timeout, wait time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask the node on this machine whether it is ready; exit code 1 if not",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := layer(cmd.Flags(), environ); err != nil {
				return err
			}
			path := "/readyz"
			if live {
				path = "/livez"
			}
			if _, err := localAddr(s.node.HTTPAddr); err != nil {
				return err
			}
			until := time.Now().Add(wait)
			return pace.Repeat(cmd.Context(), pace.Every(healthPause), func() (again bool, err error) {
				ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
				defer cancel()
				status, err := askHealth(ctx, s.node, path)
				if err == nil {
					fmt.Fprintln(stdout, status)
				}
				return err != nil && time.Now().Before(until), err
			})
		},
	}
	s.flags(cmd.Flags())
	cmd.Flags().VisitAll(hide)
	cmd.Flags().BoolVar(&live, "live", false, "ask only whether the process answers (/livez)")
	cmd.Flags().DurationVar(&timeout, "timeout", 3*time.Second, "wait for an answer no longer than this")
	cmd.Flags().DurationVar(&wait, "wait", 0, "ask again until the node is well, for so long at most")
	return cmd
}

// healthPause is how long a wait for a node rests before it asks again.
const healthPause = 200 * time.Millisecond

// askHealth returns what the node says of itself, or the reason why it is not
// well as an error.
func askHealth(ctx context.Context, cfg node.Config, path string) (string, error) {
	addr, err := localAddr(cfg.HTTPAddr)
	if err != nil {
		return "", err
	}
	transport := &http.Transport{DisableKeepAlives: true}
	scheme := "http"
	if cfg.TLSCert != "" {
		scheme = "https"
		if transport.TLSClientConfig, err = pinned(cfg.TLSCert); err != nil {
			return "", err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+addr+path, nil)
	if err != nil {
		return "", err
	}
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return "", fmt.Errorf("the node does not answer: %w", err)
	}
	defer resp.Body.Close()
	var said struct {
		Status any // a word when well, a number in a problem
		Detail string
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 64<<10)).Decode(&said)
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", resp.Status, said.Detail)
	}
	if err != nil {
		return "", fmt.Errorf("what answers at %s is no node: %w", addr, err)
	}
	return fmt.Sprint(said.Status), nil
}

// localAddr is where a node that listens on addr is reached from its own
// machine.
func localAddr(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("http-addr: %w", err)
	}
	if port == "0" {
		return "", errors.New("http-addr has port 0: the node picked a port that only its log knows; say --http-addr host:port")
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port), nil
}

// pinned accepts the certificate in the file and no other. It does not check the name
// in it: callers use another name than the one used here.
func pinned(certFile string) (*tls.Config, error) {
	raw, err := os.ReadFile(certFile)
	if err != nil {
		return nil, fmt.Errorf("read tls-cert: %w", err)
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("tls-cert %s has no certificate in PEM form", certFile)
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, //nolint:gosec // the certificate itself is compared instead
		VerifyPeerCertificate: func(chain [][]byte, _ [][]*x509.Certificate) error {
			if len(chain) == 0 || !bytes.Equal(chain[0], block.Bytes) {
				return fmt.Errorf("what answers has another certificate than %s", certFile)
			}
			return nil
		},
	}, nil
}
