package node

import (
	"context"
	"log/slog"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// etcdLogger is a zap logger that writes to slog, for etcd's server and client.
// What etcd says at info level is of interest only when one looks into etcd, so
// it becomes debug.
func etcdLogger(log *slog.Logger) *zap.Logger {
	return zap.New(slogCore{log.With(slog.String("component", "etcd")).Handler()})
}

// slogCore is a zapcore.Core on an slog handler.
type slogCore struct{ handler slog.Handler }

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

// Enabled asks the handler.
func (c slogCore) Enabled(l zapcore.Level) bool {
	return c.handler.Enabled(context.Background(), slogLevel(l))
}

// With keeps fields for every entry.
func (c slogCore) With(fields []zapcore.Field) zapcore.Core {
	return slogCore{c.handler.WithAttrs(attrs(fields))}
}

// Check adds this core if the level is enabled.
func (c slogCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

// Write passes one entry on.
func (c slogCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	r := slog.NewRecord(e.Time, slogLevel(e.Level), e.Message, 0)
	r.AddAttrs(attrs(fields)...)
	return c.handler.Handle(context.Background(), r)
}

// Sync does nothing: slog does not buffer.
func (slogCore) Sync() error { return nil }

func attrs(fields []zapcore.Field) []slog.Attr {
	enc := zapcore.NewMapObjectEncoder()
	out := make([]slog.Attr, 0, len(fields))
	for _, f := range fields {
		f.AddTo(enc)
		if v, ok := enc.Fields[f.Key]; ok {
			out = append(out, slog.Any(f.Key, v))
		}
	}
	return out
}
