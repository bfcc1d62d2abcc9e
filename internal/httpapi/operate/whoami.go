package operate

import (
	"time"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
	"github.com/weft-run/weft/internal/httpapi/shape"
)

// callerView is who calls. It has nothing by which somebody could call.
type callerView struct {
	Name      *string    `json:"name" doc:"key: and the name of an API key, or oidc: and the subject of a token; null: this cluster asks for no credentials."`
	Role      string     `json:"role" enum:"business,viewer,operator,designer,admin" doc:"What the caller may do; each may do what those before it may."`
	Groups    []string   `json:"groups" doc:"The values of the token's role claim, or the groups of the API key: policies of HTTP endpoints and user tasks name them."`
	By        string     `json:"by" enum:"key,token,session,nothing" doc:"What the caller is known by: an API key, a token of the provider, a session of the console; nothing, where no credentials are asked for."`
	ExpiresAt *time.Time `json:"expiresAt" doc:"When that ends by itself, a session at the latest then; null: never."`
}

func callerRoutes() []serve.Route {
	return []serve.Route{
		{Method: "GET", Path: "/whoami", Name: "whoami", Role: auth.Business, Tag: "cluster", Kind: serve.Open,
			Summary: "Who calls: by which name, with which role, known by what, and until when",
			Answers: map[int]any{200: callerView{}}, Serve: whoami},
	}
}

func whoami(c *serve.Call) (serve.Reply, error) {
	if c.API.Config.Auth == nil {
		return serve.Reply{Body: callerView{Role: auth.Admin.String(), Groups: []string{}, By: "nothing"}}, nil
	}
	caller, err := c.API.Identify(c.Writer, c.Request)
	if err != nil {
		return serve.Reply{}, err
	}
	return serve.Reply{Body: callerView{
		Name: &caller.Name, Role: caller.Role.String(), Groups: append([]string{}, caller.Groups...), By: string(caller.By), ExpiresAt: shape.KnownTime(caller.Expires),
	}}, nil
}
