package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/weft-run/weft/internal/outgoing"
)

// How a connection is encrypted.
const (
	StartTLS = "starttls" // the server must offer it
	TLS      = "tls"      // from the first byte on
	Plain    = "none"
)

// The codes of faults.
const (
	codeInvalid     = "mail-invalid"     // it cannot be sent as it is
	codeRefused     = "mail-refused"     // the server said no for good: 5xx
	codeDeferred    = "mail-deferred"    // the server said not now: 4xx
	codeUnreachable = "mail-unreachable" // no connection, or it broke before the message was whole: nothing was sent
	codeUnknown     = "mail-unknown"     // the message was whole, and there was no answer: it may have been sent
)

// answerGrace is how long the answer to a whole message is waited for when its call was ended before its time.
const answerGrace = 5 * time.Second

// maxConnections bounds the mails that a node sends at once.
const maxConnections = 10

// Config says by which server a node sends mail.
type Config struct {
	Address  string                 // host:port
	Security string                 // StartTLS, TLS or Plain
	RootCAs  *x509.CertPool         // that sign its certificate; nil: the system's
	User     string                 // "": the server wants none
	Password func() (string, error) // of the user, asked for each mail
	From     string                 // the sender of mails that say none; "": there is none
}

// Check says what is wrong with the settings, by the names of the flags of weft.
func (c *Config) Check() error {
	host, port, err := net.SplitHostPort(c.Address)
	if n, nerr := strconv.Atoi(port); err != nil || host == "" || nerr != nil || n < 1 || n > 65535 {
		return fmt.Errorf("smtp-address is %q; it must be host:port", c.Address)
	}
	switch {
	case c.Security != StartTLS && c.Security != TLS && c.Security != Plain:
		return fmt.Errorf("smtp-tls is %q; it must be %s, %s or %s", c.Security, StartTLS, TLS, Plain)
	case c.Security == Plain && c.User != "" && !outgoing.Loopback(host):
		return fmt.Errorf("smtp-tls is %s, and smtp-user has a password, which anybody on the way to %s could read; take %s or %s", Plain, host, StartTLS, TLS)
	}
	if c.From == "" {
		return nil
	}
	if _, err := address(c.From); err != nil {
		return fmt.Errorf("smtp-from: %w", err)
	}
	return nil
}

// Server sends mails, each over a connection of its own, up to [maxConnections] at once.
type Server struct {
	cfg   Config
	name  string // of this machine
	slots chan struct{}
}

// NewServer makes a server of settings that were checked. It connects to nothing.
func NewServer(cfg Config) *Server {
	name, err := os.Hostname()
	if err != nil || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		name = "localhost"
	}
	return &Server{cfg, name, make(chan struct{}, maxConnections)}
}

// failure is why a mail was not sent, or may not have been.
type failure struct {
	code string
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

// envelope is a mail for the server.
type envelope struct {
	from string
	to   []string
	body []byte
}

// send gives a mail to the server. A failure is a [*failure].
func (s *Server) send(ctx context.Context, e *envelope) error {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return s.broken("waiting for one of the connections to the mail server", context.Cause(ctx))
	}
	conn, err := s.connect(ctx)
	if err != nil {
		return s.broken("connecting to the mail server", err)
	}
	defer conn.Close()
	if until, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(until); err != nil {
			return s.broken("connecting to the mail server", err)
		}
	}
	cut := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer cut()
	c, err := s.greet(conn)
	if err != nil {
		return err
	}
	if err := c.Mail("<" + e.from + ">"); err != nil {
		return s.answered("the sender "+e.from, err)
	}
	if err := s.recipients(c, e.to); err != nil {
		_ = c.Quit() // without its message the server sends nothing
		return err
	}
	w, err := c.Data()
	if err != nil {
		return s.answered("the mail", err)
	}
	if _, err := w.Write(e.body); err != nil {
		return s.broken("sending the mail", err)
	}
	if !cut() {
		return s.broken("sending the mail", context.Cause(ctx)) // its end was not sent
	}
	late := context.AfterFunc(ctx, func() {
		if !errors.Is(context.Cause(ctx), errLate) {
			_ = conn.SetDeadline(time.Now().Add(answerGrace))
		}
	})
	defer late()
	if err := w.Close(); err != nil {
		var reply *textproto.Error
		if errors.As(err, &reply) {
			return s.answered("the mail", err)
		}
		return &failure{codeUnknown, "the mail server did not answer to the whole mail, so it may have been sent: " + outgoing.Explain(err).Error(), err}
	}
	_ = c.Quit() // it has the mail
	return nil
}

// recipients tells the server for whom the mail is. One that is refused refuses it for all; those that are refused for
// good count more than those that are refused for now.
func (s *Server) recipients(c *smtp.Client, to []string) error {
	var worst *failure
	var refused []string
	for _, rcpt := range to {
		err := c.Rcpt("<" + rcpt + ">")
		if err == nil {
			continue
		}
		var f *failure
		if errors.As(s.answered(rcpt, err), &f); f.code == codeUnreachable {
			return f
		}
		refused = append(refused, f.text)
		if worst == nil || f.code == codeRefused {
			worst = f
		}
	}
	if worst == nil {
		return nil
	}
	if len(refused) > maxTold {
		refused = append(refused[:maxTold], fmt.Sprintf("and %d more", len(refused)-maxTold))
	}
	return &failure{worst.code, fmt.Sprintf("nothing was sent, since the mail server refused %d of %d recipients: %s", len(refused), len(to), strings.Join(refused, "; ")), worst.err}
}

// maxTold bounds the refused recipients that an error names.
const maxTold = 5

func (s *Server) connect(ctx context.Context) (net.Conn, error) {
	d := &net.Dialer{Timeout: 30 * time.Second}
	if s.cfg.Security == TLS {
		return (&tls.Dialer{NetDialer: d, Config: s.tls()}).DialContext(ctx, "tcp", s.cfg.Address)
	}
	return d.DialContext(ctx, "tcp", s.cfg.Address)
}

func (s *Server) host() string {
	host, _, _ := net.SplitHostPort(s.cfg.Address) // it was checked
	return host
}

func (s *Server) tls() *tls.Config {
	return &tls.Config{ServerName: s.host(), RootCAs: s.cfg.RootCAs, MinVersion: tls.VersionTLS12}
}

// greet begins the conversation, up to where the server takes mail.
func (s *Server) greet(conn net.Conn) (*smtp.Client, error) {
	c, err := smtp.NewClient(conn, s.host())
	if err != nil {
		return nil, s.answered("the connection", err)
	}
	if err := c.Hello(s.name); err != nil {
		return nil, s.answered("the connection", err)
	}
	if s.cfg.Security == StartTLS {
		if ok, _ := c.Extension("STARTTLS"); !ok {
			return nil, &failure{codeUnreachable, "the mail server offers no STARTTLS, so nothing was sent in the clear; see --smtp-tls", nil}
		}
		if err := c.StartTLS(s.tls()); err != nil {
			return nil, s.answered("STARTTLS", err)
		}
	}
	if s.cfg.User == "" {
		return c, nil
	}
	auth, err := s.auth(c)
	if err != nil {
		return nil, err
	}
	if err := c.Auth(auth); err != nil {
		return nil, s.answered("the user "+s.cfg.User, err)
	}
	return c, nil
}

// auth takes the first way of those that the server offers. The connection is encrypted, or to this machine.
func (s *Server) auth(c *smtp.Client) (smtp.Auth, error) {
	password, err := s.cfg.Password()
	if err != nil {
		return nil, &failure{codeUnreachable, "smtp-password-secret: " + err.Error(), err}
	}
	_, offers := c.Extension("AUTH")
	ways := strings.Fields(strings.ToUpper(offers))
	switch {
	case slices.Contains(ways, "PLAIN"):
		return smtp.PlainAuth("", s.cfg.User, password, s.host(), true), nil
	case slices.Contains(ways, "LOGIN"):
		return smtp.LoginAuth(s.cfg.User, password, s.host(), true), nil
	case slices.Contains(ways, "SCRAM-SHA-256"):
		return smtp.ScramSHA256Auth(s.cfg.User, password), nil
	}
	return nil, &failure{codeUnreachable, "the mail server offers no way to sign in that is known here, which are PLAIN, LOGIN and SCRAM-SHA-256", nil}
}

// answered makes a failure of what the server said of something, or of a connection that broke.
func (s *Server) answered(what string, err error) error {
	var reply *textproto.Error
	if !errors.As(err, &reply) {
		return s.broken("talking to the mail server about "+what, err)
	}
	code := codeRefused
	if reply.Code/100 == 4 {
		code = codeDeferred
	}
	return &failure{code, fmt.Sprintf("the mail server refused %s: %d %s", what, reply.Code, oneLine(reply.Msg)), err}
}

func (s *Server) broken(doing string, err error) error {
	return &failure{codeUnreachable, doing + ": " + outgoing.Explain(err).Error() + "; nothing was sent", err}
}

// oneLine is what a server said, as far as people read it.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	if r := []rune(text); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return text
}
