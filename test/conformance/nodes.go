package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/weft-run/weft/pkg/node"
	"github.com/weft-run/weft/pkg/node/full"
)

// nodesFor gives the base URLs of the nodes for one case, and what stops them.
func nodesFor(ctx context.Context, o options) (addrs []string, stop func() error, err error) {
	if o.addr != "" {
		for _, a := range strings.Split(o.addr, ",") {
			addrs = append(addrs, strings.TrimRight(strings.TrimSpace(a), "/"))
		}
		return addrs, func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "weft-conformance-")
	if err != nil {
		return nil, nil, err
	}
	var nodes []*node.Node
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		// The first one has the etcd of all.
		var errs []error
		for i := len(nodes) - 1; i >= 0; i-- {
			errs = append(errs, nodes[i].Stop(ctx))
		}
		return errors.Join(append(errs, os.RemoveAll(dir))...)
	}
	var log *slog.Logger
	if o.verbose {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	var etcd []string
	for i := range o.nodes {
		n, err := full.New(ctx, node.Config{
			HTTPAddr: "127.0.0.1:0", DataDir: dir, EtcdEndpoints: etcd, NodeID: fmt.Sprintf("conformance-%d", i+1),
			SessionTTL: 5 * time.Second, DrainTimeout: 5 * time.Second, AllowPrivateAddresses: true, Logger: log,
		})
		if err == nil {
			nodes = append(nodes, n)
			err = n.Start(ctx)
		}
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("start node %d: %w", i+1, err), stop())
		}
		etcd = n.EtcdEndpoints()
		addrs = append(addrs, "http://"+n.HTTPAddr())
	}
	return addrs, stop, nil
}
