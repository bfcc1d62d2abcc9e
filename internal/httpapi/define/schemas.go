package define

import (
	"sync"

	"github.com/weft-run/weft/internal/auth"
	"github.com/weft-run/weft/internal/httpapi/serve"
)

// schemaRoutes tell editors what definitions may say.
func schemaRoutes(cfg *serve.Config) []serve.Route {
	notation := sync.OnceValue(cfg.Catalog.Schema) // it is large
	return []serve.Route{
		{Method: "GET", Path: "/schema/v1.json", Bare: true, Name: "schema", Role: auth.Viewer, Tag: "health", Kind: serve.Open,
			Summary: "The JSON Schema of definitions in YAML, for editors; it knows the activities of this node", Answers: map[int]any{200: serve.TextOf{"application/schema+json"}},
			Serve: func(*serve.Call) (serve.Reply, error) {
				return serve.Reply{Raw: notation(), RawType: "application/schema+json"}, nil
			}},
	}
}
