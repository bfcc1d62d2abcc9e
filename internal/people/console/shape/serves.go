package shape

import (
	"github.com/weft-run/weft/internal/people/console/page"
)

// Serves is which nodes have definitions up to a revision.
type Serves struct {
	Nodes    []Node
	Revision int64
	Behind   int
}

// WhoServes asks which nodes serve definitions of a revision.
func WhoServes(v *page.Visit, revision int64) (Serves, error) {
	nodes, err := page.Get[page.List[Node]](v, "/nodes", nil)
	view := Serves{Nodes: nodes.Items, Revision: revision}
	for i := range view.Nodes {
		if view.Nodes[i].CatalogRevision < revision {
			view.Behind++
		}
	}
	return view, err
}

// Settled tells that every node serves them: nothing more comes.
func (s *Serves) Settled() bool { return s.Behind == 0 }
