package etcd

import (
	"context"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
)

// etcdTry bounds one try to reach etcd at the start.
const etcdTry = 5 * time.Second

// Patiently asks again while the failure may pass by itself and DialTimeout is
// not over: etcd may come up beside its nodes, be without a leader, or be full until
// somebody has tidied. A refusal, such as a wrong password or a second node of the
// same id, comes back at once.
func Patiently(ctx context.Context, cfg Config, ask func(context.Context) error) error {
	waits := pace.Doubling(100 * time.Millisecond).UpTo(2 * time.Second).Spread(20).Within(cfg.DialTimeout)
	for ctx.Err() == nil {
		failure := ask(ctx)
		if !cluster.IsTransient(failure) {
			return failure
		}
		wait, ok := waits.Next()
		if !ok {
			return failure
		}
		cfg.Log.WarnContext(ctx, "etcd does not let the node start yet", slog.Any("error", failure))
		pace.Pause(ctx, wait)
	}
	return context.Cause(ctx)
}
