package mail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weft-run/weft/pkg/activities/branch"
	"github.com/weft-run/weft/pkg/activities/retry"
	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/workflow"
)

// Type is the activity's.
const Type = "Elsa.SendEmail"

const (
	errorPort      = "error"
	defaultTimeout = time.Minute
)

// SendEmail gives the descriptor, and code that sends nothing: a node puts that of its server in
// its place, [Server.Activity].
func SendEmail() (workflow.Descriptor, engine.Activity) {
	return workflow.Descriptor{
		Type: Type,
		Asks: workflow.AsksMail,
		Description: "Sends a mail by the SMTP server of the node (--smtp-address). It is for all of its recipients or for none: one that is refused refuses it. " +
			"Every call has a Message-ID of its own, which a repeat of the call has too. What fails is an incident unless the branch error says what to do. " +
			"Codes of faults: mail-refused (5xx) and mail-invalid, which a retry does not try again unless its on names them; mail-deferred (4xx) and mail-unreachable, where nothing was sent; mail-unknown: the mail may have been sent.",
		Inputs: []workflow.InputDescriptor{
			{Name: "from", Type: "String", Description: "The sender, such as Shop <shop@example.org>; not given, that of the node (--smtp-from)."},
			{Name: "to", Type: "String[]", Description: "Who gets it: addresses, one or a list. Up to 100 in to, cc and bcc together."},
			{Name: "cc", Type: "String[]", Description: "Who gets a copy."},
			{Name: "bcc", Type: "String[]", Description: "Who gets a copy that the others do not see."},
			{Name: "replyTo", Type: "String[]", Description: "Where answers go."},
			{Name: "subject", Type: "String", Description: "What it is about, in one line."},
			{Name: "body", Type: "String", Description: "The mail as HTML."},
			{Name: "text", Type: "String", Description: "The mail as plain text: beside body, for who does not read HTML, or alone."},
			{Name: "attachments", Type: "Object", Description: "One or a list of {fileName, contentType, content}: content is text, a list of bytes, or with encoding: base64 that; a file of an httpEndpoint is one. What has no content is sent as JSON. Up to 20; the mail has 10 MiB at most, as it is sent."},
			{Name: "timeout", Type: "TimeSpan", Default: defaultTimeout.String(), Positive: true, Description: "How long it may take."},
		},
		Outputs: []workflow.OutputDescriptor{
			{Name: "messageId", Type: "String", Description: "The mail's Message-ID, also of one that was not sent."},
			{Name: "error", Type: "Object", Fields: []string{"code", "message"}, Description: "Why it was not sent, in the branch error."},
		},
		Ports: []string{errorPort},
	}, sendEmail{}
}

// Activity is the code that sends by this server.
func (s *Server) Activity() engine.Activity { return sendEmail{server: s} }

type sendEmail struct {
	branch.OneBranch
	server *Server // nil: there is none
}

// Prepare looks at what is known when the definition is compiled.
func (sendEmail) Prepare(p *engine.Preparation) {
	given := false
	for _, name := range []string{"from", "to", "cc", "bcc", "replyTo"} {
		v, known := p.Constant(name)
		given = given || !known || v != nil && name != "from" && name != "replyTo"
		var texts []string
		switch v := v.(type) {
		case string:
			texts = []string{v}
		case []any:
			for _, e := range v {
				texts = append(texts, engine.Text(e))
			}
		}
		if _, err := addresses(texts); err != nil {
			p.Problem("bad-literal", p.Place(name), "%s: %v", name, err)
		}
	}
	if !given {
		p.Problem("bad-literal", p.Place("to"), "nobody is named who is to have the mail, in to, cc or bcc")
	}
	if v, ok := p.Constant("subject"); ok {
		if err := header("subject", engine.Text(v), maxSubject); err != nil {
			p.Problem("bad-literal", p.Place("subject"), "%v", err)
		}
	}
}

func (a sendEmail) Execute(ctx context.Context, x *engine.Execution) error {
	if a.server == nil {
		return errors.New("this node sends no mail: it has no mail server, which --smtp-address names")
	}
	e, id, err := message(x, a.server.cfg.From)
	if err != nil {
		return a.failed(x, &failure{codeInvalid, err.Error(), err})
	}
	limit := cmp.Or(x.Duration("timeout"), defaultTimeout)
	err = engine.Outside(ctx, x, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
		defer cancel()
		return a.server.send(ctx, e)
	})
	x.SetOutput("messageId", id)
	var f *failure
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // who goes on calls again
		return errors.Join(context.Cause(ctx), err)
	case errors.As(err, &f):
		x.Log().InfoContext(ctx, "mail not sent", "code", f.code, "error", f.err)
		return a.failed(x, f)
	}
	return err
}

var errLate = errors.New("the mail server was too slow")

// failed goes on along the branch for it, if there is one and no other attempt follows.
func (sendEmail) failed(x *engine.Execution, f *failure) error {
	var err error = &engine.FaultError{Code: f.code, Message: f.text}
	if f.code == codeRefused || f.code == codeInvalid {
		err = &retry.LastingError{Err: err}
	}
	n := x.Node().Port(errorPort)
	if n == nil || retry.Of(x).Again(x.Clock(), err) {
		return err
	}
	x.Journal("Failed", fmt.Sprintf("%s: %s", f.code, f.text), nil)
	x.SetOutput("error", map[string]any{"code": f.code, "message": f.text})
	x.Schedule(n, engine.Child{})
	return nil
}
