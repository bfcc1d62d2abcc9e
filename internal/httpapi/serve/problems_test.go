package serve

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weft-run/weft/pkg/workflow"
)

// Every code that is declared in pkg/workflow has a status: a new one must be
// put into the table.
func TestEveryCodeHasAStatus(t *testing.T) {
	t.Parallel()
	f, err := parser.ParseFile(token.NewFileSet(), "../../../pkg/workflow/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		lit, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			t.Fatal(err)
		}
		found++
		if status[workflow.Code(text)] == 0 {
			t.Errorf("%s (%s) has no status", spec.Names[0].Name, text)
		}
		return true
	})
	if found < 20 {
		t.Errorf("found %d codes only; does the test still read the right file?", found)
	}
}

func TestFailSaysWhatTheCallerMayKnow(t *testing.T) {
	t.Parallel()
	secret := errors.New("rpc error: 10.1.2.3 refused")
	tests := []struct {
		name       string
		err        error
		status     int
		code       workflow.Code
		retryAfter string
	}{
		{"a domain error", workflow.Fail(workflow.CodeInstanceNotFound, "there is no instance x"), 404, "instance-not-found", ""},
		{"wrapped", fmt.Errorf("execute: %w", workflow.Fail(workflow.CodeInstanceExists, "there is one")), 409, "instance-exists", ""},
		{"with a cause", &workflow.Error{Code: workflow.CodeUnavailable, Detail: "etcd does not answer", Err: secret}, 503, "unavailable", "1"},
		{"retry after is rounded up", &workflow.Error{Code: workflow.CodeBusy, Detail: "busy", RetryAfter: 1500 * time.Millisecond}, 503, "busy", "2"},
		{"problems", workflow.Problems{{Code: "x", Detail: "wrong"}}, 422, "definition-invalid", ""},
		{"an unknown error", secret, 500, "internal", ""},
		{"an unknown code", workflow.Fail("no-such-code", "?"), 500, "internal", ""},
		{"the deadline", fmt.Errorf("commit: %w", context.DeadlineExceeded), 503, "outcome-unknown", "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := &API{log: slog.New(slog.DiscardHandler)}
			w := httptest.NewRecorder()
			w.Header().Set("Location", "/somewhere")
			a.fail(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil), tt.err)
			p := readProblem(t, w.Result())
			if p.Status != tt.status || p.Code != tt.code || w.Code != tt.status {
				t.Errorf("got %d %s, want %d %s", p.Status, p.Code, tt.status, tt.code)
			}
			if got := w.Header().Get("Retry-After"); got != tt.retryAfter {
				t.Errorf("Retry-After is %q, want %q", got, tt.retryAfter)
			}
			if strings.Contains(w.Body.String(), "10.1.2.3") {
				t.Errorf("the answer shows the cause: %s", w.Body)
			}
			if w.Header().Get("Location") != "" {
				t.Error("a failure has a Location")
			}
		})
	}
}

// docs/api.md is written by hand; this holds it to the table of codes.
func TestDocumentationHasEveryCode(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	for code := range status {
		if !strings.Contains(string(raw), "`"+string(code)+"`") {
			t.Errorf("docs/api.md does not have the code %s", code)
		}
	}
}
