package refresh

import (
	"context"
	"slices"
	"time"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/pkg/metrics"
	"github.com/weft-run/weft/pkg/workflow"
)

// LocalRefresher does the refresh on this node, also if others do it too.
type LocalRefresher struct {
	Catalog *catalog.Catalog // required
	Metrics *metrics.Metrics // nil: none
}

var _ Refresher = (*LocalRefresher)(nil)

// Refresh indexes each definition in a transaction of its own. One that is not
// there, not published or does not compile any more is told in the result; an
// error means that the store does not answer, and that a part may be done.
func (l *LocalRefresher) Refresh(ctx context.Context, ids []string) (Result, error) {
	began := time.Now()
	r, err := l.refresh(ctx, distinct(ids))
	l.Metrics.Refresh(metrics.TargetRefresh, outcomeOf(err), time.Since(began))
	return r, err
}

func (l *LocalRefresher) refresh(ctx context.Context, ids []string) (Result, error) {
	r := newResult(Completed)
	if len(ids) == 0 {
		var err error
		if ids, err = l.Catalog.Published(ctx); err != nil {
			return r, err
		}
	}
	for _, id := range ids {
		revision, err := l.Catalog.Reindex(ctx, id)
		switch {
		case err == nil:
			r.Revision = max(r.Revision, revision)
			r.Refreshed = append(r.Refreshed, id)
		case ctx.Err() != nil, !about(err):
			return r, err
		default:
			r.not(id, reason(err))
		}
	}
	return r, nil
}

// distinct sorts ids and takes each once.
func distinct(ids []string) []string { return slices.Compact(slices.Sorted(slices.Values(ids))) }

// about reports whether err is about the one definition, so that the others can
// go on.
func about(err error) bool {
	switch workflow.CodeOf(err) {
	case workflow.CodeUnavailable, workflow.CodeUnknownOutcome, workflow.CodeInternal, "":
		return false
	}
	return true
}

func outcomeOf(err error) metrics.RefreshOutcome {
	if err != nil {
		return metrics.RefreshFailed
	}
	return metrics.RefreshCompleted
}
