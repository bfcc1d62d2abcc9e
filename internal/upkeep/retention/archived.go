package retention

import (
	"context"
	"time"

	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/archive"
	"github.com/weft-run/weft/pkg/metrics"
)

// Archived removes from the archive what is not to be kept there any more.
type Archived struct{ Retaining }

const archivedEvery = time.Hour

func (a *Archived) run(ctx context.Context) error {
	if a.Cfg.Archive == nil || a.Cfg.Limits.Archived == 0 {
		return nil
	}
	return a.loop(ctx, "expire the archive", archivedEvery, func(ctx context.Context) (more bool, err error) {
		if !a.here("archive") {
			return false, nil
		}
		gone, err := a.Cfg.Archive.Expire(ctx, a.Cfg.Now(), a.Cfg.Limits.Archived)
		a.Cfg.Metrics.Purged(metrics.PurgedArchived, int(gone))
		return false, err
	})
}

// purge deletes finished instances, and puts them into the archive first, if there is one.
func (f *Finished) purge(ctx context.Context, leaving []etcdstore.Leaving) ([]string, error) {
	keep := f.archive
	if f.Cfg.Archive == nil {
		keep = nil
	}
	return f.Cfg.Store.Purge(ctx, leaving, f.lockPrefixes(), keep)
}

// archive keeps instances there.
func (f *Finished) archive(ctx context.Context, some []etcdstore.Ended) error {
	items := make([]archive.Item, len(some))
	for i, e := range some {
		items[i] = archive.Item{Instance: e.Record.Header, Sequence: e.Record.Seq, Life: e.Life, State: e.Record.State, Journal: e.Journal}
	}
	err := f.Cfg.Archive.Put(ctx, items)
	result := metrics.ArchiveKept
	if err != nil {
		result = metrics.ArchiveFailed
	}
	f.Cfg.Metrics.Archived(result, len(items))
	return err
}
