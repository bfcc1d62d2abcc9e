package node

import (
	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/runtime"
)

// Runtime is the node's runtime, for programs that have the node inside of them
// and do without HTTP. It works between Start and Stop.
func (n *Node) Runtime() *runtime.Runtime { return n.runtime }

// Catalog is the node's catalogue of definitions. It works between Start and
// Stop.
func (n *Node) Catalog() *catalog.Catalog { return n.catalog }
