package run

import (
	"slices"

	"github.com/weft-run/weft/internal/httpapi/serve"
)

// Routes start instances, send them stimuli, and show what they do.
func Routes() []serve.Route {
	return slices.Concat(
		instanceRoutes(), journalRoutes(), lineageRoutes(), bookmarkRoutes(), streamRoutes(), stimulusRoutes(), linkRoutes(),
	)
}
