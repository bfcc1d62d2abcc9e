package define

import (
	"slices"

	"github.com/weft-run/weft/internal/httpapi/serve"
)

// Routes are for who writes definitions.
func Routes(cfg *serve.Config) []serve.Route {
	return slices.Concat(definitionRoutes(), activityRoutes(), scheduleRoutes(), schemaRoutes(cfg))
}
