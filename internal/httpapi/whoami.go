package httpapi

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
)

// callerView is who calls. It has nothing by which somebody could call.
type callerView struct {
	Name      *string    `json:"name" doc:"key: and the name of an API key, or oidc: and the subject of a token; null: this cluster asks for no credentials."`
	Role      string     `json:"role" enum:"viewer,operator,designer,admin" doc:"What the caller may do; each may do what those before it may."`
	Groups    []string   `json:"groups" doc:"The values of the token's role claim, which policies of HTTP endpoints name."`
	By        string     `json:"by" enum:"key,token,session,nothing" doc:"What the caller is known by: an API key, a token of the provider, a session of the console; nothing, where no credentials are asked for."`
	ExpiresAt *time.Time `json:"expiresAt" doc:"When that ends by itself, a session at the latest then; null: never."`
}

func callerRoutes() []route {
	return []route{
		{method: "GET", path: "/whoami", name: "whoami", role: auth.Viewer, tag: "cluster", kind: open,
			summary: "Who calls: by which name, with which role, known by what, and until when",
			answers: map[int]any{200: callerView{}}, serve: (*call).whoami},
	}
}

func (c *call) whoami() (reply, error) {
	if c.api.cfg.Auth == nil {
		return reply{body: callerView{Role: auth.Admin.String(), Groups: []string{}, By: "nothing"}}, nil
	}
	caller, err := c.api.identify(c.w, c.r)
	if err != nil {
		return reply{}, err
	}
	return reply{body: callerView{
		Name: &caller.Name, Role: caller.Role.String(), Groups: append([]string{}, caller.Groups...), By: string(caller.By), ExpiresAt: knownTime(caller.Expires),
	}}, nil
}
