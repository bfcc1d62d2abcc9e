package command

import (
	"context"
	"log/slog"
	"time"

	"github.com/weft-run/weft/internal/tracing"
)

// trace gives the node a provider of traces if OTEL_* asks for one. stop sends
// what is left, within a time.
func (s *settings) trace(ctx context.Context) (stop func(), err error) {
	log := s.node.Logger
	provider, err := tracing.FromEnvironment(ctx, version(), log)
	if err != nil || provider == nil {
		return func() {}, err // a nil pointer in the interface would not be nil
	}
	s.node.Traces = provider
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := provider.Shutdown(ctx); err != nil {
			log.WarnContext(ctx, "the last traces were not exported", slog.Any("error", err))
		}
	}, nil
}

// flushTimeout bounds how long a collector that is away delays the end.
const flushTimeout = 3 * time.Second
