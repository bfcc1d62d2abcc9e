package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// audit writes who asked for what and what came of it: one line for each call
// that changes something or tries to, also one that was refused, and for each that
// takes a whole instance away. It names things and never says what is in them: no
// bodies, no queries, no credentials.
func (a *API) audit(r *http.Request, x *exchange, answered http.Header, status int) {
	if a.cfg.Audit == nil || x.served == nil || x.served.kind < changes && !x.served.audited {
		return
	}
	who, role := "unknown", ""
	switch {
	case x.caller != nil:
		who, role = x.caller.Name, x.caller.Role.String()
	case a.cfg.Auth == nil, x.served.role == auth.Anyone && status != http.StatusUnauthorized:
		who = "anyone" // nobody was asked
	}
	result := resultOf(status, x.dryRun)
	location := answered.Get("Location")
	if x.dryRun || x.theirs {
		location = "" // nothing is there, or what a workflow says, such as a resume link
	}
	refused := status >= http.StatusBadRequest && !x.theirs
	suppressed, ok := a.strangers.line(time.Now(), x.caller == nil && refused)
	if !ok {
		return
	}
	relayed := r.Header.Get(relayedBy)
	if relayed != "" && workflow.CheckID("", relayed) != nil {
		relayed = "?" // no node is called so
	}
	via := ""
	if auth.ByConsole(r.Context()) {
		via = "console"
	}
	line := auditLineView{
		NodeID: a.cfg.NodeID, Time: time.Now().UTC(), Who: who, Role: role, Operation: x.served.name, Method: r.Method, Route: x.route,
		Target: a.target(r, x), Result: result, Status: status, Code: string(x.code), Location: location, RequestID: x.id,
		Remote: r.RemoteAddr, RelayedBy: relayed, Via: via, Suppressed: suppressed,
	}
	a.audited.note(&line)
	a.cfg.Audit.LogAttrs(r.Context(), slog.LevelInfo, "audit",
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

// about says what a call is about, for the audit log, where its path does not.
func (c *call) about(parts ...string) {
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
	exchangeOf(c.r).target = strings.Join(said, " ")
}

// target is what the call was about, without secrets and resume links: half of one
// is not found any more.
func (a *API) target(r *http.Request, x *exchange) string {
	said := workflow.HideLinks(targetOf(r, x))
	if a.cfg.Secrets != nil {
		said = a.cfg.Secrets().Redact(said)
	}
	return workflow.CutChars(said, maxTarget)
}

// targetOf is what the handler said, or the id or name in the path, or all that
// calls of this kind can be about.
func targetOf(r *http.Request, x *exchange) string {
	if x.target != "" {
		return x.target
	}
	if x.served == &endpointRoute {
		return strings.TrimPrefix(r.URL.Path, endpointPrefix)
	}
	for _, name := range []string{"id", "name"} {
		if v := r.PathValue(name); v != "" {
			if n := r.PathValue("version"); n != "" {
				v += " version " + n
			}
			return v
		}
	}
	return x.served.target
}

// strangers bounds the lines about callers who are not known and were refused: they
// cost the caller nothing. What a caller of ours did, and what was done, is always
// written. The zero value has all of its lines.
type strangers struct {
	mu      sync.Mutex
	used    float64 // lines, of strangerLines
	at      time.Time
	dropped int64
}

// Lines about strangers that may come at once, and each second.
const (
	strangerLines = 100
	strangerRate  = 10
)

// line tells whether a line may be written, and how many were not since the last.
func (s *strangers) line(now time.Time, stranger bool) (suppressed int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if stranger {
		s.used, s.at = max(0, s.used-max(0, now.Sub(s.at).Seconds())*strangerRate), now
		if s.used+1 > strangerLines {
			s.dropped++
			return 0, false
		}
		s.used++
	}
	suppressed, s.dropped = s.dropped, 0
	return suppressed, true
}
