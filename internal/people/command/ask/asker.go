package ask

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weft-run/weft/pkg/apiclient"
)

// Asker is one run of the program: what all commands have in common.
type Asker struct {
	In          io.Reader
	Out, ErrOut io.Writer // data, and all else
	environ     map[string]string
	Version     string
	Commit      string // it was built from; "" if nobody knows
	Now         func() time.Time

	// Flags.
	server, tokenFile, context, caCert, key string
	made                                    bool // the key was, for a request for several
	output, jq, times                       string
	columns                                 []string
	noHeaders, yes, watch, curl             bool
	timeout                                 time.Duration

	signals  chan os.Signal // that end the command; nil before it runs
	resolved bool           // server, caCert and token are those that are used
	token    string
	withheld bool                                // the environment's token is for another server
	tls      atomic.Pointer[tls.ConnectionState] // of the last answer
	cfg      apiclient.Config                    // of api
	api      *apiclient.Client                   // nil until the first use
	noted    bool                                // that a column is in no row
}

// Streams are where a program reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// New is for a program of this version, built from this commit.
func New(s Streams, environ []string, version, commit string) *Asker {
	a := &Asker{In: s.In, Out: s.Out, ErrOut: s.Err, environ: map[string]string{}, Version: version, Commit: commit, Now: time.Now}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		a.environ[name] = value
	}
	return a
}

// Group is a group of commands, as help shows them.
type Group struct {
	ID, Title string
	Commands  []*cobra.Command
}

// Add adds a group to a root: its commands get the flags of all, and errors their exit codes.
func (a *Asker) Add(root *cobra.Command, g Group) {
	root.AddGroup(&cobra.Group{ID: g.ID, Title: g.Title})
	for _, cmd := range g.Commands {
		cmd.GroupID = g.ID
		a.prepare(cmd, nil)
		root.AddCommand(cmd)
	}
}

// Alone marks a command that asks nobody: it has flags of its own only.
func Alone(cmd *cobra.Command) *cobra.Command { return annotated(cmd, aloneKey, "yes") }

// Watched marks a command that shows what it has by [Asker.Repeated], so that --watch means something.
func Watched(cmd *cobra.Command) *cobra.Command { return annotated(cmd, watchKey, "yes") }

// Forms are the values that -o may have of a command that shows no rows.
func Forms(cmd *cobra.Command, forms ...string) *cobra.Command {
	return annotated(cmd, formsKey, strings.Join(forms, ","))
}

const aloneKey, watchKey, formsKey = "alone", "watch", "forms"

func annotated(cmd *cobra.Command, key, value string) *cobra.Command {
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[key] = value
	return cmd
}

// noneEmpty refuses a text that is given and empty: of a script whose variable is, it would mean all there are. What
// may be empty says so in its line of help.
func noneEmpty(c *cobra.Command) (err error) {
	inherited := c.InheritedFlags()
	c.Flags().Visit(func(f *pflag.Flag) {
		if inherited.Lookup(f.Name) == nil && f.Value.Type() == "string" && f.Value.String() == "" && f.Name != "data" && !strings.Contains(f.Usage, "empty") {
			err = errors.Join(err, Usage("--%s is empty: leave it out if that is meant (%s)", f.Name, f.Usage))
		}
	})
	return err
}

// prepare gives a command and those below it the flags of all, and errors their exit codes.
func (a *Asker) prepare(cmd *cobra.Command, parents []string) {
	if len(parents) == 0 && cmd.Annotations[aloneKey] == "" {
		a.flags(cmd)
	}
	parents = append(parents, cmd.Name())
	cmd.SilenceUsage, cmd.SilenceErrors, cmd.SuggestionsMinimumDistance = true, true, 2
	cmd.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return Usage("%w; %s --help lists what there is", err, c.CommandPath())
	})
	if check := cmd.Args; check != nil {
		cmd.Args = func(c *cobra.Command, args []string) error {
			if err := check(c, args); err != nil {
				return Usage("%w; usage: %s", err, c.UseLine())
			}
			return nil
		}
	}
	switch run := cmd.RunE; {
	case run != nil:
		cmd.RunE = func(c *cobra.Command, args []string) error {
			if err := noneEmpty(c); err != nil {
				return err
			}
			return a.run(c, args, run)
		}
	case cmd.HasSubCommands():
		cmd.Args = cobra.ArbitraryArgs
		cmd.RunE = func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return c.Help()
			}
			hint := ""
			if s := c.SuggestionsFor(args[0]); len(s) > 0 {
				hint = fmt.Sprintf(" (did you mean %s?)", s[0])
			}
			return Usage("there is no command %q in %s%s; %s --help lists them", args[0], c.CommandPath(), hint, c.CommandPath())
		}
	}
	for _, sub := range cmd.Commands() {
		a.prepare(sub, parents)
	}
}

// flags are those of every command.
func (a *Asker) flags(cmd *cobra.Command) {
	f := cmd.PersistentFlags()
	f.StringVar(&a.server, "server", "", "URL of a node or of the cluster's balancer (WEFT_SERVER; default: the context's, else "+defaultServer+")")
	f.StringVar(&a.tokenFile, "token-file", "", "file with the API key or token (WEFT_TOKEN has it itself; default: the context's)")
	f.StringVar(&a.context, "context", "", "context to use (WEFT_CONTEXT; weft context list)")
	f.StringVar(&a.caCert, "cacert", "", "PEM file with the authorities that sign the server's certificate (WEFT_CACERT)")
	f.DurationVar(&a.timeout, "timeout", time.Minute, "wait for one answer no longer than this")
	f.StringVar(&a.key, "key", "", "Idempotency-Key of the request (default: a new one)")
	f.StringVarP(&a.output, "output", "o", "", "table, wide, json, jsonl, yaml or name (default: table)")
	f.StringVar(&a.jq, "jq", "", "filter of jq over the JSON, such as '.items[].instanceId'")
	f.StringSliceVar(&a.columns, "columns", nil, "columns of the table: paths in the JSON, such as instanceId,labels.customer")
	f.StringVar(&a.times, "time", "relative", "times in tables: relative, iso or local")
	f.BoolVar(&a.noHeaders, "no-headers", false, "a table without its first line")
	f.BoolVarP(&a.watch, "watch", "w", false, "show it again as it changes, until interrupted")
	f.BoolVarP(&a.yes, "yes", "y", false, "do not ask")
	f.BoolVar(&a.curl, "curl", false, "print the request that would be sent as a line of curl, and send nothing")
	completeFlags(a, cmd)
}

// run runs a command and says what went wrong in it.
func (a *Asker) run(c *cobra.Command, args []string, do func(*cobra.Command, []string) error) error {
	if err := a.checkFlags(c); err != nil {
		return err
	}
	ctx := c.Context()
	interrupted, err := a.interruptible(c, func() error { return do(c, args) })
	if err == nil || errors.Is(err, errPrinted) {
		return nil
	}
	code, known := codeOf(err)
	if !known {
		code = ExitBad
	}
	if interrupted && (code == ExitUnknown || !known) {
		code = ExitInterrupted
	}
	var said *exitError
	if errors.As(err, &said) && said.err == nil {
		return err
	}
	if errors.Is(err, syscall.EPIPE) {
		return &exitError{code: ExitPipe}
	}
	text := Printable(a.Explained(err) + nearest(ctx, a, err))
	if line := a.repeatLine(err, typed(c, args)); line != "" {
		text += "\n" + line
	}
	return &exitError{code, errors.New(text)}
}

var errInterrupted = errors.New("interrupted")

// interruptible lets a signal end what a command asks for, so that it can say what became of it;
// a second one ends the program at once. That nobody reads the output any more is an error of the write:
// what was begun is done to its end.
func (a *Asker) interruptible(c *cobra.Command, do func() error) (interrupted bool, err error) {
	ctx, cancel := context.WithCancelCause(c.Context())
	defer cancel(nil)
	a.signals = make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGPIPE)
	signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(a.signals)
	over := make(chan struct{})
	var listening sync.WaitGroup
	listening.Go(func() {
		select {
		case <-a.signals:
			signal.Stop(a.signals)
			cancel(errInterrupted)
		case <-over:
		}
	})
	defer listening.Wait()
	defer close(over)
	c.SetContext(ctx)
	err = do()
	return ctx.Err() != nil, err
}

// Reading reads what a person or a program writes. A signal then ends the program at once: nothing is under way.
func (a *Asker) Reading(do func() error) error {
	if a.signals == nil {
		return do()
	}
	signal.Stop(a.signals)
	defer signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM)
	return do()
}

// typed is the command as it was typed, about.
func typed(c *cobra.Command, args []string) []string {
	out := strings.Fields(c.CommandPath())[1:]
	if f := c.Flags().Lookup("wait"); f != nil {
		if wait, ok := f.Value.(interface{ Without(args []string) []string }); ok {
			args = wait.Without(args) // it stands behind its flag
		}
	}
	out = append(out, args...)
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "key" {
			return
		}
		if list, ok := f.Value.(interface{ GetSlice() []string }); ok {
			for _, v := range list.GetSlice() {
				out = append(out, "--"+f.Name+"="+v)
			}
			return
		}
		out = append(out, "--"+f.Name+"="+f.Value.String())
	})
	if f := c.Flags().Lookup("key"); f != nil && f.Changed {
		out = append(out, "--key", f.Value.String())
	}
	return out
}

// Note tells a person something about what was shown.
func (a *Asker) Note(text string) { fmt.Fprintln(a.ErrOut, Printable(text)) }

// Server is the URL that is asked, once a client was made.
func (a *Asker) Server() string { return a.server }

// OnlyPrints tells that the first request is printed, and nothing is sent.
func (a *Asker) OnlyPrints() bool { return a.curl }

// noToken says what to do where the server wants a token, or another one.
func (a *Asker) noToken(otherwise string) string {
	if a.withheld && a.token == "" {
		return fmt.Sprintf("; WEFT_TOKEN was not sent, as it is for WEFT_SERVER: give the token of %s with --token-file", a.server)
	}
	return otherwise
}

// HasToken tells whether requests carry a token, once a client was made.
func (a *Asker) HasToken() bool { return a.token != "" }

const defaultServer = "http://127.0.0.1:8080"

// resolve finds out whom to ask: by flag, environment, context and default, in this order. A context
// that a flag names goes before the environment: who types it means it.
func (a *Asker) resolve() error {
	if a.resolved {
		return nil
	}
	at, err := a.chosen()
	if err != nil {
		return err
	}
	server, caCert := a.environ["WEFT_SERVER"], a.environ["WEFT_CACERT"]
	if a.context != "" {
		server, caCert = at.Server, cmp.Or(at.CACert, caCert)
	}
	a.server = cmp.Or(a.server, server, at.Server, defaultServer)
	a.caCert = cmp.Or(a.caCert, caCert, at.CACert)
	token, err := a.givenToken(a.server)
	if err != nil {
		return err
	}
	if theirs := sameServer(a.server, cmp.Or(at.Server, defaultServer)); theirs && at.Token != "" && (token == "" || a.context != "" && a.tokenFile == "") {
		token = at.Token // which is for its server only
	}
	a.token, a.resolved = token, true
	return nil
}

// sameServer tells whether two addresses are one as they are written.
func sameServer(a, b string) bool { return strings.TrimRight(a, "/") == strings.TrimRight(b, "/") }

// givenToken is the token that a flag or the environment has for server; "" if none. Where the environment names a
// server, its token is for that one: no other is to see it.
func (a *Asker) givenToken(server string) (string, error) {
	if a.tokenFile == "" {
		token, of := strings.TrimSpace(a.environ["WEFT_TOKEN"]), a.environ["WEFT_SERVER"]
		if a.withheld = token != "" && of != "" && !sameServer(of, server); a.withheld {
			return "", nil
		}
		return token, nil
	}
	raw, err := a.ReadSmall(a.tokenFile, 64<<10, "a token")
	if err == nil && len(strings.TrimSpace(string(raw))) == 0 {
		err = Usage("%s has no token", a.tokenFile)
	}
	return strings.TrimSpace(string(raw)), err
}

// Named tells whether a flag says whom to ask, for commands that can do without.
func (a *Asker) Named() bool { return a.server != "" || a.context != "" }

// Client is the client of the server that was chosen.
func (a *Asker) Client() (*apiclient.Client, error) {
	if a.api != nil {
		return a.api, nil
	}
	if err := a.resolve(); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if a.caCert != "" {
		pem, err := readSmall(a.caCert, 1<<20, "a file of certificates")
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, Usage("--cacert: %s has no certificate in PEM form", a.caCert)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	h := &http.Client{Transport: noter{transport, &a.tls}}
	if a.curl {
		h.Transport = curlPrinter{a.Out}
	}
	cfg := apiclient.Config{
		Server: a.server, Token: a.token, HTTP: h, Timeout: a.timeout, UserAgent: "weft/" + a.Version,
		OnRepeat: func(why error, pause time.Duration) {
			fmt.Fprintf(a.ErrOut, "weft: %s; again in %v\n", firstLine(why.Error()), pause.Round(100*time.Millisecond))
		},
	}
	if a.curl {
		cfg.Attempts, cfg.OnRepeat = 1, nil
	}
	c, err := apiclient.New(cfg)
	if err != nil {
		return nil, Usage("%w", err)
	}
	a.cfg, a.api = cfg, c
	return c, nil
}

// Once is a client that sends each request once, over a connection of its own, and waits no longer than
// that for the answer: for who wants to know how it is now, and which node a balancer chooses.
func (a *Asker) Once(most time.Duration) (*apiclient.Client, error) {
	if _, err := a.Client(); err != nil {
		return nil, err
	}
	cfg := a.cfg
	cfg.Attempts, cfg.OnRepeat, cfg.Timeout = 1, nil, min(cmp.Or(a.timeout, most), most)
	if n, ok := cfg.HTTP.Transport.(noter); ok {
		if t, ok := n.RoundTripper.(*http.Transport); ok {
			fresh := t.Clone()
			fresh.DisableKeepAlives = true
			cfg.HTTP = &http.Client{Transport: noter{fresh, &a.tls}}
		}
	}
	return apiclient.New(cfg)
}

// Opts are the options of the one request of a command that changes something.
func (a *Asker) Opts() []apiclient.Option {
	if a.key == "" {
		return nil
	}
	return []apiclient.Option{apiclient.Key(a.key)}
}

// Part are the options of request i of n, counted from 0. The keys of all are parts of one: who
// repeats the line that an unknown outcome leaves repeats each of them.
func (a *Asker) Part(i, n int) []apiclient.Option {
	if n < 2 {
		return a.Opts()
	}
	if a.key == "" {
		a.key, a.made = apiclient.NewKey(), true
	}
	return []apiclient.Option{apiclient.Key(fmt.Sprintf("%s-%d", a.key, i+1))}
}

// TLS is how the last answer came; nil without TLS.
func (a *Asker) TLS() *tls.ConnectionState { return a.tls.Load() }

// noter notes how answers come.
type noter struct {
	http.RoundTripper

	last *atomic.Pointer[tls.ConnectionState]
}

func (n noter) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := n.RoundTripper.RoundTrip(r)
	if err == nil {
		n.last.Store(resp.TLS)
	}
	return resp, err
}

var errPrinted = errors.New("printed instead of sent")

// curlPrinter prints requests instead of sending them.
type curlPrinter struct{ w io.Writer }

func (p curlPrinter) RoundTrip(r *http.Request) (*http.Response, error) {
	line := "curl"
	if r.Method != http.MethodGet {
		line += " -X " + r.Method
	}
	for _, name := range []string{"Content-Type", "Idempotency-Key", "Prefer", "If-Match", "Accept"} {
		if v := r.Header.Get(name); v != "" {
			line += " -H " + Quote(name+": "+v)
		}
	}
	if r.Header.Get("Authorization") != "" {
		line += ` -H "Authorization: Bearer $WEFT_TOKEN"`
	}
	if r.Body != nil {
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			line += " --data-binary " + Quote(string(body))
		}
	}
	fmt.Fprintln(p.w, line, Quote(r.URL.String()))
	return nil, errPrinted
}

// Confirm asks before something is destroyed. Without a terminal, only --yes will do.
func (a *Asker) Confirm(format string, args ...any) error {
	if a.yes || a.curl {
		return nil
	}
	if !IsTerminal(a.In) || !IsTerminal(a.ErrOut) {
		return Usage("%s: say --yes, as nobody can be asked here", fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(a.ErrOut, "%s? [y/N] ", fmt.Sprintf(format, args...))
	line := ""
	_ = a.Reading(func() (err error) { // without an answer it is no
		line, err = bufio.NewReader(a.In).ReadString('\n')
		return err
	})
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return &exitError{ExitUsage, errors.New("nothing was done")}
	}
	return nil
}

// ReadSmall reads a file, or standard input for -, of at most so many bytes.
func (a *Asker) ReadSmall(name string, most int64, what string) ([]byte, error) {
	if name != "-" {
		return readSmall(name, most, what)
	}
	var raw []byte
	err := a.Reading(func() (err error) {
		raw, err = readMost(a.In, "standard input", most, what)
		return err
	})
	return raw, err
}

func readSmall(name string, most int64, what string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, Usage("%s is a directory, and %s is a file", name, what)
	}
	return readMost(f, name, most, what)
}

func readMost(r io.Reader, name string, most int64, what string) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > most {
		return nil, Usage("%s is larger than %s may be (%d KiB)", name, what, most>>10)
	}
	return raw, nil
}
