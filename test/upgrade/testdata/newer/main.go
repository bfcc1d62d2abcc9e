// Command newer is the present program with one more activity type, as the next
// version has it.
package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/weft-run/weft/pkg/engine"
	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
	"github.com/weft-run/weft/pkg/workflow"
)

func main() {
	cfg := node.Config{
		Version: "newer",
		Logger:  slog.New(slog.NewJSONHandler(os.Stderr, nil)),
		Activities: func(r *engine.Registry) error {
			return engine.RegisterFunc(r, workflow.Descriptor{Type: "test.New"},
				func(context.Context, *engine.Execution, struct{}) (struct{}, error) { return struct{}{}, nil })
		},
	}
	flag.StringVar(&cfg.HTTPAddr, "http-addr", "", "")
	flag.StringVar(&cfg.Cluster, "cluster", "", "")
	flag.DurationVar(&cfg.SessionTTL, "session-ttl", 10*time.Second, "")
	flag.DurationVar(&cfg.DrainDelay, "drain-delay", 0, "")
	endpoints := flag.String("etcd-endpoints", "", "")
	_ = flag.String("log-format", "", "as the other program has it")
	flag.Parse()
	cfg.EtcdEndpoints = strings.Split(*endpoints, ",")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cfg); err != nil {
		cfg.Logger.Error("it ends", "error", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, cfg node.Config) error {
	n, err := full.New(ctx, cfg)
	if err != nil {
		return err
	}
	return n.Run(ctx, nil)
}
