package httpapi

import (
	"log/slog"
	"net/http"
	"strings"
)

// audit writes who asked for what and what came of it: one line for each call
// that changes something or tries to, also one that was refused. It names things
// and never says what is in them: no bodies, no queries, no credentials.
func (a *API) audit(r *http.Request, x *exchange, answered http.Header, status int) {
	if a.cfg.Audit == nil || x.served == nil || x.served.kind < changes {
		return
	}
	who, role := "unknown", ""
	switch {
	case x.caller != nil:
		who, role = x.caller.Name, x.caller.Role.String()
	case a.cfg.Auth == nil || x.served == &endpointRoute && status != http.StatusUnauthorized:
		who = "anyone" // nobody was asked
	}
	result := "done"
	switch {
	case status == http.StatusAccepted:
		result = "accepted"
	case status >= http.StatusBadRequest:
		result = "failed"
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			result = "denied"
		}
	}
	a.cfg.Audit.LogAttrs(r.Context(), slog.LevelInfo, "audit",
		slog.String("who", who), slog.String("role", role),
		slog.String("operation", x.served.name), slog.String("method", r.Method), slog.String("route", x.route),
		slog.String("target", target(r, x)), slog.String("result", result), slog.Int("status", status), slog.String("code", string(x.code)),
		slog.String("location", answered.Get("Location")), slog.String("requestId", x.id),
		slog.String("remote", r.RemoteAddr), slog.String("relayedBy", r.Header.Get(relayedBy)))
}

// target is what the call was about: the id or name in its path.
func target(r *http.Request, x *exchange) string {
	if x.served == &endpointRoute {
		return shorten(strings.TrimPrefix(r.URL.Path, endpointPrefix))
	}
	for _, name := range []string{"id", "name"} {
		if v := r.PathValue(name); v != "" {
			if n := r.PathValue("version"); n != "" {
				v += " version " + n
			}
			return shorten(v)
		}
	}
	return ""
}
