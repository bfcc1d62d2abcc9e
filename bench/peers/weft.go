package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	weft = "weft"
	puts = "puts" // the name of a raw put's points
)

const weftSettings = "One node and its callers in one process, etcd 3.7.3 (one member, fsync, defaults but periodic compaction) as a process of its own, group commit on. " +
	"Measured by bench/ itself, with raw puts of 1 KiB before, between and after at the same concurrency."

// buildBench builds Weft's own benchmark program.
func buildBench(ctx context.Context, root, to string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", to, "./bench")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build Weft's bench: %w: %s", err, out)
	}
	return nil
}

// measureWeft runs it.
func measureWeft(ctx context.Context, bench, to string, o options) (result, error) {
	var conc []string
	for _, c := range o.concurrency {
		conc = append(conc, strconv.Itoa(c))
	}
	cmd := exec.CommandContext(ctx, bench, "-workloads", "W1,W2", "-commit", "burst,activity", "-raw=false", "-concurrency", strings.Join(conc, ","),
		"-duration", o.duration.String(), "-json", to)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		return result{}, fmt.Errorf("%w: %s", err, out)
	}
	b, err := os.ReadFile(to)
	if err != nil {
		return result{}, err
	}
	r := result{Settings: weftSettings}
	if err := json.Unmarshal(b, &r); err != nil {
		return result{}, err
	}
	for i := range r.Points {
		if p := &r.Points[i]; strings.HasPrefix(p.Name, "put") {
			p.Name = puts
		}
	}
	return r, nil
}
