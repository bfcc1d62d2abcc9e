package etcd

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/weft-run/weft/internal/disk"
)

// logger is a zap logger that writes to slog, for etcd's server and client.
// What etcd says at info level is of interest only when one looks into etcd, so
// it becomes debug, and so does everything once quiet is set: what is being
// closed complains about being closed.
func logger(log *slog.Logger, quiet *atomic.Bool) *zap.Logger {
	return zap.New(slogCore{log.With(slog.String("component", "etcd")).Handler(), quiet})
}

// harmless is mostly what an embedded etcd warns of whenever it starts, as it is
// meant for a cluster of its own.
var harmless = map[string]bool{
	"Running http and grpc server on single port. This is not recommended for production.": true,
	"simple token is not cryptographically signed":                                         true,
	// New data has no schema version until the first snapshot of the backend.
	"Failed to detect schema version":  true,
	"failed to update storage version": true,
	// The client says so for each call that fails; the caller says it better.
	"retrying of unary invoker failed": true,
}

// noise is said of each call, also of those that are not retried.
const noise = "retrying of unary invoker"

// isHarmless adds what has an id in its text: an election that comes a moment too
// early and is held again.
func isHarmless(message string) bool {
	return harmless[message] || strings.Contains(message, "cannot campaign at term")
}

// slogCore is a zapcore.Core on an slog handler.
type slogCore struct {
	handler slog.Handler
	quiet   *atomic.Bool
}

var _ zapcore.Core = slogCore{}

func slogLevel(l zapcore.Level) slog.Level {
	switch {
	case l <= zapcore.InfoLevel:
		return slog.LevelDebug
	case l == zapcore.WarnLevel:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}

// Enabled asks the handler. What etcd says at debug level never passes: it is each
// request with what it writes, which is all that workflows keep.
func (c slogCore) Enabled(l zapcore.Level) bool {
	return l >= zapcore.InfoLevel && c.handler.Enabled(context.Background(), slogLevel(l))
}

// With keeps fields for every entry.
func (c slogCore) With(fields []zapcore.Field) zapcore.Core {
	return slogCore{c.handler.WithAttrs(attrs(fields)), c.quiet}
}

// Check adds this core if the level is enabled.
func (c slogCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if e.Message == noise {
		return ce
	}
	if isHarmless(e.Message) || c.quiet.Load() {
		e.Level = zapcore.InfoLevel
	}
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write passes one entry on.
func (c slogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := slog.NewRecord(e.Time, slogLevel(e.Level), e.Message, 0)
	with := attrs(fields)
	r.AddAttrs(with...)
	err := c.handler.Handle(context.Background(), r)
	if e.Level < zapcore.DPanicLevel { // etcd goes on
		return err
	}
	if full := slices.ContainsFunc(with, func(a slog.Attr) bool { return disk.SaysFull(a.Value.String()) }); full || disk.SaysFull(e.Message) {
		log := slog.New(c.handler)
		log.Error("the disk of the embedded etcd is full, and etcd ends this process", slog.String("detail", endsOnFullDisk))
	}
	return err
}

// Sync does nothing: slog does not buffer.
func (slogCore) Sync() error { return nil }

func attrs(fields []zapcore.Field) []slog.Attr {
	enc := zapcore.NewMapObjectEncoder()
	out := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		f.AddTo(enc)
		if v, ok := enc.Fields[f.Key]; ok {
			key := f.Key
			if key == "trace_id" { // a number that etcd gives its own steps; Weft's is that of a trace
				key = "etcd_trace"
			}
			out = append(out, slog.Any(key, v))
		}
	}
	return out
}
