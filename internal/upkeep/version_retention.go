package upkeep

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/metrics"
)

// versionPurge deletes versions of definitions that nothing needs.
type versionPurge struct{ retaining }

// versionsEvery is how often versions are looked for that nothing needs. A round with
// new ones reads all instances of their definitions.
const versionsEvery = 30 * time.Minute

// purgeVersions deletes versions of definitions that nothing needs, as far as there
// are too many or somebody asked for it. One node does it; two at once do no harm.
func (v *versionPurge) purgeVersions(ctx context.Context) error {
	var used catalog.VersionUsers
	return v.loop(ctx, "retention of versions", versionsEvery, nil, func(ctx context.Context) (bool, error) {
		if v.intake.Draining() || v.cfg.Session.PreferredNode("retention/versions") != v.cfg.Session.NodeID() {
			used = catalog.VersionUsers{} // what is known of them becomes old
			return false, nil
		}
		return false, v.purgeVersionsOnce(ctx, &used)
	})
}

func (v *versionPurge) purgeVersionsOnce(ctx context.Context, used *catalog.VersionUsers) error {
	purged, err := v.cfg.Catalog.PurgeVersions(ctx, v.cfg.Retention.Versions, v.cfg.Age.Now(), used)
	v.cfg.Metrics.Purged(metrics.PurgedVersion, purged)
	if purged > 0 {
		v.cfg.Log.InfoContext(ctx, "versions of definitions purged", "versions", purged)
	}
	return err
}
