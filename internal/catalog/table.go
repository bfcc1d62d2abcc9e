package catalog

import (
	"context"
	"maps"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/internal/store"
)

// table is every head, deleted ones too, as of revision or later. It is
// immutable.
type table struct {
	heads    map[string]*store.DefinitionHead
	revision int64
	replaced chan struct{} // closed when another table is in its place
}

// Run keeps the table current until ctx ends, and then returns nil. Call it
// once.
func (c *Catalog) Run(ctx context.Context) error {
	wait := minBackoff
	for {
		began := time.Now()
		err := c.follow(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // that it ends with its context is no error
		}
		if time.Since(began) > maxBackoff {
			wait = minBackoff
		}
		c.log.WarnContext(ctx, "catalogue lost its watch, reading again", "error", err, "retryIn", wait)
		if !pace.Pause(ctx, pace.Jitter(wait)) {
			return nil
		}
		wait = min(2*wait, maxBackoff)
	}
}

const (
	minBackoff = 100 * time.Millisecond
	maxBackoff = 5 * time.Second
	purgeEvery = 10 * time.Minute
	purgeAfter = time.Hour // a start that read the head before the delete is long over
	sweepsFull = 20        // every so many sweeps one reads all heads, also those that the table knows
)

// follow reads what changed and then watches, until that fails.
func (c *Catalog) follow(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := c.sync(ctx); err != nil {
		return err
	}
	changes := c.store.WatchHeads(ctx, c.Revision())
	sweep := time.NewTimer(pace.Jitter(c.cfg.Sweep))
	defer sweep.Stop()
	sweeps := 0
	purge := time.NewTicker(pace.Jitter(purgeEvery))
	defer purge.Stop()
	for {
		select {
		case ch, ok := <-changes:
			if !ok {
				return ctx.Err()
			}
			if ch.Err != nil {
				return ch.Err
			}
			c.merge(ch)
		case <-sweep.C:
			after := c.Revision()
			if sweeps++; sweeps%sweepsFull == 0 {
				after = 0
			}
			if err := c.syncAfter(ctx, after); err != nil {
				return err
			}
			sweep.Reset(pace.Jitter(c.cfg.Sweep))
		case <-purge.C:
			c.purge(ctx)
		}
	}
}

// sync reads the heads that changed since the table's revision.
func (c *Catalog) sync(ctx context.Context) error { return c.syncAfter(ctx, c.Revision()) }

// syncAfter reads the heads that changed after a revision; after 0 all.
func (c *Catalog) syncAfter(ctx context.Context, after int64) error {
	ch, err := c.store.ChangedHeads(ctx, after)
	if err != nil {
		return err
	}
	c.merge(ch)
	c.once.Do(func() { close(c.loaded) })
	return nil
}

// merge replaces the table by one that knows the changes too. Older news than
// the table has does no harm.
func (c *Catalog) merge(ch store.HeadChanges) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.table.Load()
	next := &table{heads: old.heads, revision: max(old.revision, ch.Revision), replaced: make(chan struct{})}
	cloned := false
	for i := range ch.Heads {
		h := &ch.Heads[i]
		if known := next.heads[h.ID]; known != nil && known.Modified >= h.Modified {
			continue
		}
		if !cloned {
			if next.heads = maps.Clone(old.heads); next.heads == nil {
				next.heads = map[string]*store.DefinitionHead{}
			}
			cloned = true
		}
		next.heads[h.ID] = h
	}
	if !cloned && next.revision == old.revision {
		return // no news: nobody is woken
	}
	c.table.Store(next)
	close(old.replaced)
}

// learn puts one head into the table that was read or written apart from the
// watch.
func (c *Catalog) learn(h *store.DefinitionHead) {
	if h != nil && h.Modified > 0 {
		c.merge(store.HeadChanges{Heads: []store.DefinitionHead{*h}})
	}
}

// purge removes what is left of definitions that were deleted long ago.
func (c *Catalog) purge(ctx context.Context) {
	age, err := c.store.Age(ctx)
	if err != nil {
		c.log.WarnContext(ctx, "deleted definitions not purged, it is tried again later", "error", err)
		return
	}
	for id, h := range c.table.Load().heads {
		if h.Deleted == nil || h.Purged || age.Of(h.Modified) < purgeAfter {
			continue
		}
		if _, err := c.store.PurgeDefinition(ctx, id); err != nil {
			c.log.WarnContext(ctx, "deleted definition not purged, it is tried again later", "definition", id, "error", err)
		}
	}
}
