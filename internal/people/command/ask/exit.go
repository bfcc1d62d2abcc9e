package ask

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"

	"github.com/mattn/go-isatty"

	"github.com/weft-run/weft/pkg/apiclient"
)

// The exit codes.
const (
	ExitBad         = 1   // the asked thing is bad: faulted, stuck, different, a failed test
	ExitUsage       = 2   // wrong usage, or a file of this machine
	ExitRefused     = 3   // the server refused
	ExitCredentials = 4   // the credentials are missing, do not count or do not suffice
	ExitUnknown     = 5   // nobody answered, or the outcome is not known: repeating is safe
	ExitNotOver     = 6   // accepted, and not over by the deadline
	ExitInterrupted = 130 // by a signal
	ExitPipe        = 141 // who read the output has gone
)

// ExitCodes are what the program ends with, and what each means.
var ExitCodes = []struct {
	Code  int
	Means string
}{
	{0, "done"},
	{ExitBad, "what was asked about is bad: faulted, stuck, different, not valid, a failed test"},
	{ExitUsage, "wrong usage, or a file of this machine"},
	{ExitRefused, "refused; the problem's code is in the message"},
	{ExitCredentials, "the credentials are missing, do not count or do not suffice"},
	{ExitUnknown, "nobody answered, or the outcome is not known: repeating is safe"},
	{ExitNotOver, "accepted, and not over by the deadline"},
	{ExitInterrupted, "interrupted"},
	{ExitPipe, "who read the output has gone, as head does; what was to be done is done"},
}

// exitError ends the program with a code. Without err nothing is said: it was said already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// Exit ends the program with a code; without err nothing is said about it.
func Exit(code int, err error) error { return &exitError{code, err} }

// Usage is an error of who typed the command, or of a file.
func Usage(format string, args ...any) error {
	return &exitError{ExitUsage, fmt.Errorf(format, args...)}
}

// ExitCode is what the program ends with for an error of a command of this package; ok is
// false for others.
func ExitCode(err error) (code int, ok bool) {
	var said *exitError
	if errors.As(err, &said) {
		return said.code, true
	}
	return 0, false
}

// codeOf is the exit code that an error stands for; ok is false if none is special to it.
func codeOf(err error) (code int, ok bool) {
	var said *exitError
	var problem *apiclient.ProblemError
	var lost *apiclient.NoAnswerError
	var file *fs.PathError
	switch {
	case errors.As(err, &said):
		return said.code, true
	case errors.As(err, &lost):
		if errors.Is(err, context.Canceled) || errors.Is(err, errInterrupted) {
			return ExitInterrupted, true
		}
		return ExitUnknown, true
	case errors.As(err, &problem):
		switch {
		case problem.Status == 401 || problem.Status == 403:
			return ExitCredentials, true
		case problem.Temporary(), problem.Status == 503, foreign(problem):
			return ExitUnknown, true
		}
		return ExitRefused, true
	case errors.Is(err, context.Canceled):
		return ExitInterrupted, true
	case errors.As(err, &file):
		return ExitUsage, true
	}
	return 0, false
}

// foreign tells that no node of Weft answered, but something else that is there. What is too large for it is refused.
func foreign(p *apiclient.ProblemError) bool { return p.Code == "" && p.Status != 413 }

// Explained is the line about an error, with what to do.
func (a *Asker) Explained(err error) string {
	var problem *apiclient.ProblemError
	var lost *apiclient.NoAnswerError
	text := err.Error()
	switch {
	case errors.As(err, &lost):
		text = fmt.Sprintf("no answer from %s: %v", a.server, lost.Err)
		var dial *net.OpError
		switch {
		case errors.Is(err, errInterrupted):
			text = errInterrupted.Error()
		case strings.Contains(text, "HTTP response to HTTPS client"):
			text += "; say http:// with --server"
		case errors.Is(err, syscall.ECONNREFUSED):
			text = fmt.Sprintf("nothing listens at %s: start a node there, or say with --server where one is", a.server)
		case errors.As(err, &dial) && dial.Op == "dial":
			text += "; say with --server where a node is"
		case strings.Contains(text, "x509") || strings.Contains(text, "tls:"):
			text += "; --cacert names the authorities that sign its certificate"
		}
		if lost.NotSent && mutates(lost) {
			text += "; nothing was done, as no request was sent"
		}
	case errors.As(err, &problem):
		switch {
		case foreign(problem) && problem.Status >= 400 && problem.Status != 401:
			text = problem.Detail + "; is there a node at " + a.server + "? Say with --server where one is"
		case problem.Status == 401:
			text = problem.Detail + a.noToken("; sign in with weft login, or give WEFT_TOKEN or --token-file")
		case problem.Status == 422:
			text = ProblemLines(problem)
		}
	}
	return text
}

// mutates reports whether the request would change something.
func mutates(e *apiclient.NoAnswerError) bool {
	return e.Method != http.MethodGet && e.Method != http.MethodHead
}

// ProblemLines are the detail of a refusal and its single problems, each in a line or, where
// the source is shown, in several.
func ProblemLines(p *apiclient.ProblemError) string {
	if len(p.Errors) == 0 {
		return p.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)", firstLine(p.Detail), p.Code)
	for _, e := range p.Errors {
		if strings.HasSuffix(firstLine(p.Detail), e.Detail) && len(p.Errors) == 1 { // it is said above
			for line := range strings.Lines(e.Excerpt) {
				b.WriteString("\n    " + strings.TrimRight(line, "\n"))
			}
			break
		}
		b.WriteString("\n  ")
		switch {
		case e.Line > 0:
			fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Column)
		case e.Pointer != "":
			fmt.Fprintf(&b, "%s: ", e.Pointer)
		}
		fmt.Fprintf(&b, "%s", e.Detail)
		for line := range strings.Lines(e.Excerpt) {
			b.WriteString("\n    " + strings.TrimRight(line, "\n"))
		}
	}
	return b.String()
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// repeatLine is how to repeat a command whose outcome is not known; "" if that is not so.
func (a *Asker) repeatLine(err error, args []string) string {
	var problem *apiclient.ProblemError
	var lost *apiclient.NoAnswerError
	key, keyless := "", false
	switch {
	case errors.As(err, &lost) && lost.NotSent: // nothing is unknown
	case errors.As(err, &lost):
		key, keyless = lost.Key, lost.Method == http.MethodDelete
	case errors.As(err, &problem) && (problem.Temporary() || problem.Unknown()):
		key = problem.Key
	}
	if key == "" && !keyless {
		return ""
	}
	if a.made {
		key = a.key
	}
	if key != "" && (a.key == "" || a.made) { // else it is among args
		args = append(append([]string{}, args...), "--key", key)
	}
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = Quote(arg)
	}
	return "outcome unknown; repeat with: weft " + strings.Join(quoted, " ")
}

// Quote gives a word as a shell takes it.
func Quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=@,+%", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// IsTerminal tells whether a person reads or writes there.
func IsTerminal(v any) bool {
	f, ok := v.(*os.File)
	if !ok {
		return false
	}
	return isatty.IsTerminal(f.Fd())
}

// InFile names the file that a refusal is about.
func InFile(err error, file string) error {
	var p *apiclient.ProblemError
	if !errors.As(err, &p) || p.Status != 422 {
		return err
	}
	return Named(p, file)
}

// Named is a problem that names its file.
func Named(p *apiclient.ProblemError, file string) *apiclient.ProblemError {
	out := *p
	out.Detail = file + ": " + p.Detail
	return &out
}

// Placed is a problem of a file with its place, and the source below it.
func Placed(file string, item apiclient.ProblemItem) string {
	text := file + ":"
	switch {
	case item.Line > 0:
		text += fmt.Sprintf("%d:%d:", item.Line, item.Column)
	case item.Pointer != "":
		text += item.Pointer + ":"
	}
	if item.Severity == "warning" {
		text += " warning:"
	}
	text += fmt.Sprintf(" %s (%s)", item.Detail, item.Code)
	for line := range strings.Lines(item.Excerpt) {
		text += "\n    " + strings.TrimRight(line, "\n")
	}
	return text
}
