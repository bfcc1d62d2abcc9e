package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/metrics"
)

// versionsEvery is how often versions are looked for that nothing needs. A round with
// new ones reads all instances of their definitions.
const versionsEvery = 30 * time.Minute

// purgeVersions deletes versions of definitions that nothing needs, as far as there
// are too many or somebody asked for it. One node does it; two at once do no harm.
func (r *Upkeep) purgeVersions(ctx context.Context) error {
	var used catalog.VersionUsers
	return r.loop(ctx, "retention of versions", versionsEvery, nil, func(ctx context.Context) (bool, error) {
		if r.intake.Draining() || r.cfg.Session.PreferredNode("retention/versions") != r.cfg.Session.NodeID() {
			used = catalog.VersionUsers{} // what is known of them becomes old
			return false, nil
		}
		return false, r.purgeVersionsOnce(ctx, &used)
	})
}

func (r *Upkeep) purgeVersionsOnce(ctx context.Context, used *catalog.VersionUsers) error {
	purged, err := r.cfg.Catalog.PurgeVersions(ctx, r.cfg.Retention.Versions, r.cfg.Age.Now(), used)
	r.cfg.Metrics.Purged(metrics.PurgedVersion, purged)
	if purged > 0 {
		r.cfg.Log.InfoContext(ctx, "versions of definitions purged", "versions", purged)
	}
	return err
}
