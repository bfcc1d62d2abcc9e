package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/certificate"
	"github.com/weft-run/weft/internal/follow"
	"github.com/weft-run/weft/internal/outgoing"
	"github.com/weft-run/weft/pkg/metrics"
)

// authenticated tells whether callers have to say who they are.
func (c Config) authenticated() bool { return c.AuthKeysFile != "" || c.AuthOIDCIssuer != "" }

// checkAuth says what is wrong with the settings about callers.
func (c Config) checkAuth() error {
	if c.AuthOIDCSecret != "" && c.AuthOIDCClientID == "" {
		return errors.New("auth-oidc-client-secret-file needs auth-oidc-client-id")
	}
	if c.AuthOIDCIssuer != "" {
		_, err := auth.NewOIDC(c.oidc(nil, nil))
		return err
	}
	if c.AuthOIDCAudience != "" || c.AuthOIDCRoleClaim != "" || len(c.AuthOIDCRoles) > 0 || c.AuthOIDCCACert != "" || c.AuthOIDCClientID != "" {
		return errors.New("there are settings for an OpenID Connect provider, and no auth-oidc-issuer")
	}
	return nil
}

func (c Config) oidc(client *http.Client, unread func(bool)) auth.OIDCConfig {
	var secret func() (string, error)
	if file := c.AuthOIDCSecret; file != "" {
		secret = (&keptText{setting: "auth-oidc-client-secret-file", file: file, log: c.Logger, unread: unread}).read
	}
	return auth.OIDCConfig{
		ClientID: c.AuthOIDCClientID, ClientSecret: secret,
		Issuer: c.AuthOIDCIssuer, Audience: c.AuthOIDCAudience, RoleClaim: c.AuthOIDCRoleClaim, Roles: c.AuthOIDCRoles,
		Client: client, Log: c.Logger,
	}
}

// keptText is a file with one text, which is read when it is needed. While it is not there, empty, or the
// beginning of what it was, the text from before counts.
type keptText struct {
	setting, file string
	log           *slog.Logger
	unread        func(bool) // is told whether the file cannot be taken; may be nil

	mu   sync.Mutex
	text string // "": none was read yet; guarded by mu
	told string // the last complaint; guarded by mu
}

func (k *keptText) read() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	raw, err := os.ReadFile(k.file)
	now := strings.TrimSpace(string(raw))
	switch {
	case err != nil:
		err = fmt.Errorf("read %s: %w", k.setting, err)
	case now == "":
		err = fmt.Errorf("%s %s is empty", k.setting, k.file)
	case follow.Cut([]byte(k.text), []byte(now)):
		err = fmt.Errorf("%s %s is the beginning of what it was; if that is meant, restart the node", k.setting, k.file)
	default:
		k.text = now
	}
	told := ""
	if err != nil {
		told = err.Error()
	}
	if told != k.told {
		k.told = told
		if k.unread != nil {
			k.unread(err != nil)
		}
		if err != nil {
			k.log.ErrorContext(context.Background(), "a file of a setting is not read again; what was read before counts on", slog.Any("error", err))
		}
	}
	if k.text == "" {
		return "", err
	}
	return k.text, nil
}

// checkListen refuses to listen beyond loopback without authentication, unless
// that was asked for.
func (c Config) checkListen() error {
	host, _, err := net.SplitHostPort(c.HTTPAddr)
	if err != nil {
		return fmt.Errorf("http-addr: %w", err)
	}
	if c.Insecure || c.authenticated() || outgoing.Loopback(host) {
		return nil
	}
	return fmt.Errorf("http-addr %s is reachable from other machines, and no credentials are asked for: "+
		"listen on 127.0.0.1, set auth-keys-file or auth-oidc-issuer, or say --insecure if the network keeps strangers out", c.HTTPAddr)
}

// hosts are the names that this node answers to while it asks for no credentials.
func (n *Node) hosts() []string {
	names := append([]string{n.cfg.HTTPAddr, n.advertised()}, n.cfg.Hosts...)
	if public, err := url.Parse(n.cfg.PublicURL); err == nil {
		names = append(names, public.Host)
	}
	if own, err := os.Hostname(); err == nil {
		names = append(names, own)
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// checkHosts finds what can be no name of a host.
func (c Config) checkHosts() error {
	for _, name := range c.Hosts {
		if u, err := url.Parse("//" + name); err != nil || name == "" || u.Host != name {
			return fmt.Errorf("host is %q; it must be the name of a host, such as weft.example.com", name)
		}
	}
	return nil
}

// checkOrigins finds what is no site.
func (c Config) checkOrigins() error {
	for _, origin := range c.CORSOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return fmt.Errorf("cors-origin is %q; it must be the scheme, name and port of a site, such as https://shop.example.com", origin)
		}
	}
	return nil
}

// buildAuth makes what checks credentials; nil where there are none.
func (n *Node) buildAuth() (*auth.Authenticator, error) {
	if !n.cfg.authenticated() {
		if host, _, err := net.SplitHostPort(n.cfg.HTTPAddr); err == nil && !outgoing.Loopback(host) {
			n.log.WarnContext(context.Background(), "insecure: everybody who reaches this address is an admin, and may publish workflows that read its secrets and call its network; set auth-keys-file or auth-oidc-issuer",
				slog.String("httpAddr", n.HTTPAddr()), slog.String("hosts", strings.Join(n.hosts(), " ")))
		}
		return nil, nil
	}
	a := &auth.Authenticator{}
	var err error
	if n.cfg.AuthKeysFile != "" {
		if a.Keys, err = auth.OpenKeys(n.cfg.AuthKeysFile, n.log); err != nil {
			return nil, err
		}
		a.Keys.Unread = n.unread(metrics.FileAuthKeys)
		n.part("API keys", a.Keys.Run)
	}
	if n.cfg.AuthOIDCIssuer != "" {
		roots, err := certificate.Authorities("auth-oidc-cacert", n.cfg.AuthOIDCCACert)
		if err != nil {
			return nil, err
		}
		// A provider that does not answer keeps nobody with an API key out.
		transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}}
		n.undo.Add("connections to the identity provider", func(context.Context) error {
			transport.CloseIdleConnections()
			return nil
		})
		if a.OIDC, err = auth.NewOIDC(n.cfg.oidc(&http.Client{Transport: transport}, n.unread(metrics.FileOIDCSecret))); err != nil {
			return nil, err
		}
		n.part("identity provider", a.OIDC.Run)
	}
	if host, _, err := net.SplitHostPort(n.cfg.HTTPAddr); err == nil && n.cfg.TLSCert == "" && !outgoing.Loopback(host) {
		n.log.WarnContext(context.Background(), "credentials reach this node unencrypted; let what is in front of it end TLS, or set tls-cert and tls-key",
			slog.String("httpAddr", n.cfg.HTTPAddr))
	}
	return a, nil
}
