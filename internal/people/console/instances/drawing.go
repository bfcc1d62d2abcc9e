package instances

import (
	"net/url"
	"strings"

	"github.com/weft-run/weft/internal/authoring/graph"
	"github.com/weft-run/weft/internal/people/console/page"
)

// drawnInstance draws an instance. An activity leads to what the journal has of it.
func drawnInstance(v *page.Visit, id string) (page.Drawing, error) {
	return v.Drawn(page.At("instances", id, "graph"), nil, func(n *graph.Node) string {
		return page.Address(strings.TrimSuffix(page.Path, "/")+page.At("instances", id), url.Values{"tab": {"journal"}, "activity": {n.ID}})
	})
}
