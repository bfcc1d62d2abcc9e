package retention

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/metrics"
)

// Versions deletes versions of definitions that nothing needs.
type Versions struct{ Retaining }

// versionsEvery is how often versions are looked for that nothing needs. A round with
// new ones reads all instances of their definitions.
const versionsEvery = 30 * time.Minute

// run deletes versions of definitions that nothing needs, as far as there
// are too many or somebody asked for it. One node does it; two at once do no harm.
func (v *Versions) run(ctx context.Context) error {
	var used catalog.VersionUsers
	return v.loop(ctx, "retention of versions", versionsEvery, func(ctx context.Context) (bool, error) {
		if v.Cfg.Intake.Draining() || !v.here("versions") {
			used = catalog.VersionUsers{} // what is known of them becomes old
			return false, nil
		}
		return false, v.Once(ctx, &used)
	})
}

// Once is one round.
func (v *Versions) Once(ctx context.Context, used *catalog.VersionUsers) error {
	purged, err := v.Cfg.Catalog.PurgeVersions(ctx, v.Cfg.Limits.Versions, v.Cfg.Age(), used)
	v.Cfg.Metrics.Purged(metrics.PurgedVersion, purged)
	if purged > 0 {
		v.Cfg.Log.InfoContext(ctx, "versions of definitions purged", "versions", purged)
	}
	return err
}
