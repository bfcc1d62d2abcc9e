package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/metrics"
)

// censusEvery is how often one node counts the instances of all definitions.
const censusEvery = 30 * time.Second

// censusShare is how many times as long as a count takes the node rests at least: etcd takes
// no write while it counts a range. It is less in tests, where other work makes counts long.
var censusShare = 500

// census counts instances by definition, for metrics: on one node of the cluster, and never
// because somebody asks.
type census struct {
	worker
	last map[string]etcdstore.Census // nil: another node counts
	took time.Duration
}

func (c *census) takeCensus(ctx context.Context) error {
	c.nameDefinitions()
	return c.pacedLoop(ctx, "census", func() time.Duration { return max(c.cfg.CensusEvery, time.Duration(censusShare)*c.took) }, nil, func(ctx context.Context) (bool, error) {
		c.nameDefinitions()
		if c.cfg.Session.PreferredNode("census") != c.cfg.Session.NodeID() {
			c.last, c.took = nil, 0
			c.cfg.Metrics.SetCensus(nil)
			return false, nil
		}
		latest := map[string]int{}
		for _, d := range c.cfg.Catalog.Since(0).Changes { // deleted ones too: instances of them may run
			latest[d.ID] = d.Latest
		}
		began, now := time.Now(), c.cfg.Now()
		counted, err := c.cfg.Store.Census(ctx, latest, c.last, now)
		if c.took = time.Since(began); err != nil {
			return false, err
		}
		c.last = counted
		by := make(map[string]metrics.DefinitionCensus, len(counted))
		for id, n := range counted {
			d := metrics.DefinitionCensus{Instances: n.Instances}
			if !n.Oldest.IsZero() {
				d.Oldest = max(0, now.Sub(n.Oldest))
			}
			by[id] = d
		}
		c.cfg.Metrics.SetCensus(by)
		return false, nil
	})
}

// nameDefinitions gives what is published its series on this node.
func (c *census) nameDefinitions() {
	var ids []string
	for _, d := range c.cfg.Catalog.Since(0).Changes {
		if d.Published > 0 && !d.Deleted {
			ids = append(ids, d.ID)
		}
	}
	c.cfg.Metrics.KnowDefinitions(ids)
}
