package node

import "github.com/weft-run/weft/internal/catalog"

// Catalog is the node's catalogue of definitions.
func (n *Node) Catalog() *catalog.Catalog { return n.catalog }
