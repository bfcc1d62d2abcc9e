package catalog

import (
	"context"

	"github.com/weft-run/weft/internal/store"
)

// Believe makes the table believe that it knows every change up to a revision.
func (c *Catalog) Believe(revision int64) { c.merge(store.HeadChanges{Revision: revision}) }

// Known tells whether the table has a definition.
func (c *Catalog) Known(id string) bool { return c.table.Load().heads[id] != nil }

// Purge is one round of removing what is left of deleted definitions.
func (c *Catalog) Purge(ctx context.Context) { c.purge(ctx) }
