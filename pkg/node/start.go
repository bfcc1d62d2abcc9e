package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/weft-run/weft/internal/pace"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/metrics"
)

// start starts the parts. The stack then undoes, in this order: the intake, the
// workers, the bursts, the server, the catalogue, the session, etcd.
func (n *Node) start(ctx context.Context) error {
	n.metrics.Condition.Ask(func() (ready, session bool) { return n.Ready() == nil, n.session.Ready() == nil })
	n.part("session loop", n.session.Run)
	n.part("format of the data", n.keepFormat)
	n.part("catalogue", n.catalog.Run)
	n.part("node record", n.tellRevision)
	if n.secrets != nil {
		n.secrets.Unread = n.unread(metrics.FileSecrets)
		n.part("secrets", n.secrets.Run)
	}
	if n.signsIn() {
		n.part("sessions that were ended", n.pages.Run)
	}
	n.answers(n.front)
	n.undo.Add("http connections", n.shutdown)
	n.undo.Add("bursts", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, n.cfg.DrainTimeout)
		defer cancel()
		if err := n.bursts.Stop(ctx); err != nil {
			// Their causes are durable: others take over. No reason to fail.
			n.log.WarnContext(ctx, "bursts left to others", slog.Any("error", err))
		}
		return nil
	})
	n.part("upkeep", n.upkeep.Run)
	n.part("webhooks", n.webhooks.Run)
	n.undo.Add("intake", func(context.Context) error {
		n.api.Drain()
		n.runtime.Drain()
		n.bursts.Drain()
		return nil
	})
	select {
	case <-n.catalog.Loaded():
	case err := <-n.failed:
		return err
	case <-ctx.Done():
		return fmt.Errorf("load the catalogue: %w", context.Cause(ctx))
	case <-time.After(loadTimeout):
		return fmt.Errorf("the catalogue was not loaded within %v", loadTimeout)
	}
	if err := n.loadDefinitions(ctx); err != nil {
		return err
	}
	if err := n.publishWorkflows(ctx); err != nil {
		return err
	}
	if err := n.waitForSession(ctx); err != nil {
		return err
	}
	n.loaded.Store(true)
	return nil
}

// waitForSession waits until the session lives. It does at once, but where its lease ran out
// since the node joined: on a busy machine, or beside an etcd that stood still. Then its loop
// takes a new one.
func (n *Node) waitForSession(ctx context.Context) error {
	waits := pace.Doubling(10 * time.Millisecond).UpTo(200 * time.Millisecond).Within(loadTimeout)
	err := pace.Repeat(ctx, waits, func() (again bool, err error) {
		select {
		case err := <-n.failed:
			return false, err
		default:
		}
		if err := n.session.Ready(); err != nil {
			return true, fmt.Errorf("there was no session within %v: %w", loadTimeout, err)
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return err
}

// tellRevision writes into the node record how far this node knows the
// definitions, so that people see one that is behind. Its rates it keeps to itself.
func (n *Node) tellRevision(ctx context.Context) error {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for told := int64(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		n.api.Measure()
		now := n.catalog.Revision()
		if now == told {
			continue
		}
		if err := n.session.UpdateNode(ctx, func(r *cluster.Node) { r.CatalogRevision = now }); err == nil {
			told = now
		}
	}
}

const tellEvery = 5 * time.Second

// loadTimeout bounds the first look at the definitions in etcd, and the wait for a session
// in place of one that was lost.
const loadTimeout = 30 * time.Second

// part runs one loop of the node until the stack undoes it. A loop that ends by
// itself ends the node.
func (n *Node) part(name string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil {
			n.fail(fmt.Errorf("%s ended: %w", name, errors.Join(err, errEnded)))
		}
		done <- err
	}()
	n.undo.Add(name, func(context.Context) error {
		cancel()
		return <-done
	})
}

var errEnded = errors.New("it should run until the node stops")

// fail remembers the first reason why the node cannot go on.
func (n *Node) fail(err error) {
	select {
	case n.failed <- err:
	default:
	}
}

func (n *Node) serve(ctx context.Context) error {
	var err error
	if n.server.TLSConfig != nil {
		err = n.server.ServeTLS(n.listener, "", "")
	} else {
		err = n.server.Serve(n.listener)
	}
	if errors.Is(err, http.ErrServerClosed) {
		<-ctx.Done()
		return nil
	}
	return err
}

// shutdown lets running requests end and closes every connection.
func (n *Node) shutdown(ctx context.Context) error {
	sctx, cancel := context.WithTimeout(ctx, stopTimeout/2)
	defer cancel()
	if err := n.server.Shutdown(sctx); err != nil {
		n.log.WarnContext(ctx, "requests were cut off", slog.Any("error", err))
		return n.server.Close()
	}
	return nil
}

// loadDefinitions publishes what is new in the definitions directory. A bad file
// is logged with every problem and keeps the node from nothing.
func (n *Node) loadDefinitions(ctx context.Context) error {
	if n.cfg.Definitions == "" {
		return nil
	}
	res, err := n.loader.Reload(ctx)
	if err != nil {
		return fmt.Errorf("load the definitions of %s: %w", n.cfg.Definitions, err)
	}
	n.log.InfoContext(ctx, "definitions loaded", slog.String("dir", n.cfg.Definitions), slog.Int("definitions", len(res.Refreshed)), slog.Int("bad", len(res.NotRefreshed)))
	return nil
}
