package node

import (
	"context"
	"log/slog"
	"time"

	"github.com/sethvargo/go-retry"

	"github.com/weft-run/weft/pkg/cluster"
)

// etcdTry bounds one try to reach etcd at the start.
const etcdTry = 5 * time.Second

// patiently asks again while the failure may pass by itself and EtcdDialTimeout is
// not over: etcd may come up beside its nodes, be without a leader, or be full until
// somebody has tidied. A refusal, such as a wrong password or a second node of the
// same id, comes back at once.
func patiently(ctx context.Context, cfg Config, ask func(context.Context) error) error {
	var failure error
	waits := retry.WithMaxDuration(cfg.EtcdDialTimeout,
		retry.WithJitterPercent(20, retry.WithCappedDuration(2*time.Second, retry.NewExponential(100*time.Millisecond))))
	told := retry.BackoffFunc(func() (time.Duration, bool) {
		wait, stop := waits.Next()
		if !stop {
			cfg.Logger.WarnContext(ctx, "etcd does not let the node start yet", slog.Any("error", failure))
		}
		return wait, stop
	})
	return retry.Do(ctx, told, func(ctx context.Context) error {
		if failure = ask(ctx); cluster.IsTransient(failure) {
			return retry.RetryableError(failure)
		}
		return failure
	})
}
