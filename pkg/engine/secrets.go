package engine

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/weft-run/weft/pkg/workflow"
)

// EventRedacted is journalled where an activity put out the value of a secret.
const EventRedacted = "Redacted"

// secretError refuses to keep the value of a secret where somebody would later
// read it and take it for the value: what is kept instead is no longer it.
type secretError struct{ what, name string }

func (e *secretError) Error() string {
	return fmt.Sprintf("%s would keep the value of the secret %s, and secrets are never kept; read secrets.%s where it is needed instead", e.what, e.name, e.name)
}

// refuseSecret returns an error if one of the values has that of a secret in it.
func (e *Env) refuseSecret(what string, values ...any) error {
	for _, v := range values {
		if _, name := e.Secrets.RedactValue(v); name != "" {
			return &secretError{what, name}
		}
	}
	return nil
}

// Secret is the value of a secret at this moment, for what the activity sends, and for nothing that it keeps or tells.
func (x *Execution) Secret(name string) (string, bool) {
	if e := &x.b.env; e.Present != nil {
		e.Secrets = e.Present() // which finds the values from before still
	}
	return x.b.env.Secrets.Get(name)
}

// Secret says that the activity reads the secret that an input names, for publishing to tell whether it is there.
func (p *Preparation) Secret(name, input string) {
	p.c.useSecrets([]string{name}, p.Place(input), "input "+input+" of "+p.Node.local)
}

// redactTexts gives texts without the values of secrets, and valid ones.
func (e *Env) redactTexts(texts []string) []string {
	if !slices.ContainsFunc(texts, func(t string) bool { return !utf8.ValidString(t) || e.Secrets.Find(t) != "" }) {
		return texts
	}
	out := slices.Clone(texts)
	for i := range out {
		out[i] = workflow.ValidText(e.Secrets.Redact(out[i]))
	}
	return out
}

// redactOutput gives what is kept of an output: what came back from outside may
// repeat a secret that was sent there.
func (x *Execution) redactOutput(name string, v any) any {
	kept, secret := x.b.env.Secrets.RedactValue(v)
	if secret != "" {
		x.b.journal(x, EventRedacted, fmt.Sprintf("the output %s held the value of the secret %s; ***%s*** is kept in its place", name, secret, secret), nil)
	}
	return kept
}

// redactResponse gives the response without the values of secrets: it may be
// recorded for the caller's Idempotency-Key.
func (e *Env) redactResponse(r workflow.Response) workflow.Response {
	s := e.Secrets
	r.ContentType, r.Body = s.Redact(r.ContentType), s.RedactBytes(r.Body)
	headers := make(map[string]string, len(r.Headers))
	for k, v := range r.Headers {
		if utf8.ValidString(k) { // HTTP has no others
			headers[k] = s.Redact(v)
		}
	}
	r.Headers = headers
	return r
}

// SecretUse is a place of a definition that reads a secret by name.
type SecretUse struct {
	Name  string
	What  string // such as: input url of SendHttpRequest ship
	Place workflow.Place
}

// Secrets are the secrets that the program's expressions name.
func (p *Program) Secrets() []SecretUse { return p.secrets }

// secretReader is a compiled expression that knows which secrets it reads.
type secretReader interface{ Secrets() []string }

func (c *compiler) useSecrets(names []string, place workflow.Place, what string) {
	if c.via != nil {
		place = c.via.activity.Place
	}
	for _, name := range names {
		c.prog.secrets = append(c.prog.secrets, SecretUse{name, what, place})
	}
}
