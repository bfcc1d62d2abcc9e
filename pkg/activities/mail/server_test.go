package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/secrets"
	"github.com/weft-run/weft/pkg/activities"
	"github.com/weft-run/weft/pkg/activities/mail"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/yaml"
)

// post is an SMTP server that refuses what it is told to.
type post struct {
	addr  string
	roots *x509.CertPool

	security, user, password string
	mail, data               error            // the answer to MAIL and to the message; nil: it takes it
	rcpt                     map[string]error // by address
	breaks                   string           // where it breaks the connection: "data", once it has the message, or "middle"
	silent                   chan struct{}    // it answers to a message when this is closed; nil: at once

	mu     sync.Mutex
	tries  int      // conversations that came to MAIL; guarded by mu
	mails  []letter // guarded by mu
	secure bool     // the last conversation; guarded by mu
}

type letter struct {
	from string
	to   []string
	body string
}

// begin starts it; the settings that reach it are given back.
func (p *post) begin(t *testing.T) mail.Config {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	web.Close()
	p.roots = x509.NewCertPool()
	p.roots.AddCert(web.Certificate())
	cert := &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12}
	s := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{p: p, c: c}, nil }))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "post.test", true, log.New(io.Discard, "", 0)
	if p.security == mail.StartTLS {
		s.TLSConfig = cert
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = l.Addr().String()
	if p.security == mail.TLS {
		l = tls.NewListener(l, cert)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(l) // ends with Close
	}()
	t.Cleanup(func() {
		if p.silent != nil {
			close(p.silent)
		}
		_ = s.Close()
		_ = l.Close() // a server that is closed before it serves does not know its listener
		<-served
	})
	cfg := mail.Config{Address: p.addr, Security: p.security, RootCAs: p.roots, From: "Shop <shop@example.org>"}
	if p.user != "" {
		cfg.User, cfg.Password = p.user, func() (string, error) { return p.password, nil }
	}
	return cfg
}

func (p *post) got() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]letter{}, p.mails...)
}

type session struct {
	p      *post
	c      *smtp.Conn
	authed bool
	l      letter
}

func (s *session) AuthMechanisms() []string {
	if s.p.user == "" {
		return nil
	}
	return []string{sasl.Plain}
}

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != s.p.user || password != "pass-word-1" {
			return &smtp.SMTPError{Code: 535, Message: "no: " + password}
		}
		s.authed = true
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	s.p.tries++
	_, s.p.secure = s.c.TLSConnectionState()
	if s.p.user != "" && !s.authed {
		return smtp.ErrAuthRequired
	}
	s.l = letter{from: from}
	return s.p.mail
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if err := s.p.rcpt[to]; err != nil {
		return err
	}
	s.l.to = append(s.l.to, to)
	return nil
}

func (s *session) Data(r io.Reader) error {
	if s.p.breaks == "middle" {
		_, _ = r.Read(make([]byte, 10))
		_ = s.c.Conn().Close()
		return errors.New("broken")
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.l.body = string(raw)
	if s.p.silent != nil {
		<-s.p.silent
	}
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if s.p.data != nil {
		return s.p.data
	}
	s.p.mails = append(s.p.mails, s.l)
	if s.p.breaks == "data" {
		_ = s.c.Conn().Close()
	}
	return nil
}

func (*session) Reset()        {}
func (*session) Logout() error { return nil }

func reply(code int, text string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: text}
}

// ran is an instance after its first burst.
type ran struct {
	workflow.Instance
	journal []workflow.JournalItem
	res     engine.Result
	prog    *engine.Program
	env     engine.Env
}

var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// compile reads the root of a definition in YAML.
func compile(t *testing.T, root string, cfg *mail.Config) (*engine.Program, workflow.Problems) {
	t.Helper()
	types := activities.Default()
	if cfg != nil {
		if err := types.Replace(mail.Type, mail.NewServer(*cfg).Activity()); err != nil {
			t.Fatal(err)
		}
	}
	def, problems := yaml.Read([]byte("id: d\nvariables: {id: string, why: object, big: list}\noutputs: {id: string, why: object}\ninputs: {x: object}\nroot:\n"+root), "", types)
	if def == nil {
		return nil, problems
	}
	prog, more := engine.Compile(def, engine.Options{Registry: types, Evaluators: expression.All()})
	return prog, append(problems, more...)
}

// run runs an instance of that name with the input x.
func run(ctx context.Context, t *testing.T, cfg *mail.Config, id, root string, x any) *ran {
	t.Helper()
	prog, problems := compile(t, root, cfg)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	kept, err := secrets.New(map[string]string{"smtp": "pass-word-1", "old": "wrong-word-2"})
	if err != nil {
		t.Fatal(err)
	}
	s := &workflow.Start{DefinitionID: "d", Input: map[string]any{"x": x}}
	r := &ran{prog: prog, env: engine.Env{Now: func() time.Time { return t0 }, Secrets: kept, Limits: engine.Limits{Output: 64 << 20, Data: 64 << 20}}}
	b, err := engine.New(prog, id, s, t0, r.env)
	if err != nil {
		t.Fatal(err)
	}
	r.command(ctx, t, b, workflow.Command{ID: "start-1", Kind: workflow.CommandStart, Start: s})
	return r
}

func (r *ran) command(ctx context.Context, t *testing.T, b *engine.Burst, cmd workflow.Command) {
	t.Helper()
	if _, err := b.Run(ctx, cmd); err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	res, err := b.Result()
	if err != nil {
		t.Fatal(err)
	}
	r.Instance, r.res = res.Instance, res
	r.journal = append(r.journal, res.Journal...)
}

// pause resumes what waits, as a timer does.
func (r *ran) pause(t *testing.T) {
	t.Helper()
	if len(r.Bookmarks) != 1 {
		t.Fatalf("it waits at %v; incidents %v", r.Bookmarks, r.Incidents)
	}
	b, err := engine.Load(r.prog, r.Instance, r.res.State, r.env)
	if err != nil {
		t.Fatal(err)
	}
	r.command(t.Context(), t, b, workflow.Command{ID: "timer-" + r.Bookmarks[0].ID, Kind: workflow.CommandResume, Bookmark: r.Bookmarks[0].ID})
}

func (r *ran) incident() string {
	if len(r.Incidents) == 0 {
		return ""
	}
	return r.Incidents[0].Message
}

// all is everything that is kept of it.
func (r *ran) all(t *testing.T) string {
	t.Helper()
	raw, err := json.Marshal([]any{r.Instance, r.journal, string(r.res.State)})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

const plain = `
  - sendEmail: {to: [ada@example.org, Bob <bob@example.org>], subject: Hello, text: "It is on its way."}
    outputs: {messageId: id}
  - setOutput: {outputName: id, outputValue: "${{ variables.id }}"}
`

func TestHowTheServerIsReached(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		*post
		spoil  func(*mail.Config)
		want   string // of the incident
		secure bool
	}{
		"plain":            {post: &post{security: mail.Plain}},
		"starttls":         {post: &post{security: mail.StartTLS}, secure: true},
		"tls":              {post: &post{security: mail.TLS}, secure: true},
		"starttls, user":   {post: &post{security: mail.StartTLS, user: "weft", password: "pass-word-1"}, secure: true},
		"plain, user":      {post: &post{security: mail.Plain, user: "weft", password: "pass-word-1"}},
		"no starttls":      {post: &post{security: mail.Plain}, spoil: func(c *mail.Config) { c.Security = mail.StartTLS }, want: "mail-unreachable: the mail server offers no STARTTLS"},
		"not trusted":      {post: &post{security: mail.StartTLS}, spoil: func(c *mail.Config) { c.RootCAs = x509.NewCertPool() }, want: "mail-unreachable: talking to the mail server about STARTTLS: tls: failed to verify certificate"},
		"tls, not trusted": {post: &post{security: mail.TLS}, spoil: func(c *mail.Config) { c.RootCAs = nil }, want: "mail-unreachable: connecting to the mail server: tls: failed to verify certificate"},
		"wrong password":   {post: &post{security: mail.StartTLS, user: "weft", password: "wrong-word-2"}, want: "mail-refused: the mail server refused the user weft: 535 5.0.0 no: ***old***"},
		"nobody there":     {post: &post{security: mail.Plain}, spoil: func(c *mail.Config) { c.Address = "127.0.0.1:1" }, want: "mail-unreachable: connecting to the mail server: dial: connect: connection refused; nothing was sent"},
		"no way to sign in": {post: &post{security: mail.Plain}, spoil: func(c *mail.Config) {
			c.User, c.Password = "weft", func() (string, error) { return "pass-word-1", nil }
		}, want: "no way to sign in"},
		"no such secret": {post: &post{security: mail.StartTLS, user: "weft"}, spoil: func(c *mail.Config) {
			c.Password = func() (string, error) { return "", errors.New("there is no secret x") }
		}, want: "smtp-password-secret: there is no secret x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.post
			cfg := p.begin(t)
			if c.spoil != nil {
				c.spoil(&cfg)
			}
			r := run(t.Context(), t, &cfg, "i1", plain, nil)
			if !strings.Contains(r.incident(), c.want) || c.want == "" && r.incident() != "" {
				t.Errorf("incident %q", r.incident())
			}
			if n := len(p.got()); (n == 1) != (c.want == "") {
				t.Errorf("%d mails", n)
			}
			if c.want == "" && p.secure != c.secure {
				t.Errorf("encrypted: %v", p.secure)
			}
			if all := r.all(t); strings.Contains(all, "pass-word-1") || strings.Contains(all, "wrong-word-2") {
				t.Errorf("kept: %s", all)
			}
		})
	}
}

// What the server says, and where it breaks off, decides what the fault is, and whether the mail may be there.
func TestWhatTheServerRefuses(t *testing.T) {
	t.Parallel()
	gone, later := reply(550, "no such user"), reply(451, "try later")
	for name, c := range map[string]struct {
		*post
		want string
		sent int
	}{
		"the sender":             {post: &post{mail: reply(553, "not you")}, want: "mail-refused: the mail server refused the sender shop@example.org: 553 not you"},
		"busy":                   {post: &post{mail: reply(421, "busy")}, want: "mail-deferred: the mail server refused the sender shop@example.org: 421 busy"},
		"one recipient":          {post: &post{rcpt: map[string]error{"bob@example.org": gone}}, want: "mail-refused: nothing was sent, since the mail server refused 1 of 2 recipients: the mail server refused bob@example.org: 550 no such user"},
		"one recipient for now":  {post: &post{rcpt: map[string]error{"bob@example.org": later}}, want: "mail-deferred: nothing was sent"},
		"one for now, one not":   {post: &post{rcpt: map[string]error{"ada@example.org": later, "bob@example.org": gone}}, want: "mail-refused: nothing was sent, since the mail server refused 2 of 2"},
		"one not, one for now":   {post: &post{rcpt: map[string]error{"ada@example.org": gone, "bob@example.org": later}}, want: "mail-refused: nothing was sent, since the mail server refused 2 of 2"},
		"the mail":               {post: &post{data: reply(554, "spam, says\r\nthe filter")}, want: "mail-refused: the mail server refused the mail: 554 spam, says the filter"},
		"the mail for now":       {post: &post{data: reply(452, "full")}, want: "mail-deferred: the mail server refused the mail: 452 full"},
		"broken behind the mail": {post: &post{breaks: "data"}, want: "mail-unknown: the mail server did not answer to the whole mail, so it may have been sent: EOF", sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := c.post
			p.security = mail.Plain
			cfg := p.begin(t)
			r := run(t.Context(), t, &cfg, "i1", plain, nil)
			if !strings.HasPrefix(r.incident(), c.want) {
				t.Errorf("incident %q", r.incident())
			}
			if n := len(p.got()); n != c.sent {
				t.Errorf("%d mails", n)
			}
		})
	}
}

// A connection that breaks while the mail is sent leaves none there.
func TestAMailThatIsNotWholeIsNone(t *testing.T) {
	t.Parallel()
	p := &post{security: mail.Plain, breaks: "middle"}
	cfg := p.begin(t)
	r := run(t.Context(), t, &cfg, "i1", "  - sendEmail: {to: a@example.org, text: \"${{ inputs.x }}\"}\n", strings.Repeat("word ", 1_000_000))
	if !strings.Contains(r.incident(), "mail-unreachable: ") || !strings.HasSuffix(r.incident(), "; nothing was sent") || len(p.got()) > 0 {
		t.Errorf("incident %q, %d mails", r.incident(), len(p.got()))
	}
}

// A server that does not answer is given up, and a call that ends does not wait for it.
func TestAServerThatIsSilent(t *testing.T) {
	t.Parallel()
	p := &post{security: mail.Plain, silent: make(chan struct{})}
	cfg := p.begin(t)
	r := run(t.Context(), t, &cfg, "i1", "  - sendEmail: {to: a@example.org, timeout: 50ms}\n", nil)
	if !strings.HasPrefix(r.incident(), "mail-un") {
		t.Errorf("incident %q", r.incident())
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // no greeting
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg.Address = l.Addr().String()
	r = run(t.Context(), t, &cfg, "i1", "  - sendEmail: {to: a@example.org, timeout: 50ms}\n", nil)
	if !strings.Contains(r.incident(), "mail-unreachable") {
		t.Errorf("incident %q", r.incident())
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			cancel() // it is under way
			_, _ = io.ReadAll(c)
			c.Close()
		}
		cancel()
	}()
	run(ctx, t, &cfg, "i1", "  - sendEmail: {to: a@example.org, timeout: 1h}\n", nil)
	<-ctx.Done()
}

// Of a retry, each attempt has the same Message-ID. What is refused for good is not tried again, but where on says so.
func TestRetriesOfAMail(t *testing.T) {
	t.Parallel()
	p := &post{security: mail.Plain, breaks: "data"}
	cfg := p.begin(t)
	again := strings.Replace(plain, "    outputs:", "    retry: {attempts: 2, delay: 1s}\n    outputs:", 1)
	r := run(t.Context(), t, &cfg, "i1", again, nil)
	p.mu.Lock()
	p.breaks = ""
	p.mu.Unlock()
	r.pause(t)
	mails := p.got()
	if r.incident() != "" || len(mails) != 2 {
		t.Fatalf("%d mails, incident %q", len(mails), r.incident())
	}
	id, _ := r.Output["id"].(string)
	for _, m := range mails {
		if id == "" || !strings.Contains(m.body, "Message-ID: "+id) {
			t.Errorf("id %q of %s", id, m.body)
		}
	}

	p = &post{security: mail.Plain, mail: reply(550, "no")}
	cfg = p.begin(t)
	if r := run(t.Context(), t, &cfg, "i1", again, nil); p.tries != 1 || !strings.Contains(r.incident(), "another attempt would fail as this one") {
		t.Errorf("%d tries; %q", p.tries, r.incident())
	}
	r = run(t.Context(), t, &cfg, "i1", strings.Replace(again, "delay: 1s", "delay: 1s, on: mail-refused", 1), nil)
	r.pause(t)
	if p.tries != 3 {
		t.Errorf("%d tries", p.tries)
	}
	p.mail = reply(450, "later")
	branch := again[:strings.Index(again, "    outputs:")] + "    outputs: {error: why}\n    error: [{setOutput: {outputName: why, outputValue: \"${{ variables.why }}\"}}]\n"
	if r = run(t.Context(), t, &cfg, "i1", branch, nil); len(r.Output) > 0 {
		t.Errorf("the branch ran before the last attempt: %v", r.Output)
	}
	r.pause(t)
	why, _ := r.Output["why"].(map[string]any)
	if r.incident() != "" || p.tries != 5 || why["code"] != "mail-deferred" || !strings.Contains(engine.Text(why["message"]), "450 later") {
		t.Errorf("%d tries; %q; output %v", p.tries, r.incident(), r.Output)
	}
}
