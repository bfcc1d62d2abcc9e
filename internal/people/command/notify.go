package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/node"
)

// supervisor tells a systemd that asked for it (Type=notify) how far the node is. Without one it does nothing.
type supervisor struct{ log *slog.Logger }

func (s supervisor) say(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		s.log.Warn("systemd could not be told", slog.String("state", state), slog.Any("error", err))
	}
}

// ready says that the node takes work, and that it lives for as long as it answers (WatchdogSec=), until ctx ends.
// It gives what waits for the end of that.
func (s supervisor) ready(ctx context.Context, cfg node.Config) (wait func()) {
	s.say(daemon.SdNotifyReady)
	within, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		s.log.WarnContext(ctx, "systemd's watchdog is not fed", slog.Any("error", err))
	}
	over := make(chan struct{})
	if within <= 0 {
		close(over)
		return func() { <-over }
	}
	go func() {
		defer close(over)
		for {
			s.feed(ctx, cfg, within/3)
			if !pace.Pause(ctx, within/3) {
				return
			}
		}
	}()
	return func() { <-over }
}

// feed tells systemd that the node lives, if it answers as anybody is answered: a node that hangs is killed and
// started again. What it does not ask is etcd: a restart does not help that.
func (s supervisor) feed(ctx context.Context, cfg node.Config, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	_, err := askHealth(ctx, cfg, "/livez")
	// A node that has as many connections as it may closes this one, too: it takes them, and does not hang.
	full := errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET)
	if err == nil || full {
		s.say(daemon.SdNotifyWatchdog)
	} else if ctx.Err() == nil {
		s.log.WarnContext(ctx, "the node does not answer itself; systemd's watchdog is not fed", slog.Any("error", err))
	}
}
