package command

import (
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-run/weft/internal/polltest"
)

// heard reads what a process tells systemd; "": nothing for so long.
func heard(t *testing.T) (socket string, next func(within time.Duration) string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return socket, func(within time.Duration) string {
		t.Helper()
		if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, 1<<10)
		n, err := conn.Read(buf)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
}

// systemd is told when the node takes work, that it lives for as long as it answers, also while it drains, and that it stops.
func TestSystemdIsToldHowFarTheNodeIs(t *testing.T) {
	t.Parallel()
	socket, next := heard(t)
	p := runNodeIn(t, []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=300000"}, "--drain-delay", "1s")
	if got := next(time.Minute); got != "READY=1" {
		t.Errorf("first it said %q", got)
	}
	for range 3 {
		if got := next(time.Minute); got != "WATCHDOG=1" {
			t.Errorf("then %q", got)
		}
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var said []string
	for range 5 {
		said = append(said, next(time.Minute))
	}
	i := slices.Index(said, "STOPPING=1")
	if i < 0 || !slices.Contains(said[i+1:], "WATCHDOG=1") || strings.Contains(strings.Join(said, " "), "READY") {
		t.Errorf("at its end it said %q", said)
	}
	if code := p.wait(t); code != 0 {
		t.Errorf("it ended with %d", code)
	}
}

// A node that hangs is not said to live.
func TestAHungNodeDoesNotFeedTheWatchdog(t *testing.T) {
	t.Parallel()
	socket, next := heard(t)
	p := runNodeIn(t, []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=300000"})
	for next(time.Minute) != "WATCHDOG=1" {
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for next(2*time.Second) != "" { // what it had said before
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := next(time.Minute); got != "WATCHDOG=1" {
		t.Errorf("it goes on, and says %q", got)
	}
}

// A node that has as many connections as it may is busy, and does not hang: it is not killed for that.
func TestAFullNodeFeedsTheWatchdog(t *testing.T) {
	t.Parallel()
	socket, next := heard(t)
	p := runNodeIn(t, []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=900000"}, "--max-connections-per-address", "2")
	for next(time.Minute) != "WATCHDOG=1" {
	}
	for range 2 {
		var d net.Dialer
		c, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(p.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	polltest.Eventually(t, "the node is full", func() bool {
		resp, err := http.Get(p.base + "/livez") //nolint:noctx // it is closed at once
		if err == nil {
			_ = resp.Body.Close()
		}
		return err != nil
	})
	for range 12 { // within less than the 10 s after which it closes connections without a request
		if got := next(5 * time.Second); got != "WATCHDOG=1" {
			t.Fatalf("it says %q", got)
		}
	}
}
