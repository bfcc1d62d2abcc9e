package secrets

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler is next without the values of the directory's secrets in what it gets.
// A nil Dir gives next itself.
func (d *Dir) Handler(next slog.Handler) slog.Handler {
	if d == nil {
		return next
	}
	return handler{next, d}
}

type handler struct {
	next slog.Handler
	dir  *Dir
}

var _ slog.Handler = handler{}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	set := h.dir.Current()
	if set.none() {
		return h.next.Handle(ctx, r)
	}
	out := slog.NewRecord(r.Time, r.Level, set.Redact(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(redactAttr(set, a))
		return true
	})
	return h.next.Handle(ctx, out)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	set := h.dir.Current()
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = redactAttr(set, a)
	}
	return handler{h.next.WithAttrs(out), h.dir}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.next.WithGroup(name), h.dir} }

func redactAttr(set *Set, a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, set.Redact(v.String()))
	case slog.KindGroup:
		group := v.Group()
		out := make([]slog.Attr, len(group))
		for i, g := range group {
			out[i] = redactAttr(set, g)
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(out...)}
	case slog.KindAny:
		if text := fmt.Sprintf("%+v", v.Any()); set.Find(text) != "" {
			return slog.String(a.Key, set.Redact(text))
		}
	case slog.KindInt64, slog.KindUint64, slog.KindFloat64:
		if name, ok := set.number(v.String()); ok {
			return slog.String(a.Key, markOf(name))
		}
	default: // times, durations and truth values hold none
	}
	return slog.Attr{Key: a.Key, Value: v}
}
