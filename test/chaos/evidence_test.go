package chaos

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/weft-run/weft/internal/catalog"
	"github.com/weft-run/weft/internal/expression"
	"github.com/weft-run/weft/internal/find"
	"github.com/weft-run/weft/internal/store/etcdstore"
	"github.com/weft-run/weft/pkg/cluster"
	"github.com/weft-run/weft/pkg/workflow"
)

// evidence is what the checkers compare: what callers were told, and what
// happened to the keys. It is the same for nodes in this process and for
// processes.
type evidence struct {
	direct  *clientv3.Client // without faults
	store   *etcdstore.Store // without faults
	upkeep  *etcdstore.Checker
	history *history
	record  recorder
	log     *slog.Logger
	tight   bool // things expire and go within the round

	mu       sync.Mutex
	counters map[string]int64 // what the load did; guarded by mu
}

func (e *evidence) count(name string) { e.countN(name, 1) }

func (e *evidence) countN(name string, n int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counters == nil {
		e.counters = map[string]int64{}
	}
	e.counters[name] += n
}

// gather makes the evidence of one cluster; history has to be followed.
func (e *evidence) gather(tb testing.TB, direct *clientv3.Client, name string) {
	tb.Helper()
	out := io.Discard
	if base := os.Getenv("WEFT_CHAOS_LOG"); base != "" {
		name := base + "." + filepath.Base(tb.Name())
		f, err := os.Create(name)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = f.Close() })
		out = f
	}
	e.log = slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	e.direct = direct
	var err error
	if e.store, err = etcdstore.New(etcdstore.Config{Client: direct, Root: cluster.Root(name)}); err != nil {
		tb.Fatal(err)
	}
	known, err := registry(true)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := catalog.New(catalog.Config{Store: e.store.Definitions, Registry: known, Evaluators: expression.All()})
	if err != nil {
		tb.Fatal(err)
	}
	e.upkeep = e.store.Upkeep.WithSchedules(catalog.SchedulesOf(c).Lasting)
	e.history = newHistory(cluster.Root(name))
}

// check looks at everything, after the end.
func (e *evidence) check(res *residue) {
	for _, p := range e.history.problems {
		rule, detail, _ := strings.Cut(p, " at ")
		e.record.violate(rule, "at %s", detail)
	}
	e.checkEvents(res)
	e.checkInstances()
	e.checkPurges()
	e.checkReads()
}

// listeners start what takes the events for several.
func (e *evidence) listeners(ctx context.Context, c *caller) {
	for i := range 8 + 34 {
		event := "all"
		if i >= 8 {
			event = "crowd"
		}
		for c.start(ctx, "listen", fmt.Sprintf("listen-%d", i), "", "", fmt.Sprintf("start-listen-%d", i), map[string]any{"event": event}) != ok {
		}
	}
}

// fsckNow checks the keys again and again while everything goes wrong.
func (e *evidence) fsckNow(ctx context.Context) {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := e.checkKeys(ctx, false); err != nil {
				e.log.WarnContext(ctx, "keys not checked this time", "error", err)
			}
		}
	}
}

// settleLimit is how long acknowledged work may take after the faults ended:
// takeovers one after the other, on a slow machine.
const settleLimit = 60 * time.Second

// settle waits until nothing is left to do, gives the collectors that lost an
// event another, and then lets the last late copies arrive.
func (e *evidence) settle(ctx context.Context, c *caller, limit time.Duration, deliver func() int) bool {
	if c.traits.long {
		limit += time.Minute // for bursts that begin anew, one after the other
	}
	ctx, cancel := context.WithTimeout(ctx, 2*limit)
	defer cancel()
	if err := c.node().Retract(ctx, "beat"); err != nil {
		e.record.violate("harness", "%v", err)
	}
	if !e.idle(ctx, limit) {
		return false
	}
	if err := e.finishDoors(ctx, c); err != nil {
		e.record.violate("harness", "%v", err)
		return false
	}
	for _, definition := range []string{"collect", "ponder", "moved", "hoard"} {
		if err := e.pokeOn(ctx, c, definition); err != nil {
			e.record.violate("harness", "%v", err)
			return false
		}
	}
	if !e.idle(ctx, limit) {
		return false
	}
	deliver()
	return e.idle(ctx, limit)
}

// pokeOn sends the instances of a definition the events that they still wait for.
func (e *evidence) pokeOn(ctx context.Context, c *caller, definition string) error {
	return e.running(ctx, definition, func(in workflow.Instance) {
		for i := range 8 {
			c.send(ctx, "poke", in.CorrelationID, fmt.Sprintf("%s.more%d", in.ID, i), "")
			if rec, err := e.store.Reader.Instance(ctx, in.ID); err != nil || rec == nil || rec.Header.Status == workflow.StatusFinished || len(rec.Header.Bookmarks) == 0 {
				break
			}
		}
	})
}

// running calls do for each running instance of a definition.
func (e *evidence) running(ctx context.Context, definition string, do func(workflow.Instance)) error {
	for cursor := ""; ; {
		page, err := e.store.Reader.Instances(ctx, etcdstore.InstanceQuery{Filter: find.Filter{Status: workflow.StatusRunning, DefinitionID: definition}, Cursor: cursor, Limit: 200})
		if err != nil {
			return err
		}
		for _, in := range page.Items {
			do(in)
		}
		if cursor = page.Next; cursor == "" {
			return nil
		}
	}
}

// idle waits until mailboxes, send records and locks are gone and nothing that
// ends by itself runs.
func (e *evidence) idle(ctx context.Context, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for calm := 0; calm < 3; {
		busy, err := e.busy(ctx)
		switch {
		case err == nil && busy == "":
			calm++
		default:
			calm = 0
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			e.record.violate("never-idle", "%s: %v", busy, err)
			return false
		}
	}
	return true
}

// busy tells what there is still to do.
func (e *evidence) busy(ctx context.Context) (string, error) {
	for _, prefix := range []string{"mailbox/", "send/", "lock/instance/", "cancel/", "timer/"} {
		opts := prefixOnly
		resp, err := e.direct.Get(ctx, e.history.root+prefix, opts...)
		if err != nil {
			return "", err
		}
		for _, kv := range resp.Kvs {
			if prefix != "timer/" || !later(string(kv.Key)) {
				return string(kv.Key), nil
			}
		}
	}
	return "", nil
}

// later: a timer that is due long after the round, as a wrong clock set it.
func later(key string) bool {
	parts := strings.Split(key, "/")
	due, err := strconv.ParseInt(parts[len(parts)-2], 10, 64)
	return err == nil && time.Until(time.UnixMilli(due)) > farOff
}
