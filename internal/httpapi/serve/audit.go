package serve

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/ledger"
	"github.com/weft-run/weft/pkg/workflow"
	"github.com/weft-run/weft/pkg/workflow/resumelink"
)

// audit writes who asked for what and what came of it: one line for each call
// that changes something or tries to, also one that was refused, and for each that
// takes a whole instance away. It names things and never says what is in them: no
// bodies, no queries, no credentials.
func (a *API) audit(r *http.Request, x *Exchange, answered http.Header, status int) {
	if a.Config.Audit == nil || x.served == nil || x.served.Kind < Changes && !x.served.Audited {
		return
	}
	who, role := "unknown", ""
	switch {
	case x.Caller != nil:
		who, role = x.Caller.Name, x.Caller.Role.String()
	case a.Config.Auth == nil, x.served.Role == auth.Anyone && status != http.StatusUnauthorized:
		who = "anyone" // nobody was asked
	}
	result := resultOf(status, x.DryRun)
	location := answered.Get("Location")
	if x.DryRun || x.Theirs {
		location = "" // nothing is there, or what a workflow says, such as a resume link
	}
	refused := status >= http.StatusBadRequest && !x.Theirs
	suppressed, ok := a.strangers.Line(time.Now(), x.Caller == nil && refused)
	if !ok {
		return
	}
	relayed := r.Header.Get(RelayedBy)
	if relayed != "" && workflow.CheckID("", relayed) != nil {
		relayed = "?" // no node is called so
	}
	via := ""
	if auth.ByConsole(r.Context()) {
		via = "console"
	}
	line := ledger.AuditLine{
		NodeID: a.Config.NodeID, Time: time.Now().UTC(), Who: who, Role: role, Operation: x.served.Name, Method: r.Method, Route: x.route,
		Target: a.target(r, x), Result: result, Status: status, Code: string(x.code), Location: location, RequestID: x.id,
		Remote: r.RemoteAddr, RelayedBy: relayed, Via: via, Suppressed: suppressed,
	}
	a.Audited.Note(&line)
	a.Config.Audit.LogAttrs(r.Context(), slog.LevelInfo, "audit",
		slog.String("who", who), slog.String("role", role),
		slog.String("operation", line.Operation), slog.String("method", line.Method), slog.String("route", line.Route),
		slog.String("target", line.Target), slog.String("result", result), slog.Int("status", status), slog.String("code", line.Code),
		slog.String("location", location), slog.String("requestId", line.RequestID),
		slog.String("remote", line.Remote), slog.String("relayedBy", relayed), slog.String("via", via), slog.Int64("suppressed", suppressed))
}

// resultOf says in a word what came of a call.
func resultOf(status int, dryRun bool) string {
	switch {
	case status == http.StatusAccepted:
		return "accepted"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "denied"
	case status >= http.StatusBadRequest:
		return "failed"
	case dryRun:
		return "checked"
	}
	return "done"
}

// maxTarget bounds a target, in characters; two of the longest ids find room.
const maxTarget = 512

// About says what a call is about, for the audit log, where its path does not.
func (c *Call) About(parts ...string) {
	var said []string
	for i := 0; i+1 < len(parts); i += 2 {
		switch kind, name := parts[i], parts[i+1]; {
		case name == "":
		case kind == "":
			said = append(said, name)
		default:
			said = append(said, kind+" "+name)
		}
	}
	ExchangeOf(c.Request).target = strings.Join(said, " ")
}

// target is what the call was about, without secrets and resume links: half of one
// is not found any more.
func (a *API) target(r *http.Request, x *Exchange) string {
	said := resumelink.Hide(a.targetOf(r, x))
	if a.Config.Secrets != nil {
		said = a.Config.Secrets().Redact(said)
	}
	return workflow.CutChars(said, maxTarget)
}

// targetOf is what the handler said, or the id or name in the path, or all that
// calls of this kind can be about.
func (a *API) targetOf(r *http.Request, x *Exchange) string {
	if x.target != "" {
		return x.target
	}
	if x.served == a.endpoints {
		return strings.TrimPrefix(r.URL.Path, EndpointPrefix)
	}
	for _, name := range []string{"id", "name"} {
		if v := r.PathValue(name); v != "" {
			if n := r.PathValue("version"); n != "" {
				v += " version " + n
			}
			return v
		}
	}
	return x.served.Target
}
