package etcd

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// What etcd says as it ends the process for want of room on its disk is said in words, with what to do.
func TestTheEndOnAFullDiskIsSaidInWords(t *testing.T) {
	t.Parallel()
	const words = "nothing that was acknowledged is lost"
	for text, want := range map[string]bool{"write /d/db: no space left on device": true, "read /d/db: input/output error": false} {
		for _, l := range []zapcore.Level{zapcore.ErrorLevel, zapcore.PanicLevel, zapcore.FatalLevel} {
			var b strings.Builder
			core := logger(slog.New(slog.NewTextHandler(&b, nil)), &atomic.Bool{}).Core()
			if err := core.Write(zapcore.Entry{Level: l, Message: "failed to commit tx"}, []zapcore.Field{zap.Error(errors.New(text))}); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Contains(b.String(), words), want && l > zapcore.ErrorLevel; got != want || !strings.Contains(b.String(), text) {
				t.Errorf("%v, %s: %s", l, text, &b)
			}
		}
	}
}

func TestEtcdLogGoesThroughSlog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	quiet := &atomic.Bool{}
	logger(slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})), quiet).Debug("Apply", zap.String("raftReq", "value"))
	log := logger(slog.New(slog.NewJSONHandler(&out, nil)), quiet)
	log.Info("compacted")
	log.With(zap.String("member", "a")).Warn("slow fdatasync", zap.Duration("took", time.Second), zap.Int32("trace_id", 7), zap.Error(errors.New("disk")))
	log.Warn("simple token is not cryptographically signed")
	quiet.Store(true)
	log.Error("use of closed network connection")
	got := out.String()
	if n := strings.Count(got, "\n"); n != 1 {
		t.Errorf("%d entries, want the one that matters: %s", n, got)
	}
	for _, want := range []string{`"level":"WARN"`, `"msg":"slow fdatasync"`, `"component":"etcd"`, `"member":"a"`, `"etcd_trace":7`, `"error":"disk"`, `"took"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
}
