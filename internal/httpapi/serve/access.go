package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/pkg/workflow"
)

// checkRoles holds that every route says who may call it: one that forgot to is
// served to nobody, and does not get that far.
func checkRoles(routes []Route) error {
	for i := range routes {
		if r := routes[i].Role; r < auth.Anyone || r > auth.Admin {
			return fmt.Errorf("httpapi: the route %s %s names no role", routes[i].Method, routes[i].FullPath())
		}
	}
	return nil
}

// allow refuses a request whose caller has not at least this role. Where no
// credentials are configured, everybody has every role.
func (a *API) allow(w http.ResponseWriter, r *http.Request, least auth.Role) error {
	if least == auth.Anyone || a.Config.Auth == nil {
		return nil
	}
	caller, err := a.Identify(w, r)
	if err != nil {
		return err
	}
	if caller.Role >= least && least > 0 {
		return nil
	}
	challenge(w, fmt.Sprintf(`error="insufficient_scope", scope=%q`, least))
	return workflow.Fail(codeForbidden, fmt.Sprintf("this needs the role %s, and %s has %s", least, caller.Name, roleText(caller.Role)))
}

func roleText(r auth.Role) string {
	if r < auth.Business {
		return "no role"
	}
	return "the role " + r.String()
}

// allowEndpoint checks the caller of an HTTP endpoint whose definition asks for
// that.
func (a *API) allowEndpoint(w http.ResponseWriter, r *http.Request, policy string) error {
	if a.Config.Auth == nil {
		return workflow.Fail(workflow.CodeUnauthenticated, "this endpoint is for authenticated callers only, and this cluster knows none: it runs without credentials")
	}
	caller, err := a.Identify(w, r)
	if err != nil {
		return err
	}
	if caller.Satisfies(policy) {
		return nil
	}
	challenge(w, `error="insufficient_scope"`)
	return workflow.Fail(codeForbidden, fmt.Sprintf("this endpoint has the policy %q, and %s has neither a role nor a group of that name", Shorten(policy), caller.Name))
}

// Identify finds out who calls, once for each request.
func (a *API) Identify(w http.ResponseWriter, r *http.Request) (*auth.Principal, error) {
	x := ExchangeOf(r)
	if x.Caller != nil {
		return x.Caller, nil
	}
	caller, err := a.Config.Auth.Authenticate(r.Context(), r.Header)
	var refused *auth.RefusedError
	var away *auth.UnavailableError
	switch {
	case err == nil:
		x.Caller = caller
		return caller, nil
	case errors.As(err, &refused):
		challenge(w, `error="invalid_token"`)
		return nil, workflow.Fail(workflow.CodeUnauthenticated, refused.Reason)
	case errors.As(err, &away):
		return nil, &workflow.Error{Code: workflow.CodeUnavailable, Err: away, RetryAfter: max(away.RetryAfter, time.Second),
			Detail: "this token cannot be checked now: the identity provider did not give its keys; API keys work"}
	}
	challenge(w, "")
	return nil, workflow.Fail(workflow.CodeUnauthenticated, err.Error())
}

// challenge says how to authenticate (RFC 6750).
func challenge(w http.ResponseWriter, more string) {
	value := `Bearer realm="weft"`
	if more != "" {
		value += ", " + more
	}
	w.Header().Set("WWW-Authenticate", value)
}

// unknown answers for what is no route, to those who may know that.
func (a *API) unknown(w http.ResponseWriter, r *http.Request, err error) {
	if a.Config.Auth != nil {
		if _, missing := a.Identify(w, r); missing != nil {
			err = missing
		}
	}
	a.fail(w, r, err)
}

// EndpointGuard is what the runtime asks before it hands a request to an endpoint
// that is not for everybody.
func EndpointGuard(c *Call) func(context.Context, string) error {
	return func(_ context.Context, policy string) error { return c.API.allowEndpoint(c.Writer, c.Request, policy) }
}

// By is who asks, for the journal.
func (c *Call) By() string {
	if p := ExchangeOf(c.Request).Caller; p != nil {
		return p.Name
	}
	return ""
}
